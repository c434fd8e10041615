// SPDX-License-Identifier: BSD-3-Clause
// Defines the conversion's options, for the subcommands that run conversions or take their options.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "lib/base/files_apart.h"
#include "tools/nnapi-convert/batch/option_set.h"
#include "tools/nnapi-convert/commands.h"
#include "tools/nnapi-convert/requests.h"

namespace nnapi_convert {

struct ConvertOption {
  OptionRule rule;
  std::string type_name;  // the type of the value, as --help shows it
  std::string description;
};

void add_model_argument(CLI::App& app, ConvertArguments& arguments);
// Adds the options that decide the result. The subcommand itself adds the options for writing and printing.
void add_model_options(CLI::App& app, ConvertArguments& arguments);
// Adds all options of the conversion: the model, the model options, and the options for writing and printing.
void add_convert_options(CLI::App& app, ConvertArguments& arguments);

// Adds the options for the file that --litert writes.
void add_litert_options(CLI::App& app, ConvertArguments& arguments);

// Adds only --package.
void add_package_option(CLI::App& app, ConvertArguments& arguments);

// Returns the files that the conversion reads and writes.
FilesInUse files_of(const ConvertArguments& arguments);

// Returns all options except those for reading, writing and printing. --emit-cpu and --litert are flags here.
std::vector<ConvertOption> convert_options();
// Checks options; throws ConvertError (kUsage) if the conversion would.
void check_convert_options(const Arguments& options);

}  // namespace nnapi_convert
