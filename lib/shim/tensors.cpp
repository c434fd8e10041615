// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/tensors.h"

#include <algorithm>

#include "lib/shim/buffer_views.h"

namespace nnapi_shim {

std::vector<int64_t> CallShapes::key() const {
  std::vector<int64_t> key;
  for (uint32_t i = 0; i < count; ++i) {
    key.push_back(arguments[i].rank);
    key.insert(key.end(), arguments[i].sizes, arguments[i].sizes + arguments[i].rank);
  }
  return key;
}

int check_shapes(const CallShapes& shapes, uint32_t argument_count, nnapi_shim_error* error) {
  if (shapes.count != argument_count || (!shapes.arguments && argument_count > 0)) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "the shapes of %u arguments were given, the model has %u",
                shapes.arguments ? shapes.count : 0, argument_count);
  }
  for (uint32_t i = 0; i < argument_count; ++i) {
    const nnapi_shim_shape& shape = shapes.arguments[i];
    if (shape.rank <= format::kMaxRank && (shape.sizes || shape.rank == 0)) continue;
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "argument %u: rank %u found, with%s sizes; at most %u is possible", i,
                shape.rank, shape.sizes ? "" : "out", format::kMaxRank);
  }
  return NNAPI_SHIM_OK;
}

bool has_same_form(const nnapi_shim_tensor& a, const nnapi_shim_tensor& b) {
  return a.type == b.type && a.rank == b.rank && std::equal(a.sizes, a.sizes + a.rank, b.sizes) && a.scale == b.scale &&
         a.zero_point == b.zero_point && a.bytes == b.bytes && a.is_nhwc == b.is_nhwc;
}

int describe_tensors(const SubgraphView& main, const std::vector<BoundaryView>& boundary,
                     std::vector<nnapi_shim_tensor>* tensors, nnapi_shim_error* error) {
  tensors->clear();
  tensors->reserve(boundary.size());
  for (const BoundaryView& edge : boundary) {
    const OperandView& operand = main.operands[edge.operand];
    nnapi_shim_tensor tensor{};
    tensor.type = operand.type;
    tensor.rank = operand.rank;
    tensor.scale = operand.scale;
    tensor.zero_point = operand.zero_point;
    tensor.argument = edge.argument < 0 ? 0 : static_cast<uint32_t>(edge.argument);
    tensor.is_nhwc = edge.layout == format::Layout::kNhwc ? 1 : 0;
    tensor.bytes = element_bytes(operand.type);
    bool fits = tensor.bytes > 0 && operand.rank <= format::kMaxRank;
    for (uint32_t i = 0; fits && i < operand.rank; ++i) {
      tensor.sizes[i] = operand.dims[i];
      fits = !__builtin_mul_overflow(tensor.bytes, static_cast<size_t>(operand.dims[i]), &tensor.bytes);
    }
    if (!fits) {
      return fail(error, NNAPI_SHIM_BAD_MODEL,
                  "operand %u, an input or output of type %d and rank %u, is larger than memory or no tensor",
                  edge.operand, operand.type, operand.rank);
    }
    tensors->push_back(tensor);
  }
  return NNAPI_SHIM_OK;
}

}  // namespace nnapi_shim
