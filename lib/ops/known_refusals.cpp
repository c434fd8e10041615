// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/known_refusals.h"

#include <unordered_map>
#include <vector>

namespace nnapi_convert {
namespace {

constexpr KnownRefusal kPacked{"a packed sequence, whose lengths are known only when the model runs",
                               "lengths with values, or a padded sequence of fixed length",
                               "bind the lengths to values, as --input 'lengths=[9,7,4]' does, or leave out "
                               "pack_padded_sequence and pad_packed_sequence"};
constexpr KnownRefusal kNested{"a nested tensor, whose rows have lengths of their own",
                               "a padded tensor and a mask, computed row by row",
                               "give TransformerEncoder enable_nested_tensor=False, or pad the rows before"};
constexpr KnownRefusal kDynamic{"dynamic quantisation, which measures the range of every input at run time",
                                "float32, or scales that the model fixes",
                                "convert the float model, or quantise it statically"};
constexpr KnownRefusal kObserver{
    "fake quantisation whose observer is on, so that each call changes its scale", "scales that are fixed",
    "call model.apply(torch.ao.quantization.disable_observer) before saving, or convert() the model"};
constexpr KnownRefusal kSuppression{
    "non-maximum suppression, which keeps a number of boxes that only their values tell",
    "results of fixed sizes, as PyTorch's NNAPI loader reserves them before the model runs",
    "let the model return boxes and scores, best by topk, and call nms on them in the app"};
constexpr KnownRefusal kPositionSensitive{"regions whose bins read channels of their own",
                                          "roi_align or roi_pool, whose bins read all channels",
                                          "NNAPI has no such operation"};
constexpr KnownRefusal kAlignments{"a loss over all alignments of two sequences, whose lengths are tensors",
                                   "a loss of elements or classes",
                                   "return the scores, and compute the loss outside of the model"};
constexpr KnownRefusal kRandomRegions{"pooling regions from random numbers", "max_pool or adaptive_max_pool",
                                      "NNAPI's results depend on its inputs alone"};
constexpr KnownRefusal kChangedTable{"a change of the embedding's table, by max_norm, at each call",
                                     "a table that stays as it is",
                                     "normalise the table before conversion, and leave out max_norm"};
constexpr KnownRefusal kDeformable{"a convolution that computes where it reads", "conv2d",
                                   "NNAPI has no such operation"};

constexpr KnownRefusal kDecomposition{"a matrix decomposition, or a system of equations that takes one",
                                      "products of matrices, or the decomposition as a constant",
                                      "NNAPI has no such operation: leave it to the app, or compute it beforehand"};
constexpr KnownRefusal kEigenvalues{"eigenvalues or singular values, which take as many steps as their values need",
                                    "products of matrices, or the decomposition as a constant",
                                    "NNAPI has no such operation: leave it to the app, or compute it beforehand"};
constexpr KnownRefusal kCountedByValues{"the size of its result depends on values",
                                        "results of fixed sizes, as PyTorch's NNAPI loader reserves them before the "
                                        "model runs",
                                        "let the model return the elements and a mask, and pick them in the app"};
constexpr KnownRefusal kDegrees{"a polynomial of a degree that each element has of its own",
                                "a formula that is the same for all elements",
                                "write the polynomial of a fixed degree with additions and multiplications"};
constexpr KnownRefusal kUnboundedSeries{"a series as long as its argument needs", "a number of terms that is fixed",
                                        "NNAPI has no loop that stops by values in one element alone"};
constexpr KnownRefusal kPlacesInMemory{"elements by their places in memory, which NNAPI's tensors don't have",
                                       "elements by their indices", "write it with slices, unfold, reshape or permute"};
constexpr KnownRefusal kGreatestDivisor{"the greatest common divisor, whose steps depend on the values",
                                        "a number of steps that is fixed", "compute it in the app"};

// Operators, by name and overload, that are refused for one reason.
struct RefusedOperators {
  const KnownRefusal* refusal;
  std::vector<const char*> names;
};

std::vector<RefusedOperators> refused_operators() {
  return {
      {&kPacked,
       {"aten::lstm.data", "aten::gru.data", "aten::rnn_tanh.data", "aten::rnn_relu.data",
        "aten::_pack_padded_sequence", "aten::_pad_packed_sequence"}},
      {&kNested,
       {"aten::_nested_tensor_from_mask", "aten::_nested_tensor_from_mask_left_aligned",
        "aten::_nested_tensor_from_tensor_list", "aten::_nested_from_padded", "aten::to_padded_tensor",
        "aten::nested_to_padded_tensor"}},
      {&kDynamic,
       {"aten::quantized_lstm.input", "aten::quantized_lstm.data", "aten::quantized_lstm.input_legacy",
        "aten::quantized_lstm.data_legacy", "aten::quantized_gru.input", "aten::quantized_gru.data",
        "aten::quantized_gru.input_legacy", "aten::quantized_gru.data_legacy", "quantized::quantized_lstm_cell_dynamic",
        "quantized::quantized_gru_cell_dynamic", "quantized::quantized_rnn_relu_cell_dynamic",
        "quantized::quantized_rnn_tanh_cell_dynamic", "quantized::linear_dynamic", "quantized::linear_relu_dynamic",
        "quantized::conv1d_dynamic", "quantized::conv2d_dynamic", "quantized::conv_transpose1d_dynamic",
        "quantized::conv_transpose2d_dynamic"}},
      {&kObserver,
       {"aten::fused_moving_avg_obs_fake_quant", "aten::_fused_moving_avg_obs_fq_helper",
        "aten::_fused_moving_avg_obs_fq_helper_functional"}},
      {&kAlignments, {"aten::ctc_loss.IntList", "aten::ctc_loss.Tensor"}},
      {&kRandomRegions, {"aten::fractional_max_pool2d", "aten::fractional_max_pool3d"}},
      {&kChangedTable, {"aten::embedding_renorm", "aten::embedding_renorm_"}},
      {&kEigenvalues,
       {"aten::_linalg_eigh",
        "aten::_linalg_svd",
        "aten::linalg_cond",
        "aten::linalg_cond.p_str",
        "aten::linalg_eig",
        "aten::linalg_eigh",
        "aten::linalg_eigvals",
        "aten::linalg_eigvalsh",
        "aten::linalg_matrix_rank",
        "aten::linalg_matrix_rank.atol_rtol_float",
        "aten::linalg_matrix_rank.atol_rtol_tensor",
        "aten::linalg_matrix_rank.tol_tensor",
        "aten::linalg_pinv",
        "aten::linalg_pinv.atol_rtol_float",
        "aten::linalg_pinv.atol_rtol_tensor",
        "aten::linalg_pinv.rcond_tensor",
        "aten::linalg_svd",
        "aten::linalg_svdvals",
        "aten::nuclear_norm",
        "aten::nuclear_norm.dim",
        "aten::pinverse",
        "aten::svd",
        "aten::symeig"}},
      {&kDecomposition,
       {"aten::qr",
        "aten::linalg_qr",
        "aten::geqrf",
        "aten::cholesky",
        "aten::linalg_cholesky",
        "aten::linalg_cholesky_ex",
        "aten::cholesky_inverse",
        "aten::cholesky_solve",
        "aten::inverse",
        "aten::linalg_inv",
        "aten::linalg_inv_ex",
        "aten::linalg_solve",
        "aten::linalg_solve_ex",
        "aten::_linalg_solve_ex",
        "aten::linalg_lstsq",
        "aten::linalg_det",
        "aten::_linalg_det",
        "aten::det",
        "aten::linalg_slogdet",
        "aten::_linalg_slogdet",
        "aten::slogdet",
        "aten::logdet",
        "aten::linalg_lu",
        "aten::linalg_lu_factor",
        "aten::linalg_lu_factor_ex",
        "aten::linalg_lu_solve",
        "aten::_lu_with_info",
        "aten::lu_solve",
        "aten::lu_unpack",
        "aten::linalg_ldl_factor",
        "aten::linalg_ldl_factor_ex",
        "aten::linalg_ldl_solve",
        "aten::linalg_tensorinv",
        "aten::linalg_tensorsolve",
        "aten::triangular_solve",
        "aten::linalg_solve_triangular",
        "aten::linalg_householder_product",
        "aten::orgqr",
        "aten::ormqr"}},
      {&kCountedByValues,
       {"aten::nonzero", "aten::nonzero_numpy", "aten::argwhere", "aten::masked_select", "aten::bincount",
        "aten::_unique", "aten::_unique2", "aten::unique_dim", "aten::unique_consecutive"}},
      {&kDegrees,
       {"aten::special_chebyshev_polynomial_t",         "aten::special_chebyshev_polynomial_t.x_scalar",
        "aten::special_chebyshev_polynomial_u",         "aten::special_chebyshev_polynomial_u.x_scalar",
        "aten::special_chebyshev_polynomial_v",         "aten::special_chebyshev_polynomial_v.x_scalar",
        "aten::special_chebyshev_polynomial_w",         "aten::special_chebyshev_polynomial_w.x_scalar",
        "aten::special_shifted_chebyshev_polynomial_t", "aten::special_shifted_chebyshev_polynomial_t.x_scalar",
        "aten::special_shifted_chebyshev_polynomial_u", "aten::special_shifted_chebyshev_polynomial_u.x_scalar",
        "aten::special_shifted_chebyshev_polynomial_v", "aten::special_shifted_chebyshev_polynomial_v.x_scalar",
        "aten::special_shifted_chebyshev_polynomial_w", "aten::special_shifted_chebyshev_polynomial_w.x_scalar",
        "aten::special_hermite_polynomial_h",           "aten::special_hermite_polynomial_h.x_scalar",
        "aten::special_hermite_polynomial_he",          "aten::special_hermite_polynomial_he.x_scalar",
        "aten::special_laguerre_polynomial_l",          "aten::special_laguerre_polynomial_l.x_scalar",
        "aten::special_legendre_polynomial_p",          "aten::special_legendre_polynomial_p.x_scalar"}},
      {&kUnboundedSeries,
       {"aten::special_zeta", "aten::special_zeta.other_scalar", "aten::special_zeta.self_scalar", "aten::igamma",
        "aten::igammac"}},
      {&kPlacesInMemory, {"aten::as_strided", "aten::as_strided_", "aten::as_strided_copy"}},
      {&kGreatestDivisor, {"aten::gcd", "aten::lcm"}},
      {&kSuppression, {"torchvision::nms"}},
      {&kPositionSensitive, {"torchvision::ps_roi_align", "torchvision::ps_roi_pool"}},
      {&kDeformable, {"torchvision::deform_conv2d"}},
  };
}

const std::unordered_map<std::string, const KnownRefusal*>& refusals() {
  static const auto by_name = [] {
    std::unordered_map<std::string, const KnownRefusal*> found;
    for (const NamedRefusal& each : all_known_refusals()) found.emplace(each.name, each.refusal);
    return found;
  }();
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

std::vector<NamedRefusal> all_known_refusals() {
  std::vector<NamedRefusal> all;
  for (const RefusedOperators& each : refused_operators()) {
    for (const char* name : each.names) all.push_back({name, each.refusal});
  }
  return all;
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
