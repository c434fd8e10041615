// Resizing of images.
#include <fmt/format.h>

#include <cmath>

#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// Height and width after resizing, by explicit sizes or by factors. PyTorch rounds size * factor down.
Dims resized(const OpArguments& args, const TensorType& input) {
  if (!args.is_none("output_size")) {
    Dims sizes = args.sizes("output_size");
    args.require(sizes.size() == 2, fmt::format("output_size of {} numbers", sizes.size()), "2");
    return sizes;
  }
  const std::vector<double> factors = args.value("scale_factors").toDoubleVector();
  Dims sizes;
  for (size_t i = 0; i < 2; ++i) {
    const double factor = factors.at(i);
    const Dim& size = input.dims[2 + i];
    if (size.is_fixed()) {
      sizes.emplace_back(static_cast<int64_t>(std::floor(static_cast<double>(size.value()) * factor)));
      continue;
    }
    args.require(factor == std::floor(factor), fmt::format("scale factor {} of a flexible size", factor),
                 "a whole factor or a fixed size", "give every size of the input with --input");
    sizes.push_back(size * Dim(static_cast<int64_t>(factor)));
  }
  return sizes;
}

// PyTorch reads pixel floor(i / factor) with the factor given; NNAPI has sizes only and reads floor(i * in / out).
void require_same_pixels(const OpArguments& args, const TensorType& input, const Dims& sizes) {
  if (!args.is_none("output_size")) return;
  const std::vector<double> factors = args.value("scale_factors").toDoubleVector();
  for (size_t i = 0; i < 2; ++i) {
    if (!sizes[i].is_fixed()) continue;
    const double given = 1 / factors[i];
    const double used = static_cast<double>(input.dims[2 + i].value()) / static_cast<double>(sizes[i].value());
    for (int64_t pixel = 0; pixel < sizes[i].value(); ++pixel) {
      const auto position = static_cast<float>(pixel);
      args.require(std::floor(position * static_cast<float>(given)) == std::floor(position * static_cast<float>(used)),
                   fmt::format("scale factor {} of size {}", factors[i], input.dims[2 + i].text()),
                   "a factor that gives the same pixels as the resulting size",
                   "pass size= or recompute_scale_factor=True");
    }
  }
}

std::vector<ValueType> nearest_type(const OpArguments& args) {
  const TensorType input = args.tensor("input");
  require_rank(args, input, 4, 4);
  args.require(input.dtype == at::kFloat || input.dtype == at::kQUInt8, "a tensor " + to_text(input),
               "float32 or quint8");
  const Dims sizes = resized(args, input);
  require_same_pixels(args, input, sizes);
  const Dims dims{input.dims[0], input.dims[1], sizes[0], sizes[1]};
  require_positive(args, dims);
  return {input.with_dims(dims)};
}

void lower_nearest(OpContext& ctx) {
  const Dims dims = ctx.output_type().dims;
  nnapi::Builder& builder = ctx.builder();
  ctx.emit(OperationCode::RESIZE_NEAREST_NEIGHBOR,
           {ctx.operand("input").id, builder.int32(dims[3]), builder.int32(dims[2]), builder.boolean(true)});
}

}  // namespace

OpRules resize_rules() {
  return {
      {"aten::upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor", 3,
       "float32 or quint8", nearest_type, lower_nearest},
  };
}

}  // namespace nnapi_convert
