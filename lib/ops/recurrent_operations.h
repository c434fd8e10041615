// Recurrent layers as NNAPI's own operations: a whole sequence (UNIDIRECTIONAL_SEQUENCE_LSTM and its like) or a step
// (LSTM). They leave out operands, which only the shim's buffer can say.
#pragma once

#include <vector>

#include "lib/ops/recurrent_step.h"

namespace nnapi_convert {

// aten::lstm and its like as read from the node.
struct Sequence {
  CellKind kind;
  bool batch_first;
  int64_t directions;
  std::vector<CellWeights> weights;  // layer after layer, in each forward before backward
  Dim length;
  Dim batch;

  size_t state_count() const { return weights.size(); }
  int64_t layers() const { return static_cast<int64_t>(weights.size()) / directions; }
  int64_t state_size() const { return weights[0].state_size(); }
};

// True if each layer can be one operation. What an LSTM leaves in its cells is told from feature level 4 on only.
bool has_sequence_operation(const OpContext& ctx, const Sequence& sequence);
// Appends the operations and sets the node's outputs. `hidden` and `cells` hold a state for each direction of each
// layer; those that are missing are zero.
void lower_sequence_operations(OpContext& ctx, const Sequence& sequence,
                               const std::vector<std::optional<Expression>>& hidden,
                               const std::vector<std::optional<Expression>>& cells);

// True if a step of an LSTM is to be one operation.
bool has_step_operation(const OpContext& ctx, CellKind kind);
// An LSTM's step.
class LstmOperation {
 public:
  LstmOperation(OpContext& ctx, const CellWeights& weights);
  // `input` is [batch, features].
  CellState step(const Expression& input, const CellState& state) const;

 private:
  OpContext* ctx_;
  int64_t state_size_, cell_size_;
  std::vector<nnapi::OperandId> weights_;
};

// Parts of the same size along the first axis joined again.
Expression joined(const std::vector<Expression>& parts, size_t axis);

}  // namespace nnapi_convert
