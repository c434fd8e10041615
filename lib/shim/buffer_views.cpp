// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/buffer_views.h"

#include "lib/format/nnapi_codes.h"

namespace nnapi_shim {
namespace {

using format::ValueSource;
using nnapi_convert::OperandCode;

uint64_t number64(const int32_t* words) {
  return static_cast<uint32_t>(words[0]) | uint64_t{static_cast<uint32_t>(words[1])} << 32;
}

class ViewFiller {
 public:
  ViewFiller(const BufferLayout& layout, const int32_t* words)
      : words_(words),
        text_(layout.text_bytes == 0 ? nullptr : reinterpret_cast<const char*>(words + layout.text)),
        text_bytes_(layout.text_bytes) {}

  void fill(const ModelLayout& model, SubgraphView* view) {
    fill_operands(model, view);
    fill_values(model, view);
    fill_operations(model, view);
    for (uint32_t i = 0; i < model.input_count; ++i) {
      const int32_t* record = words_ + model.inputs + i * format::kInputWords;
      view->inputs.push_back({static_cast<uint32_t>(record[0]), record[1], static_cast<format::Layout>(record[2])});
      view->input_operands.push_back(view->inputs.back().operand);
    }
    for (uint32_t i = 0; i < model.output_count; ++i) {
      const int32_t* record = words_ + model.outputs + i * format::kOutputWords;
      view->outputs.push_back({static_cast<uint32_t>(record[0]), -1, static_cast<format::Layout>(record[1])});
      view->output_operands.push_back(view->outputs.back().operand);
    }
  }

 private:
  // Returns the text whose offset is in a word, "" for an offset outside the text: offsets are checked only later.
  const char* text(size_t word) const {
    const auto offset = static_cast<uint32_t>(words_[word]);
    return offset < text_bytes_ ? text_ + offset : "";
  }

  void fill_operands(const ModelLayout& model, SubgraphView* view) {
    view->operands.resize(model.operand_count);
    const int32_t* dims = words_ + model.dims;
    const int32_t* scales = words_ + model.channel_scales;
    const int32_t* record = words_ + model.operands;
    for (uint32_t i = 0; i < model.operand_count; ++i, record += format::kOperandWords) {
      OperandView& operand = view->operands[i];
      operand.type = record[0];
      operand.rank = static_cast<uint32_t>(record[1]);
      operand.dims = reinterpret_cast<const uint32_t*>(dims);
      __builtin_memcpy(&operand.scale, record + 2, sizeof operand.scale);
      operand.zero_point = record[3];
      operand.channel_axis = record[4];
      operand.channel_scale_count = static_cast<uint32_t>(record[5]);
      operand.channel_scales = reinterpret_cast<const float*>(scales);
      if (text_ != nullptr) operand.name = text(model.names + i);
      dims += operand.rank;
      scales += operand.channel_scale_count;
    }
  }

  void fill_values(const ModelLayout& model, SubgraphView* view) {
    view->values.resize(model.value_count);
    const int32_t* data = words_ + model.value_data;
    const int32_t* record = words_ + model.values;
    for (uint32_t i = 0; i < model.value_count; ++i, record += format::kValueWords) {
      ValueView& value = view->values[i];
      value.operand = static_cast<uint32_t>(record[0]);
      value.source = static_cast<ValueSource>(record[1]);
      value.offset = number64(record + 2);
      value.length = number64(record + 4);
      if (value.source == ValueSource::kImmediate) {
        value.data = data;
        data += value.length / 4 + (value.length % 4 != 0 ? 1 : 0);
      } else if (value.source == ValueSource::kModel) {
        // A number that does not fit becomes kMaxCount, which check_models refuses.
        value.model = value.offset < format::kMaxCount ? static_cast<uint32_t>(value.offset) : format::kMaxCount;
      }
    }
  }

  void fill_operations(const ModelLayout& model, SubgraphView* view) {
    view->operations.resize(model.operation_count);
    const int32_t* arguments = words_ + model.arguments;
    const int32_t* record = words_ + model.operations;
    for (uint32_t i = 0; i < model.operation_count; ++i, record += format::kOperationWords) {
      OperationView& operation = view->operations[i];
      operation.code = record[0];
      operation.input_count = static_cast<uint32_t>(record[1]);
      operation.output_count = static_cast<uint32_t>(record[2]);
      operation.inputs = reinterpret_cast<const uint32_t*>(arguments);
      operation.outputs = operation.inputs + operation.input_count;
      arguments += operation.input_count + operation.output_count;
      if (text_ == nullptr) continue;
      operation.name = text(model.sources + 2 * i);
      operation.source = text(model.sources + 2 * i + 1);
    }
  }

  const int32_t* words_;
  const char* text_;
  size_t text_bytes_;
};

}  // namespace

void fill_models(const BufferLayout& layout, ModelView* view) {
  ViewFiller filler(layout, view->words->data());
  view->models.clear();
  view->models.resize(layout.models.size());
  for (size_t i = 0; i < layout.models.size(); ++i) filler.fill(layout.models[i], &view->models[i]);
}

uint32_t element_bytes(int32_t type) {
  switch (static_cast<OperandCode>(type)) {
    case OperandCode::FLOAT32:
    case OperandCode::INT32:
    case OperandCode::UINT32:
    case OperandCode::TENSOR_FLOAT32:
    case OperandCode::TENSOR_INT32:
      return 4;
    case OperandCode::TENSOR_QUANT16_SYMM:
    case OperandCode::TENSOR_QUANT16_ASYMM:
    case OperandCode::TENSOR_FLOAT16:
    case OperandCode::FLOAT16:
      return 2;
    case OperandCode::TENSOR_QUANT8_ASYMM:
    case OperandCode::BOOL:
    case OperandCode::TENSOR_BOOL8:
    case OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL:
    case OperandCode::TENSOR_QUANT8_SYMM:
    case OperandCode::TENSOR_QUANT8_ASYMM_SIGNED:
      return 1;
    case OperandCode::MODEL:
      return 0;
  }
  return 0;
}

bool is_tensor(int32_t type) {
  switch (static_cast<OperandCode>(type)) {
    case OperandCode::FLOAT32:
    case OperandCode::INT32:
    case OperandCode::UINT32:
    case OperandCode::BOOL:
    case OperandCode::FLOAT16:
    case OperandCode::MODEL:
      return false;
    default:
      return true;
  }
}

bool operand_bytes(const OperandView& operand, uint64_t* bytes) {
  constexpr uint64_t kLimit = uint64_t{1} << 32;
  uint64_t product = element_bytes(operand.type);
  for (uint32_t i = 0; i < operand.rank; ++i) {
    product *= operand.dims[i];  // both less than 2^32
    if (product >= kLimit) return false;
  }
  *bytes = product;
  return true;
}

}  // namespace nnapi_shim
