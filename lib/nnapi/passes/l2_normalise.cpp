// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/l2_normalise.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/convolution_inputs.h"
#include "lib/nnapi/passes/known_arguments.h"
#include "lib/nnapi/passes/shifted_mean.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr int64_t kEpsColumns = 4;         // kernels work on four numbers at once
constexpr int64_t kFewestColumns = 32;     // so that the layers get at most an eighth more multiply-adds
constexpr double kLeastSquares = 1e-10;    // NNAPI's L2_NORMALIZATION divides by at least 1e-6
constexpr size_t kChannelsOfImage = 3;     // the axis, in NHWC
constexpr size_t kExplicitArguments = 10;  // of CONV_2D with explicit padding, without a layout flag

// The computation x * RSQRT(MEAN(x * x) + eps).
struct Norm {
  OperandId rows;
  double eps;
  size_t product;  // the operation that multiplies
};

class RowNormaliser {
 public:
  explicit RowNormaliser(Model& model) : model_(model), builder_(model), uses_(model), readers_(readers_of(model)) {}

  void run() {
    std::map<size_t, Norm> norms;
    for (const Operation& root : model_.operations) {
      const auto norm = norm_with(root);
      if (norm && only_layers_read(model_.operations[norm->product].outputs[0])) norms.emplace(norm->product, *norm);
    }
    if (norms.empty()) return;
    const std::vector<Operation> operations = std::exchange(model_.operations, {});
    for (size_t i = 0; i < operations.size(); ++i) {
      const auto norm = norms.find(i);
      if (norm == norms.end()) {
        model_.operations.push_back(widened(operations[i]));
      } else {
        append(norm->second, operations[i]);
      }
    }
    drop_unread(model_);
  }

 private:
  const std::vector<size_t>& readers(OperandId id) const { return readers_[static_cast<size_t>(id)]; }

  // Returns the operation that makes the operand, if it has this code and one operation reads the operand; else null.
  const Operation* only_for_one(OperandId id, OperationCode code) const {
    const int index = uses_.producer[static_cast<size_t>(id)];
    if (index < 0 || uses_.readers[static_cast<size_t>(id)] != 1) return nullptr;
    const Operation& operation = model_.operations[static_cast<size_t>(index)];
    return operation.code == code ? &operation : nullptr;
  }

  std::optional<Norm> norm_with(const Operation& root) const {
    if (root.code != OperationCode::RSQRT) return std::nullopt;
    const Operation* sum = only_for_one(root.inputs[0], OperationCode::ADD);
    const auto found = sum != nullptr ? shifted_mean(model_, uses_, *sum) : std::nullopt;
    if (!found) return std::nullopt;
    const Operation* square = only_for_one(model_.operations[found->mean].inputs[0], OperationCode::MUL);
    if (square == nullptr || square->inputs[0] != square->inputs[1] || !has_no_activation(model_, *square)) {
      return std::nullopt;
    }
    const OperandId rows = square->inputs[0];
    if (!has_rows(rows)) return std::nullopt;
    const auto product = product_of(rows, root.outputs[0]);
    const double eps = found->added, columns = static_cast<double>(model_.at(rows).dims.back().value());
    if (!product || eps * columns < kLeastSquares) return std::nullopt;
    return Norm{rows, eps, *product};
  }

  bool has_rows(OperandId id) const {
    const Operand& rows = model_.at(id);
    return rows.type == OperandCode::TENSOR_FLOAT32 && !rows.is_constant() && rows.dims.size() >= 2 &&
           rows.dims.back().is_fixed() && rows.dims.back().value() >= kFewestColumns;
  }

  // Returns the MUL of the rows and the factor, if nothing else reads the factor and the MUL's result is no model
  // output.
  std::optional<size_t> product_of(OperandId rows, OperandId factor) const {
    if (uses_.readers[static_cast<size_t>(factor)] != 1 || readers(factor).size() != 1) return std::nullopt;
    const size_t number = readers(factor)[0];
    const Operation& product = model_.operations[number];
    const bool is_product = product.code == OperationCode::MUL && has_no_activation(model_, product) &&
                            (product.inputs == std::vector<OperandId>{rows, factor, product.inputs[2]} ||
                             product.inputs == std::vector<OperandId>{factor, rows, product.inputs[2]});
    const size_t reads = is_product ? readers(product.outputs[0]).size() : 0;
    const bool is_inside =
        reads != 0 && uses_.readers[static_cast<size_t>(product.outputs[0])] == static_cast<int>(reads);
    return is_inside ? std::optional(number) : std::nullopt;
  }

  bool only_layers_read(OperandId rows) const {
    return std::all_of(readers(rows).begin(), readers(rows).end(),
                       [&](size_t reader) { return is_layer_of(model_.operations[reader], rows); });
  }

  // Returns whether the operation reads the rows as the input of a linear layer with constant weights.
  bool is_layer_of(const Operation& layer, OperandId rows) const {
    const bool is_image = layer.code == OperationCode::CONV_2D;
    if (!is_image && layer.code != OperationCode::FULLY_CONNECTED) return false;
    const Operand& filter = model_.at(layer.inputs[kFilter]);
    const bool has_weights = layer.inputs[0] == rows && filter.constant() != nullptr &&
                             filter.type == OperandCode::TENSOR_FLOAT32 &&
                             filter.dims.back() == model_.at(rows).dims.back();
    if (!has_weights || !is_image) return has_weights;
    return layer.inputs.size() == kExplicitArguments && filter.dims.size() == kChannelsOfImage + 1 &&
           filter.dims[1] == Dim(1) && filter.dims[2] == Dim(1);
  }

  // Appends the norm: pads the rows with columns whose squares add up to `columns * eps`, and normalises them to length
  // 1.
  void append(const Norm& norm, const Operation& product) {
    builder_.set_source(product.source);
    Operand wide = model_.at(norm.rows);
    const int64_t columns = wide.dims.back().value();
    wide.dims.back() = Dim(columns + kEpsColumns);
    Dims paddings(2 * wide.dims.size(), Dim(0));
    paddings.back() = Dim(kEpsColumns);
    const auto rank = static_cast<int64_t>(wide.dims.size());
    const auto value =
        static_cast<float>(std::sqrt(norm.eps * static_cast<double>(columns) / static_cast<double>(kEpsColumns)));
    const OperandId padded = builder_.add(
        OperationCode::PAD_V2, {norm.rows, builder_.int32_tensor(paddings, {rank, 2}), builder_.float32(value)}, wide);
    wide_[product.outputs[0]] = builder_.add(OperationCode::L2_NORMALIZATION, {padded, builder_.int32(rank - 1)}, wide);
  }

  // Returns the operation, with a filter for wide rows if it reads such rows.
  Operation widened(Operation operation) {
    const auto wide = operation.inputs.empty() ? wide_.end() : wide_.find(operation.inputs[0]);
    if (wide == wide_.end()) return operation;
    const Constant& filter = *model_.at(operation.inputs[kFilter]).constant();
    const int64_t columns = filter.shape().back();
    const auto factors = std::make_shared<const std::vector<float>>(
        static_cast<size_t>(columns), static_cast<float>(std::sqrt(static_cast<double>(columns))));
    const auto last = static_cast<int64_t>(filter.shape().size()) - 1;
    operation.inputs[0] = wide->second;
    operation.inputs[kFilter] = builder_.tensor(filter.then(ScaleAxis{last, factors}).then(AppendZeros{kEpsColumns}));
    return operation;
  }

  Model& model_;
  Builder builder_;
  const Uses uses_;
  const std::vector<std::vector<size_t>> readers_;
  std::map<OperandId, OperandId> wide_;  // normalised wide rows, by the rows that they replace
};

}  // namespace

void l2_normalise(Model& model) {
  RowNormaliser(model).run();
}

}  // namespace nnapi_convert::nnapi
