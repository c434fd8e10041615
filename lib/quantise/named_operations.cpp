// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/named_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lib/base/error.h"
#include "lib/format/operation_table.h"

namespace nnapi_convert::quantise {

bool is_named(const nnapi::Model& model, const nnapi::Operation& operation, const std::string& name) {
  if (name.empty()) return false;  // an empty name would mean all values without a name and operations without a source
  const bool is_line = operation.source == name || operation.source.substr(0, operation.source.find(" (")) == name;
  return name_of(operation.code) == name || model.at(operation.outputs[0]).name == name || is_line;
}

bool is_any_named(const nnapi::Model& model, const std::string& name) {
  return std::any_of(model.operations.begin(), model.operations.end(),
                     [&](const nnapi::Operation& operation) { return is_named(model, operation, name); });
}

std::vector<std::string> names_in(const nnapi::Model& model, const std::vector<std::string>& names) {
  std::vector<std::string> result;
  std::copy_if(names.begin(), names.end(), std::back_inserter(result),
               [&](const std::string& name) { return is_any_named(model, name); });
  return result;
}

std::vector<bool> kept_float(const nnapi::Model& model, const std::vector<std::string>& names) {
  std::vector<bool> kept(model.operations.size(), false);
  for (const std::string& name : names) {
    if (!is_any_named(model, name)) refuse_name(name);
    for (size_t i = 0; i < model.operations.size(); ++i) {
      if (is_named(model, model.operations[i], name)) kept[i] = true;
    }
  }
  return kept;
}

void keep_recurrent(const nnapi::Model& model, std::vector<bool>& kept) {
  for (size_t i = 0; i < model.operations.size(); ++i) {
    if (model.recurrent_sources.count(model.operations[i].source) != 0) kept[i] = true;
  }
}

void refuse_name(const std::string& name) {
  throw ConvertError(ExitCode::kUsage,
                     fmt::format("--keep-float {}: no operation found; give an NNAPI operation, the name of a value "
                                 "or a source line, as --dump-after optimise and reports show them",
                                 name));
}

}  // namespace nnapi_convert::quantise
