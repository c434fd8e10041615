// The conversion's options, for the subcommands that run conversions or take their options.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "lib/base/files_apart.h"
#include "lib/batch/option_set.h"
#include "tools/nnapi-convert/commands.h"
#include "tools/nnapi-convert/requests.h"

namespace nnapi_convert {

struct ConvertOption {
  OptionRule rule;
  std::string type_name;  // of its value, as --help shows it
  std::string description;
};

void add_model_argument(CLI::App& app, ConvertArguments& arguments);
// The options that decide the result; what to write and to print is left to the subcommand.
void add_model_options(CLI::App& app, ConvertArguments& arguments);
// All of the conversion: the model, the options above, and what to write and to print.
void add_convert_options(CLI::App& app, ConvertArguments& arguments);
// What needs more than CLI11's own reading, once it has read. Throws ConvertError (kUsage, or kBadFile for a device's
// profile).
void read_parsed(const CLI::App& app, ConvertArguments& arguments);

// What the conversion reads and writes.
FilesInUse files_of(const ConvertArguments& arguments);

// All but those that tell what to read and write, or what to print. --emit-cpu is a flag here.
std::vector<ConvertOption> convert_options();
// Throws ConvertError (kUsage) as the conversion would.
void check_convert_options(const Arguments& options);

}  // namespace nnapi_convert
