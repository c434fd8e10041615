// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/argument_samples.h"

#include <fmt/format.h>

#include <optional>

#include "lib/base/error.h"
#include "lib/converter/frontend/bound_arguments.h"
#include "lib/converter/frontend/sample_inputs.h"

namespace nnapi_convert {
namespace {

constexpr uint64_t kSeed = 0;

const Argument* argument_of(const ForwardArguments& arguments, const ArgumentTree& leaf) {
  for (const Argument& argument : arguments) {
    if (&argument.tree == &leaf) return &argument;
  }
  return nullptr;
}

// Returns the sample for the new interface; nothing if it doesn't fit.
std::optional<InputTuple> converted(const ForwardArguments& arguments, const ModuleInterface& interface,
                                    const InputTuple& sample) {
  if (sample.size() != arguments.size()) return std::nullopt;
  auto values = take_apart(arguments, sample);
  if (!values) return std::nullopt;
  size_t number = 0;
  for (c10::IValue& value : *values) {
    if (!value.isTensor()) continue;
    const TensorType& type = interface.inputs.at(number++).type;
    value = to_interface(value.toTensor(), type);
    if (!fits_type(value.toTensor(), type)) return std::nullopt;
  }
  if (number != interface.inputs.size()) return std::nullopt;
  return assemble(arguments, *values);
}

}  // namespace

std::vector<c10::IValue> sample_leaves(const ForwardArguments& arguments,
                                       const std::function<at::Tensor(size_t)>& tensor, const std::string& hint,
                                       const std::vector<c10::IValue>& example, const BoundValues& given) {
  std::vector<c10::IValue> values;
  size_t number = 0;
  for (const ArgumentTree* leaf : leaves(arguments)) {
    const Argument* argument = argument_of(arguments, *leaf);
    if (leaf->is_tensor()) {
      values.emplace_back(tensor(number++));
    } else if (const auto found = given.find(leaf->path); found != given.end()) {
      values.push_back(found->second);
    } else if (values.size() < example.size()) {
      values.push_back(example[values.size()]);
    } else if (argument != nullptr && argument->default_value) {
      values.push_back(*argument->default_value);
    } else {
      throw ConvertError(ExitCode::kUsage,
                         fmt::format("input {} is {} and has no default{}; or give {}", leaf->path,
                                     leaf->type->annotation_str(), hint_to_bind(leaf->path, leaf->type), hint));
    }
  }
  return values;
}

std::vector<InputTuple> bundled_arguments(const ForwardArguments& arguments, const ModuleInterface& interface,
                                          const std::vector<InputTuple>& originals, bool make_one,
                                          Diagnostics& diagnostics) {
  std::vector<InputTuple> samples;
  for (const InputTuple& original : originals) {
    if (auto sample = converted(arguments, interface, original)) {
      samples.push_back(std::move(*sample));
    } else {
      diagnostics.warn("a bundled input doesn't fit the arguments that were asked for and is left out");
    }
  }
  if (!samples.empty() || !make_one) return samples;
  const auto random = [&](size_t number) { return random_tensor(interface.inputs.at(number).type, kSeed + number, 1); };
  return {assemble(arguments, sample_leaves(arguments, random, "bundled inputs instead of --bundle-inputs"))};
}

}  // namespace nnapi_convert
