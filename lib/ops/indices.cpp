#include "lib/ops/indices.h"

#include <fmt/format.h>

#include <set>
#include <string>

namespace nnapi_convert {

bool is_never_negative(const TorchValue& index) {
  static const std::set<std::string> same = {"aten::reshape",   "aten::view",   "aten::flatten",    "aten::squeeze",
                                             "aten::unsqueeze", "aten::detach", "aten::contiguous", "aten::to"};
  static const std::set<std::string> indices = {"aten::argmax", "aten::argmin", "aten::argsort"};
  static const std::set<std::string> pairs = {"aten::topk", "aten::sort", "aten::max", "aten::min"};  // values, indices
  const TorchNode& node = *index.node();
  const std::string kind = node.kind().toQualString();
  if (node.kind() == c10::prim::Param) {
    const TorchNode* owner = node.owningBlock()->owningNode();
    return owner != nullptr && owner->kind() == c10::prim::Loop && index.offset() == 0;
  }
  if (same.count(kind) != 0) return is_never_negative(*node.input(0));
  return indices.count(kind) != 0 || (pairs.count(kind) != 0 && node.outputs().size() == 2 && index.offset() == 1);
}

Expression counted_from_front(const Expression& index, const Dim& size) {
  constexpr int kAddsIntegers = 4;                  // below this level ADD takes float32 only
  constexpr int64_t kMostExact = int64_t{1} << 24;  // whole numbers that a float32 holds
  OpContext& ctx = index.context();
  if (ctx.feature_level() < kAddsIntegers && size.fixed_value().value_or(0) > kMostExact) {
    ctx.warn(
        fmt::format("computed indices of an axis of {} have to be 0 or more: feature level {} has no exact form for "
                    "those below; use --feature-level {}",
                    size.text(), ctx.feature_level(), kAddsIntegers));
    return index;
  }
  const Expression count = size.is_fixed()
                               ? index.same(static_cast<double>(size.value()))
                               : Expression(ctx, {ctx.builder().int32_tensor({size}), {index.dtype(), {}, {}}});
  return select(compare(OperationCode::LESS, index, index.same(0)), index + count, index);
}

}  // namespace nnapi_convert
