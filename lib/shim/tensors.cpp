// Computes the sizes of inputs and outputs.
#include "lib/shim/tensors.h"

#include "lib/shim/buffer_views.h"

namespace nnapi_shim {

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
