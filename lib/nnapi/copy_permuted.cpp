#include "lib/nnapi/copy_permuted.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/base/error.h"

namespace nnapi_convert::nnapi {
namespace {

// An axis of the result: its size, and the bytes from one index to the next in the source and in the result.
struct Axis {
  size_t size;
  size_t from;
  size_t to;
};

// Returns the axes of the result in its order. Leaves out axes of size 1, and merges axes that are neighbours in source
// and result.
std::vector<Axis> copied_axes(size_t width, const std::vector<int64_t>& shape, const std::vector<int64_t>& order) {
  const size_t rank = shape.size();
  std::vector<size_t> strides(rank, width);
  for (size_t i = rank - 1; i > 0; --i) strides[i - 1] = strides[i] * static_cast<size_t>(shape[i]);
  std::vector<Axis> axes;  // the last one first
  size_t to = width;
  for (size_t i = rank; i-- > 0;) {
    const auto axis = static_cast<size_t>(order[i]);
    const auto size = static_cast<size_t>(shape[axis]);
    if (size == 1) continue;
    if (!axes.empty() && axes.back().from * axes.back().size == strides[axis]) {
      axes.back().size *= size;
    } else {
      axes.push_back({size, strides[axis], to});
    }
    to *= size;
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

// Copies two axes in blocks that stay in the nearest cache.
template <size_t kWidth>
void copy_plane(const uint8_t* source, uint8_t* result, const Axis& rows, const Axis& columns) {
  constexpr size_t kBlock = 16;
  for (size_t row = 0; row < rows.size; row += kBlock) {
    const size_t row_end = std::min(row + kBlock, rows.size);
    for (size_t column = 0; column < columns.size; column += kBlock) {
      const size_t column_end = std::min(column + kBlock, columns.size);
      for (size_t i = row; i < row_end; ++i) {
        for (size_t j = column; j < column_end; ++j) {
          std::memcpy(result + i * rows.to + j * columns.to, source + i * rows.from + j * columns.from, kWidth);
        }
      }
    }
  }
}

template <size_t kWidth>
class PermutedCopy {
 public:
  explicit PermutedCopy(std::vector<Axis> axes) : outer_(std::move(axes)) {
    if (!outer_.empty()) columns_ = take(outer_.end() - 1);
    // It is fastest to read elements together that are near each other in the source.
    const auto nearest =
        std::min_element(outer_.begin(), outer_.end(), [](const Axis& a, const Axis& b) { return a.from < b.from; });
    if (nearest != outer_.end()) rows_ = take(nearest);
  }

  void run(const uint8_t* source, uint8_t* result, size_t axis = 0) const {
    if (axis == outer_.size()) return run_inner(source, result);
    for (size_t i = 0; i < outer_[axis].size; ++i) {
      run(source + i * outer_[axis].from, result + i * outer_[axis].to, axis + 1);
    }
  }

 private:
  Axis take(std::vector<Axis>::iterator axis) {
    const Axis taken = *axis;
    outer_.erase(axis);
    return taken;
  }

  void run_inner(const uint8_t* source, uint8_t* result) const {
    if (columns_.from != kWidth) return copy_plane<kWidth>(source, result, rows_, columns_);
    for (size_t i = 0; i < rows_.size; ++i) {
      std::memcpy(result + i * rows_.to, source + i * rows_.from, columns_.size * kWidth);
    }
  }

  std::vector<Axis> outer_;
  Axis rows_{1, 0, 0};
  Axis columns_{1, kWidth, kWidth};
};

}  // namespace

bool moves_elements(const std::vector<int64_t>& shape, const std::vector<int64_t>& order) {
  const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  return !is_empty && copied_axes(1, shape, order).size() > 1;
}

void copy_permuted(const uint8_t* source, uint8_t* result, size_t width, const std::vector<int64_t>& shape,
                   const std::vector<int64_t>& order) {
  NNC_ASSERT(width == 1 || width == 4, "elements of another size");
  std::vector<Axis> axes = copied_axes(width, shape, order);
  if (width == 1) {
    PermutedCopy<1>(std::move(axes)).run(source, result);
  } else {
    PermutedCopy<4>(std::move(axes)).run(source, result);
  }
}

}  // namespace nnapi_convert::nnapi
