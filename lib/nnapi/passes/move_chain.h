// SPDX-License-Identifier: BSD-3-Clause
// Tracks how a chain of RESHAPE and TRANSPOSE moves the axes of a tensor, and finds the shortest chain with the same
// result.
#pragma once

#include <optional>
#include <vector>

#include "lib/base/dim.h"

namespace nnapi_convert::nnapi {

// One operation: a TRANSPOSE by `order`, or a RESHAPE if `order` is empty. `dims` are the result's dims in both cases.
struct Move {
  std::vector<int64_t> order;
  Dims dims;
};

// A chain of moves. It splits the source's axes into pieces that stay together; each axis of the result is a list of
// pieces. Pieces are numbered in the source's order; pieces of size 1 are left out.
class MoveChain {
 public:
  explicit MoveChain(const Dims& source);

  void transpose(const std::vector<int64_t>& order);
  // Adds a RESHAPE. Returns false if the sizes do not tell how to split the pieces: then the chain ends before it.
  bool reshape(const Dims& dims);

  // A part of the source along one of its axes, and how it moves.
  struct Part;
  // Returns the axis of the source whose equal parts make the entries of an axis of the result, and the moves of one
  // such part to one such entry; nothing if the entries are other elements.
  std::optional<Part> part_of(size_t result_axis) const;

  // Returns the shortest list of moves from the source to the result. Every tensor between them has at most rank 4.
  std::optional<std::vector<Move>> shortest() const;

 private:
  using Axis = std::vector<size_t>;  // numbers of pieces

  void split_piece(size_t piece, const Dim& first, const Dim& second);
  std::vector<size_t> sequence() const;
  Dim size_of(const Axis& axis) const;
  // Each of these returns moves of one form, or nothing if that form does not fit.
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

struct MoveChain::Part {
  size_t source_axis;
  MoveChain moves;
};

}  // namespace nnapi_convert::nnapi
