// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/index_arguments.h"

#include <torch/csrc/jit/ir/constants.h>

#include <string>
#include <unordered_set>

#include "lib/ops/shape_rules.h"

namespace nnapi_convert {

double count_of(const Dim& size) {
  return size.is_fixed() ? static_cast<double>(size.value()) : kLongestAxis;
}

double count_of(const Dims& dims) {
  const Dim count = product(dims);
  return count_of(count);
}

namespace {

using Found = std::optional<IntegerRange>;

std::string kind_of(const TorchNode& node) {
  return node.kind().toQualString();
}

const TensorType* tensor_type(const TorchNode& node, const char* name, const TypeMap& types) {
  const auto index = node.schema().argumentIndexWithName(name);
  return index ? tensor_type_of(node.input(static_cast<size_t>(*index)), types) : nullptr;
}

std::optional<TensorType> table_of(const TorchNode& node, const char* name, const TypeMap& types) {
  if (const TensorType* type = tensor_type(node, name, types)) return *type;
  const auto index = node.schema().argumentIndexWithName(name);
  const auto constant = index ? torch::jit::toIValue(node.input(static_cast<size_t>(*index))) : c10::nullopt;
  if (!constant || !constant->isTensor()) return std::nullopt;
  return type_of_constant(constant->toTensor());
}

// Returns the size of the axis that argument `dim` names.
double named_axis(const TorchNode& node, const TensorType& table) {
  const auto constant = torch::jit::toIValue(node.namedInput(c10::Symbol::attr("dim")));
  if (!constant || !constant->isInt() || table.rank() == 0) return kLongestAxis;
  const int64_t rank = static_cast<int64_t>(table.rank());
  const int64_t axis = constant->toInt() < 0 ? constant->toInt() + rank : constant->toInt();
  return axis >= 0 && axis < rank ? count_of(table.dims[static_cast<size_t>(axis)]) : kLongestAxis;
}

IntegerRange places_of(double count) {
  return {-count, count - 1};
}

}  // namespace

Found index_range(const TorchNode& reader, size_t offset, const TypeMap& types) {
  const c10::FunctionSchema* schema = reader.maybeSchema();
  if (schema == nullptr || offset >= schema->arguments().size()) return std::nullopt;
  const std::string kind = kind_of(reader);
  const std::string& name = schema->arguments()[offset].name();
  if ((kind == "aten::embedding" || kind == "aten::embedding_bag") && name == "indices") {
    const auto table = table_of(reader, "weight", types);
    return table && table->rank() == 2 ? Found(places_of(count_of(table->dims[0]))) : std::nullopt;
  }
  static const std::unordered_set<std::string> along_axis = {
      "aten::index_select", "aten::gather",      "aten::scatter",        "aten::index_copy",  "aten::index_add",
      "aten::index_fill",   "aten::scatter_add", "aten::scatter_reduce", "aten::index_reduce"};
  const bool is_along_axis = along_axis.count(kind) != 0;
  if (is_along_axis && name == "index") {
    const auto table = table_of(reader, "self", types);
    return table ? Found(places_of(named_axis(reader, *table))) : std::nullopt;
  }
  if ((kind == "aten::take" || kind == "aten::put") && name == "index") {
    const auto table = table_of(reader, "self", types);
    return table ? Found(places_of(count_of(table->dims))) : std::nullopt;
  }
  static const std::unordered_set<std::string> of_classes = {"aten::nll_loss",          "aten::nll_loss2d",
                                                             "aten::nll_loss_nd",       "aten::cross_entropy_loss",
                                                             "aten::multi_margin_loss", "aten::multilabel_margin_loss"};
  if (of_classes.count(kind) != 0 && name == "target") return places_of(kLongestAxis);
  if (kind == "aten::one_hot" && name == "self") {
    const auto classes = torch::jit::toIValue(reader.input(1));
    const bool is_given = classes && classes->isInt() && classes->toInt() > 0;
    return is_given ? Found(places_of(static_cast<double>(classes->toInt()))) : std::nullopt;
  }
  return std::nullopt;
}

Found index_range_in_list(const TorchNode& reader, size_t offset, size_t element, const TypeMap& types) {
  const std::string kind = kind_of(reader);
  if ((kind != "aten::index" && kind != "aten::index_put") || offset != 1) return std::nullopt;
  const auto table = table_of(reader, "self", types);
  if (!table || element >= table->rank()) return std::nullopt;
  return places_of(count_of(table->dims[element]));
}

}  // namespace nnapi_convert
