// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/recurrent_operations.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

using nnapi::OperandId;

constexpr int kSequenceLevel = 3;     // the level of the operations on sequences
constexpr int kStateOutLevel = 4;     // the level of their outputs for the last state
constexpr int64_t kTanh = 4;          // the activation of the LSTM operations, by a code of their own
constexpr int64_t kLstmGates = 4;     // in PyTorch's order, which is NNAPI's: input, forget, cell, output
constexpr size_t kPeepholes = 3;      // PyTorch's LSTM has none of these, nor of the next two
constexpr size_t kLayerNorms = 4;     // in each direction
constexpr size_t kLinkedWeights = 4;  // of an auxiliary input, in each direction

// Returns an operand that is left out; its sizes have no meaning.
OperandId omitted(OpContext& ctx, size_t rank) {
  nnapi::Operand operand;
  operand.dims = Dims(rank, Dim(1));
  operand.value = nnapi::Omitted{};
  return ctx.builder().model().add(std::move(operand));
}

void append_omitted(OpContext& ctx, std::vector<OperandId>& operands, size_t count, size_t rank) {
  for (size_t i = 0; i < count; ++i) operands.push_back(omitted(ctx, rank));
}

void append(std::vector<OperandId>& operands, const std::vector<OperandId>& others) {
  operands.insert(operands.end(), others.begin(), others.end());
}

void append_gates(OpContext& ctx, const at::Tensor& tensor, std::vector<OperandId>& operands) {
  const int64_t size = tensor.size(0) / kLstmGates;
  for (int64_t gate = 0; gate < kLstmGates; ++gate) {
    operands.push_back(ctx.constant_operand(tensor.narrow(0, gate * size, size)));
  }
}

// Returns the sum of the two biases: NNAPI has one where PyTorch adds two.
at::Tensor bias_of(const CellWeights& weights) {
  if (!weights.input_bias.defined()) return at::zeros({weights.input.size(0)});
  return weights.input_bias + weights.hidden_bias;
}

// Returns the LSTM's operands from the weights of the input to the bias of the projection.
std::vector<OperandId> lstm_weights(OpContext& ctx, const CellWeights& weights) {
  std::vector<OperandId> operands;
  append_gates(ctx, weights.input, operands);
  append_gates(ctx, weights.hidden, operands);
  append_omitted(ctx, operands, kPeepholes, 1);
  append_gates(ctx, bias_of(weights), operands);
  operands.push_back(weights.projection.defined() ? ctx.constant_operand(weights.projection) : omitted(ctx, 2));
  operands.push_back(omitted(ctx, 1));
  return operands;
}

// Returns the LSTM's activation, and the bounds of cells and projections, where 0 means none.
std::vector<OperandId> lstm_parameters(OpContext& ctx) {
  return {ctx.builder().int32(kTanh), ctx.builder().float32(0), ctx.builder().float32(0)};
}

TensorType state_type(const Dim& batch, int64_t size) {
  return {at::kFloat, {batch, Dim(size)}, {}};
}

OperandId state_operand(OpContext& ctx, const std::optional<Expression>& state, const TensorType& type) {
  if (state) return state->id();
  return all_fixed(type.dims) ? ctx.constant_operand(at::zeros(fixed_values(type.dims))) : filled(ctx, 0, type).id();
}

// Lowers one layer of a recurrent network over a sequence.
class Layer {
 public:
  Layer(OpContext& ctx, const Sequence& sequence, size_t first, bool gives_states)
      : ctx_(ctx), sequence_(sequence), first_(first), gives_states_(gives_states) {
    for (size_t i = first; i < first + count(); ++i) {
      hidden_types_.push_back(state_type(sequence.batch, sequence.state_size()));
      cell_types_.push_back(state_type(sequence.batch, sequence.weights[i].cell_size(sequence.kind)));
    }
  }

  Expression run(const Expression& input, const std::vector<std::optional<Expression>>& hidden,
                 const std::vector<std::optional<Expression>>& cells) {
    for (size_t i = 0; i < count(); ++i) {
      hidden_.push_back(state_operand(ctx_, hidden[first_ + i], hidden_types_[i]));
      if (is_lstm()) cells_.push_back(state_operand(ctx_, cells[first_ + i], cell_types_[i]));
    }
    TensorType type = input.type();
    type.dims[2] = Dim(sequence_.directions * sequence_.state_size());
    std::vector<nnapi::Operand> outputs{to_operand(type)};
    for (size_t i = 0; i < count() && gives_states_; ++i) {
      outputs.push_back(to_operand(hidden_types_[i]));
      outputs.push_back(to_operand(cell_types_[i]));
    }
    const std::vector<OperandId> ids = ctx_.builder().add(code(), inputs(input.id()), outputs);
    const Expression output(ctx_, {ids[0], type});
    for (size_t i = 0; i < count(); ++i) {
      last_hidden.push_back(gives_states_ ? Expression(ctx_, {ids[1 + 2 * i], hidden_types_[i]})
                                          : last_step(output, i));
      if (gives_states_) last_cells.emplace_back(ctx_, LoweredTensor{ids[2 + 2 * i], cell_types_[i]});
    }
    return output;
  }

  // The last states, by direction; those of the cells only if they are asked for.
  std::vector<Expression> last_hidden, last_cells;

 private:
  size_t count() const { return static_cast<size_t>(sequence_.directions); }
  bool is_lstm() const { return sequence_.kind == CellKind::kLstm; }
  bool is_bidirectional() const { return sequence_.directions == 2; }
  const CellWeights& weights(size_t direction) const { return sequence_.weights[first_ + direction]; }
  OperandId flag(bool value) { return ctx_.builder().boolean(value); }

  OperationCode code() const {
    if (is_lstm()) {
      return is_bidirectional() ? OperationCode::BIDIRECTIONAL_SEQUENCE_LSTM
                                : OperationCode::UNIDIRECTIONAL_SEQUENCE_LSTM;
    }
    return is_bidirectional() ? OperationCode::BIDIRECTIONAL_SEQUENCE_RNN : OperationCode::UNIDIRECTIONAL_SEQUENCE_RNN;
  }

  std::vector<OperandId> inputs(OperandId input) {
    std::vector<OperandId> operands{input};
    is_lstm() ? append_lstm(operands) : append_rnn(operands);
    return operands;
  }

  void append_lstm(std::vector<OperandId>& operands) {
    for (size_t i = 0; i < count(); ++i) append(operands, lstm_weights(ctx_, weights(i)));
    for (size_t i = 0; i < count(); ++i) append(operands, {hidden_[i], cells_[i]});
    if (is_bidirectional()) {
      operands.push_back(omitted(ctx_, 3));
      append_omitted(ctx_, operands, count() * kLinkedWeights, 2);
    }
    append(operands, lstm_parameters(ctx_));
    if (is_bidirectional()) operands.push_back(flag(true));  // one output for both directions
    operands.push_back(flag(!sequence_.batch_first));
    append_omitted(ctx_, operands, count() * kLayerNorms, 1);
  }

  void append_rnn(std::vector<OperandId>& operands) {
    for (size_t i = 0; i < count(); ++i) {
      append(operands, {ctx_.constant_operand(weights(i).input), ctx_.constant_operand(weights(i).hidden),
                        ctx_.constant_operand(bias_of(weights(i))), hidden_[i]});
    }
    if (is_bidirectional()) {
      operands.push_back(omitted(ctx_, 3));
      append_omitted(ctx_, operands, count(), 2);
    }
    operands.push_back(ctx_.builder().int32(static_cast<int64_t>(FuseCode::RELU)));
    if (is_bidirectional()) {
      append(operands, {flag(!sequence_.batch_first), flag(true)});
    } else {
      operands.push_back(ctx_.builder().int32(sequence_.batch_first ? 0 : 1));
    }
  }

  // Returns the output of a direction's last step: the backward direction ends with step 0.
  Expression last_step(const Expression& output, size_t direction) {
    const TensorType& type = output.type();
    const size_t axis = sequence_.batch_first ? 1 : 0;
    const Dim step = direction == 0 ? sequence_.length - Dim(1) : Dim(0);
    const auto column = static_cast<int64_t>(direction) * sequence_.state_size();
    Dims begin(type.rank(), Dim(0));
    Dims end = type.dims;
    begin[axis] = step;
    end[axis] = step + Dim(1);
    begin[2] = Dim(column);
    end[2] = Dim(column + sequence_.state_size());
    Dims sizes = type.dims;
    sizes[axis] = Dim(1);
    sizes[2] = Dim(sequence_.state_size());
    const OperandId id = ctx_.sliced({output.id(), type}, begin, end, Dims(type.rank(), Dim(1)));
    return reshape({ctx_, {id, type.with_dims(sizes)}}, hidden_types_[direction].dims);
  }

  OpContext& ctx_;
  const Sequence& sequence_;
  size_t first_;
  bool gives_states_;
  std::vector<TensorType> hidden_types_, cell_types_;
  std::vector<OperandId> hidden_, cells_;
};

bool is_read(const OpContext& ctx, size_t output) {
  return !ctx.node().output(output)->uses().empty();
}

bool reads_cells(const OpContext& ctx, const Sequence& sequence) {
  return sequence.kind == CellKind::kLstm && is_read(ctx, 2);
}

}  // namespace

bool has_sequence_operation(const OpContext& ctx, const Sequence& sequence) {
  // NNAPI's recurrent layers without gates have no tanh.
  const bool has_kind = sequence.kind == CellKind::kLstm || sequence.kind == CellKind::kRelu;
  const int level = reads_cells(ctx, sequence) ? kStateOutLevel : kSequenceLevel;
  return ctx.target().omitted_operands && has_kind && ctx.feature_level() >= level;
}

void lower_sequence_operations(OpContext& ctx, const Sequence& sequence,
                               const std::vector<std::optional<Expression>>& hidden,
                               const std::vector<std::optional<Expression>>& cells) {
  std::vector<Expression> last_hidden, last_cells;
  Expression output = argument(ctx, "input");
  for (size_t first = 0; first < sequence.state_count(); first += static_cast<size_t>(sequence.directions)) {
    Layer layer(ctx, sequence, first, reads_cells(ctx, sequence));
    output = layer.run(output, hidden, cells);
    last_hidden.insert(last_hidden.end(), layer.last_hidden.begin(), layer.last_hidden.end());
    last_cells.insert(last_cells.end(), layer.last_cells.begin(), layer.last_cells.end());
  }
  output.set_output(0);
  ctx.set_output(reshape(joined(last_hidden, 0), ctx.output_type(1).dims).id(), 1);
  if (sequence.kind != CellKind::kLstm) return;
  // Without a reader of the cell states, any operand of their type will do.
  const TensorType cell_type = ctx.output_type(2);
  ctx.set_output(
      last_cells.empty() ? filled(ctx, 0, cell_type).id() : reshape(joined(last_cells, 0), cell_type.dims).id(), 2);
}

bool has_step_operation(const OpContext& ctx, CellKind kind) {
  return ctx.target().omitted_operands && kind == CellKind::kLstm;
}

LstmOperation::LstmOperation(OpContext& ctx, const CellWeights& weights)
    : ctx_(&ctx),
      state_size_(weights.state_size()),
      cell_size_(weights.cell_size(CellKind::kLstm)),
      weights_(lstm_weights(ctx, weights)) {}

CellState LstmOperation::step(const Expression& input, const CellState& state) const {
  const Dim& batch = input.type().dims[0];
  const TensorType hidden_type = state_type(batch, state_size_);
  const TensorType cell_type = state_type(batch, cell_size_);
  std::vector<OperandId> operands{input.id()};
  append(operands, weights_);
  append(operands, {state_operand(*ctx_, state.hidden, hidden_type), state_operand(*ctx_, state.cell, cell_type)});
  append(operands, lstm_parameters(*ctx_));
  const nnapi::Operand scratch = to_operand(state_type(batch, kLstmGates * cell_size_));
  const std::vector<OperandId> outputs =
      ctx_->builder().add(OperationCode::LSTM, operands,
                          {scratch, to_operand(hidden_type), to_operand(cell_type), to_operand(hidden_type)});
  return {Expression(*ctx_, {outputs[3], hidden_type}), Expression(*ctx_, {outputs[2], cell_type})};
}

Expression joined(const std::vector<Expression>& parts, size_t axis) {
  if (parts.size() == 1) return parts[0];
  OpContext& ctx = parts[0].context();
  TensorType type = parts[0].type();
  type.dims[axis] = type.dims[axis] * Dim(static_cast<int64_t>(parts.size()));
  std::vector<OperandId> ids;
  for (const Expression& part : parts) ids.push_back(part.id());
  ids.push_back(ctx.builder().int32(static_cast<int64_t>(axis)));
  return {ctx, {ctx.emit_to(OperationCode::CONCATENATION, ids, type), type}};
}

}  // namespace nnapi_convert
