// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/row_estimate.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <unordered_set>

#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

class Bound {
 public:
  Bound(const TypeMap& types, const RuntimeSizeList& sizes) : types_(types), sizes_(sizes) {}

  std::optional<int64_t> of(const TorchValue* value) {
    if (!seen_.insert(value).second || torch::jit::toIValue(value)) return std::nullopt;
    if (const auto known = by_type(value)) return known;
    const TorchNode& node = *value->node();
    if (node.kind() == c10::prim::If) return of_branches(node, value->offset());
    const ResultSizes sizes = find_traits(node).sizes;
    if (sizes == ResultSizes::kSliced) {
      if (const auto length = sliced(node)) return length;
    }
    if (sizes == ResultSizes::kHighest) {
      const auto count = torch::jit::toIValue(node.input(1));
      if (count && count->isInt()) return count->toInt();
    }
    if (sizes == ResultSizes::kIndexed) {
      if (const auto indexed = of(node.input(1))) return indexed;
    }
    for (const TorchValue* input : node.inputs()) {
      if (const auto found = of(input)) return found;
    }
    return std::nullopt;
  }

 private:
  std::optional<int64_t> by_type(const TorchValue* value) const {
    const auto found = types_.find(value);
    if (found == types_.end()) return std::nullopt;
    const Dims* dims = std::get_if<Dims>(&found->second);
    if (const auto* tensor = std::get_if<TensorType>(&found->second)) dims = &tensor->dims;
    if (dims == nullptr || dims->empty()) return std::nullopt;
    return estimated(dims->front(), sizes_);
  }

  // Returns the bound b on the number of rows of x[a:b]; nothing if b is no constant.
  static std::optional<int64_t> sliced(const TorchNode& node) {
    const auto axis = torch::jit::toIValue(node.input(1)), end = torch::jit::toIValue(node.input(3));
    const bool is_bound = axis && axis->isInt() && axis->toInt() == 0 && end && end->isInt() && end->toInt() > 0 &&
                          end->toInt() < INT32_MAX;
    return is_bound ? std::optional<int64_t>(end->toInt()) : std::nullopt;
  }

  std::optional<int64_t> of_branches(const TorchNode& node, size_t output) {
    std::optional<int64_t> largest;
    for (const torch::jit::Block* block : node.blocks()) {
      const auto found = of(block->outputs()[output]);
      if (found && (!largest || *found > *largest)) largest = found;
    }
    return largest;
  }

  const TypeMap& types_;
  const RuntimeSizeList& sizes_;
  std::unordered_set<const TorchValue*> seen_;
};

}  // namespace

std::optional<int64_t> bound_of_rows(const TorchValue* value, const TypeMap& types, const RuntimeSizeList& sizes) {
  return Bound(types, sizes).of(value);
}

}  // namespace nnapi_convert
