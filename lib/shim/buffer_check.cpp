// SPDX-License-Identifier: BSD-3-Clause
// Checks the models of a buffer whose layout find_layout has checked.
#include <cstdint>
#include <vector>

#include "lib/format/nnapi_codes.h"
#include "lib/shim/buffer_views.h"
#include "lib/shim/failure.h"

namespace nnapi_shim {
namespace {

using format::ValueSource;
using nnapi_convert::OperandCode;

constexpr int32_t kHighestType = static_cast<int32_t>(OperandCode::MODEL);

// The role of an operand, by the records checked so far.
enum Role : uint8_t { kNone, kInput, kValue, kResult };
constexpr const char* kRoleNames[] = {"nothing", "a model input", "a value", "another operation's output"};

class ModelChecker {
 public:
  ModelChecker(const BufferLayout& layout, const ModelView& view, uint64_t weight_bytes, nnapi_shim_error* error)
      : layout_(layout), view_(view), words_(view.words->data()), weight_bytes_(weight_bytes), error_(error) {}

  bool check() {
    if (!mark_patches()) return false;
    for (number_ = 0; number_ < layout_.models.size(); ++number_) {
      model_ = &layout_.models[number_];
      subgraph_ = &view_.models[number_];
      roles_.assign(model_->operand_count, kNone);
      is_output_.assign(model_->operand_count, 0);
      if (!check_operands() || !check_inputs() || !check_outputs() || !check_values() || !check_int8_operands() ||
          !check_operations() || !check_roles() || !check_names()) {
        return false;
      }
    }
    return check_patches() && check_text();
  }

 private:
  bool is_patched(size_t word) const { return !patched_.empty() && patched_[word] != 0; }

  // Checks that the patches are in ascending order and within the models, and marks their words.
  bool mark_patches() {
    if (layout_.patch_count == 0) return true;
    patched_.assign(layout_.models_end, 0);
    uint32_t before = 0;
    for (uint32_t i = 0; i < layout_.patch_count; ++i) {
      const size_t at = layout_.patches + i * format::kPatchWords;
      const auto word = static_cast<uint32_t>(words_[at]), expression = static_cast<uint32_t>(words_[at + 1]);
      if (word >= layout_.models_end)
        return damaged(error_, at, "patch of word %u found, less than %zu needed", word, layout_.models_end);
      if (word <= before)
        return damaged(error_, at, "patch of word %u found after that of word %u, ascending needed", word, before);
      if (expression >= layout_.expression_count) {
        return damaged(error_, at + 1, "expression %u found, the buffer has %u", expression, layout_.expression_count);
      }
      patched_[word] = 1;
      before = word;
    }
    return true;
  }

  // Notes that a patch may write any of these words.
  void meet_patchable(size_t first, size_t count) {
    if (patched_.empty()) return;
    for (size_t word = first; word < first + count; ++word) {
      if (patched_[word] == 1) patched_[word] = 2;
    }
  }

  bool check_patches() const {
    for (uint32_t i = 0; i < layout_.patch_count; ++i) {
      const size_t at = layout_.patches + i * format::kPatchWords;
      if (patched_[static_cast<uint32_t>(words_[at])] == 2) continue;
      return damaged(error_, at,
                     "patch of word %d found, which is neither a dimension nor an immediate INT32 or TENSOR_INT32",
                     words_[at]);
    }
    return true;
  }

  bool check_operands() {
    for (uint32_t i = 0; i < model_->operand_count; ++i) {
      const OperandView& operand = subgraph_->operands[i];
      const size_t record = model_->operands + i * format::kOperandWords;
      if (operand.type < 0 || operand.type > kHighestType) {
        return damaged(error_, record, "type %d of operand %u found, 0 to %d needed", operand.type, i, kHighestType);
      }
      if (is_tensor(operand.type) != (operand.rank != 0)) {
        return damaged(error_, record + 1, "rank %u of operand %u of type %d found, %s needed", operand.rank, i,
                       operand.type, operand.rank == 0 ? "at least 1" : "0");
      }
      if (!check_dims(i, operand) || !check_channels(i, operand, record)) return false;
    }
    return true;
  }

  size_t position(const void* data) const { return static_cast<size_t>(static_cast<const int32_t*>(data) - words_); }

  bool check_dims(uint32_t number, const OperandView& operand) {
    const size_t first = position(operand.dims);
    meet_patchable(first, operand.rank);
    bool is_fixed = true;
    for (uint32_t axis = 0; axis < operand.rank; ++axis) {
      const int32_t size = words_[first + axis];
      const bool is_flexible = is_patched(first + axis);
      if (is_flexible ? size != 0 : size <= 0) {
        return damaged(error_, first + axis, "dimension %u of operand %u is %d, %s needed", axis, number, size,
                       is_flexible ? "0 where an expression gives it" : "at least 1 where no expression gives it");
      }
      is_fixed = is_fixed && !is_flexible;
    }
    uint64_t bytes = 0;
    if (!is_fixed || operand_bytes(operand, &bytes)) return true;
    return damaged(error_, first, "operand %u has 4 GiB or more, less needed", number);
  }

  bool check_channels(uint32_t number, const OperandView& operand, size_t record) const {
    const bool may_be_int8 = has_int8_weights() && is_float(operand);
    if (operand.type != static_cast<int32_t>(OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL) &&
        (!may_be_int8 || operand.channel_axis == -1)) {
      if (operand.channel_axis != -1) {
        return damaged(error_, record + 4, "channel axis %d of operand %u of type %d found, -1 needed",
                       operand.channel_axis, number, operand.type);
      }
      if (operand.channel_scale_count == 0) return true;
      return damaged(error_, record + 5, "%u channel scales of operand %u of type %d found, 0 needed",
                     operand.channel_scale_count, number, operand.type);
    }
    if (operand.channel_axis < 0 || static_cast<uint32_t>(operand.channel_axis) >= operand.rank) {
      return damaged(error_, record + 4, "channel axis %d of operand %u found, 0 to %u needed", operand.channel_axis,
                     number, operand.rank - 1);
    }
    // The channel axis must not be flexible: a flexible size is still 0 here.
    const uint32_t channels = operand.dims[operand.channel_axis];
    if (channels != 0 && operand.channel_scale_count == channels) return true;
    return damaged(error_, record + 5,
                   "%u channel scales of operand %u found, %u needed, as many as axis %d has elements",
                   operand.channel_scale_count, number, channels, operand.channel_axis);
  }

  bool check_index(size_t word, const char* what) const {
    const auto operand = static_cast<uint32_t>(words_[word]);
    if (operand < model_->operand_count) return true;
    return damaged(error_, word, "operand %u found as %s, the model has %u operands", operand, what,
                   model_->operand_count);
  }

  bool check_layout(size_t word, const BoundaryView& boundary) const {
    const uint32_t rank = subgraph_->operands[boundary.operand].rank;
    if (boundary.layout == format::Layout::kSame) return true;
    if (boundary.layout != format::Layout::kNhwc)
      return damaged(error_, word, "layout %d found, 0 or 1 needed", words_[word]);
    if (rank == 4 && number_ == 0) return true;
    return damaged(error_, word, "layout NHWC found for operand %u of rank %u of model %zu, rank 4 of model 0 needed",
                   boundary.operand, rank, number_);
  }

  bool check_inputs() {
    for (uint32_t i = 0; i < model_->input_count; ++i) {
      const size_t record = model_->inputs + i * format::kInputWords;
      if (!check_index(record, "a model input")) return false;
      const BoundaryView& input = subgraph_->inputs[i];
      if (roles_[input.operand] != kNone)
        return damaged(error_, record, "operand %u is a model input twice", input.operand);
      roles_[input.operand] = kInput;
      const auto argument = static_cast<uint32_t>(input.argument);
      if (number_ == 0 ? argument >= layout_.argument_count : input.argument != -1) {
        return damaged(error_, record + 1, "argument %d of model input %u found, %s needed", input.argument, i,
                       number_ == 0 ? "one of the header's count" : "-1 in a subgraph");
      }
      if (!check_layout(record + 2, input)) return false;
    }
    return true;
  }

  bool check_outputs() {
    for (uint32_t i = 0; i < model_->output_count; ++i) {
      const size_t record = model_->outputs + i * format::kOutputWords;
      if (!check_index(record, "a model output")) return false;
      const BoundaryView& output = subgraph_->outputs[i];
      if (is_output_[output.operand] != 0)
        return damaged(error_, record, "operand %u is a model output twice", output.operand);
      is_output_[output.operand] = 1;
      if (!check_layout(record + 1, output)) return false;
    }
    return true;
  }

  bool check_values() {
    for (uint32_t i = 0; i < model_->value_count; ++i) {
      const ValueView& value = subgraph_->values[i];
      const size_t record = model_->values + i * format::kValueWords;
      if (!check_index(record, "a value")) return false;
      if (roles_[value.operand] != kNone) {
        return damaged(error_, record, "a value of operand %u found, which is %s", value.operand,
                       roles_[value.operand] == kValue ? "another value" : kRoleNames[kInput]);
      }
      roles_[value.operand] = kValue;
      if (!check_value(value, subgraph_->operands[value.operand], record)) return false;
    }
    return true;
  }

  bool check_value(const ValueView& value, const OperandView& operand, size_t record) {
    const bool is_model = operand.type == static_cast<int32_t>(OperandCode::MODEL);
    switch (value.source) {
      case ValueSource::kImmediate:
        if (value.offset != 0) return refuse_offset(record, value, "0");
        return check_length(value, operand, record) && check_immediate(value, operand);
      case ValueSource::kOmitted:
        if (value.offset != 0) return refuse_offset(record, value, "0");
        if (value.length != 0) return refuse_length(record, value, 0);
        if (!is_model) return true;
        return damaged(error_, record + 1, "operand %u is a MODEL that is left out, a model needed", value.operand);
      case ValueSource::kWeight:
        return check_range(value, record) && check_length(value, operand, record);
      case ValueSource::kFloat16Weight:
        if (!has_float16_weights()) break;
        return check_range(value, record) && check_rounded(value, operand, record, "float16", 2);
      case ValueSource::kInt8Weight:
        if (!has_int8_weights()) break;
        if (operand.channel_axis != -1) {
          return check_range(value, record) && check_rounded(value, operand, record, "int8", 4);
        }
        return damaged(error_, record + 1, "int8 weights found as value of operand %u, which has no scales",
                       value.operand);
      case ValueSource::kModel:
        if (!is_model)
          return damaged(error_, record + 1, "a model found as value of operand %u, no MODEL", value.operand);
        if (value.length != 0) return refuse_length(record, value, 0);
        if (value.model > number_ && value.model < layout_.models.size()) return true;
        return refuse_offset(record, value, "a later model's number");
    }
    return damaged(error_, record + 1, "value source %d found, 0 to %d needed", words_[record + 1],
                   has_int8_weights()      ? 5
                   : has_float16_weights() ? 4
                                           : 3);
  }

  bool has_float16_weights() const { return words_[format::kVersionWord] >= format::kFloat16Version; }
  bool has_int8_weights() const { return words_[format::kVersionWord] >= format::kInt8Version; }
  static bool is_float(const OperandView& operand) {
    return operand.type == static_cast<int32_t>(OperandCode::TENSOR_FLOAT32);
  }

  // Checks that each TENSOR_FLOAT32 with a channel axis has int8 weights as its value.
  bool check_int8_operands() const {
    size_t without = 0;
    for (const OperandView& operand : subgraph_->operands) without += is_float(operand) && operand.channel_axis != -1;
    for (const ValueView& value : subgraph_->values) without -= value.source == ValueSource::kInt8Weight;
    if (without == 0) return true;
    return damaged(error_, model_->operands, "%zu operands found that have scales and no int8 weights", without);
  }

  bool check_range(const ValueView& value, size_t record) const {
    if (value.offset % format::kWeightAlignment != 0) return refuse_offset(record, value, "a multiple of 64");
    if (value.offset <= weight_bytes_ && value.length <= weight_bytes_ - value.offset) return true;
    return refuse_offset(record, value, "a range within the weights");
  }

  // Checks that the operand is a TENSOR_FLOAT32 of fixed sizes, with `times` as many bytes as the value.
  bool check_rounded(const ValueView& value, const OperandView& operand, size_t record, const char* what,
                     uint64_t times) const {
    uint64_t bytes = 0;
    if (!is_float(operand) || !operand_bytes(operand, &bytes)) {
      return damaged(error_, record + 1, "%s weights found as value of operand %u, which is no TENSOR_FLOAT32", what,
                     value.operand);
    }
    if (bytes == 0) {
      return damaged(error_, record + 1, "%s weights found as value of operand %u, whose sizes are flexible", what,
                     value.operand);
    }
    return value.length == bytes / times || refuse_length(record, value, bytes / times);
  }

  bool refuse_offset(size_t record, const ValueView& value, const char* needed) const {
    return damaged(error_, record + 2, "offset %llu of the value of operand %u found, %s needed",
                   static_cast<unsigned long long>(value.offset), value.operand, needed);
  }

  bool refuse_length(size_t record, const ValueView& value, uint64_t needed) const {
    return damaged(error_, record + 4, "length %llu of the value of operand %u found, %llu needed",
                   static_cast<unsigned long long>(value.length), value.operand,
                   static_cast<unsigned long long>(needed));
  }

  // Checks that the value has as many bytes as its operand. Skips operands of flexible sizes: BoundChecker checks them.
  bool check_length(const ValueView& value, const OperandView& operand, size_t record) const {
    for (uint32_t axis = 0; axis < operand.rank; ++axis) {
      if (operand.dims[axis] == 0) return true;
    }
    uint64_t bytes = 0;
    if (!operand_bytes(operand, &bytes) || bytes == 0) {
      return damaged(error_, record + 1, "bytes found as value of operand %u, which is a MODEL", value.operand);
    }
    return value.length == bytes || refuse_length(record, value, bytes);
  }

  bool check_immediate(const ValueView& value, const OperandView& operand) {
    const size_t first = position(value.data);
    if (operand.type == static_cast<int32_t>(OperandCode::INT32) ||
        operand.type == static_cast<int32_t>(OperandCode::TENSOR_INT32)) {
      meet_patchable(first, static_cast<size_t>(value.length / sizeof(int32_t)));
    }
    const auto* bytes = static_cast<const uint8_t*>(value.data);
    for (uint64_t i = value.length; i % sizeof(int32_t) != 0; ++i) {
      if (bytes[i] != 0) {
        return damaged(error_, first + static_cast<size_t>(i / sizeof(int32_t)),
                       "padding of the value of operand %u is not 0", value.operand);
      }
    }
    return true;
  }

  bool check_operations() {
    size_t argument = model_->arguments;
    for (uint32_t i = 0; i < model_->operation_count; ++i) {
      const OperationView& operation = subgraph_->operations[i];
      const size_t record = model_->operations + i * format::kOperationWords;
      if (operation.code < 0 || operation.code > 0xFFFF) {
        return damaged(error_, record, "code %d of operation %u found, 0 to 65535 needed", operation.code, i);
      }
      for (uint32_t k = 0; k < operation.input_count; ++k) {
        if (!check_index(argument++, "an operation's input")) return false;
      }
      for (uint32_t k = 0; k < operation.output_count; ++k, ++argument) {
        if (!check_index(argument, "an operation's output")) return false;
        uint8_t& role = roles_[operation.outputs[k]];
        if (role != kNone) {
          return damaged(error_, argument, "operand %u found as operation %u's output, which is %s",
                         operation.outputs[k], i, kRoleNames[role]);
        }
        role = kResult;
      }
    }
    return true;
  }

  // Checks that each operand used is a model input, a value or a result, and that operations make all model outputs.
  bool check_roles() const {
    for (size_t word = model_->arguments; word < model_->inputs; ++word) {
      if (roles_[static_cast<uint32_t>(words_[word])] != kNone) continue;
      return damaged(error_, word, "operand %d found in an operation, which is no input, value or output of any",
                     words_[word]);
    }
    for (uint32_t i = 0; i < model_->output_count; ++i) {
      const uint32_t operand = subgraph_->outputs[i].operand;
      if (roles_[operand] == kResult) continue;
      return damaged(error_, model_->outputs + i * format::kOutputWords,
                     "operand %u found as a model output, which is %s, an operation's output needed", operand,
                     kRoleNames[roles_[operand]]);
    }
    return true;
  }

  bool check_names() const {
    if (layout_.text_bytes == 0) return true;
    const size_t end = model_->sources + size_t{2} * model_->operation_count;
    for (size_t word = model_->names; word < end; ++word) {
      const auto offset = static_cast<uint32_t>(words_[word]);
      if (offset < layout_.text_bytes) continue;
      return damaged(error_, word, "text offset %u found, less than %zu needed", offset, layout_.text_bytes);
    }
    return true;
  }

  bool check_text() const {
    if (layout_.text_bytes == 0) return true;
    const char* text = reinterpret_cast<const char*>(words_ + layout_.text);
    if (text[0] != 0) return damaged(error_, layout_.text, "the text does not start with the empty string");
    for (size_t i = layout_.text_bytes - 1; i == layout_.text_bytes - 1 || i % sizeof(int32_t) != 0; ++i) {
      if (text[i] != 0) return damaged(error_, layout_.text + i / sizeof(int32_t), "the text does not end with 0");
    }
    return true;
  }

  const BufferLayout& layout_;
  const ModelView& view_;
  const int32_t* words_;
  uint64_t weight_bytes_;
  nnapi_shim_error* error_;
  size_t number_ = 0;  // the number of the model being checked
  const ModelLayout* model_ = nullptr;
  const SubgraphView* subgraph_ = nullptr;
  std::vector<uint8_t> roles_, is_output_;  // by operand
  std::vector<uint8_t> patched_;            // by word: 1 patched, 2 patched and allowed; empty without patches
};

}  // namespace

bool check_models(const BufferLayout& layout, const ModelView& view, uint64_t weight_bytes, nnapi_shim_error* error) {
  ModelChecker checker(layout, view, weight_bytes, error);
  return checker.check();
}

}  // namespace nnapi_shim
