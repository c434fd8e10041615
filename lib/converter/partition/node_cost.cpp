#include "lib/converter/partition/node_cost.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "lib/converter/partition/node_weights.h"

namespace nnapi_convert {
namespace {

using Sizes = std::optional<std::vector<int64_t>>;

// A node's arguments by the names of its schema, and sizes of what it reads and gives.
class Call {
 public:
  Call(const TorchNode& node, const SizesOfValue& sizes_of) : node_(node), sizes_of_(sizes_of) {}

  // The first argument that has one of the names; null if there is none.
  const TorchValue* argument(std::initializer_list<const char*> names) const {
    const c10::FunctionSchema* schema = node_.maybeSchema();
    for (const char* name : names) {
      const auto index = schema == nullptr ? c10::nullopt : schema->argumentIndexWithName(name);
      if (index) return node_.input(static_cast<size_t>(*index));
    }
    return nullptr;
  }
  const TorchValue* first() const { return node_.inputs().empty() ? nullptr : node_.input(0); }

  Sizes sizes(const TorchValue* value) const {
    if (value == nullptr) return std::nullopt;
    const auto constant = torch::jit::toIValue(value);
    return constant ? weight_sizes(*constant) : sizes_of_(value);
  }
  Count elements(const TorchValue* value) const {
    const Sizes found = sizes(value);
    return found ? product_of(*found) : Count(std::nullopt);
  }
  Count result() const { return elements(node_.outputs().empty() ? nullptr : node_.output(0)); }
  // Of an argument with such sizes.
  Count rows(const TorchValue* value) const {
    const Sizes found = sizes(value);
    if (!found || found->empty()) return Count(std::nullopt);
    return product_of(*found).divided_by(found->back());
  }
  // Size of an axis, of which -1 is the last.
  Count size(const TorchValue* value, int64_t axis) const {
    const Sizes found = sizes(value);
    const int64_t rank = found ? static_cast<int64_t>(found->size()) : 0;
    const int64_t place = axis < 0 ? axis + rank : axis;
    return place >= 0 && place < rank ? Count(found->at(static_cast<size_t>(place))) : Count(std::nullopt);
  }
  // Elements of the matrices in an argument, a list of which may be made in place.
  Count matrices(const TorchValue* value) const {
    if (value == nullptr) return Count(std::nullopt);
    if (const auto constant = torch::jit::toIValue(value)) return matrix_elements(*constant);
    if (value->node()->kind() != c10::prim::ListConstruct) return Count(std::nullopt);
    Count sum = 0;
    for (const TorchValue* element : value->node()->inputs()) {
      const auto constant = torch::jit::toIValue(element);
      if (!constant) return Count(std::nullopt);
      const bool is_vector = constant->isTensor() && constant->toTensor().dim() != 2;
      if (!is_vector) sum += matrix_elements(*constant);
    }
    return sum;
  }
  bool is_true(const char* name) const {
    const TorchValue* value = argument({name});
    const auto constant = value == nullptr ? c10::nullopt : torch::jit::toIValue(value);
    return constant && constant->isBool() && constant->toBool();
  }

 private:
  const TorchNode& node_;
  const SizesOfValue& sizes_of_;
};

const TorchValue* weight_of(const Call& call) {
  return call.argument({"weight", "packed_weight", "W_prepack"});
}

// The weights that one index of a filter's first axis has.
Count weights_of_one(const Call& call) {
  const Sizes filter = call.sizes(weight_of(call));
  if (!filter || filter->empty()) return Count(std::nullopt);
  return product_of(*filter).divided_by(filter->front());
}

// Each element of the input takes the filter's weights.
Count of_transposed(const Call& call) {
  return call.elements(call.first()) * weights_of_one(call);
}

// Each element of the result takes them.
Count of_convolution(const Call& call) {
  return call.is_true("transposed") ? of_transposed(call) : call.result() * weights_of_one(call);
}

// The filter is [size, inputs, outputs].
Count of_conv_tbc(const Call& call) {
  return call.result() * call.size(weight_of(call), 0) * call.size(weight_of(call), 1);
}

Count of_linear(const Call& call) {
  return call.rows(call.first()) * call.elements(weight_of(call));
}

// Products of the first argument, or of the one behind what is added.
Count of_product(const Call& call) {
  return call.result() * call.size(call.first(), -1);
}

Count of_added_product(const Call& call) {
  return call.result() * call.size(call.argument({"mat1", "batch1", "mat"}), -1);
}

Count of_summed_products(const Call& call) {
  return of_added_product(call) * call.size(call.argument({"batch1"}), 0);
}

Count of_bilinear(const Call& call) {
  return call.rows(call.argument({"input1"})) * call.elements(weight_of(call));
}

// Every matrix once for each step of each row.
Count of_recurrent(const Call& call) {
  return call.rows(call.argument({"input", "data"})) * call.matrices(call.argument({"params"}));
}

Count of_cell(const Call& call) {
  return call.rows(call.argument({"input"})) *
         (call.matrices(call.argument({"w_ih"})) + call.matrices(call.argument({"w_hh"})));
}

// Query by keys, and what comes of it by values.
Count of_attention(const Call& call) {
  const TorchValue* query = call.argument({"query"});
  const TorchValue* value = call.argument({"value"});
  const Count keys = call.size(call.argument({"key"}), -2);
  return call.elements(query) * keys + call.rows(query) * keys * call.size(value, -1);
}

// Of two operands: a product over every letter, unless all of them are left.
Count of_einsum(const Call& call) {
  const TorchValue* equation = call.argument({"equation"});
  const TorchValue* operands = call.argument({"tensors"});
  const auto text = equation == nullptr ? c10::nullopt : torch::jit::toIValue(equation);
  const bool is_read = text && text->isString() && operands->node()->kind() == c10::prim::ListConstruct;
  if (!is_read || operands->node()->inputs().size() > 2) return Count(std::nullopt);
  std::string letters = text->toStringRef();
  letters.erase(std::remove(letters.begin(), letters.end(), ' '), letters.end());
  if (letters.find('.') != std::string::npos) return Count(std::nullopt);
  const size_t arrow = letters.find("->");
  const std::string result = arrow == std::string::npos ? "" : letters.substr(arrow + 2);
  letters.resize(std::min(arrow, letters.size()));
  std::map<char, int64_t> sizes;
  for (const TorchValue* operand : operands->node()->inputs()) {
    const Sizes found = call.sizes(operand);
    const std::string own = letters.substr(0, letters.find(','));
    letters.erase(0, own.size() + 1);
    if (!found || own.size() != found->size()) return Count(std::nullopt);
    for (size_t i = 0; i < own.size(); ++i) sizes[own[i]] = std::max(sizes[own[i]], (*found)[i]);
  }
  const bool sums = std::any_of(sizes.begin(), sizes.end(),
                                [&](const auto& size) { return result.find(size.first) == std::string::npos; });
  if (operands->node()->inputs().size() < 2 || !sums) return 0;
  Count product = 1;
  for (const auto& [letter, size] : sizes) product *= size;
  return product;
}

// A product whose size doesn't follow from what is read here.
Count of_other_product(const Call&) {
  return Count(std::nullopt);
}

// May cost something, or not.
Count not_counted(const Call&) {
  return Count(std::nullopt);
}

using Formula = Count (*)(const Call&);

// Without the namespace and the "_" of those that change their argument.
const std::map<std::string, Formula>& formulas_of_aten() {
  static const std::vector<std::pair<Formula, std::vector<const char*>>> names = {
      {of_convolution,
       {"_conv_depthwise2d", "_convolution", "_convolution_mode", "_nnpack_spatial_convolution", "_slow_conv2d_forward",
        "conv1d", "conv2d", "conv3d", "conv_depthwise3d", "convolution", "convolution_overrideable",
        "mkldnn_convolution", "slow_conv3d", "slow_conv3d_forward", "slow_conv_dilated2d", "slow_conv_dilated3d",
        "thnn_conv2d"}},
      {of_transposed,
       {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "slow_conv_transpose2d", "slow_conv_transpose3d"}},
      {of_conv_tbc, {"conv_tbc"}},
      {of_linear, {"linear", "mkldnn_linear"}},
      {of_product, {"bmm", "dot", "inner", "linalg_matmul", "matmul", "mm", "mv", "vdot"}},
      {of_added_product, {"_addmm_activation", "addmm", "addmv", "baddbmm"}},
      {of_summed_products, {"addbmm"}},
      {of_bilinear, {"bilinear"}},
      {of_einsum, {"einsum"}},
      {of_recurrent, {"gru", "lstm", "quantized_gru", "quantized_lstm", "rnn_relu", "rnn_tanh"}},
      {of_cell,
       {"gru_cell", "lstm_cell", "quantized_gru_cell", "quantized_lstm_cell", "quantized_rnn_relu_cell",
        "quantized_rnn_tanh_cell", "rnn_relu_cell", "rnn_tanh_cell"}},
      {of_attention,
       {"_scaled_dot_product_attention", "_scaled_dot_product_attention_forward", "_scaled_dot_product_attention_math",
        "scaled_dot_product_attention"}},
      {of_other_product,
       {"_cudnn_rnn",
        "_flash_scaled_dot_product_attention",
        "_lstm_mps",
        "_native_decoder_only_multi_head_attention",
        "_native_multi_head_attention",
        "_sparse_addmm",
        "_sparse_mm",
        "_sparse_sparse_matmul",
        "_transformer_decoder_only_layer_fwd",
        "_transformer_encoder_layer_fwd",
        "_trilinear",
        "_triton_multi_head_attention",
        "_triton_scaled_dot_attention",
        "chain_matmul",
        "cudnn_convolution",
        "cudnn_convolution_add_relu",
        "cudnn_convolution_relu",
        "cudnn_convolution_transpose",
        "fbgemm_linear_fp16_weight",
        "fbgemm_linear_fp16_weight_fp32_activation",
        "fbgemm_linear_int8_weight",
        "fbgemm_linear_int8_weight_fp32_activation",
        "hspmm",
        "linalg_matrix_power",
        "linalg_multi_dot",
        "matrix_power",
        "miopen_convolution",
        "miopen_convolution_add_relu",
        "miopen_convolution_relu",
        "miopen_convolution_transpose",
        "miopen_depthwise_convolution",
        "miopen_rnn",
        "mkldnn_rnn_layer",
        "smm",
        "sparse_sampled_addmm",
        "sspaddmm",
        "tensordot"}},
      {not_counted,
       {"_cdist_forward",
        "_linalg_det",
        "_linalg_eigh",
        "_linalg_slogdet",
        "_linalg_solve_ex",
        "_linalg_svd",
        "_lu_with_info",
        "cdist",
        "cholesky",
        "cholesky_inverse",
        "cholesky_solve",
        "corrcoef",
        "cov",
        "det",
        "geqrf",
        "inverse",
        "istft",
        "logdet",
        "lu_solve",
        "lu_unpack",
        "matrix_exp",
        "orgqr",
        "ormqr",
        "pinverse",
        "qr",
        "slogdet",
        "stft",
        "svd",
        "symeig",
        "triangular_solve"}},
      {nullptr,
       {"fft_fftfreq", "fft_fftshift", "fft_ifftshift", "fft_rfftfreq", "linalg_cross", "linalg_diagonal",
        "linalg_vecdot", "linalg_vector_norm"}}};
  static const auto formulas = [] {
    std::map<std::string, Formula> result;
    for (const auto& [formula, members] : names) {
      for (const char* name : members) result[name] = formula;
    }
    return result;
  }();
  return formulas;
}

bool begins_with(const std::string& text, const std::string& part) {
  return text.compare(0, part.size(), part) == 0;
}

bool ends_with(const std::string& text, const std::string& part) {
  return text.size() >= part.size() && text.compare(text.size() - part.size(), part.size(), part) == 0;
}

// Of LibTorch's own operators those that aren't listed cost nothing, but for transforms, solvers, and gradients.
Formula of_aten(std::string name) {
  if (name.size() > 1 && name.back() == '_') name.pop_back();
  const auto found = formulas_of_aten().find(name);
  if (found != formulas_of_aten().end()) return found->second;
  const bool is_dear = begins_with(name, "linalg_") || begins_with(name, "fft_") || begins_with(name, "_fft_") ||
                       begins_with(name, "_mps_") || begins_with(name, "mps_") || ends_with(name, "_backward");
  return is_dear ? not_counted : nullptr;
}

// "conv2d_relu", "conv_transpose2d_dynamic", "linear_relu_dynamic_fp16". What packs weights, or reads the settings of
// packed ones, costs nothing.
Formula of_quantized(const TorchNode& node, const std::string& name) {
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  const bool gives_tensor = !node.outputs().empty() && node.output(0)->type()->kind() == c10::TypeKind::TensorType;
  if (!gives_tensor || has("pack")) return nullptr;
  if (has("conv_transpose")) return of_transposed;
  if (has("conv")) return of_convolution;
  if (has("linear")) return of_linear;
  if (has("matmul")) return of_product;
  return has("_cell_dynamic") ? of_cell : nullptr;
}

Formula of_prepacked(const std::string& name) {
  if (name == "conv2d_clamp_run") return of_convolution;
  if (name == "conv2d_transpose_clamp_run") return of_transposed;
  return name == "linear_clamp_run" ? of_linear : nullptr;
}

Formula of_torchvision(const std::string& name) {
  if (name == "deform_conv2d") return of_convolution;
  return ends_with(name, "_backward") ? not_counted : nullptr;
}

// What calls what isn't known here.
Formula of_prim(const std::string& name) {
  static const std::set<std::string> calls = {"CallFunction", "CallMethod", "PythonOp",
                                              "fork",         "rpc_async",  "rpc_sync"};
  return calls.count(name) != 0 ? not_counted : nullptr;
}

// Null: it costs nothing. not_counted: it may cost something.
Formula formula_of(const TorchNode& node) {
  const std::string space = node.kind().ns().toUnqualString(), name = node.kind().toUnqualString();
  if (space == "aten") return of_aten(name);
  if (space == "prim" || space == "nnapi_convert") return of_prim(name);
  if (space == "quantized" || space == "_quantized") return of_quantized(node, name);
  if (space == "prepacked") return of_prepacked(name);
  if (space == "torchvision") return of_torchvision(name);
  return not_counted;
}

}  // namespace

CostKind cost_kind(const TorchNode& node) {
  const Formula formula = formula_of(node);
  if (formula == nullptr) return CostKind::kNone;
  return formula == not_counted ? CostKind::kUnknown : CostKind::kProduct;
}

Count macs_of(const TorchNode& node, const SizesOfValue& sizes_of) {
  const Formula formula = formula_of(node);
  return formula == nullptr ? Count(0) : formula(Call(node, sizes_of));
}

}  // namespace nnapi_convert
