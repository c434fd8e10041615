// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/operands.h"
#include "lib/shim/buffer_views.h"

#include <cstring>
#include <map>
#include <numeric>

namespace nnapi_probe {
namespace {

using Dims = std::vector<uint32_t>;
using Code = OperationCode;

constexpr uint32_t kExtent = 8, kFilter = 3, kBlock = 2, kRepeats = 2, kResized = 16;

// Returns the values of scalar arguments by their names.
const std::map<std::string, int32_t>& numbers() {
  static const std::map<std::string, int32_t> all = {
      {"activation", 0},
      {"padding_left", 1},
      {"padding_right", 0},
      {"padding_top", 1},
      {"padding_bottom", 0},
      {"filter_width", 3},
      {"filter_height", 3},
      {"depth_multiplier", 1},
      {"groups", 2},
      {"block_size", 2},
      {"output_width", 16},
      {"output_height", 16},
      {"k", 8},
      {"split_count", 2},
      {"keep_dims", 1},
      {"begin_mask", 0},
      {"end_mask", 0},
      {"shrink_axis_mask", 0},
      {"mode", 0},
      {"radius", 1},
      {"adjoint1", 0},
      {"adjoint2", 0},
  };
  return all;
}

class Maker {
 public:
  Maker(const OperationGrid& grid, const Point& point) : grid_(grid), point_(point), code_(grid.operation->code) {
    const auto& inputs = point.signature->inputs;
    for (const ArgumentInfo& argument : inputs) {
      if (is_scalar(argument.type_in(*point.types))) continue;
      rank_ = grid.value(point, ConditionKind::kRank, argument.name, argument.min_rank);
      break;
    }
    stride_ = static_cast<uint32_t>(grid.value(point, ConditionKind::kStride, "", 1));
    is_nchw_ = grid.value(point, ConditionKind::kLayout, "", 0) != 0;
    padding_ = static_cast<Padding>(grid.value(point, ConditionKind::kPadding, "", 0));
  }

  ProbeOperands make() const {
    ProbeOperands operands;
    for (const ArgumentInfo& argument : point_.signature->inputs) {
      const std::string name = argument.name;
      if (argument.optional && name != "layout") break;
      const ProbeOperand operand = input(argument);
      operands.inputs.push_back(operand);
      if (argument.variadic) operands.inputs.push_back(operand);
    }
    for (const ArgumentInfo& argument : point_.signature->outputs) {
      const ProbeOperand operand = output(argument);
      operands.outputs.push_back(operand);
      if (argument.variadic) operands.outputs.push_back(operand);
    }
    return operands;
  }

 private:
  // Returns the shape of the main operand: all sizes 8, or an image.
  Dims shape() const {
    Dims dims(static_cast<size_t>(rank_), kExtent);
    if (rank_ > 2 || code_ == Code::SQUEEZE) dims[0] = 1;
    if (code_ == Code::BATCH_TO_SPACE_ND) dims[0] = kBlock * kBlock;
    return dims;
  }
  uint32_t last() const { return static_cast<uint32_t>(rank_ - 1); }
  Dims image(uint32_t batch, uint32_t height, uint32_t width, uint32_t channels) const {
    return is_nchw_ ? Dims{batch, channels, height, width} : Dims{batch, height, width, channels};
  }

  Dims tensor_dims(const std::string& name) const {
    const auto rank = static_cast<uint32_t>(rank_);
    if (name == "filter") {
      if (code_ == Code::DEPTHWISE_CONV_2D) return {1, kFilter, kFilter, kExtent};
      return {kExtent, kFilter, kFilter, code_ == Code::GROUPED_CONV_2D ? kExtent / 2 : kExtent};
    }
    if (name == "weights") return {kExtent, kExtent};
    if (name == "bias" || name == "indices") return {kExtent};
    if (name == "axes" || name == "axis") return {1};
    if (name == "block_shape") return {2};
    if (name == "output_shape") return {4};
    if (name == "paddings") return {code_ == Code::SPACE_TO_BATCH_ND ? 2 : rank, 2};
    if (name == "shape" || name == "perm" || name == "begin" || name == "end" || name == "size" || name == "strides" ||
        name == "multiples") {
      return {rank};
    }
    return shape();
  }

  // Returns the numbers of an INT32 tensor that is a parameter of the operation.
  std::vector<int32_t> tensor_numbers(const std::string& name, size_t count) const {
    std::vector<int32_t> numbers(count, 0);
    const Dims dims = shape();
    if (name == "shape" || name == "end" || name == "size") numbers.assign(dims.begin(), dims.end());
    if (name == "strides" || name == "multiples") numbers.assign(count, 1);
    if (name == "multiples") numbers.back() = kRepeats;
    if (name == "perm") std::iota(numbers.begin(), numbers.end(), 0);
    if (name == "perm" && rank_ > 1) std::swap(numbers[count - 1], numbers[count - 2]);
    if (name == "axes" || name == "axis") numbers[0] = code_ == Code::SQUEEZE ? 0 : static_cast<int32_t>(last());
    if (name == "paddings" && code_ != Code::SPACE_TO_BATCH_ND) numbers[count - 1] = numbers[count - 2] = 1;
    if (name == "block_shape") numbers.assign(count, kBlock);
    if (name == "output_shape") {
      const Dims output = convolved();
      numbers.assign(output.begin(), output.end());
    }
    return numbers;
  }

  ProbeOperand tensor(OperandCode type, Dims dims) const {
    ProbeOperand operand;
    operand.type = type;
    operand.dims = std::move(dims);
    const bool is_quantised = type == OperandCode::TENSOR_QUANT8_ASYMM ||
                              type == OperandCode::TENSOR_QUANT8_ASYMM_SIGNED ||
                              type == OperandCode::TENSOR_QUANT8_SYMM || type == OperandCode::TENSOR_QUANT16_SYMM ||
                              type == OperandCode::TENSOR_QUANT16_ASYMM;
    if (is_quantised) operand.scale = 0.5f;
    if (type == OperandCode::TENSOR_QUANT8_ASYMM) operand.zero_point = 128;
    return operand;
  }

  ProbeOperand input(const ArgumentInfo& argument) const {
    const std::string name = argument.name;
    const OperandCode type = argument.type_in(*point_.types);
    if (is_scalar(type)) return scalar(type, name);
    ProbeOperand operand = tensor(type, tensor_dims(name));
    size_t count = 1;
    for (const uint32_t dim : operand.dims) count *= dim;
    if (type == OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL) {
      operand.channel_axis = code_ == Code::DEPTHWISE_CONV_2D ? 3 : 0;
      operand.channel_scales.assign(operand.dims[operand.channel_axis], 0.5f);
    }
    if (name == "bias" && type == OperandCode::TENSOR_INT32 && !has_channel_scales()) operand.scale = 0.25f;
    const bool is_fixed = argument.type_variable < 0 && type == OperandCode::TENSOR_INT32;
    operand.is_constant = is_fixed || grid_.value(point_, ConditionKind::kConstant, name, 0) != 0;
    if (!operand.is_constant) return operand;
    operand.value.assign(count * nnapi_shim::element_bytes(static_cast<int32_t>(type)), 0);
    if (is_fixed) {
      const std::vector<int32_t> numbers = tensor_numbers(name, count);
      std::memcpy(operand.value.data(), numbers.data(), operand.value.size());
    }
    return operand;
  }

  bool has_channel_scales() const {
    for (const ArgumentInfo& argument : point_.signature->inputs) {
      if (argument.name == std::string("filter")) {
        return argument.type_in(*point_.types) == OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL;
      }
    }
    return false;
  }

  int32_t number(const std::string& name) const {
    if (name == "stride_width" || name == "stride_height") return static_cast<int32_t>(stride_);
    if (name == "layout") return is_nchw_ ? 1 : 0;
    if (name == "padding_scheme") return padding_ == Padding::kSame ? 1 : 2;
    if (name == "axis") {
      const bool is_new = code_ == Code::EXPAND_DIMS || code_ == Code::PACK;
      return is_new ? 0 : static_cast<int32_t>(last());
    }
    const auto found = numbers().find(name);
    return found == numbers().end() ? 1 : found->second;
  }

  ProbeOperand scalar(OperandCode type, const std::string& name) const {
    ProbeOperand operand;
    operand.type = type;
    operand.is_constant = true;
    operand.value.resize(nnapi_shim::element_bytes(static_cast<int32_t>(type)));
    const float one = 1;
    const uint16_t one_half = 0x3C00;  // 1 in half precision
    const int32_t value = name == "pad_value" ? 0 : number(name);
    const auto flag = static_cast<uint8_t>(value != 0);
    const void* from = &value;
    if (type == OperandCode::FLOAT32) from = &one;
    if (type == OperandCode::FLOAT16) from = &one_half;
    if (type == OperandCode::BOOL) from = &flag;
    std::memcpy(operand.value.data(), from, operand.value.size());
    return operand;
  }

  // Returns the output shape of a convolution or pooling.
  Dims convolved() const {
    const bool is_transposed = code_ == Code::TRANSPOSE_CONV_2D;
    uint32_t extent = 0;
    if (is_transposed) {
      const uint32_t whole = (kExtent - 1) * stride_ + kFilter;
      extent = padding_ == Padding::kSame ? kExtent * stride_ : padding_ == Padding::kValid ? whole : whole - 1;
    } else if (padding_ == Padding::kSame) {
      extent = (kExtent + stride_ - 1) / stride_;
    } else {
      const uint32_t padded = kExtent + (padding_ == Padding::kExplicit ? 1 : 0);
      extent = (padded - kFilter) / stride_ + 1;
    }
    return image(1, extent, extent, kExtent);
  }

  Dims output_dims() const {
    Dims dims = shape();
    switch (code_) {
      case Code::CONV_2D:
      case Code::DEPTHWISE_CONV_2D:
      case Code::GROUPED_CONV_2D:
      case Code::TRANSPOSE_CONV_2D:
      case Code::AVERAGE_POOL_2D:
      case Code::MAX_POOL_2D:
      case Code::L2_POOL_2D:
        return convolved();
      case Code::RESIZE_BILINEAR:
      case Code::RESIZE_NEAREST_NEIGHBOR:
        return image(1, kResized, kResized, kExtent);
      case Code::DEPTH_TO_SPACE:
        return image(1, kExtent * kBlock, kExtent * kBlock, kExtent / kBlock / kBlock);
      case Code::SPACE_TO_DEPTH:
        return image(1, kExtent / kBlock, kExtent / kBlock, kExtent * kBlock * kBlock);
      case Code::BATCH_TO_SPACE_ND:
        return image(1, kExtent * kBlock, kExtent * kBlock, kExtent);
      case Code::SPACE_TO_BATCH_ND:
        return image(kBlock * kBlock, kExtent / kBlock, kExtent / kBlock, kExtent);
      case Code::FULLY_CONNECTED: {
        uint32_t batch = 1;
        for (size_t i = 0; i + 1 < dims.size(); ++i) batch *= dims[i];
        return {batch, kExtent};
      }
      case Code::SQUEEZE:
        dims.erase(dims.begin());
        return dims;
      case Code::EXPAND_DIMS:
        dims.insert(dims.begin(), 1);
        return dims;
      case Code::PACK:
        dims.insert(dims.begin(), kRepeats);
        return dims;
      case Code::ARGMAX:
      case Code::ARGMIN:
        dims.pop_back();
        return dims;
      case Code::CONCATENATION:
      case Code::TILE:
        dims.back() *= kRepeats;
        return dims;
      case Code::SPLIT:
        dims.back() /= 2;
        return dims;
      case Code::PAD:
      case Code::PAD_V2:
      case Code::MIRROR_PAD:
        dims.back() += 2;
        return dims;
      case Code::MEAN:
      case Code::REDUCE_ALL:
      case Code::REDUCE_ANY:
      case Code::REDUCE_MAX:
      case Code::REDUCE_MIN:
      case Code::REDUCE_PROD:
      case Code::REDUCE_SUM:
        dims.back() = 1;
        return dims;
      default:
        return dims;
    }
  }

  ProbeOperand output(const ArgumentInfo& argument) const {
    const OperandCode type = argument.type_in(*point_.types);
    ProbeOperand operand = tensor(type, output_dims());
    const bool is_signed = type == OperandCode::TENSOR_QUANT8_ASYMM_SIGNED;
    if (operand.scale == 0) return operand;
    if (code_ == Code::LOGISTIC || code_ == Code::SOFTMAX) {
      operand.scale = 1.0f / 256;
      operand.zero_point = is_signed ? -128 : 0;
    } else if (code_ == Code::TANH || code_ == Code::L2_NORMALIZATION) {
      operand.scale = 1.0f / 128;
      operand.zero_point = is_signed ? 0 : 128;
    }
    return operand;
  }

  const OperationGrid& grid_;
  const Point& point_;
  Code code_;
  int32_t rank_ = 0;
  uint32_t stride_ = 1;
  bool is_nchw_ = false;
  Padding padding_ = Padding::kSame;
};

}  // namespace

ProbeOperands make_operands(const OperationGrid& grid, const Point& point) {
  return Maker(grid, point).make();
}

}  // namespace nnapi_probe
