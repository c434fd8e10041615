// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/byte_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/converter/frontend/quant_copies.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;

constexpr Quantization kBytes{1, 0};

// Returns whether the node reads one tensor, beside constants.
bool reads_one_tensor(const Node& node) {
  const auto inputs = node.inputs();
  return std::count_if(inputs.begin(), inputs.end(), [](const Value* input) {
           const bool is_tensor = input->type()->kind() == c10::TypeKind::TensorType;
           return is_tensor && input->node()->kind() != c10::prim::Constant;
         }) == 1;
}

// Finds the places where the bytes of an input become float32.
class ByteReads {
 public:
  ByteReads(const NormalisedModel& model, const TypeMap& types) : model_(model), types_(types) {}

  // Adds the value's reads. Returns false if it is read in another way than to become float32, or is returned.
  bool collect(const Value& value) {
    const auto& outputs = model_.outputs;
    if (std::find(outputs.begin(), outputs.end(), &value) != outputs.end()) return false;
    const auto& uses = value.uses();
    return std::all_of(uses.begin(), uses.end(), [this](const Use& use) { return add(use); });
  }

  const std::vector<Use>& reads() const { return reads_; }

 private:
  bool add(const Use& use) {
    const Node& node = *use.user;
    if (node.outputs().size() != 1 || node.maybeSchema() == nullptr || node.maybeSchema()->is_mutable()) return false;
    const OpTraits& traits = find_traits(node);
    if (traits.has(Fact::kReadsShapeOnly)) return true;
    const TensorType* result = tensor_type_of(node.output(), types_);
    if (result == nullptr) return false;
    if (result->dtype == at::kFloat && traits.rows == Rows::kElementwise) {
      reads_.push_back(use);
      return true;
    }
    const bool moves = traits.has(Fact::kMovesElements) && use.offset == 0 && reads_one_tensor(node);
    return result->dtype == at::kByte && moves && collect(*node.output());
  }

  const NormalisedModel& model_;
  const TypeMap& types_;
  std::vector<Use> reads_;
};

void dequantize_before(const Use& use, torch::jit::Graph& graph) {
  Node* dequantize = graph.create(kDequantize, {use.user->input(use.offset)}, 1)->insertBefore(use.user);
  use.user->replaceInput(use.offset, dequantize->output());
}

// Inserts the node that makes quint8 of the bytes on the CPU.
void quantise_in_graph(Value* input, torch::jit::Graph& graph) {
  const torch::jit::WithInsertPoint guard(*graph.nodes().begin());
  Value* scale = graph.insertConstant(kBytes.scale);
  Value* zero_point = graph.insertConstant(kBytes.zero_point);
  static const c10::Symbol kMake = c10::Symbol::fromQualString("aten::_make_per_tensor_quantized_tensor");
  Node* quantised = graph.create(kMake, {input, scale, zero_point}, 1);
  quantised->insertAfter(zero_point->node());
  input->replaceAllUsesAfterNodeWith(quantised, quantised->output());
}

[[noreturn]] void refuse(const std::string& name) {
  throw ConvertError(
      ExitCode::kNotConvertible,
      fmt::format("input {}: dtype uint8 found, which NNAPI takes only if the model moves its elements and "
                  "then makes float32 of them; call .float() on it before arithmetic",
                  name));
}

}  // namespace

bool hand_over_bytes(NormalisedModel& model, const TypeMap& types, QuantBoundaries& boundaries) {
  bool any = false;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    InputBoundary& boundary = boundaries.inputs[i];
    ByteReads bytes(model, types);
    if (boundary.type.dtype != at::kByte) continue;
    const bool fits = bytes.collect(*model.inputs[i]);
    if (!fits && model.run_by == RunBy::kNnapi) refuse(model.input_names[i]);
    if (!fits || bytes.reads().empty()) continue;
    for (const Use& use : bytes.reads()) dequantize_before(use, *model.graph);
    if (model.run_by == RunBy::kNnapi) {
      boundary.type = {at::kQUInt8, boundary.type.dims, kBytes};
      boundary.takes_bytes = true;
    } else {
      quantise_in_graph(model.inputs[i], *model.graph);
    }
    any = true;
  }
  return any;
}

}  // namespace nnapi_convert
