// The conversion's options, for subcommands that run conversions.
#pragma once

#include <string>
#include <vector>

#include "lib/batch/option_set.h"
#include "tools/nnapi-convert/commands.h"

namespace nnapi_convert {

struct ConvertOption {
  OptionRule rule;
  std::string type_name;  // of its value, as --help shows it
  std::string description;
};

// All but those that tell what to read and write, or what to print. --emit-cpu is a flag here.
std::vector<ConvertOption> convert_options();
// Throws ConvertError (kUsage) as the conversion would.
void check_convert_options(const Arguments& options);

}  // namespace nnapi_convert
