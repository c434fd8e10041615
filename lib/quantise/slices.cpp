// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

#include "lib/format/operation_table.h"
#include "lib/nnapi/integer_forms.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::Operand;
using nnapi::OperandId;
using nnapi::Operation;

constexpr size_t kMostChannels = 1024;
constexpr size_t kMostSlices = 256;  // along an axis of an output of rank 3, whose meaning isn't known

// Returns the sizes of a tensor; nothing if one is flexible or 0.
std::optional<std::vector<size_t>> sizes_of(const Operand& operand) {
  std::vector<size_t> sizes;
  for (const Dim& dim : operand.dims) {
    if (dim.fixed_value().value_or(0) < 1) return std::nullopt;
    sizes.push_back(static_cast<size_t>(*dim.fixed_value()));
  }
  return sizes;
}

size_t product_from(const std::vector<size_t>& sizes, size_t axis) {
  size_t product = 1;
  for (size_t i = axis; i < sizes.size(); ++i) product *= sizes[i];
  return product;
}

// Returns the axis along which the slices lie; nothing if the cut lies between axes.
std::optional<size_t> axis_of(const Cut& cut, const std::vector<size_t>& sizes) {
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] == cut.size && product_from(sizes, axis + 1) == cut.inner) return axis;
  }
  return std::nullopt;
}

class Cutting {
 public:
  Cutting(const Model& model, bool has_results)
      : model_(model), has_results_(has_results), makers_(model.operands.size(), nullptr) {
    for (const Operation& operation : model.operations) {
      for (const OperandId id : operation.outputs) makers_[static_cast<size_t>(id)] = &operation;
    }
  }

  std::vector<Cut> run() const {
    std::vector<Cut> cuts;
    for (size_t output = 0; output < model_.outputs.size(); ++output) {
      const OperandId id = model_.outputs[output].operand;
      if (model_.at(id).type != OperandCode::TENSOR_FLOAT32 || !sizes_of(model_.at(id))) continue;
      std::vector<Cut> found = joints(id);
      if (has_results_) add_channels(output, found);
      for (Cut& cut : found) {
        cut.output = output;
        if (cut.ends.size() > 1) cuts.push_back(std::move(cut));
      }
    }
    return cuts;
  }

 private:
  const Operation* maker(OperandId id) const { return makers_[static_cast<size_t>(id)]; }

  // Returns the cuts between slices that concatenations join in the tensor.
  std::vector<Cut> joints(OperandId id) const {
    const Operation* operation = maker(id);
    if (operation == nullptr || !sizes_of(model_.at(id))) return {};
    if (operation->code == OperationCode::CONCATENATION) return joints_of_concatenation(*operation);
    if (operation->code == OperationCode::RESHAPE) return joints(operation->inputs[0]);  // the order stays
    if (operation->code == OperationCode::TRANSPOSE) return transposed(*operation);
    if (!has_trait(operation->code, OperationTrait::kElementwise)) return {};
    for (const OperandId input : operation->inputs) {
      const bool is_whole = !model_.at(input).is_constant() && model_.at(input).dims == model_.at(id).dims;
      std::vector<Cut> found = is_whole ? joints(input) : std::vector<Cut>();
      if (!found.empty()) return found;
    }
    return {};
  }

  std::vector<Cut> joints_of_concatenation(const Operation& operation) const {
    const OperandId result = operation.outputs[0];
    const auto sizes = sizes_of(model_.at(result));
    const Dims* axis_of_all = model_.at(operation.inputs.back()).ints();
    if (!sizes || axis_of_all == nullptr) return {};
    const auto axis = static_cast<size_t>(axis_of_all->at(0).fixed_value().value_or(0));
    if (axis >= sizes->size()) return {};
    Cut cut{0, (*sizes)[axis], product_from(*sizes, axis + 1), {}, result, true};
    std::vector<std::vector<Cut>> within;  // by part
    for (size_t i = 0; i + 1 < operation.inputs.size(); ++i) {
      const auto part = sizes_of(model_.at(operation.inputs[i]));
      if (!part || part->size() != sizes->size()) return {};
      cut.ends.push_back((cut.ends.empty() ? 0 : cut.ends.back()) + (*part)[axis]);
      within.push_back(joints(operation.inputs[i]));
    }
    std::vector<Cut> cuts = {cut};
    if (cut.ends.back() != cut.size) return {};
    for (const Cut& inner : within[0]) add_common(operation, inner, within, *sizes, cuts);
    return cuts;
  }

  // Adds a cut along another axis if all parts have it.
  void add_common(const Operation& operation, const Cut& cut, const std::vector<std::vector<Cut>>& within,
                  const std::vector<size_t>& sizes, std::vector<Cut>& cuts) const {
    const auto axis = axis_of(cut, *sizes_of(model_.at(operation.inputs[0])));
    if (!axis || sizes[*axis] != cut.size) return;
    for (size_t i = 0; i < within.size(); ++i) {
      const auto part = *sizes_of(model_.at(operation.inputs[i]));
      const bool has_it = std::any_of(within[i].begin(), within[i].end(), [&](const Cut& other) {
        return other.ends == cut.ends && axis_of(other, part) == axis;
      });
      if (!has_it) return;
    }
    Cut joined = cut;
    joined.inner = product_from(sizes, *axis + 1);
    cuts.push_back(joined);
  }

  std::vector<Cut> transposed(const Operation& operation) const {
    const auto before = sizes_of(model_.at(operation.inputs[0])), after = sizes_of(model_.at(operation.outputs[0]));
    const Dims* order = operation.inputs.size() > 1 ? model_.at(operation.inputs[1]).ints() : nullptr;
    if (!before || !after || order == nullptr || order->size() != after->size()) return {};
    std::vector<Cut> cuts;
    for (Cut cut : joints(operation.inputs[0])) {
      const auto axis = axis_of(cut, *before);
      const auto moved =
          axis ? std::find(order->begin(), order->end(), Dim(static_cast<int64_t>(*axis))) : order->end();
      if (moved == order->end()) continue;
      cut.inner = product_from(*after, static_cast<size_t>(moved - order->begin()) + 1);
      cuts.push_back(std::move(cut));
    }
    return cuts;
  }

  // Returns the operation that computes the tensor's values, before operations that only move them.
  const Operation* source_of(OperandId id) const {
    const Operation* operation = maker(id);
    while (operation != nullptr && nnapi::only_moves(operation->code)) operation = maker(operation->inputs[0]);
    return operation;
  }

  // Adds an output's channels as slices; not for probabilities, which have one scale by nature: near 0 they mean
  // nothing.
  void add_channels(size_t output, std::vector<Cut>& cuts) const {
    const nnapi::Boundary& boundary = model_.outputs[output];
    const std::vector<size_t> sizes = *sizes_of(model_.at(boundary.operand));
    const Operation* source = source_of(boundary.operand);
    if (source != nullptr && (nnapi::fixed_scale(source->code) || source->code == OperationCode::CONCATENATION)) return;
    std::vector<size_t> axes;
    if (sizes.size() == 4) axes = {boundary.nhwc ? size_t{3} : size_t{1}};
    if (sizes.size() == 3) axes = {1, 2};
    for (const size_t axis : axes) {
      if (sizes[axis] > (sizes.size() == 4 ? kMostChannels : kMostSlices)) continue;
      Cut cut{output, sizes[axis], product_from(sizes, axis + 1), {}, source == nullptr ? -1 : source->outputs[0],
              false};
      for (size_t end = 1; end <= cut.size; ++end) cut.ends.push_back(end);
      cuts.push_back(std::move(cut));
    }
  }

  const Model& model_;
  bool has_results_;
  std::vector<const Operation*> makers_;
};

// The expected and the found values of a slice.
struct Held {
  double count = 0, sum = 0, signal = 0, noise = 0;
  std::set<float> expected = {}, found = {};  // the first few different values

  static void keep(std::set<float>& values, float value) {
    if (values.size() < kFewValues) values.insert(value);
  }
  void add(float a, float b) {
    if (!std::isfinite(a) || !std::isfinite(b)) return;
    const double value = static_cast<double>(a), error = value - static_cast<double>(b);
    ++count;
    sum += value;
    signal += value * value;
    noise += error * error;
    keep(expected, a);
    keep(found, b);
  }

  static double decibels(double power, double error) {
    return error > 0 ? 10 * std::log10(power / error) : std::numeric_limits<double>::infinity();
  }
  double snr_db() const { return decibels(signal, noise); }
  // Returns the SNR of the values' differences from their mean.
  double varying_snr_db() const { return decibels(std::max(0.0, signal - sum * sum / count), noise); }

  bool is_lost(double power_of_output) const {
    constexpr double kLow = 10;        // dB
    constexpr double kFewSteps = 18;   // in dB: the SNR of evenly spread values rounded to kFewValues steps
    constexpr double kSilent = 1e-10;  // as a share of the output's power
    if (noise == 0 || signal / count <= kSilent * power_of_output) return false;
    const bool has_few = found.size() < kFewValues && found.size() < expected.size();
    return snr_db() < kLow || (has_few && varying_snr_db() < kFewSteps);
  }
};

std::vector<float> numbers_in(const Bytes& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Returns the axis as PyTorch counts it.
size_t torch_axis(size_t axis, size_t rank, bool is_nhwc) {
  if (!is_nhwc || axis == 0) return axis;
  return axis + 1 == rank ? 1 : axis + 1;
}

// Returns "channels 4 to 7 of 8 (axis 1)", with the axis in PyTorch's order.
std::string place_text(const Model& model, const Cut& cut, const LostSlice& slice) {
  const nnapi::Boundary& output = model.outputs[cut.output];
  const auto sizes = sizes_of(model.at(output.operand));
  const auto axis = sizes ? axis_of(cut, *sizes) : std::nullopt;
  const std::string channels = slice.first == slice.last ? fmt::format("channel {}", slice.first)
                                                         : fmt::format("channels {} to {}", slice.first, slice.last);
  return fmt::format("{} of {}{}", channels, cut.size,
                     axis ? fmt::format(" (axis {})", torch_axis(*axis, sizes->size(), output.nhwc)) : "");
}

}  // namespace

std::vector<Cut> cuts_of(const Model& model, bool has_results) {
  return Cutting(model, has_results).run();
}

std::vector<LostSlice> lost_slices(const Cut& cut, const Results& expected, const Results& found) {
  std::vector<size_t> slices;  // by place
  for (size_t slice = 0; slice < cut.ends.size(); ++slice) slices.resize(cut.ends[slice], slice);
  std::vector<Held> held(cut.ends.size());
  for (size_t sample = 0; sample < expected.size(); ++sample) {
    const std::vector<float> needed = numbers_in(expected[sample][cut.output]);
    const std::vector<float> given = numbers_in(found[sample][cut.output]);
    for (size_t i = 0; i < needed.size(); ++i) held[slices[i / cut.inner % cut.size]].add(needed[i], given[i]);
  }
  double power = 0, count = 0;
  for (const Held& each : held) {
    power += each.signal;
    count += each.count;
  }
  std::vector<LostSlice> lost;
  for (size_t i = 0; i < held.size(); ++i) {
    if (held[i].count == 0 || !held[i].is_lost(power / count)) continue;
    lost.push_back({i == 0 ? 0 : cut.ends[i - 1], cut.ends[i] - 1, held[i].snr_db(), held[i].found.size()});
  }
  std::stable_sort(lost.begin(), lost.end(),
                   [](const LostSlice& a, const LostSlice& b) { return a.snr_db < b.snr_db; });
  return lost;
}

std::vector<std::string> warnings_of_slices(const SlicedResults& results,
                                            const std::function<std::string(const Cut&)>& mending) {
  std::vector<std::string> warnings;
  std::set<size_t> warned;  // outputs with a warning
  for (const Cut& cut : cuts_of(results.model, results.has_results)) {
    if (warned.count(cut.output) != 0) continue;
    const std::vector<LostSlice> lost = lost_slices(cut, results.expected, results.found);
    if (lost.empty()) continue;
    warned.insert(cut.output);
    const LostSlice& worst = lost[0];
    const std::string values = worst.values < kFewValues ? fmt::format(", {} different value{} left", worst.values,
                                                                       worst.values == 1 ? "" : "s")
                                                         : "";
    warnings.push_back(
        fmt::format("calibration: output {}: {} los{} {} values beside larger ones (SNR {:.1f} dB{}){}: {}", cut.output,
                    place_text(results.model, cut, worst), worst.first == worst.last ? "es" : "e",
                    worst.first == worst.last ? "its" : "their", worst.snr_db, values,
                    lost.size() > 1 ? fmt::format(", and {} more of {} slices", lost.size() - 1, cut.ends.size()) : "",
                    mending(cut)));
  }
  return warnings;
}

}  // namespace nnapi_convert::quantise
