// SPDX-License-Identifier: BSD-3-Clause
// Recurrent cells: one step, with the state as input and output.
#include <fmt/format.h>

#include "lib/base/size_hint.h"
#include "lib/ops/families.h"
#include "lib/ops/recurrent_operations.h"
#include "lib/ops/recurrent_step.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

CellWeights read_weights(const OpArguments& args, CellKind kind) {
  CellWeights weights{args.float_constant("w_ih"), args.float_constant("w_hh"), {}, {}, {}};
  args.require(args.is_none("b_ih") == args.is_none("b_hh"), "one bias of two", "both or none");
  if (!args.is_none("b_ih")) {
    weights.input_bias = args.float_constant("b_ih");
    weights.hidden_bias = args.float_constant("b_hh");
  }
  require_cell_weights(args, kind, weights);
  return weights;
}

template <CellKind kind>
std::vector<ValueType> cell_type(const OpArguments& args) {
  const TensorType input = args.tensor("input");
  require_float(args, input);
  require_rank(args, input, 2, 2);
  const CellWeights weights = read_weights(args, kind);
  args.require(input.dims[1] == Dim(weights.features()), "an input " + to_text(input),
               fmt::format("a last dimension of {}", weights.features()), kSeeInput);
  const TensorType state = input.with_dims({input.dims[0], Dim(weights.state_size())});
  std::vector<ValueType> types;
  for (const TensorType& type : state_types(args, kind)) {
    require_state(args, type, state.dims);
    types.emplace_back(state);
  }
  return types;
}

template <CellKind kind>
void lower_cell(OpContext& ctx) {
  const CellWeights weights = read_weights(ctx, kind);
  const auto initial = initial_states(ctx, kind);
  CellState state{initial[0], kind == CellKind::kLstm ? initial[1] : std::nullopt};
  if (has_step_operation(ctx, kind)) {
    state = LstmOperation(ctx, weights).step(argument(ctx, "input"), state);
  } else {
    const RecurrentCell cell(ctx, kind, weights);
    state = cell.step(cell.input_products(argument(ctx, "input")), state);
  }
  state.hidden->set_output(0);
  if (kind == CellKind::kLstm) state.cell->set_output(1);
}

template <CellKind kind>
OpRule cell_rule(const char* schema, int feature_level) {
  return {schema, feature_level, "float32, constant weights", cell_type<kind>, lower_cell<kind>, costing(Macs::kCell)};
}

}  // namespace

OpRules recurrent_cell_rules() {
  return {
      cell_rule<CellKind::kLstm>(
          "aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) "
          "-> (Tensor, Tensor)",
          2),
      cell_rule<CellKind::kGru>(
          "aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> "
          "Tensor",
          2),
      cell_rule<CellKind::kTanh>(
          "aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
          "b_hh=None) -> Tensor",
          1),
      cell_rule<CellKind::kRelu>(
          "aten::rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
          "b_hh=None) -> Tensor",
          1),
  };
}

}  // namespace nnapi_convert
