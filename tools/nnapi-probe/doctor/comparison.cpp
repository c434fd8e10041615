// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/doctor/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lib/format/float16.h"
#include "lib/format/nnapi_codes.h"

namespace nnapi_doctor {
namespace {

using nnapi_convert::OperandCode;

// A channel whose difference is less than this share of the range is right, however small its own elements are.
constexpr double kLeastShare = 2e-5;
// The least number of elements of a channel whose difference is judged by the channel's own elements.
constexpr uint64_t kTellingCount = 8;
// Larger numbers count as infinite: NNAPI's arithmetic gives the largest float32 in place of an infinite number; other
// drivers keep it infinite.
constexpr double kHuge = 1e38;

bool is_float(int32_t type) {
  return type == static_cast<int32_t>(OperandCode::TENSOR_FLOAT32) ||
         type == static_cast<int32_t>(OperandCode::TENSOR_FLOAT16);
}

template <typename Value>
Value read_at(const void* data, size_t number) {
  Value value;
  std::memcpy(&value, static_cast<const uint8_t*>(data) + number * sizeof value, sizeof value);
  return value;
}

bool is_same(double expected, double found) {
  if (std::isnan(expected)) return std::isnan(found);
  return std::fabs(expected) >= kHuge && std::fabs(found) >= kHuge && (expected > 0) == (found > 0);
}

struct Channel {
  double squares = 0, expected_squares = 0;  // sums of squares of the differences, and of the expected elements
  double sum = 0, worst = 0;                 // sum of the differences with their signs; their largest amount
  uint64_t count = 0, wrong = 0;
};

size_t element_count(const TensorForm& form) {
  size_t count = 1;
  for (const uint32_t size : form.dims) count *= size;
  return count;
}

// Finds the channel of an element: (number / inner) % channels.
struct ChannelOrder {
  size_t channels = 1, inner = 1;

  explicit ChannelOrder(const TensorForm& form) {
    if (form.dims.empty()) return;
    const size_t axis = std::min(form.channel_axis, form.dims.size() - 1);
    channels = std::max<size_t>(form.dims[axis], 1);
    for (size_t i = axis + 1; i < form.dims.size(); ++i) inner *= form.dims[i];
    inner = std::max<size_t>(inner, 1);
  }
  size_t of(size_t number) const { return number / inner % channels; }
};

double root_mean_square(double squares, uint64_t count) {
  return count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
}

// The difference of an element that is not a number although one is expected.
constexpr double kNoNumber = std::numeric_limits<double>::infinity();

double difference(double expected, double found) {
  if (is_same(expected, found)) return 0;
  const double amount = found - expected;
  return std::isfinite(amount) ? amount : kNoNumber;
}

std::vector<Channel> channels_of(const TensorForm& form, const ChannelOrder& order, const void* expected,
                                 const void* found) {
  std::vector<Channel> channels(order.channels);
  const size_t count = element_count(form);
  for (size_t i = 0; i < count; ++i) {
    const double should = element(form.type, expected, i);
    const double differs = difference(should, element(form.type, found, i));
    Channel& channel = channels[order.of(i)];
    ++channel.count;
    channel.sum += differs;
    channel.squares += differs * differs;
    channel.worst = std::max(channel.worst, std::fabs(differs));
    if (std::isfinite(should) && std::fabs(should) < kHuge) channel.expected_squares += should * should;
  }
  return channels;
}

// Returns the size of a step in the unit of the elements; 0 for elements without steps.
double step_of(const Comparison& whole, const TensorForm& form, const Tolerance& tolerance) {
  constexpr double kStepsOfRange = 255;
  if (whole.is_quantised) return 1;
  if (!is_float(form.type) || tolerance.step == 0) return 0;
  return tolerance.step == kStepOfRange ? std::max(whole.range / kStepsOfRange, 1e-30) : tolerance.step;
}

// Returns the channel's difference as a share of the tolerance; more than 1 is wrong.
double share_of(const Channel& channel, const Comparison& whole, const TensorForm& form, const Tolerance& tolerance) {
  if (whole.is_quantised) {
    const double mean =
        channel.count >= kTellingCount ? std::fabs(channel.sum) / static_cast<double>(channel.count) : 0;
    return std::max(channel.worst / tolerance.steps, mean / tolerance.mean_steps);
  }
  if (!is_float(form.type)) {  // integers and bools: one in a hundred may be on the other side of a limit
    return channel.worst > 0 ? 1 : 0;
  }
  if (const double step = step_of(whole, form, tolerance)) return channel.worst / (tolerance.steps * step);
  // A few elements may all be near 0 by chance.
  const bool is_telling = channel.count >= kTellingCount;
  const double of_range = channel.worst / std::max(tolerance.range_share * whole.range, 1e-30);
  const double own = root_mean_square(channel.expected_squares, channel.count);
  const double of_channel = root_mean_square(channel.squares, channel.count) /
                            std::max({tolerance.channel_share * own, kLeastShare * whole.range, 1e-30});
  return is_telling ? std::max(of_range, of_channel) : of_range;
}

Comparison compare_bytes(const TensorForm& form, const void* expected, const void* found) {
  Comparison result;
  result.elements = element_count(form);
  result.is_wrong = std::memcmp(expected, found, result.elements) != 0;
  result.worst_share = result.is_wrong ? 2 : 0;
  return result;
}

}  // namespace

bool is_quantised(int32_t type) {
  switch (static_cast<OperandCode>(type)) {
    case OperandCode::TENSOR_QUANT8_ASYMM:
    case OperandCode::TENSOR_QUANT8_ASYMM_SIGNED:
    case OperandCode::TENSOR_QUANT8_SYMM:
    case OperandCode::TENSOR_QUANT16_SYMM:
    case OperandCode::TENSOR_QUANT16_ASYMM:
      return true;
    default:
      return false;
  }
}

double element(int32_t type, const void* data, size_t number) {
  switch (static_cast<OperandCode>(type)) {
    case OperandCode::TENSOR_FLOAT32:
      return static_cast<double>(read_at<float>(data, number));
    case OperandCode::TENSOR_FLOAT16:
      return static_cast<double>(nnapi_convert::float_of_float16(read_at<uint16_t>(data, number)));
    case OperandCode::TENSOR_INT32:
      return read_at<int32_t>(data, number);
    case OperandCode::TENSOR_QUANT16_SYMM:
      return read_at<int16_t>(data, number);
    case OperandCode::TENSOR_QUANT16_ASYMM:
      return read_at<uint16_t>(data, number);
    case OperandCode::TENSOR_QUANT8_SYMM:
    case OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL:
    case OperandCode::TENSOR_QUANT8_ASYMM_SIGNED:
      return read_at<int8_t>(data, number);
    case OperandCode::TENSOR_QUANT8_ASYMM:
    case OperandCode::TENSOR_BOOL8:
      return read_at<uint8_t>(data, number);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

Tolerance tolerance_of(size_t count, bool is_half) {
  const double growth = std::sqrt(static_cast<double>(std::max<size_t>(count, 1)));
  Tolerance tolerance;
  if (is_half) {
    tolerance.range_share = 4e-3 * growth;
    tolerance.channel_share = 4e-2 * growth;
  } else if (count > 1) {
    tolerance.range_share = std::max(1e-3, 1e-4 * growth);
  }
  tolerance.steps = 2 + 6 * std::sqrt(static_cast<double>(std::max<size_t>(count, 1) - 1));
  tolerance.all_steps = 1 + 1.5 * std::sqrt(static_cast<double>(std::max<size_t>(count, 1) - 1));
  tolerance.mean_steps = count > 1 ? tolerance.all_steps : 0.75;
  return tolerance;
}

Comparison compare(const TensorForm& form, const void* expected, const void* found, const Tolerance& tolerance) {
  const bool is_known = !std::isnan(element(form.type, expected, 0)) || is_float(form.type);
  if (!is_known) return compare_bytes(form, expected, found);
  Comparison result;
  result.is_quantised = is_quantised(form.type);
  result.elements = element_count(form);
  const ChannelOrder order(form);
  result.channels = static_cast<uint32_t>(order.channels);
  const std::vector<Channel> channels = channels_of(form, order, expected, found);
  double sum = 0;
  for (size_t i = 0; i < result.elements; ++i) {
    const double should = element(form.type, expected, i), is = element(form.type, found, i);
    const double differs = std::fabs(difference(should, is));
    if (std::isfinite(should) && std::fabs(should) < kHuge) result.range = std::max(result.range, std::fabs(should));
    if (!std::isfinite(differs)) {
      ++result.not_a_number;
      continue;
    }
    sum += differs;
    result.worst = std::max(result.worst, differs);
  }
  result.mean = result.elements > 0 ? sum / static_cast<double>(result.elements) : 0;
  const double step = step_of(result, form, tolerance);
  const double most = step > 0              ? tolerance.steps * step
                      : is_float(form.type) ? tolerance.range_share * result.range
                                            : 0;
  for (size_t i = 0; i < result.elements; ++i) {
    const double differs = std::fabs(difference(element(form.type, expected, i), element(form.type, found, i)));
    if (!(differs <= most)) ++result.wrong_elements;
  }
  for (size_t i = 0; i < channels.size(); ++i) {
    const double share = share_of(channels[i], result, form, tolerance);
    result.worst_share = std::max(result.worst_share, share);
    const bool is_number = result.is_quantised || is_float(form.type);
    if (!(share <= 1) || (!is_number && share > 0)) {
      if (result.wrong_channels < kNamedChannels) result.first_wrong[result.wrong_channels] = static_cast<uint32_t>(i);
      ++result.wrong_channels;
    }
  }
  if (step > 0) {
    double squares = 0;
    for (const Channel& channel : channels) squares += channel.squares;
    result.worst_share =
        std::max(result.worst_share, root_mean_square(squares, result.elements) / (tolerance.all_steps * step));
  }
  if (result.is_quantised || is_float(form.type)) {
    result.is_wrong = !(result.worst_share <= 1);
  } else {
    result.is_wrong = result.wrong_elements > result.elements / 100;
    result.worst_share = result.is_wrong ? 2 : 0;
  }
  return result;
}

bool is_half_precision(const TensorForm& form, const void* expected, const void* found, const void* rounded,
                       size_t terms) {
  if (!is_float(form.type)) return true;
  constexpr double kUnit = 1.0 / 2048;  // the relative rounding error of half precision
  // A sum that is kept in half precision is rounded after each term.
  const double factor = 4 + std::sqrt(static_cast<double>(std::max<size_t>(terms, 1))) / 2;
  const ChannelOrder order(form);
  const std::vector<Channel> is = channels_of(form, order, expected, found);
  const std::vector<Channel> may = channels_of(form, order, expected, rounded);
  double range = 0, worst = 0, may_worst = 0;
  for (size_t i = 0; i < element_count(form); ++i) {
    const double should = std::fabs(element(form.type, expected, i));
    if (std::isfinite(should) && should < kHuge) range = std::max(range, should);
  }
  for (size_t i = 0; i < is.size(); ++i) {
    const double own = root_mean_square(is[i].expected_squares, is[i].count);
    const double error = root_mean_square(is[i].squares, is[i].count);
    const double explained = root_mean_square(may[i].squares, may[i].count);
    if (is[i].count >= kTellingCount && !(error <= factor * explained + 2 * kUnit * own + kLeastShare * range))
      return false;
    worst = std::max(worst, is[i].worst);
    may_worst = std::max(may_worst, may[i].worst);
  }
  return worst <= 2 * factor * may_worst + 4 * kUnit * range;
}

}  // namespace nnapi_doctor
