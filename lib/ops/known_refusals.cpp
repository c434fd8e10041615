#include "lib/ops/known_refusals.h"

#include <unordered_map>

namespace nnapi_convert {
namespace {

constexpr KnownRefusal kPacked{"a packed sequence, whose steps have different batch sizes",
                               "a padded sequence of fixed length",
                               "leave out pack_padded_sequence and pad_packed_sequence"};
constexpr KnownRefusal kDynamic{"dynamic quantisation, which measures the range of every input at run time",
                                "float32, or scales that the model fixes",
                                "convert the float model, or quantise it statically"};
constexpr KnownRefusal kSuppression{
    "non-maximum suppression, which keeps a number of boxes that only their values tell",
    "results of fixed sizes, as PyTorch's NNAPI loader reserves them before the model runs",
    "let the model return boxes and scores, best by topk, and call nms on them in the app"};
constexpr KnownRefusal kPositionSensitive{"regions whose bins read channels of their own",
                                          "roi_align or roi_pool, whose bins read all channels",
                                          "NNAPI has no such operation"};
constexpr KnownRefusal kTransposedVolume{"a transposed convolution of volumes", "conv3d, or conv_transpose2d",
                                         "NNAPI transposes 2-D convolutions only"};
constexpr KnownRefusal kDeformable{"a convolution that computes where it reads", "conv2d",
                                   "NNAPI has no such operation"};

// By operator and overload.
const std::unordered_map<std::string, const KnownRefusal*>& refusals() {
  static const std::unordered_map<std::string, const KnownRefusal*> by_name = {
      {"aten::lstm.data", &kPacked},
      {"aten::gru.data", &kPacked},
      {"aten::rnn_tanh.data", &kPacked},
      {"aten::rnn_relu.data", &kPacked},
      {"aten::_pack_padded_sequence", &kPacked},
      {"aten::_pad_packed_sequence", &kPacked},
      {"aten::quantized_lstm.input", &kDynamic},
      {"aten::quantized_lstm.data", &kDynamic},
      {"aten::quantized_lstm.input_legacy", &kDynamic},
      {"aten::quantized_lstm.data_legacy", &kDynamic},
      {"aten::quantized_gru.input", &kDynamic},
      {"aten::quantized_gru.data", &kDynamic},
      {"aten::quantized_gru.input_legacy", &kDynamic},
      {"aten::quantized_gru.data_legacy", &kDynamic},
      {"aten::conv_transpose3d.input", &kTransposedVolume},
      {"torchvision::nms", &kSuppression},
      {"torchvision::ps_roi_align", &kPositionSensitive},
      {"torchvision::ps_roi_pool", &kPositionSensitive},
      {"torchvision::deform_conv2d", &kDeformable},
      {"quantized::quantized_lstm_cell_dynamic", &kDynamic},
      {"quantized::quantized_gru_cell_dynamic", &kDynamic},
      {"quantized::quantized_rnn_relu_cell_dynamic", &kDynamic},
      {"quantized::quantized_rnn_tanh_cell_dynamic", &kDynamic},
      {"quantized::linear_dynamic", &kDynamic},
      {"quantized::linear_relu_dynamic", &kDynamic},
      {"quantized::conv1d_dynamic", &kDynamic},
      {"quantized::conv2d_dynamic", &kDynamic},
      {"quantized::conv_transpose1d_dynamic", &kDynamic},
      {"quantized::conv_transpose2d_dynamic", &kDynamic},
  };
  return by_name;
}

}  // namespace

const KnownRefusal* known_refusal(const TorchNode& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return nullptr;
  const std::string& overload = schema->overload_name();
  const auto found = refusals().find(overload.empty() ? schema->name() : schema->name() + "." + overload);
  return found == refusals().end() ? nullptr : found->second;
}

std::vector<const char*> refused_custom_operators() {
  return {
      "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
      "torchvision::ps_roi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width, "
      "int sampling_ratio) -> (Tensor, Tensor)",
      "torchvision::ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width) "
      "-> (Tensor, Tensor)",
      "torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, int stride_h, "
      "int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, int offset_groups, bool "
      "use_mask) -> Tensor",
  };
}

}  // namespace nnapi_convert
