// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/row_wise.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>

#include "lib/base/error.h"
#include "lib/converter/graph/control_flow.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

[[noreturn]] void fail(const std::string& message) {
  throw ConvertError(ExitCode::kNotConvertible, message);
}

// A tensor that is an input or a result of a node, constant or computed.
struct RowTensor {
  TensorType type;
  std::optional<size_t> axis;  // the axis of the rows; nothing: the tensor is the same for all rows

  size_t rank() const { return type.rank(); }
  // Returns the axis of the rows, counted from the last one, as broadcasting does.
  size_t axis_from_end() const { return rank() - 1 - *axis; }
};

// A node with known types, some of whose tensors have the rows.
class RowNode {
 public:
  RowNode(const TorchNode& node, const TypeMap& types, const OpenSize& rows)
      : args(node, types), node_(node), types_(types), rows_(rows), output(tensor(node.output(0)).value()) {}

  OpArguments args;

  std::optional<RowTensor> tensor(const TorchValue* value) const {
    if (const auto type = type_of(value)) return RowTensor{*type, row_axis(*type, rows_)};
    return std::nullopt;
  }
  std::optional<RowTensor> tensor(const char* name) const { return tensor(args.input(name)); }
  const TorchNode& node() const { return node_; }

  // Returns all tensors that the node reads, including the elements of lists.
  std::vector<RowTensor> tensors() const {
    std::vector<RowTensor> result;
    for (const TorchValue* input : node_.inputs()) {
      if (const auto found = tensor(input)) result.push_back(*found);
      if (input->node()->kind() != c10::prim::ListConstruct) continue;
      for (const TorchValue* element : input->node()->inputs()) {
        if (const auto found = tensor(element)) result.push_back(*found);
      }
    }
    return result;
  }

  // True if the first tensor that the node reads has the rows and no other tensor has.
  bool only_first_has_rows() const {
    const std::vector<RowTensor> all = tensors();
    return !all.empty() && all[0].axis &&
           std::none_of(all.begin() + 1, all.end(), [](const RowTensor& each) { return each.axis.has_value(); });
  }
  RowTensor first() const { return tensors().at(0); }

  size_t axis_argument(const char* name, size_t rank) const {
    const int64_t axis = args.integer(name);
    return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  }

  // True if the node reads a number that depends on the number of rows.
  bool reads_count() const {
    const auto inputs = node_.inputs();
    return std::any_of(inputs.begin(), inputs.end(), [this](const TorchValue* input) {
      const auto found = types_.find(input);
      const Dims* numbers = found == types_.end() ? nullptr : std::get_if<Dims>(&found->second);
      return numbers != nullptr && std::any_of(numbers->begin(), numbers->end(), is_of_values);
    });
  }

 private:
  std::optional<TensorType> type_of(const TorchValue* value) const {
    const auto found = types_.find(value);
    const auto* list = found == types_.end() ? nullptr : std::get_if<TensorTypes>(&found->second);
    if (list != nullptr && !list->empty()) return list->front();
    return tensor_type(value, types_);
  }

  const TorchNode& node_;
  const TypeMap& types_;
  OpenSize rows_;

 public:
  RowTensor output;
};

// Proof for elementwise operators: each element of the result depends on the elements at its place after broadcasting.
bool elementwise(const RowNode& node) {
  const std::vector<RowTensor> tensors = node.tensors();
  const size_t place = node.output.axis_from_end();
  return !node.reads_count() && std::all_of(tensors.begin(), tensors.end(), [place](const RowTensor& each) {
    if (each.axis) return each.axis_from_end() == place;
    return each.rank() <= place || each.type.dims[each.rank() - 1 - place] == Dim(1);
  });
}

bool is_leading(const RowNode& node, size_t rank) {
  return !node.reads_count() && node.only_first_has_rows() && node.first().axis == 0U && node.output.axis == 0U &&
         node.first().rank() == rank;
}

// Proof for operators that compute each image of the batch separately.
template <size_t rank>
bool images(const RowNode& node) {
  return is_leading(node, rank);
}

bool samples(const RowNode& node) {
  return node.first().rank() >= 2 && is_leading(node, node.first().rank());
}

// Proof for convolutions: the filter's rank tells whether the input has a batch axis.
bool convolution(const RowNode& node) {
  const auto filter = node.tensor("weight");
  return filter && is_leading(node, filter->rank());
}

bool batch_norm(const RowNode& node) {
  return !node.args.boolean("training") && samples(node);
}

bool dropout(const RowNode& node) {
  return !node.args.boolean("train") && elementwise(node);
}

bool layer_norm(const RowNode& node) {
  const size_t normalised = node.args.integers("normalized_shape").size();
  return node.only_first_has_rows() && *node.first().axis + normalised < node.first().rank();
}

// Proof for operators that compute each vector along the last axis separately.
bool vectors(const RowNode& node) {
  return node.only_first_has_rows() && *node.first().axis + 1 < node.first().rank() &&
         node.output.axis == node.first().axis;
}

bool matrix_product(const RowNode& node) {
  const std::vector<RowTensor> operands = node.tensors();
  const RowTensor &a = operands.at(0), &b = operands.at(1);
  if (a.axis && b.axis) return a.rank() >= 3 && a.rank() == b.rank() && *a.axis == 0 && *b.axis == 0;
  return a.axis && !b.axis && b.rank() <= 2 && *a.axis + 1 < a.rank();
}

// Proof for aten::addmm, self + mat1 * mat2.
bool sum_and_product(const RowNode& node) {
  const auto self = node.tensor("self"), a = node.tensor("mat1"), b = node.tensor("mat2");
  if (!self || !a || !b || b->axis || a->axis != 0U) return false;
  if (self->axis) return self->rank() == 2 && *self->axis == 0;
  return self->rank() < 2 || self->type.dims[0] == Dim(1);
}

// Proof for operators that work along other axes than that of the rows.
bool along_other_axes(const RowNode& node) {
  if (node.reads_count() || !node.only_first_has_rows() || !node.args.has("dim") || node.args.is_none("dim")) {
    return false;
  }
  const RowTensor self = node.first();
  const std::vector<int64_t> axes = node.args.integers("dim");
  return !axes.empty() && std::none_of(axes.begin(), axes.end(), [&](int64_t axis) {
    return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(self.rank()) : axis) == *self.axis;
  });
}

// Proof for aten::slice: it takes all rows, or slices another axis.
bool sliced(const RowNode& node) {
  const bool begins = node.args.is_none("start") || node.args.integer("start") == 0;
  const bool ends = node.args.is_none("end") || node.args.integer("end") >= INT32_MAX;
  const bool takes_all = begins && ends && node.args.integer("step") == 1;
  return takes_all ? node.only_first_has_rows() : along_other_axes(node);
}

// Proof for reshapes: the number of elements before the axis of the rows stays, so that each element keeps its row.
bool same_order(const RowNode& node) {
  if (!node.only_first_has_rows()) return false;
  const auto before = [](const RowTensor& tensor) {
    return product(
        Dims(tensor.type.dims.begin(), tensor.type.dims.begin() + static_cast<std::ptrdiff_t>(*tensor.axis)));
  };
  return before(node.first()) == before(node.output);
}

bool permuted(const RowNode& node) {
  const std::vector<int64_t> order = node.args.integers("dims");
  const int64_t from = order.at(*node.output.axis);
  const auto rank = static_cast<int64_t>(order.size());
  return node.only_first_has_rows() && static_cast<size_t>((from + rank) % rank) == *node.first().axis;
}

bool transposed(const RowNode& node) {
  if (!node.only_first_has_rows()) return false;
  const RowTensor self = node.first();
  size_t axis = *self.axis;
  const size_t a = node.axis_argument("dim0", self.rank()), b = node.axis_argument("dim1", self.rank());
  if (axis == a || axis == b) axis = axis == a ? b : a;
  return node.output.axis == axis;
}

bool turned(const RowNode& node) {
  return node.only_first_has_rows() && node.first().rank() == 2 && *node.output.axis == 1 - *node.first().axis;
}

bool joined(const RowNode& node) {
  const std::vector<RowTensor> tensors = node.tensors();
  const bool stacks = node.node().kind() == c10::aten::stack;
  const size_t dim = node.axis_argument("dim", node.output.rank());
  return *node.output.axis != dim && std::all_of(tensors.begin(), tensors.end(), [&](const RowTensor& each) {
    return each.axis && *each.axis + (stacks && dim <= *each.axis ? 1 : 0) == *node.output.axis;
  });
}

// Proof for padding: it pads only axes after that of the rows.
bool padded(const RowNode& node) {
  if (node.reads_count() || !node.only_first_has_rows()) return false;
  const char* name = node.args.has("pad") ? "pad" : "padding";
  return *node.first().axis + node.args.integers(name).size() / 2 < node.first().rank();
}

using Proof = bool (*)(const RowNode&);

// Returns the proof for such operators; null if there is none.
Proof proof_of(Rows rows) {
  switch (rows) {
    case Rows::kUnstated:
    case Rows::kUnproved:
      return nullptr;
    case Rows::kElementwise:
      return elementwise;
    case Rows::kElementwiseIfEvaluating:
      return dropout;
    case Rows::kSignals:
      return images<3>;
    case Rows::kImages:
      return images<4>;
    case Rows::kSamples:
      return samples;
    case Rows::kSamplesIfEvaluating:
      return batch_norm;
    case Rows::kFiltered:
      return convolution;
    case Rows::kNormalised:
      return layer_norm;
    case Rows::kVectors:
      return vectors;
    case Rows::kMatrices:
      return matrix_product;
    case Rows::kAddedMatrices:
      return sum_and_product;
    case Rows::kOtherAxes:
      return along_other_axes;
    case Rows::kSameOrder:
      return same_order;
    case Rows::kPermuted:
      return permuted;
    case Rows::kTransposed:
      return transposed;
    case Rows::kTurned:
      return turned;
    case Rows::kJoined:
      return joined;
    case Rows::kSliced:
      return sliced;
    case Rows::kPadded:
      return padded;
  }
  return nullptr;
}

void add_open_sizes(const ValueType& type, std::set<OpenSize>& sizes) {
  const auto add = [&sizes](const Dims& dims) {
    for (const Dim& dim : dims) {
      for (const OpenSize& size : open_sizes_in(dim)) {
        if (is_runtime_size(size)) sizes.insert(size);
      }
    }
  };
  if (const auto* tensor = std::get_if<TensorType>(&type)) add(tensor->dims);
  if (const auto* list = std::get_if<TensorTypes>(&type)) {
    for (const TensorType& tensor : *list) add(tensor.dims);
  }
}

// Returns the sizes that depend on values, of the tensors that the node reads and of its results.
std::set<OpenSize> open_sizes(const TorchNode& node, const TypeMap& types) {
  std::vector<const TorchValue*> values(node.inputs().begin(), node.inputs().end());
  for (const TorchValue* input : node.inputs()) {
    if (input->node()->kind() != c10::prim::ListConstruct) continue;
    values.insert(values.end(), input->node()->inputs().begin(), input->node()->inputs().end());
  }
  values.insert(values.end(), node.outputs().begin(), node.outputs().end());
  std::set<OpenSize> sizes;
  for (const TorchValue* value : values) {
    const auto found = types.find(value);
    if (found != types.end()) add_open_sizes(found->second, sizes);
  }
  return sizes;
}

bool all_typed(const TorchNode& node, const TypeMap& types) {
  const auto is_typed = [&types](const TorchValue* value) {
    return value->type()->kind() != c10::TypeKind::TensorType || torch::jit::toIValue(value) || types.count(value) != 0;
  };
  const auto elements_are_typed = [&](const TorchValue* value) {
    if (value->node()->kind() != c10::prim::ListConstruct) return is_typed(value);
    const auto elements = value->node()->inputs();
    return std::all_of(elements.begin(), elements.end(), is_typed);
  };
  const auto inputs = node.inputs();
  const auto outputs = node.outputs();
  return std::all_of(inputs.begin(), inputs.end(), elements_are_typed) &&
         std::all_of(outputs.begin(), outputs.end(), [&](const TorchValue* value) { return types.count(value) != 0; });
}

bool is_proved(const TorchNode& node, const TypeMap& types, const OpenSize& rows) {
  const Proof proof = proof_of(find_traits(node).rows);
  if (proof == nullptr || node.maybeSchema() == nullptr) return false;
  const RowNode row_node(node, types, rows);
  const std::vector<RowTensor> read = row_node.tensors();
  const bool reads_rows =
      std::any_of(read.begin(), read.end(), [](const RowTensor& each) { return each.axis.has_value(); });
  const auto outputs = node.outputs();
  const bool gives_rows = std::all_of(outputs.begin(), outputs.end(), [&](const TorchValue* output) {
    const auto found = row_node.tensor(output);
    return found && found->axis;
  });
  try {
    return reads_rows && gives_rows && proof(row_node);
  } catch (const NodeRefused&) {
    return false;  // an argument that the proof needs is unknown
  }
}

}  // namespace

std::optional<size_t> row_axis(const TensorType& type, const OpenSize& rows) {
  std::optional<size_t> axis;
  for (size_t i = 0; i < type.rank(); ++i) {
    if (!is_of_values(type.dims[i])) continue;
    if (axis || type.dims[i] != to_dim(rows)) fail("several sizes of its input and its result depend on values");
    axis = i;
  }
  return axis;
}

bool may_be_row_wise(const TorchNode& node) {
  return proof_of(find_traits(node).rows) != nullptr;
}

std::optional<OpenSize> rows_of(const TorchNode& node, const TypeMap& types) {
  const std::set<OpenSize> sizes = open_sizes(node, types);
  if (sizes.empty() || !all_typed(node, types)) return std::nullopt;
  if (sizes.size() > 1) fail("several sizes of its input and its result depend on values");
  if (!is_proved(node, types, *sizes.begin())) {
    fail("a size depends on values, and it mixes the elements along that size");
  }
  return *sizes.begin();
}

}  // namespace nnapi_convert
