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

}  // namespace nnapi_convert
