// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/runtime_sizes.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <functional>

#include "lib/converter/frontend/linear_types.h"
#include "lib/converter/frontend/row_estimate.h"
#include "lib/converter/graph/control_flow.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using FoundTypes = std::optional<std::vector<ValueType>>;

bool is_mask(const TensorType& type) {
  return type.dtype == at::kBool || type.dtype == at::kByte;
}

// A node, its arguments and the types known so far.
struct Request {
  const OpArguments& args;
  const TorchNode& node;
  const TypeMap& types;
  RuntimeSizes& sizes;

  std::optional<TensorType> tensor(const char* name) const { return tensor_type(args.input(name), types); }
  Dim rows_like(const char* name) const { return sizes.fresh(args.input(name), types); }
};

FoundTypes one(at::ScalarType dtype, Dims dims) {
  return std::vector<ValueType>{TensorType{dtype, std::move(dims), {}}};
}

FoundTypes kept_boxes(const Request& request) {
  return one(at::kLong, {request.rows_like("dets")});
}

FoundTypes positions(const Request& request) {
  const auto self = request.tensor("self");
  if (!self) return std::nullopt;
  return one(at::kLong, {request.rows_like("self"), static_cast<int64_t>(self->rank())});
}

// Returns the types of where(condition): one vector of indices for each axis.
FoundTypes positions_by_axis(const Request& request) {
  if (request.args.has("self") || !request.args.has("condition")) return std::nullopt;
  const auto condition = request.tensor("condition");
  if (!condition) return std::nullopt;
  const Dim count = request.rows_like("condition");
  return std::vector<ValueType>{
      TensorTypes(std::max<size_t>(1, condition->rank()), TensorType{at::kLong, {count}, {}})};
}

FoundTypes masked(const Request& request) {
  const auto self = request.tensor("self");
  return self ? one(self->dtype, {request.rows_like("self")}) : std::nullopt;
}

// Returns the indices a, b, ... of x[a, b, ...]; nothing if one is None or the list is not made in the graph.
std::optional<std::vector<const TorchValue*>> leading_indices(const TorchValue* list) {
  if (list->node()->kind() != c10::prim::ListConstruct) return std::nullopt;
  std::vector<const TorchValue*> indices;
  for (const TorchValue* index : list->node()->inputs()) {
    const auto constant = torch::jit::toIValue(index);
    if (constant && constant->isNone()) return std::nullopt;
    indices.push_back(index);
  }
  return indices;
}

FoundTypes indexed(const Request& request) {
  const auto self = request.tensor("self");
  const auto indices = leading_indices(request.args.input("indices"));
  if (!self || !indices || indices->empty()) return std::nullopt;
  const auto first = tensor_type(indices->front(), request.types);
  if (!first || self->is_quantized()) return std::nullopt;
  Dims dims = first->dims;
  size_t taken = indices->size();
  if (is_mask(*first)) {
    if (taken != 1) return std::nullopt;
    taken = first->rank();
    dims = {request.sizes.fresh(indices->front(), request.types)};
  }
  for (const TorchValue* index : *indices) {
    const auto other = tensor_type(index, request.types);
    if (!other || is_mask(*other) != is_mask(*first) || other->dims != first->dims) return std::nullopt;
  }
  if (taken > self->rank()) return std::nullopt;
  dims.insert(dims.end(), self->dims.begin() + static_cast<std::ptrdiff_t>(taken), self->dims.end());
  return one(self->dtype, std::move(dims));
}

FoundTypes regions(const Request& request) {
  const auto input = request.tensor("input");
  if (!input || input->rank() != 4) return std::nullopt;
  const auto rois = request.tensor("rois");
  const Dim rows = rois && rois->rank() == 2 ? rois->dims[0] : request.rows_like("rois");
  const TensorType result = input->with_dims(
      {rows, input->dims[1], request.args.integer("pooled_height"), request.args.integer("pooled_width")});
  std::vector<ValueType> types{result};
  if (request.node.outputs().size() == 2) types.emplace_back(TensorType{at::kInt, result.dims, {}});
  return types;
}

// Returns the argument `size` of an operator that makes a tensor; unknown numbers in it become open sizes. PyTorch
// raises an error for negative ones.
std::optional<Dims> given_sizes(const Request& request) {
  const TorchValue* size = request.args.input("size");
  const auto found = request.types.find(size);
  if (found != request.types.end() && std::holds_alternative<Dims>(found->second)) {
    return std::get<Dims>(found->second);
  }
  if (size->node()->kind() != c10::prim::ListConstruct) return std::nullopt;
  Dims dims;
  for (const TorchValue* element : size->node()->inputs()) {
    const auto constant = torch::jit::toIValue(element);
    dims.push_back(constant ? Dim(constant->toInt()) : request.sizes.number(element, request.types));
  }
  return dims;
}

std::optional<at::ScalarType> given_dtype(const Request& request) {
  if (request.args.is_none("dtype")) return std::nullopt;
  return static_cast<at::ScalarType>(request.args.integer("dtype"));
}

FoundTypes filled(const Request& request) {
  auto dims = given_sizes(request);
  return dims ? one(given_dtype(request).value_or(at::kFloat), std::move(*dims)) : std::nullopt;
}

// Returns the type of full(); nothing without a dtype, as the result then has the dtype of its number.
FoundTypes filled_with(const Request& request) {
  return given_dtype(request) ? filled(request) : std::nullopt;
}

FoundTypes filled_like(const Request& request) {
  const auto self = request.tensor("self");
  const auto dtype = given_dtype(request);
  auto dims = given_sizes(request);
  if (!dims || (!self && !dtype)) return std::nullopt;
  return one(dtype ? *dtype : self->dtype, std::move(*dims));
}

FoundTypes counted(const Request& request) {
  const auto& arguments = request.node.schema().arguments();
  if (arguments[0].name() != "end" || !given_dtype(request)) return std::nullopt;
  return one(*given_dtype(request), {request.sizes.number(request.args.input("end"), request.types)});
}

// Returns the type of `self`, for operators that write values into a copy of it.
FoundTypes like_self(const Request& request) {
  const auto self = request.tensor("self");
  return self ? FoundTypes(std::vector<ValueType>{*self}) : std::nullopt;
}

FoundTypes highest(const Request& request) {
  auto self = request.tensor("self");
  if (!self || self->rank() == 0) return std::nullopt;
  const auto rank = static_cast<int64_t>(self->rank());
  const int64_t axis = (request.args.integer("dim") + rank) % rank;
  self->dims[static_cast<size_t>(axis)] = request.sizes.number(request.args.input("k"), request.types);
  return std::vector<ValueType>{*self, TensorType{at::kLong, self->dims, {}}};
}

// Returns the type of x[a:b] along an axis of unknown size: the same size for the whole axis, else a new open size.
FoundTypes sliced(const Request& request) {
  auto self = request.tensor("self");
  if (!self || self->rank() == 0) return std::nullopt;
  const auto rank = static_cast<int64_t>(self->rank());
  Dim& size = self->dims[static_cast<size_t>((request.args.integer("dim") + rank) % rank)];
  const bool begins =
      request.args.is_none("start") || (request.args.is_constant("start") && request.args.integer("start") == 0);
  const bool ends =
      request.args.is_none("end") || (request.args.is_constant("end") && request.args.integer("end") >= INT32_MAX);
  const bool is_all = begins && ends && request.args.integer("step") == 1;
  if (size.is_fixed() && (request.args.is_none("start") || request.args.is_constant("start")) &&
      (request.args.is_none("end") || request.args.is_constant("end"))) {
    return linear_types(request.node, request.types);
  }
  if (!is_all) size = request.sizes.fresh(request.node.output(), request.types);
  return std::vector<ValueType>{*self};
}

using Maker = FoundTypes (*)(const Request&);

// Returns the function that makes the types; null if there is none.
Maker maker_of(ResultSizes sizes) {
  switch (sizes) {
    case ResultSizes::kNone:
      return nullptr;
    case ResultSizes::kKeptBoxes:
      return kept_boxes;
    case ResultSizes::kPositions:
      return positions;
    case ResultSizes::kPositionsByAxis:
      return positions_by_axis;
    case ResultSizes::kMasked:
      return masked;
    case ResultSizes::kIndexed:
      return indexed;
    case ResultSizes::kRegions:
      return regions;
    case ResultSizes::kGiven:
      return filled;
    case ResultSizes::kGivenWithNumber:
      return filled_with;
    case ResultSizes::kGivenWithExample:
      return filled_like;
    case ResultSizes::kCounted:
      return counted;
    case ResultSizes::kLikeSelf:
      return like_self;
    case ResultSizes::kHighest:
      return highest;
    case ResultSizes::kSliced:
      return sliced;
  }
  return nullptr;
}

// True if the number of the result's elements is open whatever sizes the arguments have.
bool gives_open_size(ResultSizes sizes) {
  return sizes == ResultSizes::kKeptBoxes || sizes == ResultSizes::kPositions || sizes == ResultSizes::kMasked;
}

// True for arithmetic on sizes, which is exact for open sizes, too.
bool is_size_arithmetic(const TorchNode& node, const TypeMap& types) {
  const OpRule* rule = find_typed_rule(node, types);
  return rule != nullptr && (rule->lower == nullptr || node.kind() == c10::aten::__getitem__);
}

bool is_any_of_values(const Dims& dims) {
  return std::any_of(dims.begin(), dims.end(), is_of_values);
}

bool is_of_values(const ValueType& type) {
  if (const auto* tensor = std::get_if<TensorType>(&type)) return is_any_of_values(tensor->dims);
  if (const auto* numbers = std::get_if<Dims>(&type)) return is_any_of_values(*numbers);
  const auto& list = std::get<TensorTypes>(type);
  return std::any_of(list.begin(), list.end(), [](const TensorType& tensor) { return is_any_of_values(tensor.dims); });
}

bool reads_size_of_values(const TorchValue* value, const TypeMap& types) {
  const auto found = types.find(value);
  if (found != types.end() && is_of_values(found->second)) return true;
  if (value->node()->kind() != c10::prim::ListConstruct) return false;
  const auto elements = value->node()->inputs();
  return std::any_of(elements.begin(), elements.end(),
                     [&](const TorchValue* element) { return reads_size_of_values(element, types); });
}

}  // namespace

Dim RuntimeSizes::fresh(const TorchValue* like, const TypeMap& types) {
  RuntimeSize size;
  if (const auto bound = bound_of_rows(like, types, sizes_)) size = {*bound, RuntimeSize::Source::kBound};
  sizes_.push_back(size);
  return to_dim(runtime_size(sizes_.size() - 1));
}

Dim RuntimeSizes::number(const TorchValue* value, const TypeMap& types) {
  if (const auto constant = torch::jit::toIValue(value)) return constant->toInt();
  const auto found = types.find(value);
  if (found != types.end() && std::holds_alternative<Dims>(found->second)) return std::get<Dims>(found->second).at(0);
  const auto known = numbers_.find(value);
  if (known != numbers_.end()) return known->second;
  return numbers_[value] = fresh(value, types);
}

std::optional<std::vector<ValueType>> RuntimeSizes::types_of(const TorchNode& node, const TypeMap& types) {
  if (!node.blocks().empty() || node.maybeSchema() == nullptr || node.outputs().empty()) return std::nullopt;
  try {
    const OpArguments args(node, types);
    if (const Maker maker = maker_of(find_traits(node).sizes)) {
      if (auto made = maker({args, node, types, *this})) return made;
    }
    if (is_size_arithmetic(node, types)) return find_typed_rule(node, types)->shape(args);
  } catch (const std::exception&) {
    return std::nullopt;  // an argument is unknown
  }
  return linear_types(node, types);
}

bool has_sizes_of_values(const TorchNode& node, const TypeMap& types) {
  const auto inputs = node.inputs();
  if (std::any_of(inputs.begin(), inputs.end(),
                  [&](const TorchValue* value) { return reads_size_of_values(value, types); })) {
    return true;
  }
  const ResultSizes sizes = find_traits(node).sizes;
  if (sizes == ResultSizes::kPositionsByAxis) return inputs.size() == 1;
  if (sizes != ResultSizes::kIndexed) return gives_open_size(sizes);
  const auto indices = leading_indices(node.input(1));
  if (!indices) return false;
  return std::any_of(indices->begin(), indices->end(), [&](const TorchValue* index) {
    const auto type = tensor_type(index, types);
    return type && is_mask(*type);
  });
}

}  // namespace nnapi_convert
