// SPDX-License-Identifier: BSD-3-Clause
// Lowers recurrent layers to NNAPI's operations for a whole sequence (such as UNIDIRECTIONAL_SEQUENCE_LSTM) or for one
// step (LSTM). These operations leave out optional operands, which only the shim's buffer can express.
#pragma once

#include <vector>

#include "lib/ops/recurrent_step.h"

namespace nnapi_convert {

// A recurrent layer over a sequence (aten::lstm and similar operators), read from the node.
struct Sequence {
  CellKind kind;
  bool batch_first;
  int64_t directions;
  std::vector<CellWeights> weights;  // layer after layer; in each layer the forward direction first
  Dim length;
  Dim batch;

  size_t state_count() const { return weights.size(); }
  int64_t layers() const { return static_cast<int64_t>(weights.size()) / directions; }
  int64_t state_size() const { return weights[0].state_size(); }
};

// True if each layer can be one operation. NNAPI returns an LSTM's last cell state only from feature level 4 on.
bool has_sequence_operation(const OpContext& ctx, const Sequence& sequence);
// Appends the operations and sets the node's outputs. `hidden` and `cells` hold a state for each direction of each
// layer; a missing state is zero.
void lower_sequence_operations(OpContext& ctx, const Sequence& sequence,
                               const std::vector<std::optional<Expression>>& hidden,
                               const std::vector<std::optional<Expression>>& cells);

// True if each step of an LSTM is lowered to one operation.
bool has_step_operation(const OpContext& ctx, CellKind kind);
// Lowers one step of an LSTM to one operation.
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

// Joins parts of the same size along an axis.
Expression joined(const std::vector<Expression>& parts, size_t axis);

}  // namespace nnapi_convert
