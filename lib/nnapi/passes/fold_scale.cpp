// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/fold_scale.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/affine.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/convolution_inputs.h"

namespace nnapi_convert::nnapi {
namespace {

// Factors further from 1 could take weights out of float's range.
constexpr float kLargestFactor = 1e6f;

// A number that reaches more tensors is not folded, so that the work grows only with the model's size.
constexpr size_t kMostTensors = 64;

// A MUL by a number.
struct Scaling {
  OperandId input, output;
  float factor;
};

std::optional<Scaling> scaling(const Model& model, const Operation& operation) {
  if (operation.code != OperationCode::MUL || !is_affine(model, operation)) return std::nullopt;
  const size_t position = model.at(operation.inputs[0]).is_constant() ? 0 : 1;
  const Constant* number = model.at(operation.inputs[position]).constant();
  if (number == nullptr || number->type() != DataType::kFloat32 || number->element_count() != 1) return std::nullopt;
  const Scaling result{operation.inputs[1 - position], operation.outputs[0], number->floats()[0]};
  const float size = std::abs(result.factor);
  const bool is_moderate = size <= kLargestFactor && size >= 1 / kLargestFactor;
  return is_moderate && model.at(result.output).dims == model.at(result.input).dims ? std::optional(result)
                                                                                    : std::nullopt;
}

bool has_float_weights(const Model& model, const Operation& operation) {
  if (!is_convolution(operation.code) && operation.code != OperationCode::FULLY_CONNECTED) return false;
  const Operand& filter = model.at(operation.inputs[kFilter]);
  return filter.constant() != nullptr && filter.type == OperandCode::TENSOR_FLOAT32;
}

// Returns whether multiplying `input` by a number multiplies the results by it: `input` is the operation's first input,
// or a factor of a product.
bool passes_scale(const Model& model, const Operation& operation, OperandId input) {
  switch (operation.code) {
    case OperationCode::RESHAPE:
    case OperationCode::TRANSPOSE:
    case OperationCode::GATHER:
    case OperationCode::SPLIT:
    case OperationCode::SLICE:
    case OperationCode::STRIDED_SLICE:
    case OperationCode::MEAN:
    case OperationCode::AVERAGE_POOL_2D:
      return operation.inputs[0] == input;
    case OperationCode::MUL:
      return is_affine(model, operation);
    default:
      return false;
  }
}

class ScaleFolder {
 public:
  explicit ScaleFolder(Model& model) : model_(model), builder_(model), readers_(readers_of(model)) {
    for (const Boundary& output : model.outputs) outputs_.insert(output.operand);
  }

  void run() {
    bool folds = false;
    for (const Operation& operation : model_.operations) {
      const auto found = scaling(model_, operation);
      if (found && fold(*found)) folds = true;
    }
    if (folds) drop_unread(model_);
  }

 private:
  // The tensors and operations that a number reaches.
  struct Reached {
    std::set<OperandId> tensors;  // these are multiplied by it
    std::set<size_t> products, layers;
  };

  const std::vector<size_t>& readers(OperandId id) const { return readers_[static_cast<size_t>(id)]; }

  bool fold(const Scaling& scaling) {
    Reached reached;
    if (!follow(scaling.output, reached) || !are_linear(reached) || reached.layers.empty()) return false;
    for (const size_t layer : reached.layers) scale_weights(model_.operations[layer], scaling.factor);
    for (const size_t reader : std::vector<size_t>(readers(scaling.output))) {
      auto& inputs = model_.operations[reader].inputs;
      std::replace(inputs.begin(), inputs.end(), scaling.output, scaling.input);
      readers_[static_cast<size_t>(scaling.input)].push_back(reader);
    }
    readers_[static_cast<size_t>(scaling.output)].clear();
    return true;
  }

  // Adds everything that the number reaches from this tensor on; false if it ends anywhere but in layers.
  bool follow(OperandId id, Reached& reached) const {
    if (!reached.tensors.insert(id).second) return true;
    if (outputs_.count(id) != 0 || reached.tensors.size() > kMostTensors) return false;
    return std::all_of(readers(id).begin(), readers(id).end(), [&](size_t number) {
      const Operation& reader = model_.operations[number];
      if (has_float_weights(model_, reader) && reader.inputs[0] == id) {
        reached.layers.insert(number);
        return true;
      }
      if (!passes_scale(model_, reader, id)) return false;
      if (reader.code == OperationCode::MUL) reached.products.insert(number);
      return std::all_of(reader.outputs.begin(), reader.outputs.end(),
                         [&](OperandId output) { return follow(output, reached); });
    });
  }

  // Returns whether no product has the number in both factors, and no other layer shares the layers' weights.
  bool are_linear(const Reached& reached) const {
    const bool once = std::all_of(reached.products.begin(), reached.products.end(), [&](size_t number) {
      const auto& inputs = model_.operations[number].inputs;
      return reached.tensors.count(inputs[0]) + reached.tensors.count(inputs[1]) == 1;
    });
    return once && std::all_of(reached.layers.begin(), reached.layers.end(), [&](size_t layer) {
             const auto& sharing = readers(model_.operations[layer].inputs[kFilter]);
             return std::all_of(sharing.begin(), sharing.end(),
                                [&](size_t other) { return reached.layers.count(other) != 0; });
           });
  }

  void scale_weights(Operation& layer, float factor) {
    const Constant filter = *model_.at(layer.inputs[kFilter]).constant();
    const auto channels = static_cast<size_t>(filter.shape().back());
    const auto factors = std::make_shared<const std::vector<float>>(channels, factor);
    layer.inputs[kFilter] =
        builder_.tensor(filter.then(ScaleAxis{static_cast<int64_t>(filter.shape().size()) - 1, factors}));
    readers_.resize(model_.operands.size());
    readers_[static_cast<size_t>(layer.inputs[kFilter])].push_back(
        static_cast<size_t>(&layer - model_.operations.data()));
  }

  Model& model_;
  Builder builder_;
  std::vector<std::vector<size_t>> readers_;  // by operand
  std::set<OperandId> outputs_;               // of the model
};

}  // namespace

void fold_scale(Model& model) {
  ScaleFolder(model).run();
}

}  // namespace nnapi_convert::nnapi
