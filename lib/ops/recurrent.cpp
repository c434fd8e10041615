// SPDX-License-Identifier: BSD-3-Clause
// Recurrent layers over a sequence: one operation each where NNAPI has one and the loader can say it, else unrolled,
// which needs a fixed length: the input's products for all steps at once, then step by step the recurrent ones.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/base/size_hint.h"
#include "lib/ops/factor.h"
#include "lib/ops/families.h"
#include "lib/ops/recurrent_operations.h"
#include "lib/ops/recurrent_step.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// Reads the weights of each direction of each layer: input and hidden weights, their biases if any, an LSTM's
// projection if any.
std::vector<CellWeights> read_weights(const OpArguments& args, CellKind kind, int64_t directions) {
  const std::vector<at::Tensor> params = args.constants("params");
  const int64_t layers = args.integer("num_layers");
  const bool has_biases = args.boolean("has_biases");
  args.require(params.size() >= 2, fmt::format("{} weights", params.size()), "2 or more");
  const bool has_projection = kind == CellKind::kLstm && params[0].dim() == 2 && params[1].dim() == 2 &&
                              params[0].size(0) != 4 * params[1].size(1);
  const size_t each = 2 + (has_biases ? 2 : 0) + (has_projection ? 1 : 0);
  const auto count = static_cast<size_t>(layers * directions);
  args.require(params.size() == each * count, fmt::format("{} weights", params.size()), std::to_string(each * count));
  std::vector<CellWeights> result;
  for (size_t at = 0; at < params.size(); at += each) {
    CellWeights weights{params[at], params[at + 1], {}, {}, {}};
    if (has_biases) {
      weights.input_bias = params[at + 2];
      weights.hidden_bias = params[at + 3];
    }
    if (has_projection) weights.projection = params[at + each - 1];
    require_cell_weights(args, kind, weights);
    result.push_back(weights);
  }
  return result;
}

Sequence read_sequence(const OpArguments& args, CellKind kind) {
  const TensorType input = args.tensor("input");
  require_float(args, input);
  require_rank(args, input, 3, 3);
  args.require(!args.boolean("train") || args.number("dropout") == 0,
               fmt::format("dropout = {} in training mode", args.number("dropout")), "evaluation mode",
               "call model.eval() before tracing or scripting");
  Sequence sequence{kind, args.boolean("batch_first"), args.boolean("bidirectional") ? 2 : 1, {}, {}, {}};
  sequence.weights = read_weights(args, kind, sequence.directions);
  const int64_t features = sequence.weights[0].features();
  args.require(input.dims[2] == Dim(features), "an input " + to_text(input),
               fmt::format("a last dimension of {}", features), kSeeInput);
  sequence.length = input.dims[sequence.batch_first ? 1 : 0];
  args.require(sequence.length != Dim(0), "an empty sequence", "1 step or more");
  sequence.batch = input.dims[sequence.batch_first ? 0 : 1];
  return sequence;
}

template <CellKind kind>
std::vector<ValueType> sequence_type(const OpArguments& args) {
  const Sequence sequence = read_sequence(args, kind);
  const Dim count(static_cast<int64_t>(sequence.state_count()));
  const Dims hidden{count, sequence.batch, Dim(sequence.state_size())};
  const Dims cell{count, sequence.batch, Dim(sequence.weights[0].cell_size(kind))};
  const TensorTypes states = state_types(args, kind);
  require_state(args, states[0], hidden);
  TensorType output = args.tensor("input");
  output.dims[2] = Dim(sequence.directions * sequence.state_size());
  std::vector<ValueType> types{output, output.with_dims(hidden)};
  if (kind == CellKind::kLstm) {
    require_state(args, states[1], cell);
    types.emplace_back(output.with_dims(cell));
  }
  return types;
}

// Splits a state [layers * directions, batch, size] into a matrix for each layer and direction; nothing stands for
// zeros.
std::vector<std::optional<Expression>> state_of_each(OpContext& ctx, const std::optional<Expression>& state,
                                                     size_t count) {
  if (!state) return std::vector<std::optional<Expression>>(count);
  const Dims& dims = state->type().dims;
  const LoweredTensor rows = reshaped(ctx, {state->id(), state->type()}, {dims[0] * dims[1], dims[2]});
  const std::vector<Expression> parts = equal_parts({ctx, rows}, 0, static_cast<int64_t>(count));
  return {parts.begin(), parts.end()};
}

// The steps' inputs one by one, or their products with the input's weights.
class Steps {
 public:
  Steps(OpContext& ctx, const Sequence& sequence, const CellWeights& weights, const Expression& input) {
    const int64_t length = sequence.length.value();
    if (has_step_operation(ctx, sequence.kind)) {
      operation_.emplace(ctx, weights);
      const Dims rows{sequence.length * sequence.batch, Dim(weights.features())};
      inputs_ = equal_parts(reshape(input, rows), 0, length);
      return;
    }
    cell_.emplace(ctx, sequence.kind, weights);
    for (const Expression& all : cell_->input_products(input)) products_.push_back(equal_parts(all, 0, length));
  }

  CellState run(size_t step, const CellState& state) const {
    if (operation_) return operation_->step(inputs_[step], state);
    GateProducts of_step;
    for (const auto& group : products_) of_step.push_back(group[step]);
    return cell_->step(of_step, state);
  }

 private:
  std::optional<LstmOperation> operation_;  // either this
  std::vector<Expression> inputs_;
  std::optional<RecurrentCell> cell_;              // or this
  std::vector<std::vector<Expression>> products_;  // by group, then by step
};

// Runs a direction of a layer. `state` is the state before the first step, and becomes the one after the last step.
std::vector<Expression> run_direction(OpContext& ctx, const Sequence& sequence, const CellWeights& weights,
                                      const Expression& input, bool is_backward, CellState& state) {
  const Steps steps(ctx, sequence, weights, input);
  std::vector<Expression> outputs;
  const int64_t length = sequence.length.value();
  for (int64_t i = 0; i < length; ++i) {
    state = steps.run(static_cast<size_t>(is_backward ? length - 1 - i : i), state);
    outputs.push_back(*state.hidden);
  }
  if (is_backward) std::reverse(outputs.begin(), outputs.end());
  return outputs;
}

void require_fixed_length(const OpContext& ctx, const Sequence& sequence) {
  const std::string state_hint =
      ctx.target().omitted_operands && sequence.kind == CellKind::kLstm ? ", or raise --feature-level to 4" : "";
  ctx.require(sequence.length.is_fixed(),
              fmt::format("a sequence of flexible length {} (dimension {} of {})", sequence.length.text(),
                          sequence.batch_first ? 1 : 0, to_text(ctx.tensor("input"))),
              "a fixed length: the steps are unrolled", "give the length with --input" + state_hint);
}

// Returns the input with its steps in order, as the first axis. With a batch of one they are in that order already.
Expression steps_first(OpContext& ctx, const Sequence& sequence) {
  const LoweredTensor input = ctx.operand("input");
  if (!sequence.batch_first || sequence.batch == Dim(1)) return {ctx, input};
  return {ctx, permuted(ctx, input, {1, 0, 2})};
}

void set_sequence_output(OpContext& ctx, const Sequence& sequence, const Expression& rows) {
  const TensorType output = ctx.output_type(0);
  if (!sequence.batch_first || sequence.batch == Dim(1)) {
    return ctx.set_output(reshape(rows, output.dims).id(), 0);
  }
  const Expression steps = reshape(rows, {output.dims[1], output.dims[0], output.dims[2]});
  ctx.set_output(permuted(ctx, {steps.id(), steps.type()}, {1, 0, 2}).id, 0);
}

template <CellKind kind>
void lower_sequence(OpContext& ctx) {
  const Sequence sequence = read_sequence(ctx, kind);
  const auto initial = initial_states(ctx, kind);
  const auto hidden = state_of_each(ctx, initial[0], sequence.state_count());
  const auto cells = state_of_each(ctx, initial.back(), sequence.state_count());
  if (has_sequence_operation(ctx, sequence)) return lower_sequence_operations(ctx, sequence, hidden, cells);
  require_fixed_length(ctx, sequence);
  std::vector<Expression> last_hidden;
  std::vector<Expression> last_cells;
  Expression input = steps_first(ctx, sequence);
  for (size_t at = 0; at < sequence.state_count();) {
    std::vector<Expression> directions;
    for (int64_t direction = 0; direction < sequence.directions; ++direction, ++at) {
      CellState state{hidden[at], kind == CellKind::kLstm ? cells[at] : std::nullopt};
      directions.push_back(joined(run_direction(ctx, sequence, sequence.weights[at], input, direction == 1, state), 0));
      last_hidden.push_back(*state.hidden);
      if (kind == CellKind::kLstm) last_cells.push_back(*state.cell);
    }
    input = joined(directions, 1);
  }
  set_sequence_output(ctx, sequence, input);
  ctx.set_output(reshape(joined(last_hidden, 0), ctx.output_type(1).dims).id(), 1);
  if (kind == CellKind::kLstm) ctx.set_output(reshape(joined(last_cells, 0), ctx.output_type(2).dims).id(), 2);
}

constexpr const char* kRecurrentNote =
    "float32, a fixed length, constant weights; unrolled, slices below feature level 3";
constexpr const char* kLstmNote =
    "float32, constant weights; --runtime shim: one operation a layer from feature level 3 on (4 where the cells' last "
    "state is used), LSTM for each step below; else unrolled, which needs a fixed length";
constexpr const char* kReluNote =
    "float32, constant weights; --runtime shim: one operation a layer from feature level 3 on; else unrolled, which "
    "needs a fixed length";

}  // namespace

OpRules recurrent_rules() {
  return {
      {"aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, "
       "bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)",
       2, kLstmNote, sequence_type<CellKind::kLstm>, lower_sequence<CellKind::kLstm>, costing(Macs::kRecurrent)},
      {"aten::gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool "
       "train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
       2, kRecurrentNote, sequence_type<CellKind::kGru>, lower_sequence<CellKind::kGru>, costing(Macs::kRecurrent)},
      {"aten::rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, "
       "bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
       1, kRecurrentNote, sequence_type<CellKind::kTanh>, lower_sequence<CellKind::kTanh>, costing(Macs::kRecurrent)},
      {"aten::rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, "
       "bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
       1, kReluNote, sequence_type<CellKind::kRelu>, lower_sequence<CellKind::kRelu>, costing(Macs::kRecurrent)},
  };
}

}  // namespace nnapi_convert
