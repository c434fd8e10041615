// Pooling. NNAPI's average divides by the cells inside the input, which is PyTorch's count_include_pad=False.
#include <fmt/format.h>

#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// Window of a 2-D pool, height before width.
struct Pool {
  std::vector<int64_t> kernel, stride, padding;
  bool ceil_mode = false;
  bool pads_first = false;  // the padding counts as zeros: it is a PAD of its own
};

struct PooledAxis {
  Dim output;
  Dim padding_end;
};

// ceil_mode lets the last window reach past the padding. A window that would start past the input's end is dropped.
PooledAxis pooled_axis(const OpArguments& args, const Pool& pool, size_t i, const Dim& input) {
  const int64_t kernel = pool.kernel[i], stride = pool.stride[i], padding = pool.padding[i];
  const Dim padded = input + Dim(2 * padding);
  if (!pool.ceil_mode) return {window_output(input, 2 * padding, 1, kernel, stride), Dim(padding)};
  Dim output = (padded + Dim(stride - 1 - kernel)).floor_div(stride) + Dim(1);
  if (padding + stride > kernel) {
    args.require(input.is_fixed(), "ceil_mode with padding + stride > kernel_size on a flexible size", "a fixed size",
                 "give every size of the input with --input");
    if ((output.value() - 1) * stride >= input.value() + padding) output = output - Dim(1);
  }
  const Dim reached = (output - Dim(1)) * Dim(stride) + Dim(kernel);
  Dim extra = reached - padded;
  if (extra.is_fixed() && extra.value() < 0) extra = Dim(0);
  return {output, Dim(padding) + extra};
}

Pool read_pool(const OpArguments& args) {
  Pool pool;
  pool.kernel = args.integers("kernel_size", 2, 1);
  pool.stride = args.integers("stride").empty() ? pool.kernel : args.integers("stride", 2, 1);
  pool.padding = args.integers("padding", 2, 0);
  pool.ceil_mode = args.boolean("ceil_mode");
  if (args.has("dilation")) {
    const auto dilation = args.integers("dilation", 2, 1);
    args.require(dilation[0] == 1 && dilation[1] == 1, fmt::format("dilation = ({}, {})", dilation[0], dilation[1]),
                 "1");
  }
  if (args.has("count_include_pad")) {
    args.require(args.is_none("divisor_override"), "divisor_override", "None");
    pool.pads_first = args.boolean("count_include_pad") && (pool.padding[0] != 0 || pool.padding[1] != 0);
  }
  return pool;
}

void require_pool_input(const OpArguments& args, const TensorType& self) {
  require_rank(args, self, 4, 4);
  args.require(self.dtype == at::kFloat || self.dtype == at::kQUInt8, "a tensor " + to_text(self), "float32 or quint8");
}

std::vector<ValueType> pool_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_pool_input(args, self);
  const Pool pool = read_pool(args);
  Dims dims{self.dims[0], self.dims[1]};
  for (size_t i = 0; i < 2; ++i) dims.push_back(pooled_axis(args, pool, i, self.dims[2 + i]).output);
  require_positive(args, dims);
  return {self.with_dims(dims)};
}

// The input with zeros around it.
nnapi::OperandId padded_input(OpContext& ctx, const LoweredTensor& self, const std::vector<int64_t>& padding) {
  TensorType type = self.type;
  for (size_t i = 0; i < 2; ++i) type.dims[2 + i] += Dim(2 * padding[i]);
  const Dims pairs{0, 0, 0, 0, padding[0], padding[0], padding[1], padding[1]};
  return ctx.emit_to(OperationCode::PAD, {self.id, ctx.builder().int32_tensor(pairs, {4, 2})}, type);
}

template <OperationCode code>
void lower_pool(OpContext& ctx) {
  LoweredTensor self = ctx.operand("self");
  Pool pool = read_pool(ctx);
  PooledAxis rows = pooled_axis(ctx, pool, 0, self.type.dims[2]);
  PooledAxis columns = pooled_axis(ctx, pool, 1, self.type.dims[3]);
  if (pool.pads_first) {
    self.id = padded_input(ctx, self, pool.padding);
    rows.padding_end = rows.padding_end - Dim(pool.padding[0]);
    columns.padding_end = columns.padding_end - Dim(pool.padding[1]);
    pool.padding = {0, 0};
  }
  std::vector<nnapi::OperandId> inputs{self.id};
  for (const Dim& value :
       {Dim(pool.padding[1]), columns.padding_end, Dim(pool.padding[0]), rows.padding_end, Dim(pool.stride[1]),
        Dim(pool.stride[0]), Dim(pool.kernel[1]), Dim(pool.kernel[0]), Dim(static_cast<int64_t>(FuseCode::NONE))}) {
    inputs.push_back(ctx.builder().int32(value));
  }
  inputs.push_back(ctx.builder().boolean(true));
  ctx.emit(code, inputs);
}

// output_size of None keeps the input's size.
Dims adaptive_output(const OpArguments& args, const TensorType& self) {
  const std::vector<int64_t> wanted = args.integers("output_size", 2, 1);
  return {self.dims[0], self.dims[1], Dim(wanted[0]), Dim(wanted[1])};
}

std::vector<ValueType> adaptive_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_pool_input(args, self);
  const Dims output = adaptive_output(args, self);
  const bool is_global = output[2] == Dim(1) && output[3] == Dim(1);
  for (size_t i = 2; i < 4 && !is_global; ++i) {
    args.require(self.dims[i].is_fixed(), fmt::format("output_size = {} of a flexible size", to_text(output)),
                 "output_size = 1, or a fixed input size", "give every size of the input with --input");
    args.require(self.dims[i].value() % output[i].value() == 0,
                 fmt::format("output_size {} of size {}", output[i].text(), self.dims[i].text()),
                 "a divisor of the size");
  }
  return {self.with_dims(output)};
}

// Drivers with 8-bit arithmetic sum at most this many cells in AVERAGE_POOL_2D.
constexpr int64_t kMaxQuantizedCells = 256;

void lower_adaptive(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  const Dims output = ctx.output_type().dims;
  const bool is_fixed = self.type.dims[2].is_fixed() && self.type.dims[3].is_fixed();
  const bool fits = is_fixed && (!self.type.is_quantized() ||
                                 self.type.dims[2].value() * self.type.dims[3].value() <= kMaxQuantizedCells);
  if (!fits && output[2] == Dim(1) && output[3] == Dim(1)) {
    return ctx.emit(OperationCode::MEAN, {self.id, ctx.builder().int32_tensor({2, 3}), ctx.builder().int32(1)});
  }
  const Dim rows = self.type.dims[2].floor_div(output[2].value());
  const Dim columns = self.type.dims[3].floor_div(output[3].value());
  std::vector<nnapi::OperandId> inputs{self.id};
  for (const Dim& value : {Dim(0), Dim(0), Dim(0), Dim(0), columns, rows, columns, rows, Dim(0)}) {
    inputs.push_back(ctx.builder().int32(value));
  }
  inputs.push_back(ctx.builder().boolean(true));
  ctx.emit(OperationCode::AVERAGE_POOL_2D, inputs);
}

}  // namespace

OpRules pooling_rules() {
  return {
      {"aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool "
       "ceil_mode=False) -> Tensor",
       1, "float32 or quint8; no dilation; NCHW: feature level 3", pool_type, lower_pool<OperationCode::MAX_POOL_2D>},
      {"aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, "
       "bool "
       "count_include_pad=True, int? divisor_override=None) -> Tensor",
       1, "float32 or quint8; no divisor_override; count_include_pad with padding costs a PAD (feature level 2)",
       pool_type, lower_pool<OperationCode::AVERAGE_POOL_2D>},
      {"aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", 1,
       "float32 or quint8; output sizes that divide the input's; flexible or large quint8 inputs: feature level 2",
       adaptive_type, lower_adaptive},
  };
}

}  // namespace nnapi_convert
