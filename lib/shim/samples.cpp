// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/samples.h"

#include <cmath>
#include <cstring>

#include "lib/format/nnapi_codes.h"
#include "lib/shim/buffer_views.h"
#include "lib/shim/failure.h"

namespace nnapi_shim {
namespace {

using nnapi_convert::OperandCode;
namespace samples = nnapi_convert::buffer_samples;

// The types of tensors that samples have: an element is a number of 1, 2 or 4 bytes.
enum class Number { kNone, kFloat, kInt32, kUint8, kInt8, kInt16, kUint16 };

Number number_type(int32_t type) {
  switch (static_cast<OperandCode>(type)) {
    case OperandCode::TENSOR_FLOAT32:
      return Number::kFloat;
    case OperandCode::TENSOR_INT32:
      return Number::kInt32;
    case OperandCode::TENSOR_QUANT8_ASYMM:
    case OperandCode::TENSOR_BOOL8:
      return Number::kUint8;
    case OperandCode::TENSOR_QUANT8_ASYMM_SIGNED:
    case OperandCode::TENSOR_QUANT8_SYMM:
      return Number::kInt8;
    case OperandCode::TENSOR_QUANT16_SYMM:
      return Number::kInt16;
    case OperandCode::TENSOR_QUANT16_ASYMM:
      return Number::kUint16;
    default:
      return Number::kNone;
  }
}

size_t bytes_of(Number type) {
  if (type == Number::kFloat || type == Number::kInt32) return 4;
  return type == Number::kInt16 || type == Number::kUint16 ? 2 : 1;
}

template <typename Value>
Value read_as(const void* bytes) {
  Value value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

double element(Number type, const void* data, size_t number) {
  const uint8_t* bytes = static_cast<const uint8_t*>(data) + number * bytes_of(type);
  switch (type) {
    case Number::kFloat:
      return static_cast<double>(read_as<float>(bytes));
    case Number::kInt32:
      return read_as<int32_t>(bytes);
    case Number::kInt8:
      return read_as<int8_t>(bytes);
    case Number::kInt16:
      return read_as<int16_t>(bytes);
    case Number::kUint16:
      return read_as<uint16_t>(bytes);
    default:
      return *bytes;
  }
}

void write_integer(Number type, int32_t value, uint8_t* bytes) {
  // Little-endian: the low bytes come first.
  std::memcpy(bytes, &value, bytes_of(type));
}

float float_at(const int32_t* words, size_t at) {
  return read_as<float>(words + at);
}

}  // namespace

std::vector<nnapi_shim_shape> Sample::shapes() const {
  std::vector<nnapi_shim_shape> result;
  const int64_t* at = sizes.data();
  for (const uint32_t rank : ranks) {
    result.push_back({rank, at});
    at += rank;
  }
  return result;
}

SampleReader::SampleReader(const int32_t* words, const BufferLayout& layout, size_t number, nnapi_shim_error* error)
    : words_(words),
      layout_(layout),
      number_(number),
      at_(layout.samples[number] + 1),
      end_(layout.samples[number] + static_cast<uint32_t>(words[layout.samples[number]])),
      error_(error) {}

bool SampleReader::take(uint64_t words, const char* what, size_t* first) {
  if (words > end_ - at_) {
    return damaged(error_, at_, "%s of sample %zu: %zu words left, %llu needed", what, number_, end_ - at_,
                   static_cast<unsigned long long>(words));
  }
  *first = at_;
  at_ += static_cast<size_t>(words);
  return true;
}

int SampleReader::read_shapes(Sample* sample) {
  size_t argument = layout_.arguments;
  for (uint32_t i = 0; i < layout_.argument_count; ++i) {
    const auto rank = static_cast<uint32_t>(words_[argument]);
    argument += size_t{1} + rank;
    size_t first = 0;
    if (!take(rank, "sizes", &first)) return NNAPI_SHIM_BAD_MODEL;
    sample->ranks.push_back(rank);
    sample->sizes.insert(sample->sizes.end(), words_ + first, words_ + at_);
  }
  return NNAPI_SHIM_OK;
}

int SampleReader::read_tensors(Sample* sample) {
  sample->inputs.resize(sample->input_tensors.size());
  sample->outputs.resize(sample->output_tensors.size());
  for (size_t i = 0; i < sample->inputs.size(); ++i) {
    if (!read_input(sample->input_tensors[i], &sample->inputs[i])) return NNAPI_SHIM_BAD_MODEL;
  }
  for (size_t i = 0; i < sample->outputs.size(); ++i) {
    if (!read_output(sample->output_tensors[i], &sample->outputs[i])) return NNAPI_SHIM_BAD_MODEL;
  }
  if (at_ == end_) return NNAPI_SHIM_OK;
  damaged(error_, at_, "%zu more words of sample %zu found, none needed", end_ - at_, number_);
  return NNAPI_SHIM_BAD_MODEL;
}

bool SampleReader::read_input(const nnapi_shim_tensor& tensor, std::vector<uint8_t>* bytes) {
  size_t kind = 0, data = 0;
  if (!take(1, "an input", &kind)) return false;
  if (words_[kind] == static_cast<int32_t>(samples::InputKind::kUniform)) return read_uniform(tensor, bytes);
  if (words_[kind] != static_cast<int32_t>(samples::InputKind::kStored)) {
    return damaged(error_, kind, "kind %d of an input of sample %zu found, 0 or 1 needed", words_[kind], number_);
  }
  if (!take((uint64_t{tensor.bytes} + 3) / 4, "an input", &data)) return false;
  const auto* from = reinterpret_cast<const uint8_t*>(words_ + data);
  bytes->assign(from, from + tensor.bytes);
  return true;
}

bool SampleReader::read_uniform(const nnapi_shim_tensor& tensor, std::vector<uint8_t>* bytes) {
  size_t data = 0;
  if (!take(samples::kUniformWords, "an input", &data)) return false;
  const Number type = number_type(tensor.type);
  const auto seed = static_cast<uint32_t>(words_[data + samples::kSeed]);
  const int32_t lowest = words_[data + samples::kLowestInput], highest = words_[data + samples::kHighestInput];
  if (type == Number::kNone || (type != Number::kFloat && lowest > highest)) {
    return damaged(error_, data, "an input of type %d of %d to %d in sample %zu found, which can't be made",
                   tensor.type, lowest, highest, number_);
  }
  if (tensor.bytes > samples::kMostInputBytes) {
    return damaged(error_, data, "an input of %zu bytes in sample %zu found, at most %llu needed", tensor.bytes,
                   number_, static_cast<unsigned long long>(samples::kMostInputBytes));
  }
  bytes->resize(tensor.bytes);
  const size_t size = bytes_of(type);
  for (size_t i = 0; i < tensor.bytes / size; ++i) {
    uint8_t* to = bytes->data() + i * size;
    if (type == Number::kFloat) {
      const float value = samples::uniform_float(seed, i, float_at(words_, data + samples::kLowestInput),
                                                 float_at(words_, data + samples::kHighestInput));
      std::memcpy(to, &value, sizeof value);
    } else {
      write_integer(type, samples::uniform_integer(seed, i, lowest, highest), to);
    }
  }
  return true;
}

bool SampleReader::read_output(const nnapi_shim_tensor& tensor, SampleOutput* output) {
  size_t head = 0, data = 0;
  if (!take(samples::kOutputWords, "an output", &head)) return false;
  output->most_difference = float_at(words_, head + samples::kMostDifference);
  output->root_mean_square = float_at(words_, head + samples::kRootMeanSquare);
  output->lowest = float_at(words_, head + samples::kLowestOutput);
  output->highest = float_at(words_, head + samples::kHighestOutput);
  output->step = static_cast<uint32_t>(words_[head + samples::kStep]);
  const Number type = number_type(tensor.type);
  if (type == Number::kNone || output->step == 0) {
    return damaged(error_, head, "an output of type %d with step %u in sample %zu found, which can't be compared",
                   tensor.type, output->step, number_);
  }
  const size_t size = bytes_of(type);
  const uint64_t kept = (uint64_t{tensor.bytes / size} + output->step - 1) / output->step;
  if (!take((kept * size + 3) / 4, "an output", &data)) return false;
  output->elements = reinterpret_cast<const uint8_t*>(words_ + data);
  return true;
}

SampleBuffers::SampleBuffers(const Sample& sample) : sample_(sample) {
  for (const std::vector<uint8_t>& input : sample.inputs) {
    inputs_.push_back({const_cast<uint8_t*>(input.data()), input.size()});
  }
  for (const nnapi_shim_tensor& tensor : sample.output_tensors) results_.emplace_back(tensor.bytes);
  for (std::vector<uint8_t>& result : results_) outputs_.push_back({result.data(), result.size()});
  clear();
}

void SampleBuffers::clear() {
  for (std::vector<uint8_t>& result : results_) std::fill(result.begin(), result.end(), uint8_t{0xFF});
}

RunBuffers SampleBuffers::run_buffers() const {
  return {inputs_.data(), static_cast<uint32_t>(inputs_.size()), outputs_.data(),
          static_cast<uint32_t>(outputs_.size())};
}

int SampleBuffers::compare(nnapi_shim_error* error) const {
  int status = NNAPI_SHIM_OK;
  for (uint32_t i = 0; i < results_.size() && status == NNAPI_SHIM_OK; ++i) {
    status = compare_output(sample_.outputs[i], sample_.output_tensors[i], i, results_[i].data(), error);
  }
  return status;
}

int compare_output(const SampleOutput& expected, const nnapi_shim_tensor& tensor, uint32_t number, const void* found,
                   nnapi_shim_error* error) {
  const Number type = number_type(tensor.type);
  const size_t count = tensor.bytes / bytes_of(type);
  const auto most = static_cast<double>(expected.most_difference);
  const double lowest = static_cast<double>(expected.lowest) - most;
  const double highest = static_cast<double>(expected.highest) + most;
  double worst = 0, squares = 0;
  size_t worst_at = 0, kept = 0;
  for (size_t i = 0; i < count; ++i) {
    const double value = element(type, found, i);
    // The condition is written so that NaN fails.
    if (!(value >= lowest && value <= highest)) {
      return fail(error, NNAPI_SHIM_FAILED, "element %zu of output %u is %g, %g to %g needed", i, number, value, lowest,
                  highest);
    }
    if (i % expected.step != 0) continue;
    const double difference = std::fabs(value - element(type, expected.elements, kept++));
    squares += difference * difference;
    if (difference <= worst) continue;
    worst = difference;
    worst_at = i;
  }
  if (!(worst <= most)) {
    return fail(error, NNAPI_SHIM_FAILED, "element %zu of output %u is wrong by %g, at most %g may be", worst_at,
                number, worst, most);
  }
  const double mean = kept > 0 ? std::sqrt(squares / static_cast<double>(kept)) : 0;
  if (mean <= static_cast<double>(expected.root_mean_square)) return NNAPI_SHIM_OK;
  return fail(error, NNAPI_SHIM_FAILED, "output %u is wrong by %g (root mean square), at most %g may be", number, mean,
              static_cast<double>(expected.root_mean_square));
}

}  // namespace nnapi_shim
