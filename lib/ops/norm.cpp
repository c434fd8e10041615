// SPDX-License-Identifier: BSD-3-Clause
// Normalisations. Batch norm is lowered plainly to MUL and ADD, which fold_affine moves into the convolution before;
// the others take their statistics from the input.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/base/size_hint.h"
#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/frames.h"
#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// Returns the type of the input, or the quantised type that the arguments give.
std::vector<ValueType> normalised_type(const OpArguments& args) {
  if (args.has("output_scale")) return given_quantization(args);
  const TensorType input = args.tensor(tensor_name(args));
  require_float(args, input);
  return {input};
}

std::string statistic(const OpArguments& args, const std::string& name) {
  return args.has("running_" + name) ? "running_" + name : name;
}

std::vector<ValueType> batch_norm_type(const OpArguments& args) {
  const TensorType input = args.tensor(tensor_name(args));
  require_rank(args, input, 2, kVolumeAxes + 2);
  const bool in_training = args.has("training") && args.boolean("training");
  args.require(!in_training, "training = True, and running statistics that each call changes", "False",
               "call model.eval() before tracing or scripting");
  const bool has_statistics = !args.is_none(statistic(args, "mean")) && !args.is_none(statistic(args, "var"));
  args.require(has_statistics, "no running statistics", "running_mean and running_var",
               "make the layer with track_running_stats=True");
  const int64_t channels = args.constant(statistic(args, "mean")).numel();
  args.require(input.dims[1] == Dim(channels), "an input " + to_text(input),
               fmt::format("{} channels (dimension 1)", channels), kSeeInput);
  return normalised_type(args);
}

// Returns a vector with a value per channel as a constant that broadcasts against an operand of `rank` axes.
Expression per_channel(OpContext& ctx, const at::Tensor& values, size_t rank) {
  std::vector<int64_t> shape(rank - 1, 1);
  shape[0] = values.numel();
  const nnapi::Constant constant = to_constant(values.to(at::kFloat)).then(nnapi::Reshape{shape});
  return {ctx, {ctx.builder().tensor(constant), {at::kFloat, to_dims(shape), {}}}};
}

void lower_batch_norm(OpContext& ctx) {
  const Expression x = dequantize(argument(ctx, tensor_name(ctx)));
  const at::Tensor mean = ctx.constant(statistic(ctx, "mean")).to(at::kDouble);
  const at::Tensor variance = ctx.constant(statistic(ctx, "var")).to(at::kDouble);
  at::Tensor factor = (variance + ctx.number("eps")).rsqrt();
  if (!ctx.is_none("weight")) factor = factor * ctx.constant("weight").to(at::kDouble);
  at::Tensor offset = -mean * factor;
  if (!ctx.is_none("bias")) offset = offset + ctx.constant("bias").to(at::kDouble);
  const size_t rank = x.type().rank();
  (x * per_channel(ctx, factor, rank) + per_channel(ctx, offset, rank)).set_output();
}

// The mean along some axes, the input minus its mean (`centred`), and 1 / sqrt(variance + eps) (`factor`). The axes
// stay, with size 1.
struct Standard {
  Expression mean, centred, factor;
};

Standard standardise(const Expression& x, const std::vector<int64_t>& axes, double eps) {
  const Expression mean = reduce(OperationCode::MEAN, x, axes, true);
  const Expression centred = x - mean;
  const Expression variance = reduce(OperationCode::MEAN, square(centred), axes, true);
  return {mean, centred, rsqrt(variance + eps)};
}

std::vector<int64_t> axes_from(size_t first, size_t rank) {
  std::vector<int64_t> axes;
  for (size_t i = first; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

size_t first_normalised_axis(const OpArguments& args) {
  const TensorType input = args.tensor("input");
  const Dims shape = args.sizes("normalized_shape");
  const size_t first = input.rank() - std::min(input.rank(), shape.size());
  const Dims last(input.dims.begin() + static_cast<std::ptrdiff_t>(first), input.dims.end());
  args.require(!shape.empty() && last == shape,
               fmt::format("normalized_shape {} of {}", to_text(shape), to_text(input)), "the sizes of the last axes",
               kSeeInput);
  return first;
}

std::vector<ValueType> layer_norm_type(const OpArguments& args) {
  const size_t first = first_normalised_axis(args);
  std::vector<ValueType> types = normalised_type(args);
  if (args.node().outputs().size() == 1) return types;
  TensorType statistics = args.tensor("input");
  for (size_t i = first; i < statistics.rank(); ++i) statistics.dims[i] = Dim(1);
  return {types[0], statistics, statistics};
}

// Returns x * weight + bias, as far as the node has them.
Expression affine(OpContext& ctx, Expression x) {
  if (!ctx.is_none("weight")) x = x * argument_as(ctx, "weight", at::kFloat);
  return ctx.is_none("bias") ? x : x + argument_as(ctx, "bias", at::kFloat);
}

void lower_layer_norm(OpContext& ctx) {
  const Expression x = dequantize(argument(ctx, "input"));
  const std::vector<int64_t> axes = axes_from(first_normalised_axis(ctx), x.type().rank());
  const Standard standard = standardise(x, axes, ctx.number("eps"));
  affine(ctx, standard.centred * standard.factor).set_output();
  if (ctx.node().outputs().size() == 1) return;
  standard.mean.set_output(1);
  standard.factor.set_output(2);
}

// Multiplies by the weight and adds the bias of each channel, if the node has them.
Expression affine_per_channel(OpContext& ctx, Expression x) {
  const size_t rank = x.type().rank();
  if (!ctx.is_none("weight")) x = x * per_channel(ctx, ctx.constant("weight"), rank);
  return ctx.is_none("bias") ? x : x + per_channel(ctx, ctx.constant("bias"), rank);
}

// Normalises each channel by itself, by INSTANCE_NORMALIZATION; tensors of other ranks are reshaped to images.
Expression normalise_instances(const Expression& x, double eps) {
  OpContext& ctx = x.context();
  const Dims dims = x.type().dims;
  Dims image(dims.begin(), dims.begin() + 2);
  image.push_back(dims.size() == 2 ? Dim(1) : dims[2]);
  image.push_back(
      product(Dims(dims.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(3, dims.size())), dims.end())));
  nnapi::Builder& builder = ctx.builder();
  const Expression result = reshape(x, image).then(
      OperationCode::INSTANCE_NORMALIZATION,
      {builder.float32(1), builder.float32(0), builder.float32(static_cast<float>(eps)), builder.boolean(true)});
  return reshape(result, dims);
}

std::vector<ValueType> instance_norm_type(const OpArguments& args) {
  const TensorType input = args.tensor("input");
  if (args.has("use_input_stats") && !args.boolean("use_input_stats")) return batch_norm_type(args);
  require_rank(args, input, 3, 4);
  return normalised_type(args);
}

void lower_instance_norm(OpContext& ctx) {
  if (ctx.has("use_input_stats") && !ctx.boolean("use_input_stats")) return lower_batch_norm(ctx);
  if (ctx.has("running_mean") && !(ctx.is_none("running_mean") && ctx.is_none("running_var"))) {
    ctx.warn("changes its running statistics in place; the converted model leaves them as they are");
  }
  const Expression x = dequantize(argument(ctx, "input"));
  affine_per_channel(ctx, normalise_instances(x, ctx.number("eps"))).set_output();
}

int64_t group_count(const OpArguments& args) {
  return args.integer(args.has("group") ? "group" : "num_groups");
}

std::vector<ValueType> group_norm_type(const OpArguments& args) {
  const TensorType input = args.tensor("input");
  require_rank(args, input, 2, 4);
  const int64_t groups = group_count(args);
  const Dim& channels = input.dims[1];
  args.require(channels.is_fixed() && groups > 0 && channels.value() % groups == 0,
               fmt::format("{} groups of {} channels", groups, channels.text()),
               "a fixed number of channels that the groups divide");
  return normalised_type(args);
}

// Turns means of channels [N, C] into the means of their groups, for each channel, by a product with a constant matrix.
// Adds `added`.
Expression group_means(const Expression& means, int64_t groups, double added) {
  OpContext& ctx = means.context();
  const int64_t channels = means.type().dims[1].value();
  const int64_t size = channels / groups;
  const at::Tensor group = at::arange(channels).floor_divide(size);
  const at::Tensor matrix = group.unsqueeze(0).eq(group.unsqueeze(1)).to(at::kFloat) / static_cast<double>(size);
  return means.then(OperationCode::FULLY_CONNECTED,
                    {ctx.constant_operand(matrix), ctx.constant_operand(at::full({channels}, added)),
                     ctx.builder().int32(static_cast<int64_t>(FuseCode::NONE))});
}

// Standardises each group of channels. Computes the statistics from means of channels, so that no axes are moved: the
// image is read as it lies, in either layout.
Standard standardise_groups(const Expression& x, int64_t groups, double eps) {
  const std::vector<int64_t> axes = axes_from(2, x.type().rank());
  Dims per_channel_dims(x.type().dims.begin(), x.type().dims.begin() + 2);
  per_channel_dims.resize(x.type().rank(), Dim(1));
  const Expression means = group_means(reduce(OperationCode::MEAN, x, axes, false), groups, 0);
  const Expression mean = reshape(means, per_channel_dims);
  const Expression centred = x - mean;
  const Expression variance = group_means(reduce(OperationCode::MEAN, square(centred), axes, false), groups, eps);
  return {mean, centred, reshape(rsqrt(variance), per_channel_dims)};
}

// The type of native_group_norm, whose arguments N, C and HxW repeat the input's sizes.
std::vector<ValueType> native_group_norm_type(const OpArguments& args) {
  const std::vector<ValueType> types = group_norm_type(args);
  const TensorType input = args.tensor("input");
  const Dims given{args.integer("N"), args.integer("C"), args.integer("HxW")};
  const Dims own{input.dims[0], input.dims[1], product(Dims(input.dims.begin() + 2, input.dims.end()))};
  args.require(given == own, fmt::format("N, C and HxW {} of {}", to_text(given), to_text(input)),
               "the sizes of the input", kSeeInput);
  const TensorType statistics = input.with_dims({own[0], group_count(args)});
  return {types[0], statistics, statistics};
}

// Multiplies the weight into the factor of each channel (N x C numbers), not into the image.
void lower_group_norm(OpContext& ctx) {
  const Expression x = dequantize(argument(ctx, "input"));
  const size_t rank = x.type().rank();
  const int64_t groups = group_count(ctx);
  const double eps = ctx.number("eps");
  if (groups != 1 && rank > 2 && Dim(groups) == x.type().dims[1]) {
    return affine_per_channel(ctx, normalise_instances(x, eps)).set_output();
  }
  const Standard standard = groups == 1 ? standardise(x, axes_from(1, rank), eps) : standardise_groups(x, groups, eps);
  const Expression factor =
      ctx.is_none("weight") ? standard.factor : standard.factor * per_channel(ctx, ctx.constant("weight"), rank);
  const Expression scaled = standard.centred * factor;
  (ctx.is_none("bias") ? scaled : scaled + per_channel(ctx, ctx.constant("bias"), rank)).set_output();
}

// aten::native_group_norm: group_norm's result, then the mean and 1 / sqrt(variance + eps) of each group.
void lower_native_group_norm(OpContext& ctx) {
  lower_group_norm(ctx);
  const int64_t samples = ctx.integer("N"), groups = group_count(ctx);
  const int64_t elements = ctx.integer("C") / groups * ctx.integer("HxW");
  const Expression in_groups = reshape(argument(ctx, "input"), {samples, groups, elements});
  const Standard standard = standardise(in_groups, {2}, ctx.number("eps"));
  reshape(standard.mean, {samples, groups}).set_output(1);
  reshape(standard.factor, {samples, groups}).set_output(2);
}

// Returns the axis along which vectors lie; none for rank 0, which is a vector of one number.
std::vector<int64_t> vector_axes(const OpArguments& args, size_t rank) {
  if (rank == 0) return {};
  return {checked_axis(args, args.integer("dim"), rank)};
}

std::vector<ValueType> cosine_type(const OpArguments& args) {
  TensorType type = promoted_type(args, {"x1", "x2"});
  require_float(args, type);
  return {type.with_dims(without_axes(type.dims, vector_axes(args, type.rank()), false))};
}

// Returns x with the rank of the broadcast result, and with its sizes along the axes of the vectors.
Expression as_vectors(const Expression& x, const Dims& dims, const std::vector<int64_t>& axes) {
  Dims own = x.type().dims;
  own.insert(own.begin(), dims.size() - own.size(), Dim(1));
  Dims wanted = own;
  for (const int64_t axis : axes) wanted[static_cast<size_t>(axis)] = dims[static_cast<size_t>(axis)];
  return expand(reshape(x, own), wanted);
}

void lower_cosine_similarity(OpContext& ctx) {
  const Dims dims = promoted_type(ctx, {"x1", "x2"}).dims;
  const std::vector<int64_t> axes = vector_axes(ctx, dims.size());
  const Expression a = as_vectors(argument_as(ctx, "x1", at::kFloat), dims, axes);
  const Expression b = as_vectors(argument_as(ctx, "x2", at::kFloat), dims, axes);
  const auto sum = [&](const Expression& x) { return reduce(OperationCode::REDUCE_SUM, x, axes, false); };
  const double eps = ctx.number("eps");
  (sum(a * b) * rsqrt(maximum(sum(square(a)) * sum(square(b)), eps * eps))).set_output();
}

}  // namespace

OpRules norm_rules() {
  const char* statistics_note = "float32";
  const char* quantized_note = "quint8, by float32";
  return {
      {"aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
       "training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
       1, "float32, evaluation mode; folded into the convolution or linear layer before", batch_norm_type,
       lower_batch_norm, row_wise(Rows::kSamplesIfEvaluating) | Memory::kFresh},
      {"quantized::batch_norm(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float "
       "output_scale, int output_zero_point) -> Tensor",
       3, quantized_note, batch_norm_type, lower_batch_norm, kUnprovedRows},
      {"quantized::batch_norm1d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float "
       "output_scale, int output_zero_point) -> Tensor",
       3, quantized_note, batch_norm_type, lower_batch_norm, kUnprovedRows},
      {"quantized::batch_norm2d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float "
       "output_scale, int output_zero_point) -> Tensor",
       3, quantized_note, batch_norm_type, lower_batch_norm, kUnprovedRows},
      {"quantized::batch_norm3d(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float "
       "output_scale, int output_zero_point) -> Tensor",
       3, quantized_note, batch_norm_type, lower_batch_norm, kUnprovedRows},
      {"aten::layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float "
       "eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor",
       3, statistics_note, layer_norm_type, lower_layer_norm, row_wise(Rows::kNormalised) | Memory::kFresh},
      {"aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> "
       "(Tensor, Tensor, Tensor)",
       3, statistics_note, layer_norm_type, lower_layer_norm, kUnprovedRows | Memory::kFresh},
      {"quantized::layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps, float "
       "output_scale, int output_zero_point) -> Tensor",
       3, quantized_note, layer_norm_type, lower_layer_norm, kUnprovedRows},
      {"aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
       "bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
       1, "statistics of the input: feature level 3", instance_norm_type, lower_instance_norm,
       kUnprovedRows | Memory::kFresh},
      {"quantized::instance_norm(Tensor input, Tensor? weight, Tensor? bias, float eps, float output_scale, int "
       "output_zero_point) -> Tensor",
       3, quantized_note, instance_norm_type, lower_instance_norm, kUnprovedRows},
      {"aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float "
       "eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor",
       3, "a fixed number of channels", group_norm_type, lower_group_norm, row_wise(Rows::kSamples) | Memory::kFresh},
      {"aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, "
       "float eps) -> (Tensor, Tensor, Tensor)",
       3, "fixed sizes", native_group_norm_type, lower_native_group_norm, kUnprovedRows},
      {"quantized::group_norm(Tensor input, int num_groups, Tensor? weight, Tensor? bias, float eps, float "
       "output_scale, int output_zero_point) -> Tensor",
       3, quantized_note, group_norm_type, lower_group_norm, kUnprovedRows},
      {"aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor", 3, "float32", cosine_type,
       lower_cosine_similarity, kUnprovedRows},
  };
}

}  // namespace nnapi_convert
