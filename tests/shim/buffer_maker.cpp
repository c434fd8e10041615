// SPDX-License-Identifier: BSD-3-Clause
#include "tests/shim/buffer_maker.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "lib/format/crc32.h"

namespace nnapi_shim::testing {
namespace {

using format::ValueSource;

template <typename Number>
std::vector<uint8_t> raw_bytes(const std::vector<Number>& numbers) {
  std::vector<uint8_t> bytes(numbers.size() * sizeof(Number));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

class BufferMaker {
 public:
  explicit BufferMaker(const Description& description) : description_(description) {}

  MadeBuffer make() {
    std::vector<int32_t>& words = made_.words;
    words.assign(format::kHeaderWords, 0);
    for (const auto& sizes : description_.arguments) {
      words.push_back(static_cast<int32_t>(sizes.size()));
      words.insert(words.end(), sizes.begin(), sizes.end());
    }
    for (const Expression& e : description_.expressions) push({static_cast<int32_t>(e.kind), e.a, e.b});
    const size_t patches = words.size();
    words.resize(words.size() + 2 * count_patches());
    for (const Model& model : description_.models) write_model(model);
    if (!description_.stripped) write_text();
    write_samples();
    write_conditions();
    std::sort(patches_.begin(), patches_.end());
    for (size_t i = 0; i < patches_.size(); ++i) {
      words[patches + 2 * i] = static_cast<int32_t>(patches_[i].first);
      words[patches + 2 * i + 1] = static_cast<int32_t>(patches_[i].second);
    }
    write_header();
    seal(words);
    return std::move(made_);
  }

 private:
  void push(std::initializer_list<int32_t> words) { made_.words.insert(made_.words.end(), words); }
  void push_float(float number) {
    int32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    made_.words.push_back(bits);
  }
  void push64(uint64_t number) {
    push({static_cast<int32_t>(static_cast<uint32_t>(number)), static_cast<int32_t>(number >> 32)});
  }
  static int32_t count(size_t number) { return static_cast<int32_t>(number); }

  size_t count_patches() const {
    size_t patches = 0;
    for (const Model& model : description_.models) {
      for (const Operand& operand : model.operands) {
        for (const Size& size : operand.dims) patches += size.expression >= 0 ? 1 : 0;
      }
      for (const Value& value : model.values) patches += value.flexible.size();
    }
    return patches;
  }

  void write_model(const Model& model) {
    push({count(model.operands.size()), count(model.values.size()), count(model.operations.size()),
          count(model.inputs.size()), count(model.outputs.size())});
    for (const Operand& operand : model.operands) {
      push({operand.type, count(operand.dims.size())});
      push_float(operand.scale);
      push({operand.zero_point, operand.channel_axis, count(operand.channel_scales.size())});
    }
    for (const Value& value : model.values) write_value_record(value);
    for (const Operation& operation : model.operations) {
      push({operation.code, count(operation.inputs.size()), count(operation.outputs.size())});
    }
    for (const Operand& operand : model.operands) {
      for (const Size& size : operand.dims) {
        if (size.expression >= 0) patches_.emplace_back(made_.words.size(), size.expression);
        push({size.number});
      }
    }
    for (const Operand& operand : model.operands) {
      for (const float scale : operand.channel_scales) push_float(scale);
    }
    for (const Value& value : model.values) write_value_data(value);
    for (const Operation& operation : model.operations) {
      for (const uint32_t operand : operation.inputs) push({count(operand)});
      for (const uint32_t operand : operation.outputs) push({count(operand)});
    }
    for (const Input& i : model.inputs) push({count(i.operand), i.argument, static_cast<int32_t>(i.layout)});
    for (const Output& output : model.outputs) push({count(output.operand), static_cast<int32_t>(output.layout)});
  }

  void write_value_record(const Value& value) {
    push({count(value.operand), static_cast<int32_t>(value.source)});
    if (value.source == ValueSource::kWeight || value.source == ValueSource::kFloat16Weight ||
        value.source == ValueSource::kInt8Weight) {
      std::vector<uint8_t>& weights = made_.weights;
      weights.resize((weights.size() + format::kWeightAlignment - 1) / format::kWeightAlignment *
                     format::kWeightAlignment);
      push64(weights.size());
      weights.insert(weights.end(), value.bytes.begin(), value.bytes.end());
    } else {
      push64(value.source == ValueSource::kModel ? value.model : 0);
    }
    push64(value.bytes.size());
  }

  void write_value_data(const Value& value) {
    if (value.source != ValueSource::kImmediate) return;
    for (const auto& [word, expression] : value.flexible) patches_.emplace_back(made_.words.size() + word, expression);
    const size_t first = made_.words.size();
    made_.words.resize(first + (value.bytes.size() + 3) / 4);
    if (!value.bytes.empty()) std::memcpy(&made_.words[first], value.bytes.data(), value.bytes.size());
  }

  // Texts in the order of their first use, each once.
  int32_t text(const std::string& text) {
    const auto [place, is_new] = texts_.emplace(text, static_cast<int32_t>(text_.size()));
    if (is_new) text_ += text + '\0';
    return place->second;
  }

  void write_text() {
    text("");
    for (const Model& model : description_.models) {
      for (const Operand& operand : model.operands) push({text(operand.name)});
      for (const Operation& operation : model.operations) push({text(operation.name), text(operation.source)});
    }
    const size_t first = made_.words.size();
    made_.words.resize(first + (text_.size() + 3) / 4);
    std::memcpy(&made_.words[first], text_.data(), text_.size());
  }

  void write_samples() {
    if (description_.samples.empty() && description_.version < format::kInt8Version) return;
    push({count(description_.samples.size())});
    for (const std::vector<int32_t>& sample : description_.samples) {
      push({count(sample.size() + 1)});
      made_.words.insert(made_.words.end(), sample.begin(), sample.end());
    }
  }

  void write_conditions() {
    if (description_.version < format::kConditionsVersion) return;
    push({count(description_.conditions.size())});
    for (const Condition& condition : description_.conditions) {
      push({static_cast<int32_t>(condition.kind), condition.left, condition.right, count(condition.text.size())});
      const size_t first = made_.words.size();
      made_.words.resize(first + (condition.text.size() + 3) / 4);
      if (!condition.text.empty()) std::memcpy(&made_.words[first], condition.text.data(), condition.text.size());
    }
  }

  void write_header() {
    std::vector<int32_t>& words = made_.words;
    words[format::kVersionWord] =
        description_.samples.empty() ? description_.version : std::max(description_.version, format::kSamplesVersion);
    words[format::kWordCount] = count(words.size());
    words[format::kFeatureLevel] = description_.feature_level;
    words[format::kPreference] = description_.preference;
    words[format::kFlags] = description_.relax_fp16 ? 1 : 0;
    words[format::kWeightBytesLow] = count(made_.weights.size());
    words[format::kWeightChecksum] =
        static_cast<int32_t>(nnapi_convert::crc32(made_.weights.data(), made_.weights.size()));
    words[format::kArgumentCount] = count(description_.arguments.size());
    words[format::kExpressionCount] = count(description_.expressions.size());
    words[format::kPatchCount] = count(patches_.size());
    words[format::kModelCount] = count(description_.models.size());
    words[format::kTextBytes] = count(text_.size());
  }

  const Description& description_;
  MadeBuffer made_;
  std::vector<std::pair<size_t, uint32_t>> patches_;  // word and expression
  std::string text_;
  std::map<std::string, int32_t> texts_;
};

}  // namespace

MadeBuffer make_buffer(const Description& description) {
  return BufferMaker(description).make();
}

void seal(std::vector<int32_t>& words) {
  words[format::kChecksum] = 0;
  words[format::kChecksum] = static_cast<int32_t>(nnapi_convert::crc32(words.data(), words.size() * sizeof(int32_t)));
}

std::vector<uint8_t> bytes_of(const std::vector<int32_t>& numbers) {
  return raw_bytes(numbers);
}

std::vector<uint8_t> bytes_of(const std::vector<float>& numbers) {
  return raw_bytes(numbers);
}

namespace {

int32_t bits_of(float number) {
  int32_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

}  // namespace

std::vector<int32_t> stored_input(const std::vector<uint8_t>& bytes) {
  std::vector<int32_t> words(1 + (bytes.size() + 3) / 4);
  if (!bytes.empty()) std::memcpy(&words[1], bytes.data(), bytes.size());
  return words;
}

std::vector<int32_t> uniform_input(uint32_t seed, float lowest, float highest) {
  return {1, static_cast<int32_t>(seed), bits_of(lowest), bits_of(highest)};
}

std::vector<int32_t> uniform_input(uint32_t seed, int32_t lowest, int32_t highest) {
  return {1, static_cast<int32_t>(seed), lowest, highest};
}

std::vector<int32_t> float_output(const std::vector<float>& expected, float tolerance, uint32_t step) {
  const auto [lowest, highest] = std::minmax_element(expected.begin(), expected.end());
  std::vector<int32_t> words = {bits_of(tolerance), bits_of(tolerance), bits_of(*lowest), bits_of(*highest),
                                static_cast<int32_t>(step)};
  for (size_t i = 0; i < expected.size(); i += step) words.push_back(bits_of(expected[i]));
  return words;
}

std::vector<int32_t> joined(const std::vector<std::vector<int32_t>>& lists) {
  std::vector<int32_t> words;
  for (const std::vector<int32_t>& list : lists) words.insert(words.end(), list.begin(), list.end());
  return words;
}

}  // namespace nnapi_shim::testing
