// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/shim_buffer_writer.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/format/buffer_format_v2.h"
#include "lib/format/buffer_samples.h"
#include "lib/format/operation_table.h"
#include "lib/nnapi/stored_form.h"
#include "lib/serialize/buffer_words.h"
#include "lib/serialize/rounded_up.h"

namespace nnapi_convert {
namespace {

namespace format = buffer_format_v2;

int32_t low_word(uint64_t value) {
  return static_cast<int32_t>(static_cast<uint32_t>(value));
}

int32_t high_word(uint64_t value) {
  return static_cast<int32_t>(static_cast<uint32_t>(value >> 32));
}

int32_t count(size_t value, const char* what) {
  if (value < format::kMaxCount) return static_cast<int32_t>(value);
  throw ConvertError(
      ExitCode::kNotConvertible,
      fmt::format("the model has {} {}, and the buffer format holds less than {}", value, what, format::kMaxCount));
}

// Collects the expressions of all flexible words, equal expressions once.
class Expressions : public DimVisitor {
 public:
  size_t number(int64_t value) override {
    const auto bits = static_cast<uint64_t>(value);
    return add(format::ExpressionKind::kNumber, low_word(bits), high_word(bits));
  }
  size_t size(int input, int axis) override { return add(format::ExpressionKind::kSize, input, axis); }
  size_t sum(size_t a, size_t b) override { return add_pair(format::ExpressionKind::kSum, a, b); }
  size_t product(size_t a, size_t b) override { return add_pair(format::ExpressionKind::kProduct, a, b); }
  size_t floor_div(size_t a, size_t b) override { return add_pair(format::ExpressionKind::kFloorDiv, a, b); }

  const std::vector<int32_t>& words() const { return words_; }
  size_t size() const { return words_.size() / format::kExpressionWords; }

 private:
  size_t add_pair(format::ExpressionKind kind, size_t a, size_t b) {
    return add(kind, count(a, "sizes to compute"), count(b, "sizes to compute"));
  }

  size_t add(format::ExpressionKind kind, int32_t a, int32_t b) {
    const auto [place, is_new] = known_.emplace(std::make_tuple(kind, a, b), size());
    if (is_new) words_.insert(words_.end(), {static_cast<int32_t>(kind), a, b});
    return place->second;
  }

  std::map<std::tuple<format::ExpressionKind, int32_t, int32_t>, size_t> known_;
  std::vector<int32_t> words_;
};

// Collects names and source lines, each once.
class Texts {
 public:
  Texts() : bytes_(1, '\0') {}

  int32_t offset_of(const std::string& text) {
    if (text.empty()) return 0;
    const auto [place, is_new] = offsets_.emplace(text, bytes_.size());
    if (is_new) bytes_.append(text.c_str(), text.size() + 1);
    return count(place->second, "bytes of names");
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::unordered_map<std::string, size_t> offsets_;
};

class ShimBufferWriter {
 public:
  explicit ShimBufferWriter(const ShimBufferRequest& request)
      : request_(request), models_(nnapi::with_subgraphs(request.model)) {}

  // Writes the models first: they tell which sizes to compute.
  ShimBuffer write() {
    for (const nnapi::Model* model : models_) write_model(*model);
    std::vector<int32_t> model = std::exchange(words_, {});
    if (request_.keeps_names) write_texts();
    const std::vector<int32_t> texts = std::exchange(words_, {});
    if (!request_.conditions.empty()) write_conditions();
    const std::vector<int32_t> conditions = std::exchange(words_, {});
    for (const Dims& dims : request_.arguments) {
      put(count(dims.size(), "axes"));
      for (const Dim& dim : dims) put(static_cast<int32_t>(dim.fixed_value().value_or(0)));
    }
    append(expressions_.words());
    const size_t first = format::kHeaderWords + words_.size() + patches_.size() * format::kPatchWords;
    for (const auto& [position, expression] : patches_) {
      put(count(first + position, "words"));
      put(count(expression, "sizes to compute"));
    }
    for (WeightWord& each : result_.weight_words) each.word += first;
    append(model);
    append(texts);
    write_samples();
    append(conditions);
    const std::vector<int32_t> body = std::exchange(words_, {});
    write_header(body.size());
    append(body);
    result_.words = std::move(words_);
    return std::move(result_);
  }

 private:
  void put(int32_t word) { words_.push_back(word); }
  void put_long(uint64_t value) {
    put(low_word(value));
    put(high_word(value));
  }
  void append(const std::vector<int32_t>& words) { words_.insert(words_.end(), words.begin(), words.end()); }

  // Writes a number; for an expression, writes 0 and adds a patch.
  void put(const Dim& value) {
    if (!value.is_fixed()) patches_.emplace_back(words_.size(), value.visit(expressions_));
    const int64_t number = value.fixed_value().value_or(0);
    if (number < INT32_MIN || number > INT32_MAX) {
      throw ConvertError(ExitCode::kNotConvertible,
                         fmt::format("the model has the number {}, and the buffer format holds 32 bits", number));
    }
    put(static_cast<int32_t>(number));
  }

  void put_bytes(const void* bytes, size_t size) {
    const size_t first = words_.size();
    words_.resize(first + (size + 3) / 4, 0);
    if (size > 0) std::memcpy(words_.data() + first, bytes, size);
  }

  void write_header(size_t body_words) {
    std::vector<int32_t> header(format::kHeaderWords, 0);
    header[format::kVersionWord] = !request_.conditions.empty() ? format::kConditionsVersion
                                   : has_int8_                  ? format::kInt8Version
                                   : !request_.samples.empty()  ? format::kSamplesVersion
                                   : has_float16_               ? format::kFloat16Version
                                                                : format::kVersion;
    header[format::kWordCount] = count(format::kHeaderWords + body_words, "words");
    header[format::kFeatureLevel] = request_.feature_level;
    header[format::kPreference] = static_cast<int32_t>(request_.preference);
    header[format::kFlags] = request_.relax_fp16 ? static_cast<int32_t>(format::kRelaxFp16) : 0;
    header[format::kWeightBytesLow] = low_word(result_.weight_bytes);
    header[format::kWeightBytesHigh] = high_word(result_.weight_bytes);
    header[format::kArgumentCount] = count(request_.arguments.size(), "arguments");
    header[format::kExpressionCount] = count(expressions_.size(), "sizes to compute");
    header[format::kPatchCount] = count(patches_.size(), "flexible words");
    header[format::kModelCount] = count(models_.size(), "models");
    header[format::kTextBytes] = request_.keeps_names ? count(texts_.bytes().size(), "bytes of names") : 0;
    append(header);
  }

  void write_model(const nnapi::Model& model) {
    std::vector<const nnapi::Operand*> constants;
    put(count(model.operands.size(), "operands"));
    const size_t constant_count = words_.size();
    put(0);
    put(count(model.operations.size(), "operations"));
    put(count(model.inputs.size(), "inputs"));
    put(count(model.outputs.size(), "outputs"));
    for (const nnapi::Operand& operand : model.operands) write_operand(operand);
    for (size_t i = 0; i < model.operands.size(); ++i) {
      if (!model.operands[i].is_constant()) continue;
      constants.push_back(&model.operands[i]);
      write_value_record(static_cast<int32_t>(i), model.operands[i]);
    }
    words_[constant_count] = count(constants.size(), "constants");
    for (const nnapi::Operation& operation : model.operations) {
      put(static_cast<int32_t>(operation.code));
      put(count(operation.inputs.size(), "operation inputs"));
      put(count(operation.outputs.size(), "operation outputs"));
    }
    for (const nnapi::Operand& operand : model.operands) {
      for (const Dim& dim : operand.dims) put(dim);
    }
    for (const nnapi::Operand& operand : model.operands) {
      if (operand.channels == nullptr) continue;
      for (const float scale : operand.channels->scales) put(float_bits(scale));
    }
    for (const nnapi::Operand* operand : constants) write_value_data(*operand);
    write_references(model);
  }

  void write_references(const nnapi::Model& model) {
    for (const nnapi::Operation& operation : model.operations) {
      append(operation.inputs);
      append(operation.outputs);
    }
    for (const nnapi::Boundary& input : model.inputs) {
      put(input.operand);
      put(model.is_subgraph ? -1 : count(input.argument, "arguments"));
      put(layout_of(input));
    }
    for (const nnapi::Boundary& output : model.outputs) {
      put(output.operand);
      put(layout_of(output));
    }
  }

  static int32_t layout_of(const nnapi::Boundary& boundary) {
    return static_cast<int32_t>(boundary.nhwc ? format::Layout::kNhwc : format::Layout::kSame);
  }

  void write_operand(const nnapi::Operand& operand) {
    put(static_cast<int32_t>(operand.type));
    put(count(operand.dims.size(), "dimensions"));
    put(float_bits(operand.scale));
    put(operand.zero_point);
    put(operand.channels != nullptr ? count(operand.channels->axis, "dimensions") : -1);
    put(operand.channels != nullptr ? count(operand.channels->scales.size(), "channels") : 0);
  }

  static bool is_weight(const nnapi::Operand& operand) {
    return operand.constant() != nullptr && operand.constant()->byte_count() > kMaxImmediateBytes;
  }

  static format::ValueSource source_of_weight(const nnapi::Operand& operand) {
    if (operand.constant()->type() == nnapi::DataType::kFloat16) return format::ValueSource::kFloat16Weight;
    return nnapi::is_stored_as_int8(operand) ? format::ValueSource::kInt8Weight : format::ValueSource::kWeight;
  }

  static bool has_bytes(const nnapi::Operand& operand) {
    return !operand.is_omitted() && operand.subgraph() == nullptr;
  }

  static uint64_t byte_count(const nnapi::Operand& operand) {
    if (operand.constant() != nullptr) return operand.constant()->byte_count();
    if (operand.ints() != nullptr) return 4 * operand.ints()->size();
    if (!has_bytes(operand)) return 0;
    return std::holds_alternative<bool>(operand.value) ? 1 : 4;
  }

  void write_value_record(int32_t id, const nnapi::Operand& operand) {
    auto source = format::ValueSource::kImmediate;
    uint64_t offset = 0;
    if (operand.is_omitted()) {
      source = format::ValueSource::kOmitted;
    } else if (const nnapi::Subgraph* subgraph = operand.subgraph()) {
      source = format::ValueSource::kModel;
      offset = number_of(**subgraph);
    } else if (is_weight(operand)) {
      source = source_of_weight(operand);
      has_float16_ = has_float16_ || source == format::ValueSource::kFloat16Weight;
      has_int8_ = has_int8_ || source == format::ValueSource::kInt8Weight;
      const size_t number = place_weight(*operand.constant());
      offset = result_.weights[number].offset;
      result_.weight_words.push_back({words_.size() + kWordsBeforeOffset, number});
    }
    put(id);
    put(static_cast<int32_t>(source));
    put_long(offset);
    put_long(byte_count(operand));
  }

  uint64_t number_of(const nnapi::Model& model) const {
    return static_cast<uint64_t>(std::find(models_.begin(), models_.end(), &model) - models_.begin());
  }

  static constexpr size_t kWordsBeforeOffset = 2;  // in a value's record

  // Returns the weight's number. Several models may share a weight; one model has each weight once.
  size_t place_weight(const nnapi::Constant& value) {
    const auto same = std::find_if(result_.weights.begin(), result_.weights.end(), [&](const PlacedWeight& weight) {
      return models_.size() > 1 && weight.value == value;
    });
    if (same != result_.weights.end()) return static_cast<size_t>(same - result_.weights.begin());
    result_.weights.push_back({value, result_.weight_bytes});
    result_.weight_bytes += rounded_up(value.byte_count(), format::kWeightAlignment);
    return result_.weights.size() - 1;
  }

  void write_value_data(const nnapi::Operand& operand) {
    if (is_weight(operand) || !has_bytes(operand)) return;
    if (operand.constant() != nullptr) {
      const std::vector<uint8_t> bytes = operand.constant()->bytes();
      put_bytes(bytes.data(), bytes.size());
    } else if (operand.ints() != nullptr) {
      for (const Dim& value : *operand.ints()) put(value);
    } else if (const bool* flag = std::get_if<bool>(&operand.value)) {
      put(*flag ? 1 : 0);
    } else {
      put(float_bits(std::get<float>(operand.value)));
    }
  }

  std::string name_of_operand(const nnapi::Model& model, int32_t id) const {
    if (model.is_subgraph) return "";
    for (const nnapi::Boundary& input : model.inputs) {
      if (input.operand == id) return request_.names[input.argument];
    }
    return "";
  }

  void write_texts() {
    for (const nnapi::Model* model : models_) {
      for (size_t i = 0; i < model->operands.size(); ++i) {
        put(texts_.offset_of(name_of_operand(*model, static_cast<int32_t>(i))));
      }
      for (const nnapi::Operation& operation : model->operations) {
        put(texts_.offset_of(std::string(name_of(operation.code))));
        put(texts_.offset_of(operation.source));
      }
    }
    put_bytes(texts_.bytes().data(), texts_.bytes().size());
  }

  void write_conditions() {
    if (request_.conditions.size() > format::kMaxConditions) {
      throw ConvertError(ExitCode::kNotConvertible, fmt::format("{} conditions on sizes found, at most {} needed",
                                                                request_.conditions.size(), format::kMaxConditions));
    }
    put(static_cast<int32_t>(request_.conditions.size()));
    for (const BufferCondition& condition : request_.conditions) {
      const std::string text = cut(condition.subject) + '\0' + cut(condition.needed) + '\0';
      put(static_cast<int32_t>(kind_of(condition.sizes.kind)));
      put(count(condition.sizes.left.visit(expressions_), "sizes to compute"));
      put(count(condition.sizes.right.visit(expressions_), "sizes to compute"));
      put(static_cast<int32_t>(text.size()));
      put_bytes(text.data(), text.size());
    }
  }

  // Returns the text, without its end if it is long.
  static std::string cut(const std::string& text) {
    constexpr size_t kMost = format::kMaxConditionText / 4;
    if (text.size() <= kMost) return text;
    size_t end = kMost;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // within a character of UTF-8
    return text.substr(0, end) + "...";
  }

  static format::ConditionKind kind_of(SizeCondition::Kind kind) {
    if (kind == SizeCondition::Kind::kEqual) return format::ConditionKind::kEqual;
    return kind == SizeCondition::Kind::kAtLeast ? format::ConditionKind::kAtLeast : format::ConditionKind::kAtMost;
  }

  void write_samples() {
    result_.samples = request_.samples.size();
    if (request_.samples.empty() && !has_int8_ && request_.conditions.empty()) return;
    put(static_cast<int32_t>(request_.samples.size()));
    for (const BufferSample& sample : request_.samples) {
      put(count(word_count(sample), "words of a sample"));
      for (const int64_t size : sample.sizes) put(static_cast<int32_t>(size));
      for (const BufferSampleInput& input : sample.inputs) write_sample_input(input);
      for (const BufferSampleOutput& output : sample.outputs) write_sample_output(output);
    }
  }

  void write_sample_input(const BufferSampleInput& input) {
    const bool is_stored = !input.stored.empty();
    put(static_cast<int32_t>(is_stored ? buffer_samples::InputKind::kStored : buffer_samples::InputKind::kUniform));
    if (is_stored) return put_bytes(input.stored.data(), input.stored.size());
    put(static_cast<int32_t>(input.seed));
    put(input.lowest);
    put(input.highest);
  }

  void write_sample_output(const BufferSampleOutput& output) {
    put(float_bits(output.most_difference));
    put(float_bits(output.root_mean_square));
    put(float_bits(output.lowest));
    put(float_bits(output.highest));
    put(static_cast<int32_t>(output.step));
    put_bytes(output.kept.data(), output.kept.size());
  }

  const ShimBufferRequest& request_;
  std::vector<const nnapi::Model*> models_;         // the main model and its subgraphs, by number
  std::vector<int32_t> words_;                      // the section that is being written
  std::vector<std::pair<size_t, size_t>> patches_;  // word of the models, number of the expression
  bool has_float16_ = false, has_int8_ = false;
  Expressions expressions_;
  Texts texts_;
  ShimBuffer result_;
};

}  // namespace

size_t word_count(const BufferSample& sample) {
  size_t words = 1 + sample.sizes.size();
  for (const BufferSampleInput& input : sample.inputs) {
    words += 1 + (input.stored.empty() ? size_t{buffer_samples::kUniformWords} : (input.stored.size() + 3) / 4);
  }
  for (const BufferSampleOutput& output : sample.outputs) {
    words += buffer_samples::kOutputWords + (output.kept.size() + 3) / 4;
  }
  return words;
}

ShimBuffer write_shim_buffer(const ShimBufferRequest& request) {
  return ShimBufferWriter(request).write();
}

std::string to_text(const ShimBuffer& buffer) {
  const std::string samples = buffer.samples == 0 ? "" : ", " + counted(buffer.samples, "sample");
  return fmt::format("{} words, {} weights of {} bytes{}\n", buffer.words.size(), buffer.weights.size(),
                     buffer.weight_bytes, samples);
}

void write_weights(ShimBuffer& buffer, bool releases, const nnapi::ByteSink& sink) {
  const std::vector<uint8_t> zeros(format::kWeightAlignment);
  uint64_t end = 0;
  const auto fill_to = [&](uint64_t begin) {
    NNC_ASSERT(begin - end < zeros.size(), "weights are further apart than their alignment");
    if (begin != end) sink(zeros.data(), static_cast<size_t>(begin - end));
  };
  for (PlacedWeight& weight : buffer.weights) {
    fill_to(weight.offset);
    weight.value.write_to(sink);
    end = weight.offset + weight.value.byte_count();
    if (releases) weight.value.release();
  }
  fill_to(buffer.weight_bytes);
}

void seal(int32_t* words, size_t count, uint32_t weight_checksum) {
  words[format::kWeightChecksum] = low_word(weight_checksum);
  words[format::kChecksum] = 0;
  words[format::kChecksum] = low_word(libdeflate_crc32(0, words, 4 * count));
}

}  // namespace nnapi_convert
