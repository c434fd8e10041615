#include "lib/converter/node_cost.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>
#include <string>

namespace nnapi_convert {
namespace {

// Then each element of the input takes the filter's weights.
bool is_transposed(const TorchNode& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  const auto index = schema == nullptr ? c10::nullopt : schema->argumentIndexWithName("transposed");
  const auto transposed = index ? torch::jit::toIValue(node.inputs()[static_cast<size_t>(*index)]) : c10::nullopt;
  return transposed && transposed->toBool();
}

std::optional<int64_t> of_convolution(const TorchNode& node, const std::vector<int64_t>& output,
                                      const SizesOfValue& sizes_of) {
  const auto weight = torch::jit::toIValue(node.inputs()[1]);
  if (!weight || !weight->isTensor()) return std::nullopt;
  const at::Tensor& filter = weight->toTensor();
  const int64_t each = filter.numel() / std::max<int64_t>(filter.size(0), 1);
  if (!is_transposed(node)) return c10::multiply_integers(output) * each;
  const auto input = sizes_of(node.inputs()[0]);
  return input ? std::optional(c10::multiply_integers(*input) * each) : std::nullopt;
}

std::optional<int64_t> of_product(const TorchNode& node, const std::vector<int64_t>& output,
                                  const SizesOfValue& sizes_of) {
  const bool adds = node.kind() == c10::aten::addmm;
  const auto first = sizes_of(node.inputs()[adds ? 1 : 0]);
  if (!first || first->empty()) return std::nullopt;
  return c10::multiply_integers(output) * first->back();
}

}  // namespace

std::optional<int64_t> macs_of(const TorchNode& node, const SizesOfValue& sizes_of) {
  static const std::set<std::string> convolutions = {"aten::_convolution", "aten::convolution", "aten::conv1d",
                                                     "aten::conv2d", "aten::conv3d"};
  static const std::set<std::string> products = {"aten::matmul", "aten::mm", "aten::bmm", "aten::addmm",
                                                 "aten::linear"};
  const std::string kind = node.kind().toQualString();
  static const std::set<std::string> others = {"aten::lstm",
                                               "aten::gru",
                                               "aten::rnn_tanh",
                                               "aten::rnn_relu",
                                               "aten::lstm_cell",
                                               "aten::gru_cell",
                                               "aten::rnn_tanh_cell",
                                               "aten::rnn_relu_cell",
                                               "aten::baddbmm",
                                               "aten::addbmm",
                                               "aten::mv",
                                               "aten::addmv",
                                               "aten::einsum",
                                               "aten::bilinear",
                                               "aten::conv_transpose1d",
                                               "aten::conv_transpose2d",
                                               "aten::conv_transpose3d",
                                               "aten::conv_tbc",
                                               "torchvision::deform_conv2d"};
  if (others.count(kind) != 0) return std::nullopt;
  const bool is_convolution = convolutions.count(kind) != 0;
  if (!is_convolution && products.count(kind) == 0) return 0;
  const auto output = sizes_of(node.output());
  if (!output) return std::nullopt;
  return is_convolution ? of_convolution(node, *output, sizes_of) : of_product(node, *output, sizes_of);
}

}  // namespace nnapi_convert
