// MoveChain: what a chain of RESHAPE and TRANSPOSE does to the axes of a tensor, and the shortest chain that does the
// same.
#pragma once

#include <optional>
#include <vector>

#include "lib/base/dim.h"

namespace nnapi_convert::nnapi {

// One operation: a TRANSPOSE by `order`, or, where that is empty, a RESHAPE to `dims`, which are the result's in both.
struct Move {
  std::vector<int64_t> order;
  Dims dims;
};

// The source's axes in pieces that stay together: an axis of the result is a list of them. Pieces have numbers in the
// source's order; those of size 1 are left out.
class MoveChain {
 public:
  explicit MoveChain(const Dims& source);

  void transpose(const std::vector<int64_t>& order);
  // False if the pieces can't be told apart: the chain ends before.
  bool reshape(const Dims& dims);

  // The shortest list of moves from the source to the result in which no tensor but both of them has rank 5 or more.
  std::optional<std::vector<Move>> shortest() const;

 private:
  using Axis = std::vector<size_t>;  // numbers of pieces

  void split_piece(size_t piece, const Dim& first, const Dim& second);
  std::vector<size_t> sequence() const;
  Dim size_of(const Axis& axis) const;
  // The axes of the source that this chain moves as a whole, each by its pieces; units are empty.
  std::optional<std::vector<Move>> by_axes_of_source() const;
  std::optional<std::vector<Move>> by_axes_of_result() const;
  std::optional<std::vector<Move>> by_blocks() const;
  std::vector<Move> block_by_block(std::vector<Axis> now, const std::vector<Axis>& wanted) const;

  Dims source_dims_;
  std::vector<Dim> pieces_;
  std::vector<Axis> source_;
  std::vector<Axis> result_;
  Dims result_dims_;
};

}  // namespace nnapi_convert::nnapi
