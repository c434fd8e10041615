// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/group_products.h"

#include <algorithm>
#include <optional>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/insertions.h"
#include "lib/nnapi/passes/known_arguments.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr int kGroupedConvolutionLevel = 3;
// The bias of zeros is stored in the file: this limits it to 1 MB.
constexpr int64_t kMaxBiasElements = 1 << 18;

// A product of each matrix of `left` [batch * rows, inner] and the transposed matrix of `right` [batch * columns,
// inner].
struct Products {
  OperandId left, right;
  int64_t batch;
};

class ProductGrouper {
 public:
  explicit ProductGrouper(Model& model) : model_(model), builder_(model), uses_(model) {}

  void run() {
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      if (const auto products = joined_products(model_.operations[i])) replace(i, *products);
    }
    if (!made_.empty()) made_.apply(model_);
  }

 private:
  const Dims& dims(OperandId id) const { return model_.at(id).dims; }

  // Returns the operation that makes the operand, if it has this code.
  const Operation* producer(OperandId id, OperationCode code) const {
    const int index = uses_.producer[static_cast<size_t>(id)];
    if (index < 0 || model_.operations[static_cast<size_t>(index)].code != code) return nullptr;
    return &model_.operations[static_cast<size_t>(index)];
  }

  bool is_read_once(OperandId id) const { return uses_.readers[static_cast<size_t>(id)] == 1; }

  bool is_zeros(OperandId id) const {
    const Constant* constant = model_.at(id).constant();
    if (constant == nullptr) return false;
    const std::vector<float> values = constant->floats();
    return std::all_of(values.begin(), values.end(), [](float value) { return value == 0; });
  }

  // Returns the float matrix of which the operand is part number `part` of `count` along axis 0; nothing if it is no
  // such part, or is read more than once.
  std::optional<OperandId> whole_of(OperandId id, size_t part, size_t count) const {
    const Operation* split = producer(id, OperationCode::SPLIT);
    if (split == nullptr || split->outputs.size() != count || split->outputs[part] != id) return std::nullopt;
    const OperandId whole = split->inputs[0];
    const bool is_matrix = dims(whole).size() == 2 && all_fixed(dims(whole));
    const bool is_float = model_.at(whole).type == OperandCode::TENSOR_FLOAT32;
    if (!is_matrix || !is_float || !is_number(model_, split->inputs[1], 0) || !is_read_once(id)) return std::nullopt;
    return whole;
  }

  // Returns the products whose results the operation joins along axis 0, if it joins nothing else.
  std::optional<Products> joined_products(const Operation& operation) const {
    if (operation.code != OperationCode::CONCATENATION || !is_number(model_, operation.inputs.back(), 0))
      return std::nullopt;
    const size_t batch = operation.inputs.size() - 1;
    std::optional<Products> result;
    for (size_t i = 0; i < batch; ++i) {
      const Operation* product = producer(operation.inputs[i], OperationCode::FULLY_CONNECTED);
      if (product == nullptr || !is_read_once(operation.inputs[i])) return std::nullopt;
      const auto left = whole_of(product->inputs[0], i, batch), right = whole_of(product->inputs[1], i, batch);
      const bool is_plain = is_zeros(product->inputs[2]) && has_no_activation(model_, *product);
      if (!left || !right || !is_plain) return std::nullopt;
      if (result && (result->left != *left || result->right != *right)) return std::nullopt;
      result = Products{*left, *right, static_cast<int64_t>(batch)};
    }
    if (batch < 2 || dims(result->right)[0].value() > kMaxBiasElements) return std::nullopt;
    return result;
  }

  // Adds an operation of one output before the operation with this number.
  OperandId add(size_t number, OperationCode code, std::vector<OperandId> inputs, Dims dims) {
    Operand type = model_.at(model_.operations[number].outputs[0]);
    type.dims = std::move(dims);
    const OperandId result = builder_.variable(type);
    made_.add_before(number, {code, std::move(inputs), {result}, model_.operations[number].source});
    return result;
  }

  OperandId reshaped(size_t number, OperandId id, Dims dims) {
    const OperandId sizes = builder_.int32_tensor(dims);
    return add(number, OperationCode::RESHAPE, {id, sizes}, std::move(dims));
  }

  // Exchanges axes 0 and 1 of a tensor of three axes.
  OperandId exchanged(size_t number, OperandId id) {
    const Dims from = dims(id);
    return add(number, OperationCode::TRANSPOSE, {id, builder_.int32_tensor({Dim(1), Dim(0), Dim(2)})},
               {from[1], from[0], from[2]});
  }

  OperandId grouped_convolution(size_t number, OperandId image, OperandId filter, int64_t groups) {
    const Dim channels = dims(filter)[0];
    std::vector<OperandId> inputs{
        image, filter, builder_.tensor(Constant::of_floats(std::vector<float>(static_cast<size_t>(channels.value()))))};
    for (int side = 0; side < 4; ++side) inputs.push_back(builder_.int32(0));
    for (int stride = 0; stride < 2; ++stride) inputs.push_back(builder_.int32(1));
    inputs.push_back(builder_.int32(groups));
    inputs.push_back(builder_.int32(static_cast<int64_t>(FuseCode::NONE)));
    inputs.push_back(builder_.boolean(false));  // NHWC
    return add(number, OperationCode::GROUPED_CONV_2D, std::move(inputs), {Dim(1), dims(image)[1], Dim(1), channels});
  }

  // Replaces the products by a GROUPED_CONV_2D: rows are the image's height, and matrices are groups of its channels.
  void replace(size_t number, const Products& products) {
    const Dim batch(products.batch), inner = dims(products.left)[1];
    const Dim rows(dims(products.left)[0].value() / products.batch);
    const Dim columns(dims(products.right)[0].value() / products.batch);
    const OperandId of_rows = exchanged(number, reshaped(number, products.left, {batch, rows, inner}));
    const OperandId image = reshaped(number, of_rows, {Dim(1), rows, Dim(1), batch * inner});
    const OperandId filter = reshaped(number, products.right, {batch * columns, Dim(1), Dim(1), inner});
    const OperandId result = grouped_convolution(number, image, filter, products.batch);
    const OperandId of_matrices = exchanged(number, reshaped(number, result, {rows, batch, columns}));
    Operation& join = model_.operations[number];
    const OperandId sizes = builder_.int32_tensor({batch * rows, columns});
    made_.add_before(number, {OperationCode::RESHAPE, {of_matrices, sizes}, join.outputs, join.source});
    join.outputs.clear();
  }

  Model& model_;
  Builder builder_;
  Uses uses_;
  Insertions made_;
};

}  // namespace

void group_products(Model& model, int feature_level) {
  if (feature_level < kGroupedConvolutionLevel) return;
  ProductGrouper(model).run();
  drop_unread(model);
}

}  // namespace nnapi_convert::nnapi
