// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/size_demands.h"

#include <ATen/ATen.h>
#include <ATen/native/quantized/PackedParams.h>

#include <algorithm>
#include <unordered_map>

namespace nnapi_convert {
namespace {

using Demand = void (*)(const OpArguments&, SizeDemands&);

void ask(SizeDemands& demands, const Dim& found, const Dim& needed) {
  demands.equal.push_back({found, needed});
}

bool fits_rank(SizeDemands& demands, const TensorType& tensor, int64_t rank) {
  demands.fits = demands.fits && static_cast<int64_t>(tensor.rank()) == rank;
  return demands.fits;
}

// Marks axis 0 as a batch, and the axes from `first` on as a length, if it is one axis, or as those of a picture.
void mark_signal(SizeDemands& demands, const TensorType& input, size_t first) {
  demands.uses.emplace_back(input.dims[0], AxisUse::kBatch);
  const AxisUse use = input.rank() - first == 1 ? AxisUse::kLength : AxisUse::kPicture;
  for (size_t axis = first; axis < input.rank(); ++axis) demands.uses.emplace_back(input.dims[axis], use);
}

void of_filter(const TensorType& input, int64_t channels, int64_t rank, SizeDemands& demands) {
  if (!fits_rank(demands, input, rank)) return;
  ask(demands, input.dims[1], channels);
  mark_signal(demands, input, 2);
}

void of_convolution(const OpArguments& args, SizeDemands& demands) {
  const at::Tensor weight = args.constant("weight");
  const bool is_transposed =
      args.has("transposed") ? args.boolean("transposed") : args.has("output_padding");  // conv_transpose2d
  const int64_t channels = is_transposed ? weight.size(0) : weight.size(1) * args.integer("groups");
  of_filter(args.tensor("input"), channels, weight.dim(), demands);
}

void of_quantised_convolution(const OpArguments& args, SizeDemands& demands) {
  const c10::IValue packed = args.value("packed_weight");
  if (!packed.isCustomClass()) return;
  const auto params = packed.toCustomClass<ConvPackedParamsBase<2>>();
  const at::Tensor weight = std::get<0>(params->unpack());
  of_filter(args.tensor("qx"), weight.size(1) * params->groups(), weight.dim(), demands);
}

// Demands vectors of `size` numbers along the last axis of `input`.
void of_vectors(const TensorType& input, int64_t size, SizeDemands& demands) {
  demands.fits = demands.fits && input.rank() > 0;
  if (!demands.fits) return;
  ask(demands, input.dims.back(), size);
  if (input.rank() > 1) demands.uses.emplace_back(input.dims[0], AxisUse::kBatch);
  if (input.rank() == 3) demands.uses.emplace_back(input.dims[1], AxisUse::kLength);
}

void of_linear(const OpArguments& args, SizeDemands& demands) {
  of_vectors(args.tensor("input"), args.constant("weight").size(-1), demands);
}

void of_addmm(const OpArguments& args, SizeDemands& demands) {
  if (!args.is_constant("mat2") || !fits_rank(demands, args.tensor("mat1"), 2)) return;
  of_vectors(args.tensor("mat1"), args.constant("mat2").size(0), demands);
}

void of_product(const OpArguments& args, SizeDemands& demands) {
  const char* second = args.has("mat2") ? "mat2" : "other";
  if (args.is_constant(second)) {
    const at::Tensor weight = args.constant(second);
    if (weight.dim() >= 1) of_vectors(args.tensor("self"), weight.size(weight.dim() == 1 ? 0 : -2), demands);
  } else if (args.is_constant("self")) {
    const at::Tensor weight = args.constant("self");
    const TensorType other = args.tensor(second);
    if (weight.dim() >= 1 && other.rank() >= 2) ask(demands, other.dims[other.rank() - 2], weight.size(-1));
  }
}

// Returns the types of a recurrent layer's states; null for one of unknown type.
std::vector<const TensorType*> states_of(const OpArguments& args) {
  const TorchValue* hx = args.input("hx");
  if (hx->type()->kind() != c10::TypeKind::ListType) return {tensor_type_of(hx, args.types())};
  std::vector<const TensorType*> result;
  for (const TorchValue* state : args.elements("hx")) result.push_back(tensor_type_of(state, args.types()));
  return result;
}

// Demands of aten::lstm, gru, rnn_tanh and rnn_relu, from their input, states and list of weights.
void of_recurrent(const OpArguments& args, SizeDemands& demands) {
  if (!args.has("batch_first")) return;  // a packed sequence
  const TensorType input = args.tensor("input");
  if (!fits_rank(demands, input, 3)) return;
  const bool is_batch_first = args.boolean("batch_first");
  const Dim batch = input.dims[is_batch_first ? 0 : 1];
  demands.uses.emplace_back(batch, AxisUse::kBatch);
  demands.uses.emplace_back(input.dims[is_batch_first ? 1 : 0], AxisUse::kLength);
  const std::vector<at::Tensor> weights = args.constants("params");
  if (weights.size() < 2) return;
  ask(demands, input.dims[2], weights[0].size(1));
  const int64_t layers = args.integer("num_layers") * (args.boolean("bidirectional") ? 2 : 1);
  const std::vector<const TensorType*> states = states_of(args);
  for (size_t i = 0; i < states.size(); ++i) {
    if (states[i] == nullptr) continue;
    if (!fits_rank(demands, *states[i], 3)) return;
    ask(demands, states[i]->dims[0], layers);
    ask(demands, states[i]->dims[1], batch);
    // An LSTM's second state is the cell's, which a projection doesn't make smaller.
    ask(demands, states[i]->dims[2], i == 0 ? weights[1].size(1) : weights[1].size(0) / 4);
  }
}

void of_batch_norm(const OpArguments& args, SizeDemands& demands) {
  const TensorType input = args.tensor("input");
  const char* parameter = args.is_none("running_mean") ? "weight" : "running_mean";
  demands.fits = input.rank() >= 2;
  if (!demands.fits || args.is_none(parameter)) return;
  ask(demands, input.dims[1], args.constant(parameter).numel());
}

void of_group_norm(const OpArguments& args, SizeDemands& demands) {
  const TensorType input = args.tensor("input");
  demands.fits = input.rank() >= 2;
  if (demands.fits && !args.is_none("weight")) ask(demands, input.dims[1], args.constant("weight").numel());
}

void of_layer_norm(const OpArguments& args, SizeDemands& demands) {
  const TensorType input = args.tensor("input");
  const std::vector<int64_t> shape = args.integers("normalized_shape");
  demands.fits = input.rank() >= shape.size();
  if (!demands.fits) return;
  const size_t first = input.rank() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) ask(demands, input.dims[first + i], shape[i]);
}

// Demands of arithmetic with a constant: a size equals the size of the constant's axis, if that is more than 1.
void of_broadcast(const OpArguments& args, SizeDemands& demands) {
  if (!args.has("other")) return;  // arithmetic on numbers and lists
  const bool is_second = args.input("other")->type()->kind() == c10::TypeKind::TensorType && args.is_constant("other");
  if (!is_second && !args.is_constant("self")) return;
  const at::Tensor constant = args.constant(is_second ? "other" : "self");
  const TensorType input = args.tensor(is_second ? "self" : "other");
  for (int64_t back = 1; back <= constant.dim() && back <= static_cast<int64_t>(input.rank()); ++back) {
    const Dim& dim = input.dims[input.rank() - static_cast<size_t>(back)];
    if (constant.size(-back) > 1 && !dim.is_fixed()) ask(demands, dim, constant.size(-back));
  }
}

// Demands that a tensor has as many elements as its new shape. A -1 before fixed sizes stands for the rows of a batch;
// one row is assumed, unless the tensor has whole rows whatever its open sizes are.
void of_reshape(const OpArguments& args, SizeDemands& demands) {
  const char* shape = args.has("shape") ? "shape" : "size";
  if (!args.has(shape)) return;  // a view as another dtype
  const Dims sizes = args.sizes(shape);
  const bool has_rows = !sizes.empty() && sizes[0] == Dim(-1);
  const Dim row = product(has_rows ? Dims(sizes.begin() + 1, sizes.end()) : sizes);
  const Dim elements = product(args.tensor("self").dims);
  const bool has_rest = std::count(sizes.begin(), sizes.end(), Dim(-1)) > (has_rows ? 1 : 0);
  if (has_rest || (has_rows && (!row.is_fixed() || row == Dim(1) || elements.exact_div(row)))) return;
  ask(demands, elements, row);
}

void of_squeeze(const OpArguments& args, SizeDemands& demands) {
  if (!args.has("dim")) return;
  const TensorType self = args.tensor("self");
  const auto rank = static_cast<int64_t>(self.rank());
  const int64_t axis = args.integer("dim");
  demands.fits = axis >= -rank && axis < rank;
  if (demands.fits) ask(demands, self.dims[static_cast<size_t>((axis + rank) % rank)], 1);
}

void of_embedding(const OpArguments& args, SizeDemands& demands) {
  const TensorType indices = args.tensor("indices");
  if (indices.rank() > 1) demands.uses.emplace_back(indices.dims[0], AxisUse::kBatch);
  if (indices.rank() > 0) demands.uses.emplace_back(indices.dims.back(), AxisUse::kLength);
}

const std::unordered_map<std::string, Demand>& table() {
  static const std::unordered_map<std::string, Demand> result = {
      {"aten::_convolution", of_convolution},
      {"aten::conv1d", of_convolution},
      {"aten::conv2d", of_convolution},
      {"aten::conv3d", of_convolution},
      {"aten::conv_transpose1d", of_convolution},
      {"aten::conv_transpose2d", of_convolution},
      {"aten::conv_transpose3d", of_convolution},
      {"quantized::conv2d", of_quantised_convolution},
      {"quantized::conv2d_relu", of_quantised_convolution},
      {"aten::linear", of_linear},
      {"aten::addmm", of_addmm},
      {"aten::mm", of_product},
      {"aten::matmul", of_product},
      {"aten::lstm", of_recurrent},
      {"aten::gru", of_recurrent},
      {"aten::rnn_tanh", of_recurrent},
      {"aten::rnn_relu", of_recurrent},
      {"aten::batch_norm", of_batch_norm},
      {"aten::group_norm", of_group_norm},
      {"aten::layer_norm", of_layer_norm},
      {"aten::add", of_broadcast},
      {"aten::sub", of_broadcast},
      {"aten::mul", of_broadcast},
      {"aten::div", of_broadcast},
      {"aten::view", of_reshape},
      {"aten::reshape", of_reshape},
      {"aten::squeeze", of_squeeze},
      {"aten::embedding", of_embedding},
  };
  return result;
}

}  // namespace

SizeDemands size_demands(const TorchNode& node, const TypeMap& types) {
  const auto found = table().find(node.kind().toQualString());
  if (found == table().end()) return {};
  SizeDemands result;
  try {
    found->second(OpArguments(node, types), result);
  } catch (const NodeRefused&) {  // an argument isn't known: earlier demands hold
  }
  return result;
}

}  // namespace nnapi_convert
