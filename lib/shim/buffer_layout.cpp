// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/buffer_layout.h"

#include "lib/format/buffer_samples.h"
#include "lib/format/crc32.h"
#include "lib/shim/failure.h"

namespace nnapi_shim {

uint32_t buffer_checksum(const int32_t* words, size_t word_count) {
  const int32_t zero = 0;
  uint32_t sum = nnapi_convert::crc32(words, format::kChecksum * sizeof(int32_t));
  sum = nnapi_convert::crc32(&zero, sizeof zero, sum);
  return nnapi_convert::crc32(words + format::kChecksum + 1, (word_count - format::kChecksum - 1) * sizeof(int32_t),
                              sum);
}

namespace {

class LayoutFinder {
 public:
  LayoutFinder(const int32_t* words, size_t count, BufferLayout* layout, nnapi_shim_error* error)
      : words_(words), count_(count), layout_(layout), error_(error) {}

  bool find() {
    if (!check_header() || !read_counts() || !find_arguments()) return false;
    if (!take(uint64_t{layout_->expression_count} * format::kExpressionWords, "expressions", &layout_->expressions) ||
        !take(uint64_t{layout_->patch_count} * format::kPatchWords, "patches", &layout_->patches)) {
      return false;
    }
    for (ModelLayout& model : layout_->models) {
      if (!find_model(&model)) return false;
    }
    layout_->models_end = at_;
    if (!find_text() || !find_samples() || !find_conditions()) return false;
    if (at_ != count_) return damaged(error_, at_, "the buffer has %zu words, %zu needed", count_, at_);
    return true;
  }

 private:
  uint32_t word(size_t position) const { return static_cast<uint32_t>(words_[position]); }

  bool check_header() {
    if (count_ == 0) {
      return damaged(error_, 0, "the buffer has no words, at least %zu needed", size_t{format::kHeaderWords});
    }
    const int32_t version = words_[format::kVersionWord];
    if (!format::is_buffer_version(version)) {
      fail(error_, NNAPI_SHIM_BAD_MODEL,
           "the model buffer is of version %d, %d to %d needed; use the nnapi_shim of the nnapi-convert that wrote it",
           version, format::kVersion, format::kNewestVersion);
      return false;
    }
    if (count_ < format::kHeaderWords) {
      return damaged(error_, 0, "the buffer has %zu words, at least %zu needed", count_, size_t{format::kHeaderWords});
    }
    if (word(format::kWordCount) != count_) {
      return damaged(error_, format::kWordCount, "word count %u found, the buffer has %zu", word(format::kWordCount),
                     count_);
    }
    const uint32_t sum = buffer_checksum(words_, count_);
    if (word(format::kChecksum) != sum) {
      return damaged(error_, format::kChecksum, "checksum %08x found, %08x needed", word(format::kChecksum), sum);
    }
    return true;
  }

  bool read_counts() {
    uint32_t models = 0;
    if (!read_count(format::kArgumentCount, "argument count", &layout_->argument_count) ||
        !read_count(format::kExpressionCount, "expression count", &layout_->expression_count) ||
        !read_count(format::kPatchCount, "patch count", &layout_->patch_count) ||
        !read_count(format::kModelCount, "model count", &models)) {
      return false;
    }
    at_ = format::kHeaderWords;
    if (models == 0) {
      return damaged(error_, format::kModelCount, "model count 0 found, at least 1 needed");
    }
    if (!fits(uint64_t{models} * format::kModelWords, format::kModelCount, "models")) return false;
    layout_->models.resize(models);
    layout_->text_bytes = word(format::kTextBytes);
    return true;
  }

  bool read_count(size_t position, const char* what, uint32_t* count) {
    *count = word(position);
    if (*count < format::kMaxCount) return true;
    return damaged(error_, position, "%s %u found, less than %u needed", what, *count, format::kMaxCount);
  }

  // Checks that at least `needed` words are left.
  bool fits(uint64_t needed, size_t position, const char* what) {
    if (needed <= count_ - at_) return true;
    return damaged(error_, position, "%s: %zu words left, %llu needed", what, count_ - at_,
                   static_cast<unsigned long long>(needed));
  }

  bool take(uint64_t needed, const char* what, size_t* section) {
    if (!fits(needed, at_, what)) return false;
    *section = at_;
    at_ += static_cast<size_t>(needed);
    return true;
  }

  // Checks a rank: as many words as it says follow.
  bool check_rank(size_t position, const char* what) {
    if (word(position) <= format::kMaxRank) return true;
    return damaged(error_, position, "rank %u of %s found, at most %u needed", word(position), what, format::kMaxRank);
  }

  bool find_arguments() {
    layout_->arguments = at_;
    for (uint32_t i = 0; i < layout_->argument_count; ++i) {
      size_t record = 0, sizes = 0;
      if (!take(1, "arguments", &record) || !check_rank(record, "an argument")) return false;
      if (!take(word(record), "sizes of an argument", &sizes)) return false;
    }
    return true;
  }

  bool find_model(ModelLayout* model) {
    size_t counts = 0;
    if (!take(format::kModelWords, "counts of a model", &counts)) return false;
    return read_count(counts, "operand count", &model->operand_count) &&
           read_count(counts + 1, "value count", &model->value_count) &&
           read_count(counts + 2, "operation count", &model->operation_count) &&
           read_count(counts + 3, "input count", &model->input_count) &&
           read_count(counts + 4, "output count", &model->output_count) &&
           take(uint64_t{model->operand_count} * format::kOperandWords, "operands", &model->operands) &&
           take(uint64_t{model->value_count} * format::kValueWords, "values", &model->values) &&
           take(uint64_t{model->operation_count} * format::kOperationWords, "operations", &model->operations) &&
           find_details(model) &&
           take(uint64_t{model->input_count} * format::kInputWords, "model inputs", &model->inputs) &&
           take(uint64_t{model->output_count} * format::kOutputWords, "model outputs", &model->outputs);
  }

  // Finds the sections whose sizes are sums over the records of operands, values and operations.
  bool find_details(ModelLayout* model) {
    uint64_t dims = 0, scales = 0, arguments = 0;
    for (uint32_t i = 0; i < model->operand_count; ++i) {
      const size_t record = model->operands + i * format::kOperandWords;
      uint32_t count = 0;
      if (!check_rank(record + 1, "an operand") || !read_count(record + 5, "channel scale count", &count)) return false;
      dims += word(record + 1);
      scales += count;
    }
    for (uint32_t i = 0; i < model->operation_count; ++i) {
      const size_t record = model->operations + i * format::kOperationWords;
      uint32_t inputs = 0, outputs = 0;
      if (!read_count(record + 1, "input count of an operation", &inputs) ||
          !read_count(record + 2, "output count of an operation", &outputs)) {
        return false;
      }
      arguments += uint64_t{inputs} + outputs;
    }
    return take(dims, "dimensions", &model->dims) && take(scales, "channel scales", &model->channel_scales) &&
           take_value_data(model) && take(arguments, "arguments of operations", &model->arguments);
  }

  bool take_value_data(ModelLayout* model) {
    model->value_data = at_;
    for (uint32_t i = 0; i < model->value_count; ++i) {
      const size_t record = model->values + i * format::kValueWords;
      if (words_[record + 1] != static_cast<int32_t>(format::ValueSource::kImmediate)) continue;
      const uint64_t bytes = word(record + 4) | uint64_t{word(record + 5)} << 32;
      size_t data = 0;
      if (!take(bytes / 4 + (bytes % 4 != 0 ? 1 : 0), "value data", &data)) return false;
    }
    return true;
  }

  bool find_text() {
    if (layout_->text_bytes == 0) return true;
    for (ModelLayout& model : layout_->models) {
      if (!take(model.operand_count, "names of operands", &model.names) ||
          !take(uint64_t{model.operation_count} * 2, "names of operations", &model.sources)) {
        return false;
      }
    }
    return take((uint64_t{layout_->text_bytes} + 3) / 4, "text", &layout_->text);
  }

  // Finds where each sample starts; its content is checked when it is read.
  bool find_samples() {
    const int32_t version = words_[format::kVersionWord];
    if (version < format::kSamplesVersion) return true;
    size_t counted = 0;
    if (!take(1, "samples", &counted)) return false;
    const uint32_t samples = word(counted);
    const uint32_t fewest = version < format::kInt8Version ? 1 : 0;
    if (samples < fewest || samples > nnapi_convert::buffer_samples::kMaxSamples) {
      return damaged(error_, counted, "%u samples found, %u to %u needed", samples, fewest,
                     nnapi_convert::buffer_samples::kMaxSamples);
    }
    for (uint32_t i = 0; i < samples; ++i) {
      if (!fits(1, at_, "words of a sample")) return false;
      const uint32_t words = word(at_);
      if (words == 0) return damaged(error_, at_, "a sample of 0 words found, at least 1 needed");
      layout_->samples.push_back(at_);
      size_t start = 0;
      if (!take(words, "a sample", &start)) return false;
    }
    return true;
  }

  // Finds where each condition starts; check_conditions() checks their content.
  bool find_conditions() {
    if (words_[format::kVersionWord] < format::kConditionsVersion) return true;
    size_t counted = 0;
    if (!take(1, "conditions", &counted)) return false;
    const uint32_t conditions = word(counted);
    if (conditions < 1 || conditions > format::kMaxConditions) {
      return damaged(error_, counted, "%u conditions found, 1 to %u needed", conditions, format::kMaxConditions);
    }
    for (uint32_t i = 0; i < conditions; ++i) {
      size_t start = 0, text = 0;
      if (!take(format::kConditionWords, "a condition", &start)) return false;
      layout_->conditions.push_back(start);
      const uint32_t bytes = word(start + format::kConditionWords - 1);
      if (bytes < 2 || bytes > format::kMaxConditionText) {
        return damaged(error_, start + format::kConditionWords - 1, "text of %u bytes found, 2 to %u needed", bytes,
                       format::kMaxConditionText);
      }
      if (!take((uint64_t{bytes} + 3) / 4, "text of a condition", &text)) return false;
    }
    return true;
  }

  const int32_t* words_;
  size_t count_;
  BufferLayout* layout_;
  nnapi_shim_error* error_;
  size_t at_ = 0;
};

}  // namespace

bool find_layout(const int32_t* words, size_t word_count, BufferLayout* layout, nnapi_shim_error* error) {
  *layout = BufferLayout();
  return LayoutFinder(words, word_count, layout, error).find();
}

}  // namespace nnapi_shim
