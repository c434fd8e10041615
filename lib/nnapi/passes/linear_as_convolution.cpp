// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/linear_as_convolution.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lib/format/operation_table.h"
#include "lib/nnapi/passes/pointwise_convolution.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr size_t kImageRank = 4;

Dims places_of(const Dims& image) {
  return {image.begin(), image.end() - 1};
}

bool is_image(const Operand& operand) {
  return operand.dims.size() == kImageRank && operand.type == OperandCode::TENSOR_FLOAT32;
}

// The operations between an image and a RESHAPE that turns their result, a matrix, back into an image.
class Region {
 public:
  Region(const Model& model, const Uses& uses, const Operation& reshape)
      : model_(model), uses_(uses), places_(places_of(model.at(reshape.outputs[0]).dims)) {
    is_whole_ = collect(reshape.inputs[0]) && has_all_readers(reshape.inputs[0]);
  }

  // False if an operation can't work on the image, or if one outside the region reads one of its matrices.
  bool is_whole() const { return is_whole_; }
  const std::vector<size_t>& operations() const { return operations_; }
  const Dims& places() const { return places_; }

 private:
  bool is_matrix(OperandId id) const {
    const Operand& operand = model_.at(id);
    return operand.dims.size() == 2 && operand.type == OperandCode::TENSOR_FLOAT32 && !operand.is_constant() &&
           operand.dims[0] == product(places_);
  }

  bool collect(OperandId matrix) {
    if (!is_matrix(matrix)) return false;
    if (reads_.count(matrix) != 0) return true;
    const int producer = uses_.producer[static_cast<size_t>(matrix)];
    if (producer < 0) return false;
    reads_[matrix] = 0;
    const Operation& operation = model_.operations[static_cast<size_t>(producer)];
    if (operation.outputs.size() != 1 || !collect_inputs(operation)) return false;
    operations_.push_back(static_cast<size_t>(producer));
    return true;
  }

  bool collect_inputs(const Operation& operation) {
    if (operation.code == OperationCode::FULLY_CONNECTED) return collect_inputs_of_layer(operation);
    return has_trait(operation.code, OperationTrait::kElementwise) &&
           std::all_of(operation.inputs.begin(), operation.inputs.end(), [this](OperandId id) {
             const Operand& operand = model_.at(id);
             return operand.is_constant() ? operand.dims.size() <= 1 : collect_read(id);
           });
  }

  bool collect_inputs_of_layer(const Operation& layer) {
    const Operand &input = model_.at(layer.inputs[0]), &weights = model_.at(layer.inputs[1]);
    if (weights.constant() == nullptr || weights.type != OperandCode::TENSOR_FLOAT32) return false;
    if (!is_image(input)) return collect_read(layer.inputs[0]);
    return !input.is_constant() && places_of(input.dims) == places_ && input.dims.back() == weights.dims.back();
  }

  bool collect_read(OperandId matrix) {
    if (!collect(matrix)) return false;
    ++reads_[matrix];
    return true;
  }

  bool has_all_readers(OperandId result) {
    ++reads_[result];  // the RESHAPE's read
    return std::all_of(reads_.begin(), reads_.end(), [this](const auto& read) {
      return read.second == uses_.readers[static_cast<size_t>(read.first)];
    });
  }

  const Model& model_;
  const Uses& uses_;
  Dims places_;
  std::map<OperandId, int> reads_;  // by matrix: how often the region and the RESHAPE read it
  std::vector<size_t> operations_;
  bool is_whole_ = false;
};

class LinearLayers {
 public:
  explicit LinearLayers(Model& model) : model_(model), builder_(model) {}

  void run() {
    const Uses uses(model_);
    for (Operation& reshape : model_.operations) {
      if (reshape.code != OperationCode::RESHAPE || !is_image(model_.at(reshape.outputs[0]))) continue;
      const Region region(model_, uses, reshape);
      if (region.is_whole()) change(region, reshape);
    }
    auto& operations = model_.operations;
    operations.erase(std::remove_if(operations.begin(), operations.end(),
                                    [](const Operation& operation) { return operation.outputs.empty(); }),
                     operations.end());
  }

 private:
  // Makes the region work on images; its last operation then writes the RESHAPE's result.
  void change(const Region& region, Operation& reshape) {
    const OperandId matrix = reshape.inputs[0], image = std::exchange(reshape.outputs, {})[0];
    for (const size_t number : region.operations()) {
      Operation& operation = model_.operations[number];
      if (operation.code == OperationCode::FULLY_CONNECTED) make_convolution(operation);
      const OperandId output = operation.outputs[0];
      if (output == matrix) {
        operation.outputs[0] = image;
        continue;
      }
      Dims dims = region.places();
      dims.push_back(model_.at(output).dims.back());
      model_.at(output).dims = std::move(dims);
    }
  }

  void make_convolution(Operation& layer) {
    const Constant weights = *model_.at(layer.inputs[1]).constant();
    const OperandId filter = builder_.tensor(weights.then(Reshape{{weights.shape()[0], 1, 1, weights.shape()[1]}}));
    layer.code = OperationCode::CONV_2D;
    layer.inputs = pointwise_arguments(builder_, layer.inputs[0], filter, layer.inputs[2], layer.inputs[3]);
  }

  Model& model_;
  Builder builder_;
};

}  // namespace

void linear_as_convolution(Model& model) {
  LinearLayers(model).run();
}

}  // namespace nnapi_convert::nnapi
