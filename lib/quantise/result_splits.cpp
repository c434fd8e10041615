// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/result_splits.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "lib/nnapi/validate.h"
#include "lib/quantise/host_model.h"
#include "lib/quantise/slices.h"
#include "lib/quantise/trial_samples.h"
#include "lib/quantise/uneven_joints.h"

namespace nnapi_convert {
namespace {

constexpr size_t kTrials = 4;

struct SliceRange {
  float lowest = std::numeric_limits<float>::infinity(), highest = -std::numeric_limits<float>::infinity();
};

// Returns the ranges of a cut's slices.
std::vector<SliceRange> slice_ranges(const quantise::Cut& cut, const quantise::Results& results) {
  std::vector<size_t> slices;  // by place
  for (size_t slice = 0; slice < cut.ends.size(); ++slice) slices.resize(cut.ends[slice], slice);
  std::vector<SliceRange> ranges(cut.ends.size());
  for (const auto& result : results) {
    const quantise::Bytes& bytes = result[cut.output];
    for (size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
      float value;
      std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
      if (!std::isfinite(value)) continue;
      SliceRange& range = ranges[slices[i / cut.inner % cut.size]];
      range.lowest = std::min(range.lowest, value);
      range.highest = std::max(range.highest, value);
    }
  }
  return ranges;
}

// Returns the ratio of the largest to the smallest range, without slices that are constant.
double unevenness(const std::vector<SliceRange>& ranges) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const SliceRange& range : ranges) {
    const double width = static_cast<double>(range.highest) - static_cast<double>(range.lowest);
    if (!(width > 0)) continue;
    least = std::min(least, width);
    most = std::max(most, width);
  }
  return most > 0 ? most / least : 0;
}

// Returns the sizes of the caller's tensor if its elements are in NNAPI's order.
std::optional<Dims> dims_in_order(const NnapiPart& part, const InterfaceOutput& output) {
  const nnapi::Boundary& boundary = part.model.outputs[output.index];
  if (boundary.nhwc) return std::nullopt;
  return output.shape ? *output.shape : part.model.at(boundary.operand).dims;
}

// Returns the axis of a cut in the caller's order; nothing if the cut goes along no axis.
std::optional<int64_t> caller_axis(const quantise::Cut& cut, const NnapiPart& part, const InterfaceOutput& output) {
  const std::optional<Dims> in_order = dims_in_order(part, output);
  const Dims& dims = in_order ? *in_order : part.model.at(part.model.outputs[output.index].operand).dims;
  size_t inner = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    if (!dims[axis].is_fixed()) return std::nullopt;
    const auto size = static_cast<size_t>(dims[axis].value());
    if (size == cut.size && inner == cut.inner) {
      if (in_order || axis == 0) return static_cast<int64_t>(axis);
      return static_cast<int64_t>(axis + 1 == dims.size() ? 1 : axis + 1);
    }
    inner *= size;
  }
  return std::nullopt;
}

// Returns the sizes of parts: neighbouring slices stay together as long as their ranges are alike.
std::vector<int64_t> part_sizes(const quantise::Cut& cut, const std::vector<SliceRange>& ranges) {
  std::vector<int64_t> sizes;
  std::vector<SliceRange> together;
  size_t begin = 0;
  for (size_t i = 0; i < cut.ends.size(); ++i) {
    const auto size = static_cast<int64_t>(cut.ends[i] - begin);
    begin = cut.ends[i];
    together.push_back(ranges[i]);
    if (sizes.empty() || unevenness(together) >= quantise::kUneven) {
      sizes.push_back(size);
      together = {ranges[i]};
    } else {
      sizes.back() += size;
    }
  }
  return sizes;
}

quantise::Results trial_results(const NnapiPart& part, Frontend& frontend) {
  const size_t inputs = part.interface.inputs.size();
  const TrialSamples samples = trial_samples(part, ranges_of_arguments(frontend, part.interface),
                                             real_samples(frontend.loaded(), {}, inputs, kTrials), kTrials);
  std::vector<Dims> arguments;
  for (const InterfaceInput& input : part.interface.inputs) arguments.push_back(input.type.dims);
  quantise::HostModel host(part.model, arguments, nnapi::required_feature_level(part.model));
  quantise::Results results;
  for (const quantise::KeptSample& sample : samples.physical) results.push_back(host.run(sample.sample()));
  return results;
}

}  // namespace

std::vector<ResultSplit> uneven_results(const NnapiPart& part, Frontend& frontend) {
  const std::vector<quantise::Cut> cuts = quantise::cuts_of(part.model, false);
  if (cuts.empty()) return {};
  const quantise::Results results = trial_results(part, frontend);
  std::vector<ResultSplit> splits;
  for (size_t i = 0; i < part.interface.outputs.size(); ++i) {
    const InterfaceOutput& output = part.interface.outputs[i];
    if (output.source != InterfaceOutput::Source::kNnapi) continue;
    double most = 0;
    ResultSplit best;
    for (const quantise::Cut& cut : cuts) {
      const auto axis = cut.output == output.index ? caller_axis(cut, part, output) : std::nullopt;
      if (!axis) continue;
      const std::vector<SliceRange> ranges = slice_ranges(cut, results);
      const double times = unevenness(ranges);
      if (times < quantise::kUneven || times <= most) continue;
      most = times;
      best = {i, *axis, part_sizes(cut, ranges)};
    }
    if (most > 0) splits.push_back(std::move(best));
  }
  return splits;
}

}  // namespace nnapi_convert
