// SPDX-License-Identifier: BSD-3-Clause
// Lowers one step of a recurrent layer, for sequences (aten::lstm and similar operators) and for single cells.
#pragma once

#include <optional>

#include "lib/ops/expression.h"

namespace nnapi_convert {

enum class CellKind { kLstm, kGru, kTanh, kRelu };

// The constants of one direction of one layer. Biases and projection are undefined where the layer has none.
struct CellWeights {
  at::Tensor input, hidden;            // [gates * size, features]
  at::Tensor input_bias, hidden_bias;  // [gates * size]
  at::Tensor projection;               // for an LSTM with proj_size: [projected, size]

  int64_t features() const { return input.size(1); }
  int64_t state_size() const { return hidden.size(1); }  // size of the hidden state
  int64_t cell_size(CellKind kind) const;                // size of each gate, and of an LSTM's cell state
};

// Refuses weights whose shapes don't fit each other, and other dtypes than float32.
void require_cell_weights(const OpArguments& args, CellKind kind, const CellWeights& weights);

// The state that a step passes to the next step. A missing state is zero.
struct CellState {
  std::optional<Expression> hidden;
  std::optional<Expression> cell;  // for an LSTM only
};

// Gates with the same activation are side by side in one matrix: first those with LOGISTIC, then the one with TANH.
using GateProducts = std::vector<Expression>;

class RecurrentCell {
 public:
  RecurrentCell(OpContext& ctx, CellKind kind, const CellWeights& weights);

  // Multiplies each row of the input, of rank 2 or more, by the input weights and adds biases. Returns matrices
  // [rows, gates * size].
  GateProducts input_products(const Expression& input) const;
  // Lowers one step. `products` are the products of the step's rows.
  CellState step(const GateProducts& products, const CellState& state) const;

 private:
  struct Group {
    nnapi::OperandId input_weights, input_bias, hidden_weights, hidden_bias;
    int64_t columns;
  };

  void add_group(const CellWeights& weights, const std::vector<int64_t>& gates, bool adds_hidden_bias);
  Expression hidden_product(const Group& group, const Expression& hidden) const;
  Expression sum(size_t group, const GateProducts& products, const CellState& state) const;
  CellState lstm_step(const GateProducts& products, const CellState& state) const;
  CellState gru_step(const GateProducts& products, const CellState& state) const;

  OpContext* ctx_;
  CellKind kind_;
  int64_t size_;
  std::vector<Group> groups_;
  std::optional<Group> projection_;             // only hidden weights and bias are set
  std::optional<nnapi::OperandId> gated_bias_;  // the hidden bias of a GRU's new gate, to which the reset gate applies
};

// Splits an axis into equal parts: by SPLIT, or by slices below feature level 3.
std::vector<Expression> equal_parts(const Expression& x, size_t axis, int64_t count);
// Returns the types of the argument hx: an LSTM's hidden and cell state, or the hidden state of other kinds.
TensorTypes state_types(const OpArguments& args, CellKind kind);
// Returns the initial states of the argument hx as expressions; nothing for a state of zeros.
std::vector<std::optional<Expression>> initial_states(OpContext& ctx, CellKind kind);
// Refuses a state with other sizes than `dims` or another dtype than float32.
void require_state(const OpArguments& args, const TensorType& type, const Dims& dims);

}  // namespace nnapi_convert
