// SPDX-License-Identifier: BSD-3-Clause
// Reads the operations of a buffer of versions 2, 3, 4, 6 and 7 to show them. Only the shim, which reads the whole
// buffer, checks that the buffer can run.
#include <fmt/format.h>

#include "lib/format/buffer_format_v2.h"
#include "lib/format/buffer_samples.h"
#include "lib/serialize/buffer_reader.h"
#include "lib/serialize/word_cursor.h"

namespace nnapi_convert {
namespace {

namespace format = buffer_format_v2;

class ShimBufferReader : private WordCursor {
 public:
  using WordCursor::WordCursor;

  BufferModel read() {
    const int32_t* header = take(format::kHeaderWords, "header");
    const int32_t version = header[format::kVersionWord];
    if (!format::is_buffer_version(version)) {
      fail(fmt::format("version {} found, {} to {} needed", version, format::kVersion, format::kNewestVersion));
    }
    if (static_cast<uint32_t>(header[format::kWordCount]) != count()) {
      fail(fmt::format("{} words found, {} needed", count(), static_cast<uint32_t>(header[format::kWordCount])));
    }
    for (size_t i = counted(header[format::kArgumentCount], "arguments"); i > 0; --i) {
      const int32_t rank = next("rank");
      axes_ += counted(rank, "axes");
      skip(rank, 1, "sizes");
    }
    skip(header[format::kExpressionCount], format::kExpressionWords, "expressions");
    skip(header[format::kPatchCount], format::kPatchWords, "patches");
    const size_t models = counted(header[format::kModelCount], "models");
    if (models == 0) fail("0 models found, 1 needed");
    BufferModel main = read_model();
    for (size_t i = 1; i < models; ++i) main.subgraphs.push_back(read_model());
    if (version >= format::kSamplesVersion) {
      skip_texts(main, static_cast<uint32_t>(header[format::kTextBytes]));
      read_samples(main);
    }
    return main;
  }

 private:
  size_t counted(int32_t word, const char* what) const {
    const auto value = static_cast<uint32_t>(word);
    // Each counted thing takes at least one word.
    if (value >= format::kMaxCount || value > count()) fail(fmt::format("{} {} found, less needed", value, what));
    return value;
  }

  void skip(int32_t number, size_t words_each, const char* what) {
    take(static_cast<uint64_t>(counted(number, what)) * words_each, what);
  }

  void skip_texts(const BufferModel& main, uint32_t text_bytes) {
    if (text_bytes == 0) return;
    uint64_t offsets = main.operands.size() + 2 * main.operations.size();
    for (const BufferModel& model : main.subgraphs) offsets += model.operands.size() + 2 * model.operations.size();
    take(offsets + (uint64_t{text_bytes} + 3) / 4, "text");
  }

  void read_samples(BufferModel& main) {
    const size_t samples = counted(next("samples"), "samples");
    for (size_t i = 0; i < samples; ++i) {
      const size_t start = position();
      BufferSampleSummary sample;
      sample.words = counted(next("words of a sample"), "words of a sample");
      const int32_t* sizes = take(axes_, "sizes of a sample");
      sample.sizes.assign(sizes, sizes + axes_);
      if (sample.words < position() - start) fail(fmt::format("a sample of {} words found", sample.words));
      take(sample.words - (position() - start), "a sample");
      main.samples.push_back(std::move(sample));
    }
  }

  BufferModel read_model() {
    model_ = {};
    const size_t operands = counted(next("operand count"), "operands");
    const size_t values = counted(next("value count"), "values");
    const size_t operations = counted(next("operation count"), "operations");
    const size_t inputs = counted(next("input count"), "inputs");
    const size_t outputs = counted(next("output count"), "outputs");
    std::vector<size_t> ranks, channels;
    for (size_t i = 0; i < operands; ++i) {
      BufferOperand operand{};
      operand.type = next("operand type");
      ranks.push_back(counted(next("rank"), "dimensions"));
      operand.scale = next_float("scale");
      operand.zero_point = next("zero point");
      operand.channel_axis = next("channel axis");
      channels.push_back(counted(next("channel scales"), "channel scales"));
      model_.operands.push_back(std::move(operand));
    }
    uint64_t data_words = 0;
    for (size_t i = 0; i < values; ++i) data_words += read_value();
    std::vector<std::pair<size_t, size_t>> argument_counts;
    for (size_t i = 0; i < operations; ++i) {
      BufferOperation operation{};
      operation.code = next("operation code");
      const size_t arguments = counted(next("operation inputs"), "operation inputs");
      argument_counts.emplace_back(arguments, counted(next("operation outputs"), "operation outputs"));
      model_.operations.push_back(std::move(operation));
    }
    for (size_t i = 0; i < operands; ++i) {
      for (size_t axis = 0; axis < ranks[i]; ++axis) {
        model_.operands[i].dims.push_back(static_cast<uint32_t>(next("dimension")));
      }
    }
    for (size_t i = 0; i < operands; ++i) {
      for (size_t j = 0; j < channels[i]; ++j) model_.operands[i].channel_scales.push_back(next_float("channel scale"));
    }
    take(data_words, "value data");
    for (size_t i = 0; i < operations; ++i) {
      model_.operations[i].inputs = next_operands(argument_counts[i].first, 1);
      model_.operations[i].outputs = next_operands(argument_counts[i].second, 1);
    }
    model_.inputs = next_operands(inputs, format::kInputWords);
    model_.outputs = next_operands(outputs, format::kOutputWords);
    return std::move(model_);
  }

  // Reads a value's record; returns the words of its value data.
  uint64_t read_value() {
    BufferValue value{};
    value.operand = next("value");
    require_operand(value.operand);
    value.source = next("value source");
    value.offset = next_long("offset");
    value.length = next_long("length");
    model_.values.push_back(value);
    return value.source == static_cast<int32_t>(format::ValueSource::kImmediate) ? (value.length + 3) / 4 : 0;
  }

  uint64_t next_long(const char* what) {
    const auto low = static_cast<uint32_t>(next(what));
    const auto high = static_cast<uint32_t>(next(what));
    return static_cast<uint64_t>(high) << 32 | low;
  }

  void require_operand(int32_t id) const {
    if (id >= 0 && static_cast<size_t>(id) < model_.operands.size()) return;
    fail(fmt::format("operand {} found, and the model has {} operands", id, model_.operands.size()));
  }

  std::vector<int32_t> next_operands(size_t size, size_t words_each) {
    std::vector<int32_t> ids;
    for (size_t i = 0; i < size; ++i) {
      const int32_t id = next("operand");
      require_operand(id);
      ids.push_back(id);
      for (size_t rest = 1; rest < words_each; ++rest) next("boundary");
    }
    return ids;
  }

  BufferModel model_;  // the model that is being read
  size_t axes_ = 0;    // the number of axes of all arguments
};

}  // namespace

BufferModel read_shim_buffer(const int32_t* words, size_t count) {
  return ShimBufferReader(words, count).read();
}

}  // namespace nnapi_convert
