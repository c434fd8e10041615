// SPDX-License-Identifier: BSD-3-Clause
// Runs direct calls, and interleaves channels for them.
#include "lib/shim/direct_call.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>

#include <algorithm>
#include <cstring>

#include "lib/format/nnapi_codes.h"

namespace nnapi_shim {
namespace {

using nnapi_convert::OperandCode;

constexpr size_t kUsual = 4;  // so many arguments and results fit without memory from the heap

#ifdef __SSE2__
// Interleaves pixels, four at a time; returns how many are done. Compilers make fast code of the plain loop on arm64,
// but slow code for SSE.
int64_t interleave_fast(const float* red, const float* green, const float* blue, float* to, int64_t pixels) {
  using Four = float __attribute__((vector_size(16)));
  int64_t i = 0;
  for (; i + 4 <= pixels; i += 4, to += 12) {
    Four r, g, b;
    std::memcpy(&r, red + i, sizeof r);
    std::memcpy(&g, green + i, sizeof g);
    std::memcpy(&b, blue + i, sizeof b);
    const Four even_rg = __builtin_shufflevector(r, g, 0, 2, 4, 6);                // r0 r2 g0 g2
    const Four odd_gb = __builtin_shufflevector(g, b, 1, 3, 5, 7);                 // g1 g3 b1 b3
    const Four mixed_br = __builtin_shufflevector(b, r, 0, 2, 5, 7);               // b0 b2 r1 r3
    const Four made[3] = {__builtin_shufflevector(even_rg, mixed_br, 0, 2, 4, 6),  // r0 g0 b0 r1
                          __builtin_shufflevector(odd_gb, even_rg, 0, 2, 5, 7),    // g1 b1 r2 g2
                          __builtin_shufflevector(mixed_br, odd_gb, 1, 3, 5, 7)};  // b2 r3 g3 b3
    std::memcpy(to, made, sizeof made);
  }
  return i;
}
#else
int64_t interleave_fast(const float*, const float*, const float*, float*, int64_t) {
  return 0;
}
#endif
int64_t interleave_fast(const uint8_t*, const uint8_t*, const uint8_t*, uint8_t*, int64_t) {
  return 0;
}

template <typename Element>
void interleave_three(const Element* red, const Element* green, const Element* blue, Element* __restrict to,
                      int64_t pixels) {
  for (int64_t i = interleave_fast(red, green, blue, to, pixels); i < pixels; ++i) {
    to[3 * i] = red[i];
    to[3 * i + 1] = green[i];
    to[3 * i + 2] = blue[i];
  }
}

// Copies planes, one after the other, to pixels with their channels beside each other (NCHW to NHWC).
template <typename Element>
void interleave(const Element* from, Element* to, int64_t channels, int64_t pixels) {
  if (channels == 3) {
    interleave_three(from, from + pixels, from + 2 * pixels, to, pixels);
    return;
  }
  constexpr int64_t kBlock = 16;  // pixels: so few that written cache lines stay in the cache until they are full
  for (int64_t start = 0; start < pixels; start += kBlock) {
    const int64_t end = std::min(start + kBlock, pixels);
    for (int64_t channel = 0; channel < channels; ++channel) {
      for (int64_t i = start; i < end; ++i) to[i * channels + channel] = from[channel * pixels + i];
    }
  }
}

template <typename Element>
void interleave_batch(const at::Tensor& from, const at::Tensor& to) {
  const int64_t channels = from.size(1), pixels = from.size(2) * from.size(3);
  const auto* source = static_cast<const Element*>(from.data_ptr());
  auto* target = static_cast<Element*>(to.data_ptr());
  for (int64_t i = 0; i < from.size(0); ++i, source += channels * pixels, target += channels * pixels) {
    interleave(source, target, channels, pixels);
  }
}

at::Tensor channels_last(const at::Tensor& tensor) {
  const bool is_float = tensor.scalar_type() == at::kFloat;
  if (!tensor.is_contiguous() || (!is_float && tensor.scalar_type() != at::kQUInt8)) {
    return tensor.contiguous(at::MemoryFormat::ChannelsLast);
  }
  // Only NNAPI reads the result, as bytes, so the result needs no scale.
  const at::Tensor result =
      at::detail::empty_cpu(tensor.sizes(), is_float ? at::kFloat : at::kByte, false, at::MemoryFormat::ChannelsLast);
  is_float ? interleave_batch<float>(tensor, result) : interleave_batch<uint8_t>(tensor, result);
  return result;
}

at::Tensor empty(at::IntArrayRef sizes, c10::ScalarType dtype, bool is_nhwc, double scale, int32_t zero_point) {
  const at::MemoryFormat format = is_nhwc ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  if (!c10::isQIntType(dtype)) return at::detail::empty_cpu(sizes, dtype, false, format);
  return at::_empty_affine_quantized(sizes, at::TensorOptions(dtype), scale, zero_point, format);
}

}  // namespace

c10::ScalarType scalar_type(int32_t operand_type) {
  switch (static_cast<OperandCode>(operand_type)) {
    case OperandCode::TENSOR_FLOAT32:
      return at::kFloat;
    case OperandCode::TENSOR_INT32:
      return at::kInt;
    case OperandCode::TENSOR_QUANT8_ASYMM:
      return at::kQUInt8;
    case OperandCode::TENSOR_QUANT8_ASYMM_SIGNED:
      return at::kQInt8;
    case OperandCode::TENSOR_BOOL8:
      return at::kBool;
    case OperandCode::TENSOR_FLOAT16:
      return at::kHalf;
    default:
      TORCH_CHECK(false, "nnapi-convert: NNAPI's operand type ", operand_type, " has no tensor in PyTorch");
  }
}

void check_input(const at::Tensor& input, const nnapi_shim_tensor& needed, size_t index) {
  const c10::ScalarType dtype = scalar_type(needed.type);
  // Integers of scale 1 and zero point 0 are the numbers themselves.
  const bool is_bytes = dtype == at::kQUInt8 && needed.scale == 1 && needed.zero_point == 0;
  const bool fits = input.scalar_type() == dtype || (is_bytes && input.scalar_type() == at::kByte);
  TORCH_CHECK(fits, "nnapi-convert: input ", index, ": dtype ", input.scalar_type(), " found, ", dtype, " needed");
  TORCH_CHECK(input.device().is_cpu(), "nnapi-convert: input ", index, ": device ", input.device(),
              " found, cpu needed");
  if (!input.is_quantized()) return;
  TORCH_CHECK(static_cast<float>(input.q_scale()) == needed.scale, "nnapi-convert: input ", index, ": scale ",
              input.q_scale(), " found, ", needed.scale, " needed");
  TORCH_CHECK(input.q_zero_point() == needed.zero_point, "nnapi-convert: input ", index, ": zero point ",
              input.q_zero_point(), " found, ", needed.zero_point, " needed");
}

bool DirectCall::Described::is_of(at::ArrayRef<nnapi_shim_shape> shapes) const {
  return std::equal(arguments.begin(), arguments.end(), shapes.begin(), shapes.end(),
                    [](const std::vector<int64_t>& known, const nnapi_shim_shape& shape) {
                      return at::IntArrayRef(known).equals({shape.sizes, shape.rank});
                    });
}

DirectCall::Boundary DirectCall::boundary(const nnapi_shim_tensor& tensor) {
  Boundary result = {tensor, scalar_type(tensor.type), {tensor.sizes, tensor.sizes + tensor.rank}, tensor.is_nhwc != 0};
  if (result.is_nhwc) std::rotate(result.sizes.begin() + 1, result.sizes.end() - 1, result.sizes.end());
  return result;
}

int DirectCall::describe(at::ArrayRef<nnapi_shim_shape> shapes, Described& described, nnapi_shim_error& error) const {
  const auto count = static_cast<uint32_t>(shapes.size());
  for (const nnapi_shim_shape& shape : shapes) described.arguments.emplace_back(shape.sizes, shape.sizes + shape.rank);
  nnapi_shim_tensor tensor;
  for (uint32_t i = 0; i < nnapi_shim_input_count(model_); ++i) {
    if (const int status = nnapi_shim_input(model_, shapes.data(), count, i, &tensor, &error)) return status;
    described.inputs.push_back(boundary(tensor));
    TORCH_CHECK(described.inputs.back().sizes == described.arguments.at(tensor.argument), "nnapi-convert: input ", i,
                ": shape ", at::IntArrayRef(described.arguments.at(tensor.argument)), " found, ",
                at::IntArrayRef(described.inputs.back().sizes), " needed");
  }
  for (uint32_t i = 0; i < nnapi_shim_output_count(model_); ++i) {
    if (const int status = nnapi_shim_output(model_, shapes.data(), count, i, &tensor, &error)) return status;
    described.outputs.push_back(boundary(tensor));
  }
  return NNAPI_SHIM_OK;
}

std::shared_ptr<const DirectCall::Described> DirectCall::find(at::ArrayRef<nnapi_shim_shape> shapes,
                                                              nnapi_shim_error& error) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (newest_ && newest_->is_of(shapes)) return newest_;
  }
  auto described = std::make_shared<Described>();
  if (describe(shapes, *described, error) != NNAPI_SHIM_OK) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  return newest_ = std::move(described);
}

int DirectCall::run(const c10::List<at::Tensor>& arguments, at::ArrayRef<double> scales,
                    std::vector<at::Tensor>& outputs, nnapi_shim_error& error) {
  c10::SmallVector<at::Tensor, kUsual> keep;
  c10::SmallVector<nnapi_shim_shape, kUsual> shapes;
  for (size_t i = 0; i < arguments.size(); ++i) {
    keep.push_back(arguments.get(i));
    const at::IntArrayRef sizes = keep.back().sizes();
    shapes.push_back({static_cast<uint32_t>(sizes.size()), sizes.data()});
  }
  const std::shared_ptr<const Described> described = find(shapes, error);
  if (!described) return error.status;
  c10::SmallVector<nnapi_shim_buffer, kUsual> from, to;
  for (const Boundary& input : described->inputs) {
    const at::Tensor& argument = keep[input.tensor.argument];
    check_input(argument, input.tensor, from.size());
    const bool fits =
        argument.is_contiguous(input.is_nhwc ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
    if (!fits) keep.push_back(input.is_nhwc ? channels_last(argument) : argument.contiguous());
    from.push_back({(fits ? keep[input.tensor.argument] : keep.back()).data_ptr(), input.tensor.bytes});
  }
  TORCH_CHECK(scales.size() == described->outputs.size(), "nnapi-convert: ", scales.size(), " output scales found, ",
              described->outputs.size(), " needed");
  for (const Boundary& output : described->outputs) {
    outputs.push_back(
        empty(output.sizes, output.dtype, output.is_nhwc, scales[outputs.size()], output.tensor.zero_point));
    to.push_back({outputs.back().data_ptr(), output.tensor.bytes});
  }
  return nnapi_shim_run(model_, shapes.data(), static_cast<uint32_t>(shapes.size()), from.data(),
                        static_cast<uint32_t>(from.size()), to.data(), static_cast<uint32_t>(to.size()), &error);
}

}  // namespace nnapi_shim
