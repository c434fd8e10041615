// SPDX-License-Identifier: BSD-3-Clause
// The formulas of LSTM, GRU and plain recurrent cells, with PyTorch's order of gates in their weights.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include "lib/base/size_hint.h"
#include "lib/ops/recurrent_step.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr int kSplitLevel = 3;

int64_t gate_count(CellKind kind) {
  if (kind == CellKind::kLstm) return 4;  // input, forget, new, output
  if (kind == CellKind::kGru) return 3;   // reset, update, new
  return 1;
}

// Returns the rows of these gates, one gate behind the other.
at::Tensor rows_of(const at::Tensor& tensor, const std::vector<int64_t>& gates, int64_t size) {
  std::vector<at::Tensor> parts;
  for (const int64_t gate : gates) parts.push_back(tensor.narrow(0, gate * size, size));
  return parts.size() == 1 ? parts[0] : at::cat(parts);
}

}  // namespace

int64_t CellWeights::cell_size(CellKind kind) const {
  return input.size(0) / gate_count(kind);
}

void require_cell_weights(const OpArguments& args, CellKind kind, const CellWeights& weights) {
  for (const at::Tensor& tensor :
       {weights.input, weights.hidden, weights.input_bias, weights.hidden_bias, weights.projection}) {
    args.require(!tensor.defined() || tensor.scalar_type() == at::kFloat,
                 "weights of dtype " + (tensor.defined() ? dtype_name(tensor.scalar_type()) : ""), "float32",
                 "convert the model with model.float()");
  }
  const bool are_matrices = weights.input.dim() == 2 && weights.hidden.dim() == 2;
  args.require(
      are_matrices && weights.input.size(0) == weights.hidden.size(0) && weights.input.size(0) % gate_count(kind) == 0,
      fmt::format("weights of {} and {} numbers", weights.input.numel(), weights.hidden.numel()),
      fmt::format("matrices with equal rows, {} times the cell's size", gate_count(kind)));
}

TensorTypes state_types(const OpArguments& args, CellKind kind) {
  if (kind != CellKind::kLstm) return {args.tensor("hx")};
  const TensorTypes types = args.tensors("hx");
  args.require(types.size() == 2, fmt::format("{} states", types.size()), "2");
  return types;
}

void require_state(const OpArguments& args, const TensorType& type, const Dims& dims) {
  require_float(args, type);
  require_rank(args, type, dims.size(), dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {  // flexible sizes are checked when the model is built on the device
    const bool differ = type.dims[i] != dims[i] && type.dims[i].is_fixed() && dims[i].is_fixed();
    args.require(!differ, "a state " + to_text(type), to_text(dims), kSeeInput);
  }
}

namespace {

bool is_zero(const at::Tensor& tensor) {
  return tensor.count_nonzero().item<int64_t>() == 0;
}

bool is_zero(const TorchValue* value) {
  const auto constant = torch::jit::toIValue(value);
  return value->node()->kind() == c10::aten::zeros ||
         (constant && constant->isTensor() && is_zero(constant->toTensor()));
}

// Returns for each state whether it is zero whatever the input.
std::vector<bool> are_zero(const OpArguments& args, CellKind kind) {
  if (kind != CellKind::kLstm) return {is_zero(args.input("hx"))};
  std::vector<bool> result;
  if (args.is_constant("hx")) {
    for (const at::Tensor& tensor : args.constants("hx")) result.push_back(is_zero(tensor));
  } else {
    for (const TorchValue* value : args.elements("hx")) result.push_back(is_zero(value));
  }
  return result;
}

}  // namespace

std::vector<std::optional<Expression>> initial_states(OpContext& ctx, CellKind kind) {
  const std::vector<bool> zeros = are_zero(ctx, kind);
  const std::vector<LoweredTensor> operands =
      kind == CellKind::kLstm ? ctx.operands("hx") : std::vector<LoweredTensor>{ctx.operand("hx")};
  std::vector<std::optional<Expression>> states(zeros.size());
  for (size_t i = 0; i < states.size(); ++i) {
    if (!zeros[i]) states[i].emplace(ctx, operands[i]);
  }
  return states;
}

std::vector<Expression> equal_parts(const Expression& x, size_t axis, int64_t count) {
  if (count == 1) return {x};
  OpContext& ctx = x.context();
  Dims part = x.type().dims;
  part[axis] = *part[axis].exact_div(Dim(count));
  const TensorType type = x.type().with_dims(part);
  std::vector<Expression> parts;
  if (ctx.can_use(OperationCode::SPLIT, kSplitLevel)) {
    const std::vector<nnapi::Operand> outputs(static_cast<size_t>(count), to_operand(type));
    const nnapi::OperandId along = ctx.builder().int32(static_cast<int64_t>(axis));
    for (const nnapi::OperandId id :
         ctx.builder().add(OperationCode::SPLIT, {x.id(), along, ctx.builder().int32(count)}, outputs)) {
      parts.emplace_back(ctx, LoweredTensor{id, type});
    }
    return parts;
  }
  Dims begin(part.size(), Dim(0));
  Dims end = x.type().dims;
  for (int64_t i = 0; i < count; ++i) {
    begin[axis] = part[axis] * Dim(i);
    end[axis] = part[axis] * Dim(i + 1);
    parts.emplace_back(ctx, LoweredTensor{ctx.sliced({x.id(), x.type()}, begin, end, Dims(part.size(), Dim(1))), type});
  }
  return parts;
}

RecurrentCell::RecurrentCell(OpContext& ctx, CellKind kind, const CellWeights& weights)
    : ctx_(&ctx), kind_(kind), size_(weights.cell_size(kind)) {
  switch (kind) {
    case CellKind::kLstm:
      add_group(weights, {0, 1, 3}, true);
      add_group(weights, {2}, true);
      break;
    case CellKind::kGru:
      add_group(weights, {0, 1}, true);
      add_group(weights, {2}, false);
      if (weights.hidden_bias.defined()) gated_bias_ = groups_[1].hidden_bias;
      break;
    default:
      add_group(weights, {0}, true);
  }
  if (!weights.projection.defined()) return;
  const int64_t projected = weights.projection.size(0);
  projection_ = Group{};
  projection_->hidden_weights = ctx.constant_operand(weights.projection);
  projection_->hidden_bias = ctx.constant_operand(at::zeros({projected}));
  projection_->columns = projected;
}

// Adds a group of gates. Both biases go into the input's product, which one operation computes for all steps, unless
// the hidden bias has to stay apart.
void RecurrentCell::add_group(const CellWeights& weights, const std::vector<int64_t>& gates, bool adds_hidden_bias) {
  const auto rows = [&](const at::Tensor& tensor) { return rows_of(tensor, gates, size_); };
  const auto columns = static_cast<int64_t>(gates.size()) * size_;
  at::Tensor input_bias = at::zeros({columns});
  at::Tensor hidden_bias = input_bias;
  if (weights.input_bias.defined()) {
    input_bias = rows(weights.input_bias);
    if (adds_hidden_bias) {
      input_bias = input_bias + rows(weights.hidden_bias);
    } else {
      hidden_bias = rows(weights.hidden_bias);
    }
  }
  groups_.push_back({ctx_->constant_operand(rows(weights.input)), ctx_->constant_operand(input_bias),
                     ctx_->constant_operand(rows(weights.hidden)), ctx_->constant_operand(hidden_bias), columns});
}

GateProducts RecurrentCell::input_products(const Expression& input) const {
  const Dims& dims = input.type().dims;
  const Dim rows = product(Dims(dims.begin(), dims.end() - 1));
  const nnapi::OperandId none = ctx_->builder().int32(static_cast<int64_t>(FuseCode::NONE));
  GateProducts products;
  for (const Group& group : groups_) {
    products.push_back(input.then(OperationCode::FULLY_CONNECTED, {group.input_weights, group.input_bias, none},
                                  input.type().with_dims({rows, Dim(group.columns)})));
  }
  return products;
}

Expression RecurrentCell::hidden_product(const Group& group, const Expression& hidden) const {
  const nnapi::OperandId none = ctx_->builder().int32(static_cast<int64_t>(FuseCode::NONE));
  return hidden.then(OperationCode::FULLY_CONNECTED, {group.hidden_weights, group.hidden_bias, none},
                     hidden.type().with_dims({hidden.type().dims[0], Dim(group.columns)}));
}

Expression RecurrentCell::sum(size_t group, const GateProducts& products, const CellState& state) const {
  if (!state.hidden) return products[group];
  return hidden_product(groups_[group], *state.hidden) + products[group];
}

CellState RecurrentCell::lstm_step(const GateProducts& products, const CellState& state) const {
  const std::vector<Expression> gates = equal_parts(logistic(sum(0, products, state)), 1, 3);
  const Expression& input = gates[0];
  const Expression& forget = gates[1];
  const Expression& output = gates[2];
  const Expression added = input * tanh(sum(1, products, state));
  const Expression cell = state.cell ? forget * *state.cell + added : added;
  const Expression hidden = output * tanh(cell);
  return {projection_ ? hidden_product(*projection_, hidden) : hidden, cell};
}

CellState RecurrentCell::gru_step(const GateProducts& products, const CellState& state) const {
  const std::vector<Expression> gates = equal_parts(logistic(sum(0, products, state)), 1, 2);
  const Expression& reset = gates[0];
  const Expression& update = gates[1];
  if (!state.hidden) {
    const TensorType bias_type{at::kFloat, {Dim(size_)}, {}};
    const Expression next =
        tanh(gated_bias_ ? products[1] + reset * Expression(*ctx_, {*gated_bias_, bias_type}) : products[1]);
    return {next - update * next, std::nullopt};
  }
  const Expression next = tanh(products[1] + reset * hidden_product(groups_[1], *state.hidden));
  return {next + update * (*state.hidden - next), std::nullopt};
}

CellState RecurrentCell::step(const GateProducts& products, const CellState& state) const {
  switch (kind_) {
    case CellKind::kLstm:
      return lstm_step(products, state);
    case CellKind::kGru:
      return gru_step(products, state);
    case CellKind::kTanh:
      return {tanh(sum(0, products, state)), std::nullopt};
    default:
      return {relu(sum(0, products, state)), std::nullopt};
  }
}

}  // namespace nnapi_convert
