// Reductions along axes.
#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// The axes to reduce, counted from the front, in order; all where the model names none.
std::vector<int64_t> reduced_axes(const OpArguments& args, const TensorType& self) {
  std::vector<int64_t> axes = args.is_none("dim") ? std::vector<int64_t>() : args.integers("dim");
  for (int64_t& axis : axes) axis = checked_axis(args, axis, self.rank());
  if (axes.empty()) {
    for (size_t i = 0; i < self.rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  std::sort(axes.begin(), axes.end());
  const auto twice = std::adjacent_find(axes.begin(), axes.end());
  if (twice != axes.end()) args.refuse(fmt::format("axis {} twice", *twice), "each axis once");
  return axes;
}

std::vector<ValueType> mean_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 1, kHighestRank);
  args.require(self.dtype == at::kFloat || self.dtype == at::kQUInt8, "a tensor " + to_text(self), "float32 or quint8");
  args.require(args.is_none("dtype"), "a dtype argument", "None");
  const std::vector<int64_t> axes = reduced_axes(args, self);
  const bool keeps = args.boolean("keepdim");
  Dims dims;
  for (size_t i = 0; i < self.rank(); ++i) {
    const bool is_reduced = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (!is_reduced) dims.push_back(self.dims[i]);
    if (is_reduced && keeps) dims.emplace_back(1);
  }
  args.require(!dims.empty(), "a mean over all dimensions", "a result of rank 1 or more", "use keepdim=True");
  return {self.with_dims(dims)};
}

void lower_mean(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  const std::vector<int64_t> axes = reduced_axes(ctx, self.type);
  const nnapi::OperandId keeps = ctx.builder().int32(ctx.boolean("keepdim") ? 1 : 0);
  ctx.emit(OperationCode::MEAN, {self.id, ctx.builder().int32_tensor(to_dims(axes)), keeps});
}

}  // namespace

OpRules reduce_rules() {
  return {
      {"aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", 2,
       "float32 or quint8", mean_type, lower_mean},
  };
}

}  // namespace nnapi_convert
