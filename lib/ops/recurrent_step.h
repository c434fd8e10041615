// Recurrent layers as unrolled steps: what sequences (aten::lstm and its like) and single cells have in common.
#pragma once

#include <optional>

#include "lib/ops/expression.h"

namespace nnapi_convert {

enum class CellKind { kLstm, kGru, kTanh, kRelu };

// The constants of one direction of one layer. Biases and projection are undefined where the layer has none.
struct CellWeights {
  at::Tensor input, hidden;            // [gates * size, features]
  at::Tensor input_bias, hidden_bias;  // [gates * size]
  at::Tensor projection;               // of an LSTM with proj_size: [projected, size]

  int64_t features() const { return input.size(1); }
  int64_t state_size() const { return hidden.size(1); }  // of the hidden state
  int64_t cell_size(CellKind kind) const;                // of each gate, and of an LSTM's cell state
};

// Refuses shapes that don't belong together, and other dtypes than float32.
void require_cell_weights(const OpArguments& args, CellKind kind, const CellWeights& weights);

// What a step hands to the next one. A state that is missing is zero.
struct CellState {
  std::optional<Expression> hidden;
  std::optional<Expression> cell;  // of an LSTM
};

// Gates that take the same activation are side by side in one matrix: those of LOGISTIC, then the one of TANH.
using GateProducts = std::vector<Expression>;

class RecurrentCell {
 public:
  RecurrentCell(OpContext& ctx, CellKind kind, const CellWeights& weights);

  // Every row of the input, of rank 2 or more, by the input's weights, biases added: matrices [rows, gates * size].
  GateProducts input_products(const Expression& input) const;
  // One step for the products of its rows.
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
  std::optional<Group> projection_;             // its hidden weights and bias
  std::optional<nnapi::OperandId> gated_bias_;  // of a GRU's new gate: the reset gate applies to it too
};

// Equal parts along an axis: SPLIT, or slices below feature level 3.
std::vector<Expression> equal_parts(const Expression& x, size_t axis, int64_t count);
// Argument hx: an LSTM's hidden and cell state, or the one state of the others.
TensorTypes state_types(const OpArguments& args, CellKind kind);
// The same as operands; none for zeros.
std::vector<std::optional<Expression>> initial_states(OpContext& ctx, CellKind kind);
// Refuses a state of another dtype or shape.
void require_state(const OpArguments& args, const TensorType& type, const Dims& dims);

}  // namespace nnapi_convert
