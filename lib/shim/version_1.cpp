#include "lib/shim/version_1.h"

#include "lib/format/buffer_format.h"
#include "lib/shim/buffer_layout.h"
#include "lib/shim/failure.h"

namespace nnapi_shim {
namespace {

namespace format_v1 = nnapi_convert::buffer_format;

constexpr int32_t kSustainedSpeed = 2;  // the stock loader's default; the buffer does not tell

class Renderer {
 public:
  Renderer(const int32_t* words, size_t count, const nnapi_shim_buffer* buffers, size_t buffer_count,
           RenderedBuffer* rendered, nnapi_shim_error* error)
      : words_(words),
        count_(count),
        buffers_(buffers),
        buffer_count_(buffer_count),
        rendered_(rendered),
        error_(error) {}

  bool render() {
    if (!find_sections()) return false;
    write_header();
    if (!write_arguments()) return false;
    push(operand_count_, 1);
    push(value_count_, 2);
    push(operation_count_, 3);
    push(input_count_, 4);
    push(output_count_, 5);
    write_operands();
    if (!write_values()) return false;
    copy(operations_, operation_count_ * format_v1::kOperationWords);
    copy(dims_, value_data_ - dims_);
    copy_value_data();
    copy(arguments_, inputs_ - arguments_);
    write_boundary();
    std::vector<int32_t>& words = rendered_->words;
    words[format::kWordCount] = static_cast<int32_t>(words.size());
    words[format::kWeightBytesLow] = static_cast<int32_t>(rendered_->weight_bytes);
    words[format::kWeightBytesHigh] = static_cast<int32_t>(rendered_->weight_bytes >> 32);
    words[format::kChecksum] = static_cast<int32_t>(buffer_checksum(words.data(), words.size()));
    return true;
  }

 private:
  uint32_t word(size_t position) const { return static_cast<uint32_t>(words_[position]); }

  void push(uint32_t number, size_t origin) {
    rendered_->words.push_back(static_cast<int32_t>(number));
    rendered_->origin.push_back(static_cast<uint32_t>(origin));
  }

  void copy(size_t first, size_t count) {
    for (size_t i = first; i < first + count; ++i) push(word(i), i);
  }

  bool take(uint64_t needed, const char* what, size_t* section) {
    if (needed > count_ - at_) {
      return damaged(error_, at_, "%s: %zu words left, %llu needed", what, count_ - at_,
                     static_cast<unsigned long long>(needed));
    }
    *section = at_;
    at_ += static_cast<size_t>(needed);
    return true;
  }

  bool read_count(size_t position, const char* what, uint32_t limit, uint32_t* count) const {
    *count = word(position);
    if (*count < limit) return true;
    return damaged(error_, position, "%s %u found, less than %u needed", what, *count, limit);
  }

  bool find_sections() {
    if (count_ == 0 || words_[0] != format_v1::kVersion) {
      fail(error_, NNAPI_SHIM_BAD_MODEL,
           "the model buffer is of version %d, %d needed; use the function of that version",
           count_ == 0 ? 0 : words_[0], format_v1::kVersion);
      return false;
    }
    size_t header = 0;
    return take(format_v1::kHeaderWords, "header", &header) &&
           read_count(1, "operand count", format_v1::kMaxCount, &operand_count_) &&
           read_count(2, "value count", format_v1::kMaxCount, &value_count_) &&
           read_count(3, "operation count", format_v1::kMaxCount, &operation_count_) &&
           read_count(4, "input count", format_v1::kMaxCount, &input_count_) &&
           read_count(5, "output count", format_v1::kMaxCount, &output_count_) &&
           take(uint64_t{operand_count_} * format_v1::kOperandWords, "operands", &operands_) &&
           take(uint64_t{value_count_} * format_v1::kValueWords, "values", &values_) &&
           take(uint64_t{operation_count_} * format_v1::kOperationWords, "operations", &operations_) &&
           find_details() && take(input_count_, "model inputs", &inputs_) &&
           take(output_count_, "model outputs", &outputs_) && check_end();
  }

  bool check_end() const {
    return at_ == count_ || damaged(error_, at_, "the buffer has %zu words, %zu needed", count_, at_);
  }

  bool find_details() {
    uint64_t dims = 0, arguments = 0;
    for (uint32_t i = 0; i < operand_count_; ++i) {
      uint32_t rank = 0;
      if (!read_count(operands_ + i * format_v1::kOperandWords + 1, "rank", format::kMaxRank + 1, &rank)) return false;
      operand_dims_.push_back(static_cast<uint32_t>(dims));  // less than 2^24 * 8
      dims += rank;
    }
    for (uint32_t i = 0; i < operation_count_; ++i) {
      const size_t record = operations_ + i * format_v1::kOperationWords;
      uint32_t inputs = 0, outputs = 0;
      if (!read_count(record + 1, "input count of an operation", format_v1::kMaxCount, &inputs) ||
          !read_count(record + 2, "output count of an operation", format_v1::kMaxCount, &outputs)) {
        return false;
      }
      arguments += uint64_t{inputs} + outputs;
    }
    if (!take(dims, "dimensions", &dims_)) return false;
    value_data_ = at_;
    for (uint32_t i = 0; i < value_count_; ++i) {
      size_t data = 0;
      if (!take(data_words(i), "value data", &data)) return false;
    }
    return take(arguments, "arguments of operations", &arguments_);
  }

  size_t value_record(uint32_t value) const { return values_ + value * format_v1::kValueWords; }
  uint64_t data_words(uint32_t value) const { return (uint64_t{word(value_record(value) + 2)} + 3) / 4; }
  bool is_immediate(uint32_t value) const {
    return words_[value_record(value) + 1] == static_cast<int32_t>(format_v1::ValueSource::kImmediate);
  }

  void write_header() {
    for (size_t i = 0; i < format::kHeaderWords; ++i) push(0, 0);
    std::vector<int32_t>& words = rendered_->words;
    words[format::kVersionWord] = format::kVersion;
    words[format::kFeatureLevel] = 1;
    words[format::kPreference] = kSustainedSpeed;
    words[format::kArgumentCount] = static_cast<int32_t>(input_count_);
    words[format::kModelCount] = 1;
  }

  bool write_arguments() {
    for (uint32_t i = 0; i < input_count_; ++i) {
      const uint32_t operand = word(inputs_ + i);
      if (operand >= operand_count_) {
        return damaged(error_, inputs_ + i, "operand %u found as a model input, the model has %u operands", operand,
                       operand_count_);
      }
      const size_t rank = operands_ + operand * format_v1::kOperandWords + 1;
      copy(rank, 1);
      copy(dims_ + operand_dims_[operand], word(rank));
    }
    return true;
  }

  void write_operands() {
    for (uint32_t i = 0; i < operand_count_; ++i) {
      const size_t record = operands_ + i * format_v1::kOperandWords;
      copy(record, format_v1::kOperandWords);
      push(static_cast<uint32_t>(-1), record);  // no channel axis
      push(0, record);
    }
  }

  bool write_values() {
    size_t data = value_data_;
    for (uint32_t i = 0; i < value_count_; ++i) {
      const size_t record = value_record(i);
      push(word(record), record);
      if (is_immediate(i)) {
        push(static_cast<uint32_t>(format::ValueSource::kImmediate), record + 1);
        push_offset_and_length(0, word(record + 2), record);
      } else if (!write_numbered(record, data)) {
        return false;
      }
      data += static_cast<size_t>(data_words(i));
    }
    return true;
  }

  void push_offset_and_length(uint64_t offset, uint32_t length, size_t record) {
    push(static_cast<uint32_t>(offset), record + 1);
    push(static_cast<uint32_t>(offset >> 32), record + 1);
    push(length, record + 2);
    push(0, record + 2);
  }

  bool write_numbered(size_t record, size_t data) {
    if (words_[record + 1] != static_cast<int32_t>(format_v1::ValueSource::kNumberedBuffer)) {
      return damaged(error_, record + 1, "value source %d found, 0 or 2 needed", words_[record + 1]);
    }
    constexpr size_t kBytes = format_v1::kNumberedBufferWords * sizeof(int32_t);
    if (word(record + 2) != kBytes) {
      return damaged(error_, record + 2, "length %u of a numbered buffer's value found, %zu needed", word(record + 2),
                     kBytes);
    }
    const uint32_t buffer = word(data), offset = word(data + 1), length = word(data + 2);
    if (buffer >= buffer_count_) {
      return damaged(error_, data, "buffer %u found, %zu are given", buffer, buffer_count_);
    }
    const size_t bytes = buffers_[buffer].data == nullptr ? 0 : buffers_[buffer].bytes;
    if (offset > bytes || length > bytes - offset) {
      return damaged(error_, data + 1, "%u bytes from byte %u of buffer %u found, which has %zu", length, offset,
                     buffer, bytes);
    }
    push(static_cast<uint32_t>(format::ValueSource::kWeight), record + 1);
    push_offset_and_length(rendered_->weight_bytes, length, record);
    rendered_->numbered.push_back(static_cast<const uint8_t*>(buffers_[buffer].data) + offset);
    constexpr uint64_t kAlignment = format::kWeightAlignment;
    rendered_->weight_bytes += (uint64_t{length} + kAlignment - 1) / kAlignment * kAlignment;
    return true;
  }

  void copy_value_data() {
    size_t data = value_data_;
    for (uint32_t i = 0; i < value_count_; ++i) {
      const auto words = static_cast<size_t>(data_words(i));
      if (is_immediate(i)) copy(data, words);
      data += words;
    }
  }

  void write_boundary() {
    for (uint32_t i = 0; i < input_count_; ++i) {
      copy(inputs_ + i, 1);
      push(i, inputs_ + i);
      push(static_cast<uint32_t>(format::Layout::kSame), inputs_ + i);
    }
    for (uint32_t i = 0; i < output_count_; ++i) {
      copy(outputs_ + i, 1);
      push(static_cast<uint32_t>(format::Layout::kSame), outputs_ + i);
    }
  }

  const int32_t* words_;
  size_t count_;
  const nnapi_shim_buffer* buffers_;
  size_t buffer_count_;
  RenderedBuffer* rendered_;
  nnapi_shim_error* error_;
  size_t at_ = 0;
  uint32_t operand_count_ = 0, value_count_ = 0, operation_count_ = 0, input_count_ = 0, output_count_ = 0;
  size_t operands_ = 0, values_ = 0, operations_ = 0, dims_ = 0, value_data_ = 0, arguments_ = 0, inputs_ = 0,
         outputs_ = 0;
  std::vector<uint32_t> operand_dims_;  // where each operand's dimensions start within theirs
};

}  // namespace

bool render_version_1(const int32_t* words, size_t word_count, const nnapi_shim_buffer* buffers, size_t buffer_count,
                      RenderedBuffer* rendered, nnapi_shim_error* error) {
  return Renderer(words, word_count, buffers, buffer_count, rendered, error).render();
}

}  // namespace nnapi_shim
