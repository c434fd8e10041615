// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/segment_sizes.h"

#include <algorithm>

#include "lib/converter/frontend/express_sizes.h"

namespace nnapi_convert {
namespace {

constexpr int kQuotients = -1;  // stands for an input in an atom that is a quotient

// A size that is factor * atom + offset.
struct Linear {
  OpenSize atom;
  int64_t factor, offset;
};

std::optional<Linear> linear_of(const Dim& flat) {
  const std::set<OpenSize> atoms = open_sizes_in(flat);
  if (atoms.size() != 1) return std::nullopt;
  const auto at = [&](int64_t value) { return flat.evaluate([value](int, int) { return value; }); };
  Linear result{*atoms.begin(), at(2) - at(1), 2 * at(1) - at(2)};
  const bool is_linear = result.factor != 0 && flat == to_dim(result.atom) * Dim(result.factor) + Dim(result.offset);
  return is_linear ? std::optional(result) : std::nullopt;
}

// Returns the atom for the value `size` of the linear expression: it divides without a rest.
Dim solved(const Linear& linear, const Dim& size) {
  const Dim rest = size - Dim(linear.offset);
  return linear.factor > 0 ? rest.floor_div(linear.factor) : Dim(0) - rest.floor_div(-linear.factor);
}

}  // namespace

class SegmentSizes::Flattening : public DimVisitor {
 public:
  explicit Flattening(std::vector<Quotient>& quotients) : quotients_(quotients) {}

  Dim at(size_t number) const { return sizes_[number]; }
  size_t number(int64_t value) override { return add(Dim(value)); }
  size_t size(int input, int axis) override { return add(Dim::of_input(input, axis)); }
  size_t sum(size_t a, size_t b) override { return add(sizes_[a] + sizes_[b]); }
  size_t product(size_t a, size_t b) override { return add(sizes_[a] * sizes_[b]); }
  size_t floor_div(size_t a, size_t b) override {
    const int64_t divisor = sizes_[b].value();
    const auto found = std::find_if(quotients_.begin(), quotients_.end(), [&](const Quotient& each) {
      return each.divisor == divisor && each.dividend == sizes_[a];
    });
    const auto place = static_cast<int>(found - quotients_.begin());
    if (found == quotients_.end()) quotients_.push_back({sizes_[a], divisor});
    return add(Dim::of_input(kQuotients, place));
  }

 private:
  size_t add(Dim size) {
    sizes_.push_back(std::move(size));
    return sizes_.size() - 1;
  }

  std::vector<Quotient>& quotients_;
  std::vector<Dim> sizes_;
};

SegmentSizes::SegmentSizes(const std::vector<Dims>& inputs) {
  // Takes axes that tell sizes before axes that tell quotients: a quotient of known sizes needs no name of its own, as
  // inference within the segment computes it from the sizes.
  for (const bool is_quotient : {false, true}) {
    for (const bool is_single : {true, false}) {
      for (size_t i = 0; i < inputs.size(); ++i) take_linear(inputs[i], static_cast<int>(i), is_quotient, is_single);
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) take_others(inputs[i], static_cast<int>(i));
}

Dim SegmentSizes::flat(const Dim& size) const {
  Flattening flattening(quotients_);
  return flattening.at(size.visit(flattening));
}

void SegmentSizes::take_linear(const Dims& dims, int input, bool is_quotient, bool is_single) {
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const std::optional<Linear> linear = is_of_values(dims[axis]) ? std::nullopt : linear_of(flat(dims[axis]));
    if (!linear || is_quotient != (linear->atom.first == kQuotients) || own_of_atom(linear->atom)) continue;
    if (is_single != (linear->factor == 1 && linear->offset == 0)) continue;
    by_atom_.emplace(linear->atom, solved(*linear, Dim::of_input(input, static_cast<int>(axis))));
  }
}

void SegmentSizes::take_others(const Dims& dims, int input) {
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis].is_fixed() || is_of_values(dims[axis]) || own(dims[axis])) continue;
    by_text_.emplace(dims[axis].text(), Dim::of_input(input, static_cast<int>(axis)));
  }
}

std::optional<Dim> SegmentSizes::own_of_atom(const OpenSize& atom) const {
  const auto found = by_atom_.find(atom);
  if (found != by_atom_.end()) return found->second;
  if (atom.first != kQuotients) return std::nullopt;
  const Quotient quotient = quotients_.at(static_cast<size_t>(atom.second));
  const std::optional<Dim> dividend = own_of_flat(quotient.dividend);
  return dividend ? std::optional(dividend->floor_div(quotient.divisor)) : std::nullopt;
}

std::optional<Dim> SegmentSizes::own_of_flat(const Dim& size) const {
  return with_others(size, [this](const OpenSize& atom) { return own_of_atom(atom); });
}

std::optional<Dim> SegmentSizes::own(const Dim& size) const {
  if (size.is_fixed()) return size;
  const auto whole = by_text_.find(size.text());
  return whole != by_text_.end() ? whole->second : own_of_flat(flat(size));
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
