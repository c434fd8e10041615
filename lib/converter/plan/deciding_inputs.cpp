// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/deciding_inputs.h"

#include <set>

namespace nnapi_convert {
namespace {

using torch::jit::Value;

constexpr int64_t kMostElements = 64;  // more are data: tokens, masks, pictures

bool is_countable(const TensorType& type) {
  return at::isIntegralType(type.dtype, /*includeBool=*/true);
}

// True if the node makes a number of a tensor's values.
bool reads_number(const torch::jit::Node& node) {
  static const std::set<std::string> readers = {"aten::item", "aten::Int",        "aten::IntImplicit",
                                                "aten::Bool", "aten::is_nonzero", "aten::_local_scalar_dense"};
  return readers.count(node.kind().toQualString()) != 0;
}

bool decides(const Value& input, const TypeMap& types) {
  std::vector<const Value*> rest{&input};
  std::set<const Value*> seen{&input};
  while (!rest.empty()) {
    const Value* value = rest.back();
    rest.pop_back();
    for (const torch::jit::Use& use : value->uses()) {
      if (reads_number(*use.user)) return true;
      for (const Value* output : use.user->outputs()) {
        const TensorType* type = tensor_type_of(output, types);
        if (type != nullptr && is_countable(*type) && seen.insert(output).second) rest.push_back(output);
      }
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> deciding_inputs(const NormalisedModel& model, const TypeMap& types) {
  std::vector<std::string> names;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const TensorType* type = tensor_type_of(model.inputs[i], types);
    if (type == nullptr || !is_countable(*type) || !all_fixed(type->dims)) continue;
    if (element_count(type->dims).value_or_most() > kMostElements) continue;
    if (decides(*model.inputs[i], types)) names.push_back(model.input_names.at(i));
  }
  return names;
}

}  // namespace nnapi_convert
