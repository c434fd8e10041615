// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/operation_variant.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <array>
#include <map>

#include "lib/base/error.h"
#include "lib/base/host_library.h"
#include "lib/converter/verify/stock_view.h"
#include "lib/shim/compilation.h"
#include "lib/shim/model_buffer.h"
#include "lib/shim/torch_binding.h"

namespace nnapi_convert {
namespace {

using nnapi_shim::OperandView;
using nnapi_shim::SubgraphView;

constexpr std::array<int64_t, 4> kToNhwc = {0, 2, 3, 1};
constexpr std::array<int64_t, 4> kToNchw = {0, 3, 1, 2};

OperandCode type_of(const OperandView& operand) {
  return static_cast<OperandCode>(operand.type);
}

at::ScalarType element_type(const OperandView& operand) {
  switch (type_of(operand)) {
    case OperandCode::TENSOR_INT32:
      return at::kInt;
    case OperandCode::TENSOR_BOOL8:
    case OperandCode::TENSOR_QUANT8_ASYMM:
      return at::kByte;
    case OperandCode::TENSOR_QUANT8_ASYMM_SIGNED:
      return at::kChar;
    default:
      return at::kFloat;
  }
}

std::vector<int64_t> sizes_of(const OperandView& operand) {
  return {operand.dims, operand.dims + operand.rank};
}

bool is_quantised(const OperandView& operand) {
  return type_of(operand) == OperandCode::TENSOR_QUANT8_ASYMM ||
         type_of(operand) == OperandCode::TENSOR_QUANT8_ASYMM_SIGNED;
}

// A piece of a model that numbers its operands anew, with the lists that its operations point to.
struct Piece {
  SubgraphView model;
  std::map<uint32_t, uint32_t> numbers;
  std::vector<std::vector<uint32_t>> lists;
};

uint32_t number_of(Piece& piece, const SubgraphView& whole, uint32_t operand) {
  const auto [entry, is_new] = piece.numbers.emplace(operand, static_cast<uint32_t>(piece.model.operands.size()));
  if (is_new) piece.model.operands.push_back(whole.operands[operand]);
  return entry->second;
}

const uint32_t* renumbered(Piece& piece, const SubgraphView& whole, const uint32_t* operands, uint32_t count) {
  std::vector<uint32_t> list;
  for (uint32_t i = 0; i < count; ++i) list.push_back(number_of(piece, whole, operands[i]));
  list.push_back(0);  // data() of an empty list may be null
  piece.lists.push_back(std::move(list));
  return piece.lists.back().data();
}

Piece cut(const SubgraphView& whole, const std::vector<size_t>& operations, const std::vector<uint32_t>& inputs,
          const std::vector<uint32_t>& outputs) {
  Piece piece;
  const auto add_boundary = [&](uint32_t operand, std::vector<nnapi_shim::BoundaryView>& boundaries,
                                std::vector<uint32_t>& operands) {
    operands.push_back(number_of(piece, whole, operand));
    boundaries.push_back({operands.back(), static_cast<int32_t>(boundaries.size())});
  };
  for (const uint32_t input : inputs) add_boundary(input, piece.model.inputs, piece.model.input_operands);
  for (const size_t number : operations) {
    nnapi_shim::OperationView operation = whole.operations[number];
    operation.inputs = renumbered(piece, whole, operation.inputs, operation.input_count);
    operation.outputs = renumbered(piece, whole, operation.outputs, operation.output_count);
    piece.model.operations.push_back(operation);
  }
  for (const uint32_t output : outputs) add_boundary(output, piece.model.outputs, piece.model.output_operands);
  for (nnapi_shim::ValueView value : whole.values) {
    const auto found = piece.numbers.find(value.operand);
    if (found == piece.numbers.end()) continue;
    value.operand = found->second;
    piece.model.values.push_back(value);
  }
  return piece;
}

[[noreturn]] void fail(const nnapi_shim_error& error, ExitCode code) {
  throw ConvertError(code, error.message);
}

const nnapi_shim::NnapiLibrary& host_library() {
  const nnapi_shim::NnapiLibrary* library = nullptr;
  nnapi_shim_error error{};
  if (nnapi_shim::load_nnapi(host_library_path().c_str(), false, &library, &error) != NNAPI_SHIM_OK) {
    fail(error, ExitCode::kBadFile);
  }
  return *library;
}

std::vector<nnapi_shim_buffer> buffers_of(const std::vector<at::Tensor>& tensors) {
  std::vector<nnapi_shim_buffer> buffers;
  for (const at::Tensor& tensor : tensors) buffers.push_back({tensor.data_ptr(), tensor.nbytes()});
  return buffers;
}

}  // namespace

SegmentModel::SegmentModel(const torch::jit::Module& module, Runtime runtime, const std::vector<at::Tensor>& inputs) {
  if (runtime == Runtime::kShim) {
    read_shim(module, inputs);
  } else {
    read_pytorch(module);
  }
}

void SegmentModel::read_shim(const torch::jit::Module& module, const std::vector<at::Tensor>& inputs) {
  const auto [words, weights] = nnapi_shim::tensors_of(module.attr("comp"));
  kept_ = {words.contiguous(), weights.contiguous()};
  weights_.data = kept_[1].data_ptr<uint8_t>();
  weights_.bytes = static_cast<uint64_t>(kept_[1].numel());
  nnapi_shim_error error{};
  const auto buffer = nnapi_shim::ModelBuffer::parse(kept_[0].data_ptr(), static_cast<size_t>(kept_[0].numel()),
                                                     weights_.bytes, &error);
  if (buffer == nullptr) fail(error, ExitCode::kBadFile);
  std::vector<nnapi_shim_shape> shapes;
  for (const at::Tensor& input : inputs) {
    shapes.push_back({static_cast<uint32_t>(input.dim()), input.sizes().data()});
  }
  const int status = buffer->bind(shapes.data(), static_cast<uint32_t>(shapes.size()), &view_, &error);
  if (status != NNAPI_SHIM_OK) fail(error, ExitCode::kBadFile);
}

void SegmentModel::read_pytorch(const torch::jit::Module& module) {
  const std::vector<at::Tensor> weights = module.attr("weights").toTensorVector();
  const std::vector<at::Tensor> scales =
      module.hasattr("int8_scales") ? module.attr("int8_scales").toTensorVector() : std::vector<at::Tensor>();
  for (size_t i = 0; i < weights.size(); ++i) {
    // Restores a weight as the module does. A module that has run holds floats.
    at::Tensor weight = weights[i].scalar_type() == at::kHalf ? weights[i].to(at::kFloat) : weights[i];
    const bool has_scales = i < scales.size() && scales[i].numel() > 0 && weight.scalar_type() == at::kChar;
    if (has_scales) weight = weight.to(at::kFloat).mul_(scales[i]);
    kept_.push_back(weight.contiguous());
  }
  const at::Tensor words = module.attr("ser_model").toTensor().contiguous();
  stock_ = read_buffer(words.data_ptr<int32_t>(), static_cast<size_t>(words.numel()));
  view_ = view_of(stock_, buffers_of(kept_));
}

std::vector<at::Tensor> SegmentModel::run(const std::vector<size_t>& operations, const std::vector<uint32_t>& inputs,
                                          const std::vector<at::Tensor>& values,
                                          const std::vector<uint32_t>& outputs) const {
  const nnapi_shim::NnapiLibrary& library = host_library();
  Piece piece = cut(main(), operations, inputs, outputs);
  nnapi_shim::ModelView view = view_;
  view.models[0] = piece.model;
  nnapi_shim_error error{};
  int status = NNAPI_SHIM_OK;
  const nnapi_shim::Options options;
  const auto weights = std::make_shared<const nnapi_shim::WeightMemory>(library, weights_);
  const auto compiled =
      nnapi_shim::CompiledModel::make(library, options, view, weights, nullptr, nullptr, &status, &error);
  if (compiled == nullptr) fail(error, ExitCode::kVerificationFailed);
  std::vector<at::Tensor> results;
  for (const uint32_t output : outputs) {
    const OperandView& operand = main().operands[output];
    results.push_back(at::empty(sizes_of(operand), at::TensorOptions(element_type(operand))));
  }
  const std::vector<nnapi_shim_buffer> in = buffers_of(values), out = buffers_of(results);
  nnapi_shim::DeviceTimes times;
  status = compiled->run({in.data(), static_cast<uint32_t>(in.size()), out.data(), static_cast<uint32_t>(out.size())},
                         &times, &error);
  if (status != NNAPI_SHIM_OK) fail(error, ExitCode::kVerificationFailed);
  return results;
}

bool is_comparable(const OperandView& operand) {
  return is_quantised(operand) || type_of(operand) == OperandCode::TENSOR_FLOAT32 ||
         type_of(operand) == OperandCode::TENSOR_INT32 || type_of(operand) == OperandCode::TENSOR_BOOL8;
}

at::Tensor to_physical(const at::Tensor& tensor, const OperandView& operand, bool is_nhwc) {
  int64_t count = 1;
  for (const int64_t size : sizes_of(operand)) count *= size;
  if (count != tensor.numel()) return {};
  at::Tensor values = (tensor.is_quantized() ? tensor.dequantize() : tensor).contiguous();
  if (is_quantised(operand)) {
    const bool is_signed = element_type(operand) == at::kChar;
    const at::Tensor steps = (values.to(at::kDouble) / operand.scale).round() + operand.zero_point;
    values = steps.clamp(is_signed ? -128 : 0, is_signed ? 127 : 255);
  }
  values = values.to(element_type(operand));
  if (!is_nhwc) return values.reshape(sizes_of(operand)).contiguous();
  std::vector<int64_t> sizes = sizes_of(operand), nchw;
  for (const int64_t axis : kToNchw) nchw.push_back(sizes[static_cast<size_t>(axis)]);
  return values.reshape(nchw).permute(kToNhwc).contiguous();
}

at::Tensor to_real(const at::Tensor& physical, const OperandView& operand, bool is_nhwc) {
  at::Tensor values = physical.to(at::kDouble);
  if (is_quantised(operand)) values = (values - operand.zero_point) * operand.scale;
  return is_nhwc ? values.permute(kToNchw).contiguous() : values;
}

}  // namespace nnapi_convert
