// SPDX-License-Identifier: BSD-3-Clause
// Operators that put elements around a tensor, or cut them off.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "lib/program/arguments.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

namespace {

enum class Pad { kConstant, kReflect, kReplicate, kCircular };

// Pads the input. `pads` has the numbers before and behind the last axis, then those of the axis before it, and so on.
bool give_padded(Call& call, const Tensor& input, uint32_t count, const int64_t* pads, Pad mode, const Value& value) {
  if (count % 2 != 0 || count / 2 > input.rank) {
    return call.context.fail("%u pads for %u axes", count, input.rank);
  }
  int64_t sizes[kMostAxes], before[kMostAxes] = {};
  for (uint32_t i = 0; i < input.rank; ++i) {
    const uint32_t pair = input.rank - 1 - i;
    sizes[i] = input.sizes[i];
    if (2 * pair >= count) continue;
    constexpr int64_t kMost = int64_t{1} << 48;
    before[i] = pads[2 * pair];
    const int64_t behind = pads[2 * pair + 1], size = input.sizes[i];
    if (before[i] > kMost || behind > kMost || before[i] < -kMost || behind < -kMost || size > kMost) {
      return call.context.fail_memory();
    }
    sizes[i] += before[i] + behind;
    const int64_t most = std::max(before[i], behind);
    if (sizes[i] < 0 || (mode == Pad::kReflect && most > 0 && most >= size) ||
        (mode == Pad::kCircular && most > size) || (mode == Pad::kReplicate && size == 0 && sizes[i] > 0)) {
      return call.context.fail("pads of %lld and %lld don't fit to the size %lld", static_cast<long long>(before[i]),
                               static_cast<long long>(behind), static_cast<long long>(size));
    }
  }
  Tensor* result = make_tensor(call.context.pool, input.dtype, input.rank, sizes);
  if (!give(call, 0, result)) return false;
  if (mode == Pad::kConstant) {
    if (value.tag() == Tag::kFloat) {
      fill_elements(*result, value.as_float());
    } else {
      fill_elements(*result, value.as_int());
    }
  }
  // The part of the result that holds the input itself.
  Tensor inside = input, place = *result;
  bool is_empty = false;
  for (uint32_t i = 0; i < input.rank; ++i) {
    const int64_t skipped = std::max<int64_t>(-before[i], 0), first = std::max<int64_t>(before[i], 0);
    const int64_t length = std::min(input.sizes[i] - skipped, sizes[i] - first);
    is_empty = is_empty || length <= 0;
    if (length <= 0) break;
    inside.sizes[i] = place.sizes[i] = length;
    inside.offset += skipped * input.strides[i];
    place.offset += first * result->strides[i];
  }
  if (!is_empty) copy_elements(inside, place);
  if (mode == Pad::kConstant || result->numel() == 0) return true;
  if (is_empty) return call.context.fail("the pads leave nothing of the input");
  // Fills each axis, the last one first, from the elements that are there; along the axes that come later only the
  // input's part is filled yet.
  for (uint32_t axis = input.rank; axis-- > 0;) {
    const int64_t first = std::max<int64_t>(before[axis], 0), length = place.sizes[axis];
    for (int64_t i = 0; i < sizes[axis]; ++i) {
      if (i >= first && i < first + length) continue;
      int64_t from = i - before[axis];  // a place in the input
      const int64_t size = input.sizes[axis];
      if (mode == Pad::kReflect) {
        from = from < 0 ? -from : (from >= size ? 2 * (size - 1) - from : from);
      } else if (mode == Pad::kReplicate) {
        from = std::min(std::max<int64_t>(from, 0), size - 1);
      } else {
        from = from < 0 ? from + size : (from >= size ? from - size : from);
      }
      from += before[axis];  // a place in the result
      if (from < first || from >= first + length) return call.context.fail("pads below 0 with others in one axis");
      Tensor source = place, target = place;
      source.sizes[axis] = target.sizes[axis] = 1;
      source.offset += (from - first) * result->strides[axis];
      target.offset += (i - first) * result->strides[axis];
      copy_elements(source, target);
    }
    place.offset -= first * result->strides[axis];
    place.sizes[axis] = sizes[axis];
  }
  return true;
}

bool constant_pad(Call& call) {
  Tensor* input;
  int64_t pads[2 * kMostAxes];
  uint32_t count;
  if (!tensor_at(call, 0, &input) || !ints_at(call, 1, 2 * kMostAxes, pads, &count)) return false;
  if (!is_number(call.input(2))) return call.context.fail("the value needs a number");
  return give_padded(call, *input, count, pads, Pad::kConstant, call.input(2));
}

bool pad(Call& call) {
  Tensor* input;
  int64_t pads[2 * kMostAxes];
  uint32_t count;
  const char* name;
  if (!tensor_at(call, 0, &input) || !ints_at(call, 1, 2 * kMostAxes, pads, &count)) return false;
  if (!optional_text_at(call, 2, &name) || name == nullptr) return call.context.fail("the mode needs a name");
  const Value zero(int64_t{0});
  const Value& value = call.input(3).is_none() ? zero : call.input(3);
  if (!is_number(value)) return call.context.fail("the value needs a number");
  constexpr const char* kNames[] = {"constant", "reflect", "replicate", "circular"};
  for (uint32_t i = 0; i < std::size(kNames); ++i) {
    if (std::strcmp(name, kNames[i]) == 0) {
      return give_padded(call, *input, count, pads, static_cast<Pad>(i), value);
    }
  }
  return call.context.fail("pad() has no mode '%s'", name);
}

bool run_pad_by(Call& call, Pad mode) {
  Tensor* input;
  int64_t pads[2 * kMostAxes];
  uint32_t count;
  if (!tensor_at(call, 0, &input) || !ints_at(call, 1, 2 * kMostAxes, pads, &count)) return false;
  return give_padded(call, *input, count, pads, mode, Value());
}
template <Pad kMode>
bool pad_by(Call& call) {
  return run_pad_by(call, kMode);
}

constexpr OperatorRow kRows[] = {
    {"aten::constant_pad_nd", 3, 1, constant_pad},
    {"aten::pad", 4, 1, pad},
    {"aten::reflection_pad1d", 2, 1, pad_by<Pad::kReflect>},
    {"aten::reflection_pad2d", 2, 1, pad_by<Pad::kReflect>},
    {"aten::replication_pad1d", 2, 1, pad_by<Pad::kReplicate>},
    {"aten::replication_pad2d", 2, 1, pad_by<Pad::kReplicate>},
};

}  // namespace

const OperatorTable padding_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
