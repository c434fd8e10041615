// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/move_chain.h"

#include <algorithm>
#include <numeric>

#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi {
namespace {

std::vector<size_t> flattened(const std::vector<std::vector<size_t>>& axes) {
  std::vector<size_t> all;
  for (const auto& axis : axes) all.insert(all.end(), axis.begin(), axis.end());
  return all;
}

bool is_identity(const std::vector<int64_t>& order) {
  return std::is_sorted(order.begin(), order.end());
}

}  // namespace

MoveChain::MoveChain(const Dims& source) : source_dims_(source), result_dims_(source) {
  for (const Dim& dim : source) {
    source_.emplace_back();
    if (dim == Dim(1)) continue;
    source_.back().push_back(pieces_.size());
    pieces_.push_back(dim);
  }
  result_ = source_;
}

void MoveChain::transpose(const std::vector<int64_t>& order) {
  result_ = permute(result_, order);
  result_dims_ = permute(result_dims_, order);
}

// Splits piece number `piece` into two; the numbers of later pieces grow by one.
void MoveChain::split_piece(size_t piece, const Dim& first, const Dim& second) {
  pieces_[piece] = first;
  pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(piece) + 1, second);
  for (std::vector<Axis>* axes : {&source_, &result_}) {
    for (Axis& axis : *axes) {
      for (size_t i = 0; i < axis.size(); ++i) {
        if (axis[i] > piece) ++axis[i];
        if (axis[i] == piece) axis.insert(axis.begin() + static_cast<std::ptrdiff_t>(++i), piece + 1);
      }
    }
  }
}

bool MoveChain::reshape(const Dims& dims) {
  std::vector<size_t> ends;  // how many pieces the axes take up to each
  size_t taken = 0;
  for (const Dim& dim : dims) {
    Dim rest = dim;
    while (rest != Dim(1)) {  // takes one piece a round, or ends
      const std::vector<size_t> order = flattened(result_);
      if (taken == order.size()) return false;
      const Dim size = pieces_[order[taken]];
      if (const auto quotient = rest.exact_div(size)) {
        rest = *quotient;
      } else if (const auto second = size.exact_div(rest)) {
        split_piece(order[taken], rest, *second);
        rest = Dim(1);
      } else {
        return false;
      }
      ++taken;
    }
    ends.push_back(taken);
  }
  const std::vector<size_t> order = flattened(result_);
  if (taken != order.size()) return false;
  result_.clear();
  size_t begin = 0;
  for (const size_t end : ends) {
    result_.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(begin),
                         order.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }
  result_dims_ = dims;
  return true;
}

std::optional<MoveChain::Part> MoveChain::part_of(size_t result_axis) const {
  if (result_[result_axis].size() != 1) return std::nullopt;
  const size_t piece = result_[result_axis].front();
  const auto found = std::find_if(source_.begin(), source_.end(),
                                  [&](const Axis& axis) { return !axis.empty() && axis.front() == piece; });
  if (found == source_.end()) return std::nullopt;
  Part part{static_cast<size_t>(found - source_.begin()), *this};
  const auto rest = part.moves.source_dims_[part.source_axis].exact_div(pieces_[piece]);
  if (!rest) return std::nullopt;
  part.moves.source_dims_[part.source_axis] = *rest;
  part.moves.result_dims_[result_axis] = Dim(1);
  part.moves.pieces_.erase(part.moves.pieces_.begin() + static_cast<std::ptrdiff_t>(piece));
  for (std::vector<Axis>* axes : {&part.moves.source_, &part.moves.result_}) {
    for (Axis& axis : *axes) {
      axis.erase(std::remove(axis.begin(), axis.end(), piece), axis.end());
      for (size_t& other : axis) other -= other > piece ? 1 : 0;
    }
  }
  return part;
}

Dim MoveChain::size_of(const Axis& axis) const {
  Dim size(1);
  for (const size_t piece : axis) size *= pieces_[piece];
  return size;
}

// Moves of the form TRANSPOSE (of the source), RESHAPE.
std::optional<std::vector<Move>> MoveChain::by_axes_of_source() const {
  if (source_.size() > kMaxMoveRank) return std::nullopt;
  const std::vector<size_t> wanted = flattened(result_);
  std::vector<int64_t> order;
  std::vector<int64_t> units;
  for (size_t axis = 0; axis < source_.size(); ++axis) {
    if (source_[axis].empty()) units.push_back(static_cast<int64_t>(axis));
  }
  const auto take_unit = [&] {
    order.push_back(units.front());
    units.erase(units.begin());
  };
  size_t position = 0;
  for (const Axis& axis : result_) {
    if (axis.empty() && !units.empty()) take_unit();
    for (const size_t end = position + axis.size(); position < end;) {
      const auto found = std::find_if(source_.begin(), source_.end(), [&](const Axis& candidate) {
        return !candidate.empty() && candidate.size() <= wanted.size() - position &&
               std::equal(candidate.begin(), candidate.end(), wanted.begin() + static_cast<std::ptrdiff_t>(position));
      });
      if (found == source_.end()) return std::nullopt;
      order.push_back(found - source_.begin());
      position += found->size();
    }
  }
  while (!units.empty()) take_unit();
  std::vector<Move> moves;
  Dims dims = permute(source_dims_, order);
  if (!is_identity(order)) moves.push_back({order, dims});
  if (dims != result_dims_) moves.push_back({{}, result_dims_});
  return moves;
}

// Moves of the form RESHAPE (to the result's axes in the source's order), TRANSPOSE.
std::optional<std::vector<Move>> MoveChain::by_axes_of_result() const {
  if (result_.size() > kMaxMoveRank) return std::nullopt;
  std::vector<size_t> axes(result_.size());
  std::iota(axes.begin(), axes.end(), size_t{0});
  for (const Axis& axis : result_) {
    for (size_t i = 1; i < axis.size(); ++i) {
      if (axis[i] != axis[i - 1] + 1) return std::nullopt;
    }
  }
  std::stable_sort(axes.begin(), axes.end(), [&](size_t a, size_t b) {
    if (result_[a].empty() || result_[b].empty()) return result_[a].empty() && !result_[b].empty();
    return result_[a].front() < result_[b].front();
  });
  std::vector<int64_t> from_source(axes.begin(), axes.end());
  Dims dims = permute(result_dims_, from_source);
  std::vector<Move> moves;
  if (dims != source_dims_) moves.push_back({{}, dims});
  const std::vector<int64_t> order = inverse(from_source);
  if (!is_identity(order)) moves.push_back({order, result_dims_});
  return moves;
}

// Moves for more axes than a TRANSPOSE takes: repeatedly moves the longest run of blocks that belongs at the first
// wrong place to that place, past the blocks in between.
std::vector<Move> MoveChain::block_by_block(std::vector<Axis> now, const std::vector<Axis>& wanted) const {
  std::vector<Move> moves;
  const auto size_between = [this](auto from, auto to) {
    Dim size(1);
    for (; from != to; ++from) size *= size_of(*from);
    return size;
  };
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i] == wanted[i]) continue;
    const auto place = now.begin() + static_cast<std::ptrdiff_t>(i);
    const auto begin = std::find(place, now.end(), wanted[i]);
    auto end = begin;
    for (size_t next = i; end != now.end() && *end == wanted[next]; ++next) ++end;
    const Dims dims{size_between(now.begin(), place), size_between(place, begin), size_between(begin, end),
                    size_between(end, now.end())};
    const std::vector<int64_t> order{0, 2, 1, 3};
    moves.push_back({{}, dims});
    moves.push_back({order, permute(dims, order)});
    std::rotate(place, begin, end);
  }
  return moves;
}

// Moves of the form RESHAPE, TRANSPOSE, RESHAPE: pieces that stay side by side become one axis.
std::optional<std::vector<Move>> MoveChain::by_blocks() const {
  std::vector<Axis> blocks;  // in the result's order
  for (const size_t piece : flattened(result_)) {
    if (!blocks.empty() && blocks.back().back() + 1 == piece) {
      blocks.back().push_back(piece);
    } else {
      blocks.push_back({piece});
    }
  }
  std::vector<Move> moves;
  std::vector<Axis> sorted = blocks;
  std::sort(sorted.begin(), sorted.end());
  if (blocks.size() > kMaxMoveRank) {
    moves = block_by_block(std::move(sorted), blocks);
  } else if (blocks.size() > 1) {
    Dims dims;
    for (const Axis& block : sorted) dims.push_back(size_of(block));
    if (dims != source_dims_) moves.push_back({{}, dims});
    std::vector<int64_t> order;
    for (const Axis& block : blocks) order.push_back(std::find(sorted.begin(), sorted.end(), block) - sorted.begin());
    moves.push_back({order, permute(dims, order)});
  }
  if ((moves.empty() ? source_dims_ : moves.back().dims) != result_dims_) moves.push_back({{}, result_dims_});
  return moves;
}

std::optional<std::vector<Move>> MoveChain::shortest() const {
  // Among lists of the same length prefers the one with more RESHAPEs.
  const auto cost = [](const std::vector<Move>& moves) {
    const auto transposes =
        std::count_if(moves.begin(), moves.end(), [](const Move& move) { return !move.order.empty(); });
    return std::pair(moves.size(), transposes);
  };
  std::optional<std::vector<Move>> best;
  for (const auto& candidate : {by_axes_of_source(), by_axes_of_result(), by_blocks()}) {
    if (candidate && (!best || cost(*candidate) < cost(*best))) best = candidate;
  }
  return best;
}

}  // namespace nnapi_convert::nnapi
