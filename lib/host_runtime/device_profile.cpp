// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/device_profile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "lib/format/json_value.h"
#include "lib/format/operation_table.h"
#include "lib/host_runtime/failure.h"

namespace nnapi_convert::host {
namespace {

static_assert(kUnknown == kUnknownSize);

JudgedOperand judged(const char* argument, const Operand& operand, const Shape& shape) {
  JudgedOperand result{argument, operand.type, operand.lifetime == Lifetime::kConstant, std::nullopt, std::nullopt};
  if (is_tensor(operand.type) && shape.rank_known) result.sizes = shape.dims;
  if (result.is_constant && operand.type == OperandCode::BOOL) {
    result.number = *static_cast<const uint8_t*>(operand.data) != 0 ? 1 : 0;
  } else if (result.is_constant && operand.type == OperandCode::INT32) {
    int32_t value = 0;
    std::memcpy(&value, operand.data, sizeof value);
    result.number = value;
  }
  return result;
}

bool shares_one(const std::vector<uint32_t>& some, const std::vector<uint32_t>& others) {
  return std::find_first_of(some.begin(), some.end(), others.begin(), others.end()) != some.end();
}

void add_predecessors(const Model& model, const Operation& operation, JudgedOperation& described) {
  described.reads_input = shares_one(operation.inputs, model.inputs());
  for (const Operation& each : model.operations()) {
    if (shares_one(operation.inputs, each.outputs)) described.after.insert(each.code);
  }
}

}  // namespace

DeviceRules read_profile(const std::string& path) {
  const std::string what = "device profile " + path;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    bad_data("{}: a regular file needed", what);  // a pipe lets its reader wait
  }
  std::ifstream stream(path);
  if (!stream) bad_data("{}: {}", what, std::strerror(errno));
  try {
    return DeviceRules::parse({std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()}, what);
  } catch (const JsonError& error) {
    bad_data("{}", error.what());
  }
}

std::string profile_refusal(const DeviceRules& profile, const Model& model, const Operation& operation) {
  try {
    Operation lower = operation;
    lower.feature_level = std::min(operation.feature_level, profile.feature_level);
    match_signature(lower, model.operands());
  } catch (const Failure& failure) {
    return failure.what();
  }
  JudgedOperation described{operation.code, {}};
  const auto add = [&](const TableView<ArgumentInfo>& arguments, const std::vector<uint32_t>& indices) {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const ArgumentInfo& argument = arguments[argument_index(arguments, i, indices.size())];
      described.operands.push_back(judged(argument.name, model.operands()[indices[i]], model.shapes()[indices[i]]));
    }
  };
  add(operation.signature->inputs, operation.inputs);
  add(operation.signature->outputs, operation.outputs);
  if (profile.asks_predecessors()) add_predecessors(model, operation, described);
  return profile.refusal(described);
}

}  // namespace nnapi_convert::host
