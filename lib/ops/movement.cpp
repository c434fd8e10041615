// SPDX-License-Identifier: BSD-3-Clause
// Elements moved to other places by a table: ATen itself runs the operator on the places, and a GATHER by the result
// runs it on the elements. Diagonals, triangles, windows, and writes into a part of a tensor.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/movement.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr const char* kGiveSizes = "give every size of the input with --input";
constexpr int64_t kMostPlaces = int64_t{1} << 24;  // the table is a constant with an int32 for each

// True for the names of arguments whose elements are moved.
bool is_moved(const std::string& name) {
  return name == "self" || name == "input" || name == "src" || name == "source" || name == "values";
}

void check_moved(const OpArguments& args, const TensorType& type, const TensorType& first) {
  args.require(type.dtype == at::kFloat || type.dtype == at::kInt || type.dtype == at::kLong,
               "a tensor " + to_text(type), "float32, int32 or int64");
  args.require(type.dtype == first.dtype, "a tensor " + to_text(type), "the dtype of " + to_text(first));
  args.require(all_fixed(type.dims), "flexible sizes", "fixed sizes", kGiveSizes);
}

// For each element of the result, the place of its source among the elements of all moved arguments, one argument
// behind the other, counted from 1; 0 stands for the number 0.
struct Table {
  std::vector<std::string> moved;  // the names of the moved arguments
  at::Tensor places;
};

c10::IValue other_argument(const OpArguments& args, const c10::Argument& argument) {
  if (argument.name() != "indices" || args.input("indices")->node()->kind() != c10::prim::ListConstruct) {
    return args.value(argument.name());
  }
  const bool takes_none =
      argument.type()->castRaw<c10::ListType>()->getElementType()->kind() != c10::TypeKind::TensorType;
  c10::List<at::Tensor> tensors;
  c10::List<c10::optional<at::Tensor>> indices;
  for (const TorchValue* element : args.elements("indices")) {
    const auto constant = torch::jit::toIValue(element);
    args.require(constant.has_value(), "an index that is computed at run time", "constants");
    indices.push_back(constant->toOptional<at::Tensor>());
    if (!takes_none) tensors.push_back(constant->toTensor());
  }
  return takes_none ? c10::IValue(indices) : c10::IValue(tensors);
}

// Runs the operator on the places, as doubles: ATen has no windows (im2col) of integers.
Table run_on_places(const OpArguments& args) {
  Table table;
  torch::jit::Stack stack;
  int64_t count = 0;
  const TensorType first = args.tensor(tensor_name(args));
  if (args.has("accumulate")) args.require(!args.boolean("accumulate"), "accumulate=True", "False");
  for (const c10::Argument& argument : args.node().schema().arguments()) {
    if (!is_moved(argument.name())) {
      stack.push_back(other_argument(args, argument));
      continue;
    }
    const TensorType type = args.tensor(argument.name());
    check_moved(args, type, first);
    const int64_t size = product(type.dims).value();
    stack.emplace_back((at::arange(size, at::kDouble) + (count + 1)).reshape(fixed_values(type.dims)));
    table.moved.push_back(argument.name());
    count += size;
  }
  try {
    args.node().getOperation()(stack);
  } catch (const std::exception&) {
    args.refuse("arguments that PyTorch refuses");
  }
  table.places = stack.at(0).toTensor().to(at::kLong).contiguous();
  args.require(table.places.numel() > 0 && table.places.dim() > 0, "a result without elements or axes", "one or more");
  args.require(table.places.numel() <= kMostPlaces, fmt::format("{} elements", table.places.numel()),
               fmt::format("{} at most", kMostPlaces));
  return table;
}

}  // namespace

std::vector<ValueType> moved_type(const OpArguments& args) {
  const TensorType self = args.tensor(tensor_name(args));
  return {self.with_dims(to_dims(run_on_places(args).places.sizes().vec()))};
}

namespace {

// Returns all moved elements as one vector, which begins with a zero if any place needs one.
LoweredTensor joined(OpContext& ctx, const Table& table, bool has_zero) {
  std::vector<nnapi::OperandId> parts;
  const TensorType self = ctx.tensor(tensor_name(ctx));
  if (has_zero) parts.push_back(ctx.constant_operand(at::zeros({1}, at::TensorOptions(self.dtype))));
  Dim size(has_zero ? 1 : 0);
  for (const std::string& name : table.moved) {
    const LoweredTensor part = ctx.operand(name);
    parts.push_back(ctx.reshaped(part, {product(part.type.dims)}));
    size = size + product(part.type.dims);
  }
  const TensorType type = self.with_dims({size});
  if (parts.size() == 1) return {parts[0], type};
  parts.push_back(ctx.builder().int32(0));
  return {ctx.emit_to(OperationCode::CONCATENATION, std::move(parts), type), type};
}

nnapi::OperandId emit_places(OpContext& ctx, const Table& table) {
  const at::Tensor places = table.places.flatten();
  const bool has_zero = places.min().item<int64_t>() == 0;
  const LoweredTensor source = joined(ctx, table, has_zero);
  return ctx.emit_to(OperationCode::GATHER,
                     {source.id, ctx.builder().int32(0), ctx.constant_operand(has_zero ? places : places - 1)},
                     source.type.with_dims({Dim(places.numel())}));
}

}  // namespace

void lower_moved(OpContext& ctx) {
  const Table table = run_on_places(ctx);
  const TensorType flat = ctx.output_type().with_dims({Dim(table.places.numel())});
  ctx.set_output(ctx.reshaped({emit_places(ctx, table), flat}, ctx.output_type().dims));
}

namespace {

// The type of combinations(). Limits the number of tuples: ATen makes all of them, and keeps those in order.
std::vector<ValueType> combinations_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 1, 1);
  args.require(all_fixed(self.dims), "flexible sizes", "fixed sizes", kGiveSizes);
  const int64_t r = args.integer("r");
  int64_t tuples = 1;
  for (int64_t i = 0; i < r && tuples <= kMostPlaces; ++i) tuples *= std::max<int64_t>(self.dims[0].value(), 2);
  args.require(tuples <= kMostPlaces, fmt::format("tuples of {} out of {}", r, self.dims[0].text()),
               fmt::format("{} tuples at most", kMostPlaces));
  return moved_type(args);
}

// The part of an axis that is written: from `begin` to before `end`.
struct Part {
  size_t axis;
  int64_t begin, end;
};

int64_t in_range(int64_t place, int64_t size) {
  return std::clamp(place < 0 ? place + size : place, int64_t{0}, size);
}

int64_t fixed_axis(const OpArguments& args, const TensorType& self, size_t axis) {
  args.require(self.dims[axis].is_fixed(), "a flexible size", "a fixed size", kGiveSizes);
  return self.dims[axis].value();
}

Part written_part(const OpArguments& args, const TensorType& self) {
  const auto axis = static_cast<size_t>(checked_axis(args, args.integer("dim"), self.rank()));
  const int64_t size = fixed_axis(args, self, axis);
  if (args.has("index")) {
    const int64_t index = args.integer("index");
    args.require(index >= -size && index < size, fmt::format("index {}", index),
                 fmt::format("{} to {}", -size, size - 1));
    return {axis, in_range(index, size), in_range(index, size) + 1};
  }
  const int64_t begin = args.is_none("start") ? 0 : in_range(args.integer("start"), size);
  const int64_t end = args.is_none("end") ? size : in_range(args.integer("end"), size);
  return {axis, begin, std::max(begin, end)};
}

std::vector<ValueType> written_type(const OpArguments& args) {
  const TensorType self = args.tensor("self"), source = args.tensor("src");
  require_rank(args, self, 1, kHighestRank);
  args.require(!self.is_quantized() && source.dtype == self.dtype, "a part " + to_text(source),
               "the dtype of " + to_text(self) + ", not quantised");
  (void)written_part(args, self);
  return {self};
}

// Lowers a write to a part of an axis: joins the elements before the part, the source, and the elements behind it.
void lower_written(OpContext& ctx) {
  if (ctx.has("step") && ctx.integer("step") != 1) return lower_moved(ctx);
  const LoweredTensor self = ctx.operand("self"), source = ctx.operand("src");
  const Part part = written_part(ctx, self.type);
  if (part.begin == part.end) return ctx.set_output(self.id);
  const int64_t size = self.type.dims[part.axis].value();
  const auto piece = [&](int64_t begin, int64_t end) {
    Dims begins(self.type.rank(), Dim(0)), ends = self.type.dims;
    begins[part.axis] = Dim(begin);
    ends[part.axis] = Dim(end);
    return ctx.sliced(self, begins, ends, Dims(self.type.rank(), Dim(1)));
  };
  Dims written = self.type.dims;
  written[part.axis] = Dim(part.end - part.begin);
  std::vector<nnapi::OperandId> parts;
  if (part.begin > 0) parts.push_back(piece(0, part.begin));
  parts.push_back(ctx.reshaped(source, written));
  if (part.end < size) parts.push_back(piece(part.end, size));
  if (parts.size() == 1) return ctx.set_output(parts[0]);
  parts.push_back(ctx.builder().int32(static_cast<int64_t>(part.axis)));
  ctx.emit(OperationCode::CONCATENATION, std::move(parts));
}

std::vector<ValueType> trace_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_rank(args, self, 2, 2);
  require_float(args, self);
  args.require(all_fixed(self.dims), "flexible sizes", "fixed sizes", kGiveSizes);
  return {self.with_dims({})};
}

void lower_trace(OpContext& ctx) {
  const LoweredTensor self = ctx.operand("self");
  const int64_t rows = self.type.dims[0].value(), columns = self.type.dims[1].value();
  const at::Tensor places = at::arange(std::min(rows, columns)) * (columns + 1);
  const TensorType flat = self.type.with_dims({Dim(rows * columns)});
  const TensorType diagonal = self.type.with_dims({Dim(places.numel())});
  const nnapi::OperandId picked =
      ctx.emit_to(OperationCode::GATHER,
                  {ctx.reshaped(self, flat.dims), ctx.builder().int32(0), ctx.constant_operand(places)}, diagonal);
  reduce(OperationCode::REDUCE_SUM, Expression(ctx, {picked, diagonal}), {0}, false).set_output();
}

constexpr const char* kTableNote = "float32 or integers of fixed sizes: a table of places";

}  // namespace

OpRules movement_rules() {
  return {
      {"aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)", 3, kTableNote, moved_type,
       lower_moved, kUnprovedRows},
      {"aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", 3, kTableNote, moved_type,
       lower_moved, kUnprovedRows},
      {"aten::diag(Tensor self, int diagonal=0) -> Tensor", 3, kTableNote, moved_type, lower_moved, kUnprovedRows},
      {"aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor", 3, kTableNote,
       moved_type, lower_moved, kUnprovedRows},
      {"aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor", 3, kTableNote,
       combinations_type, lower_moved, kUnprovedRows | Fact::kCountsByValues},
      {"aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) "
       "-> "
       "Tensor",
       3, kTableNote, moved_type, lower_moved, kUnprovedRows},
      {"aten::tril(Tensor self, int diagonal=0) -> Tensor", 3, kTableNote, moved_type, lower_moved, kUnprovedRows},
      {"aten::triu(Tensor self, int diagonal=0) -> Tensor", 3, kTableNote, moved_type, lower_moved, kUnprovedRows},
      {"aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", 3, kTableNote, moved_type, lower_moved,
       kUnprovedRows},
      {"aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", 3, kTableNote, moved_type,
       lower_moved, kUnprovedRows},
      {"aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor", 3,
       kTableNote, moved_type, lower_moved, kUnprovedRows},
      {"aten::upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor", 3,
       kTableNote, moved_type, lower_moved, kUnprovedRows},
      {"aten::select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor", 2, "", written_type,
       lower_written, kUnprovedRows | Fact::kOverwrites},
      {"aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) "
       "-> Tensor",
       2, "a step other than 1: fixed sizes, feature level 3", written_type, lower_written,
       kUnprovedRows | Fact::kOverwrites},
      {"aten::trace(Tensor self) -> Tensor", 3, "float32", trace_type, lower_trace, kUnprovedRows},
  };
}

}  // namespace nnapi_convert
