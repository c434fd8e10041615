// SPDX-License-Identifier: BSD-3-Clause
// Copies between tensors of any strides: programs spend most time on it, besides operators of detection.
#include <algorithm>
#include <cstring>

#include "lib/program/elements.h"

namespace nnapi_shim::program {
namespace {

// An axis of both tensors: its size, and the steps in bytes.
struct Axis {
  int64_t size, from, to;
};

struct Copy {
  const uint8_t* from;
  uint8_t* to;
  uint32_t rank = 0;
  Axis axes[kMostAxes];  // in the order of the target's memory, outermost first

  Copy(const Tensor& source, const Tensor& target) : from(source.bytes()), to(target.bytes()) {
    uint32_t order[kMostAxes];
    memory_order(target, order);
    const auto bytes = static_cast<int64_t>(element_bytes(target.dtype));
    for (uint32_t i = 0; i < target.rank; ++i) {
      const uint32_t axis = order[i];
      if (target.sizes[axis] == 1) continue;
      const Axis next = {target.sizes[axis], source.strides[axis] * bytes, target.strides[axis] * bytes};
      Axis* last = rank > 0 ? &axes[rank - 1] : nullptr;
      if (last != nullptr && last->from == next.from * next.size && last->to == next.to * next.size) {
        *last = {last->size * next.size, next.from, next.to};
      } else {
        axes[rank++] = next;
      }
    }
    if (rank == 0) axes[rank++] = {1, bytes, bytes};
  }
};

template <typename T>
void copy_run(const uint8_t* from, int64_t from_step, uint8_t* to, int64_t to_step, int64_t count) {
  for (int64_t i = 0; i < count; ++i, from += from_step, to += to_step) std::memcpy(to, from, sizeof(T));
}

using Run = void (*)(const uint8_t* from, int64_t from_step, uint8_t* to, int64_t to_step, int64_t count);

Run run_of(int64_t bytes) {
  switch (bytes) {
    case 1:
      return copy_run<uint8_t>;
    case 2:
      return copy_run<uint16_t>;
    case 4:
      return copy_run<uint32_t>;
    default:
      return copy_run<uint64_t>;
  }
}

// Copies a plane with rows along `across` and columns along `along`. Works in tiles, so that lines of memory are used
// completely on both sides; if there are as few columns as colours, column by column.
void copy_plane(Run run, const uint8_t* from, uint8_t* to, const Axis& across, const Axis& along) {
  constexpr int64_t kTile = 16, kFew = 4, kRows = 256;
  if (along.size <= kFew && across.size > kTile) {
    for (int64_t row = 0; row < across.size; row += kRows) {
      for (int64_t column = 0; column < along.size; ++column) {
        run(from + row * across.from + column * along.from, across.from, to + row * across.to + column * along.to,
            across.to, std::min(kRows, across.size - row));
      }
    }
    return;
  }
  for (int64_t column = 0; column < along.size; column += kTile) {
    const int64_t columns = std::min(kTile, along.size - column);
    for (int64_t row = 0; row < across.size; ++row) {
      run(from + row * across.from + column * along.from, along.from, to + row * across.to + column * along.to,
          along.to, columns);
    }
  }
}

void copy_of(Copy copy, int64_t bytes) {
  const Run run = run_of(bytes);
  uint32_t outer = copy.rank - 1;  // axes beside those that are copied at once
  const Axis along = copy.axes[outer];
  Axis across = {1, 0, 0};
  const bool is_run = along.from == bytes && along.to == bytes;
  if (!is_run && outer > 0) {
    // The axis along which the source's elements stand side by side.
    uint32_t taken = outer - 1;
    for (uint32_t i = 0; i < outer; ++i) {
      if (copy.axes[i].from == bytes) taken = i;
    }
    across = copy.axes[taken];
    std::copy(copy.axes + taken + 1, copy.axes + outer, copy.axes + taken);
    --outer;
  }
  int64_t index[kMostAxes] = {};
  for (;;) {
    if (is_run) {
      std::memmove(copy.to, copy.from, static_cast<size_t>(along.size * bytes));
    } else {
      copy_plane(run, copy.from, copy.to, across, along);
    }
    uint32_t axis = outer;
    while (axis > 0 && ++index[axis - 1] == copy.axes[axis - 1].size) {
      const Axis& done = copy.axes[--axis];
      copy.from -= done.from * (done.size - 1);
      copy.to -= done.to * (done.size - 1);
      index[axis] = 0;
    }
    if (axis == 0) return;
    copy.from += copy.axes[axis - 1].from;
    copy.to += copy.axes[axis - 1].to;
  }
}

void convert(const Tensor& from, const Tensor& to) {
  uint32_t axes[kMostAxes];
  memory_order(to, axes);
  Cursor source, target;
  source.start(from, axes);
  target.start(to, axes);
  const Compute compute = conversion_class(from.dtype, to.dtype);
  ChunkBuffer buffer;
  for (auto left = static_cast<size_t>(to.numel()); left > 0;) {
    const size_t length = std::min(left, kChunk);
    source.read(length, compute, &buffer);
    target.write(length, compute, &buffer);
    left -= length;
  }
}

}  // namespace

void copy_elements(const Tensor& from, const Tensor& to) {
  if (to.numel() == 0) return;
  if (from.dtype != to.dtype) return convert(from, to);
  copy_of(Copy(from, to), static_cast<int64_t>(element_bytes(to.dtype)));
}

}  // namespace nnapi_shim::program
