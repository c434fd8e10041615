// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/segment_sizes.h"

#include "lib/converter/frontend/express_sizes.h"

namespace nnapi_convert {
namespace {

// factor * size + offset, with a factor above 0.
struct Linear {
  OpenSize size;
  int64_t factor, offset;
};

std::optional<Linear> linear_of(const Dim& dim) {
  const std::set<OpenSize> sizes = open_sizes_in(dim);
  if (sizes.size() != 1) return std::nullopt;
  const auto at = [&](int64_t value) { return dim.evaluate([value](int, int) { return value; }); };
  Linear result{*sizes.begin(), at(2) - at(1), 2 * at(1) - at(2)};
  const bool is_linear = result.factor > 0 && dim == to_dim(result.size) * Dim(result.factor) + Dim(result.offset);
  return is_linear ? std::optional(result) : std::nullopt;
}

}  // namespace

SegmentSizes::SegmentSizes(const std::vector<Dims>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) take_single(inputs[i], static_cast<int>(i));
  for (size_t i = 0; i < inputs.size(); ++i) take_linear(inputs[i], static_cast<int>(i));
  for (size_t i = 0; i < inputs.size(); ++i) take_others(inputs[i], static_cast<int>(i));
}

void SegmentSizes::take_single(const Dims& dims, int input) {
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const std::set<OpenSize> sizes = open_sizes_in(dims[axis]);
    if (sizes.size() != 1 || is_of_values(dims[axis]) || !(to_dim(*sizes.begin()) == dims[axis])) continue;
    by_size_.emplace(*sizes.begin(), Dim::of_input(input, static_cast<int>(axis)));
  }
}

void SegmentSizes::take_linear(const Dims& dims, int input) {
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const std::optional<Linear> linear = is_of_values(dims[axis]) ? std::nullopt : linear_of(dims[axis]);
    if (!linear || by_size_.count(linear->size) != 0) continue;
    const Dim found = Dim::of_input(input, static_cast<int>(axis));
    by_size_.emplace(linear->size, (found - Dim(linear->offset)).floor_div(linear->factor));
  }
}

void SegmentSizes::take_others(const Dims& dims, int input) {
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis].is_fixed() || is_of_values(dims[axis]) || own(dims[axis])) continue;
    by_text_.emplace(dims[axis].text(), Dim::of_input(input, static_cast<int>(axis)));
  }
}

std::optional<Dim> SegmentSizes::own(const Dim& size) const {
  if (size.is_fixed()) return size;
  const auto whole = by_text_.find(size.text());
  if (whole != by_text_.end()) return whole->second;
  return with_others(size, [this](const OpenSize& open) -> std::optional<Dim> {
    const auto found = by_size_.find(open);
    return found == by_size_.end() ? std::nullopt : std::optional(found->second);
  });
}

std::optional<Dims> SegmentSizes::own(const Dims& sizes) const {
  Dims result;
  for (const Dim& size : sizes) {
    const std::optional<Dim> found = own(size);
    if (!found) return std::nullopt;
    result.push_back(*found);
  }
  return result;
}

}  // namespace nnapi_convert
