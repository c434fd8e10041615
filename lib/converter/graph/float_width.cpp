#include "lib/converter/graph/float_width.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "lib/base/error.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/plain_calls.h"
#include "lib/ops/op_arguments.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
using Width = std::optional<at::ScalarType>;

bool is_tensor(const Value& value) {
  return value.type()->kind() == c10::TypeKind::TensorType;
}

bool holds_tensors(const c10::TypePtr& type) {
  if (type->kind() == c10::TypeKind::TensorType) return true;
  const auto contained = type->containedTypes();
  return std::any_of(contained.begin(), contained.end(), [](const auto& part) { return holds_tensors(part); });
}

bool is_other_width(at::ScalarType dtype) {
  return c10::isFloatingType(dtype) && dtype != at::kFloat;
}

Width wider(Width one, Width other) {
  if (!one || !other) return one ? one : other;
  return c10::promoteTypes(*one, *other);
}

// Returns the node's constant argument "dtype"; nothing if the node has none.
std::optional<at::ScalarType> asked_dtype(const Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  const auto index = schema == nullptr ? c10::nullopt : schema->argumentIndexWithName("dtype");
  if (!index) return std::nullopt;
  const auto value = torch::jit::toIValue(node.input(static_cast<size_t>(*index)));
  return value && value->isInt() ? std::optional(static_cast<at::ScalarType>(value->toInt())) : std::nullopt;
}

// Finds the floating-point dtype of each value of the original graph; nothing for values of other dtypes.
class Widths {
 public:
  explicit Widths(at::ScalarType of_inputs) : of_inputs_(of_inputs) {}

  at::ScalarType of_inputs() const { return of_inputs_; }

  Width of(const Value* value) {
    const auto [known, is_new] = known_.emplace(value, std::nullopt);  // ends the search at values that a loop carries
    if (!is_new) return known->second;
    const Width width = found(*value);
    known_[value] = width;
    return width;
  }

 private:
  Width found(const Value& value) {
    const Node& node = *value.node();
    if (const auto constant = torch::jit::toIValue(&value)) return of_constant(*constant);
    if (node.kind() == c10::prim::Param || node.kind() == c10::prim::GetAttr) return of_inputs_;
    if (const auto asked = asked_dtype(node)) return c10::isFloatingType(*asked) ? asked : std::nullopt;
    if (const Value* example = dtype_example(node)) return of(example);
    return node.blocks().empty() ? of_operands(node) : of_blocks(node, value.offset());
  }

  static Width of_constant(const c10::IValue& constant) {
    Width width;
    const std::vector<at::Tensor> tensors = constant.isTensorList() ? constant.toTensorVector()
                                            : constant.isTensor()   ? std::vector<at::Tensor>{constant.toTensor()}
                                                                    : std::vector<at::Tensor>();
    for (const at::Tensor& tensor : tensors) {
      if (tensor.defined() && tensor.is_floating_point()) width = wider(width, tensor.scalar_type());
    }
    return width;
  }

  // Returns the tensor whose dtype the node's result has: y of x.type_as(y), x.to(y) and x.to(y.dtype).
  static const Value* dtype_example(const Node& node) {
    if (node.kind() == c10::Symbol::fromQualString("aten::type_as")) return node.input(1);
    const c10::FunctionSchema* schema = node.maybeSchema();
    if (schema == nullptr) return nullptr;
    const bool is_cast = node.kind() == c10::Symbol::fromQualString("aten::to");
    const auto other = is_cast ? schema->argumentIndexWithName("other") : c10::nullopt;
    if (other) return node.input(static_cast<size_t>(*other));
    const auto dtype = schema->argumentIndexWithName("dtype");
    if (!dtype) return nullptr;
    const Node& maker = *node.input(static_cast<size_t>(*dtype))->node();
    return maker.kind() == c10::prim::dtype ? maker.input(0) : nullptr;
  }

  // PyTorch's type promotion uses tensors of rank 0 only if no operand has a higher rank.
  Width of_operands(const Node& node) {
    Width width, of_numbers;
    for (const Value* input : node.inputs()) {
      if (!holds_tensors(input->type())) continue;
      Width& wanted = is_number(*input) ? of_numbers : width;
      wanted = wider(wanted, of(input));
    }
    return width ? width : of_numbers;
  }

  static bool is_number(const Value& value) {
    const auto constant = torch::jit::toIValue(&value);
    return constant && constant->isTensor() && constant->toTensor().defined() && constant->toTensor().dim() == 0;
  }

  Width of_blocks(const Node& node, size_t output) {
    const bool is_loop = node.kind() == c10::prim::Loop;
    Width width = is_loop ? of(node.input(output + 2)) : std::nullopt;
    for (const Block* block : node.blocks()) width = wider(width, of(block->outputs()[output + (is_loop ? 1 : 0)]));
    return width;
  }

  at::ScalarType of_inputs_;
  std::unordered_map<const Value*, Width> known_;
};

// Inserts a cast of the value in a branch on is_floating_point. Inference chooses the branch once it knows the dtype.
Value* cast(Graph& graph, Value* value, at::ScalarType dtype) {
  Value* is_float = graph.insert(c10::Symbol::aten("is_floating_point"), {value});
  Node* branch = graph.insertNode(graph.create(c10::prim::If, {is_float}, 1));
  Block* yes = branch->addBlock();
  {
    const torch::jit::WithInsertPoint inside(yes);
    yes->registerOutput(graph.insert(c10::Symbol::aten("to"), {value, static_cast<int64_t>(dtype)}));
  }
  branch->addBlock()->registerOutput(value);
  branch->output()->setType(value->type());
  return branch->output();
}

// True if an operator reads the value as integer indices. A cast would hide the input from the search for index ranges.
bool is_read_as_indices(const Value& value) {
  return std::any_of(value.uses().begin(), value.uses().end(), [](const torch::jit::Use& use) {
    const Index index = find_traits(*use.user).index;
    if (index == Index::kClass) return use.offset == 0;
    const c10::FunctionSchema* schema = use.user->maybeSchema();
    if (schema == nullptr || (index != Index::kRows && index != Index::kAlongDim)) return false;
    const std::string& name = schema->arguments().at(use.offset).name();
    return name == "index" || name == "indices";
  });
}

[[noreturn]] void refuse(const std::string& what, at::ScalarType width) {
  throw ConvertError(ExitCode::kNotConvertible,
                     fmt::format("the model computes in {}, and {}; needed: a model in float32; convert it with "
                                 "model.float()",
                                 dtype_name(width), what));
}

// Refuses models with containers of tensors as inputs, or with changed attributes: casts handle plain tensors only.
void require_plain_tensors(Graph& graph, at::ScalarType width) {
  for (size_t i = 1; i < graph.inputs().size(); ++i) {  // input 0 is self
    const Value& input = *graph.inputs()[i];
    if (is_tensor(input) || !holds_tensors(input.type())) continue;
    refuse(fmt::format("argument {} of forward is {}", i, input.type()->repr_str()), width);
  }
  for_each_node(graph, [&](Node& node) {
    if (node.kind() == c10::prim::SetAttr) refuse(fmt::format("{}: it changes an attribute", source_of(node)), width);
  });
}

void cast_inputs(Graph& graph) {
  const torch::jit::WithInsertPoint at_start(*graph.nodes().begin());
  for (size_t i = 1; i < graph.inputs().size(); ++i) {  // input 0 is self
    Value* input = graph.inputs()[i];
    if (!is_tensor(*input) || input->uses().empty() || is_read_as_indices(*input)) continue;
    const std::vector<torch::jit::Use> uses = input->uses();
    Value* result = cast(graph, input, at::kFloat);
    for (const torch::jit::Use& use : uses) use.user->replaceInput(use.offset, result);
  }
}

// Casts each tensor of a result. Looks into the nodes that make the result's lists and tuples.
Value* cast_result(Graph& graph, Value* value, Widths& widths) {
  Node* node = value->node();
  if (is_tensor(*value)) {
    const Width width = widths.of(value);
    return width && *width != at::kFloat ? cast(graph, value, *width) : value;
  }
  if (!holds_tensors(value->type())) return value;
  if (!is_glue(*node)) {
    refuse(
        fmt::format("{}: a result is {}, which is not made in one place", source_of(*node), value->type()->repr_str()),
        widths.of_inputs());
  }
  std::vector<Value*> elements;
  for (Value* input : node->inputs()) elements.push_back(cast_result(graph, input, widths));
  Node* copy = graph.createClone(node, [](Value* input) { return input; });
  for (size_t i = 0; i < elements.size(); ++i) copy->replaceInput(i, elements[i]);
  return graph.insertNode(copy)->output();
}

bool has_other_width(const at::Tensor& tensor) {
  return tensor.defined() && !tensor.is_quantized() && is_other_width(tensor.scalar_type());
}

at::Tensor in_float32(const at::Tensor& tensor) {
  return has_other_width(tensor) ? tensor.detach().to(at::kFloat) : tensor;
}

// Turns a constant tensor, or a constant list of tensors such as the weights of LSTM and GRU, into float32.
void make_constant_float32(Node& node) {
  const auto constant = torch::jit::toIValue(node.output());
  if (constant->isTensor() && has_other_width(constant->toTensor())) {
    node.t_(c10::attr::value, in_float32(constant->toTensor()));
    node.output()->inferTypeFrom(node.t(c10::attr::value));
  }
  if (!constant->isTensorList()) return;
  c10::List<at::Tensor> list;
  for (const at::Tensor& tensor : constant->toTensorVector()) list.push_back(in_float32(tensor));
  node.ival_(c10::attr::value, list);
}

void make_float32(Node& node) {
  if (node.kind() == c10::prim::Constant) return make_constant_float32(node);
  const auto asked = asked_dtype(node);
  if (!asked || !is_other_width(*asked)) return;
  PlainCalls plain(&node);
  node.replaceInput(static_cast<size_t>(*node.schema().argumentIndexWithName("dtype")),
                    plain.constant(static_cast<int64_t>(at::kFloat)));
}

}  // namespace

// A model that also has float32 weights computes in several dtypes on purpose: its own casts are kept.
std::optional<at::ScalarType> float_width(const torch::jit::Module& module) {
  const auto is_float32 = [](const at::Tensor& tensor) {
    return tensor.defined() && tensor.numel() > 1 && tensor.scalar_type() == at::kFloat;
  };
  for (const at::Tensor& parameter : module.parameters()) {
    if (is_float32(parameter)) return std::nullopt;
  }
  const auto is_found = [](const at::Tensor& tensor) {
    return tensor.defined() && !tensor.is_quantized() && tensor.numel() > 1 && is_other_width(tensor.scalar_type());
  };
  for (const at::Tensor& parameter : module.parameters()) {
    if (is_found(parameter)) return parameter.scalar_type();
  }
  for (const at::Tensor& buffer : module.buffers()) {
    if (is_found(buffer) && buffer.scalar_type() != at::kDouble) return buffer.scalar_type();
  }
  return std::nullopt;
}

void compute_in_float32(const std::shared_ptr<Graph>& graph, at::ScalarType width) {
  require_plain_tensors(*graph, width);
  std::vector<Node*> originals;
  for_each_node(*graph, [&](Node& node) { originals.push_back(&node); });
  Widths widths(width);
  for (size_t i = 0; i < graph->outputs().size(); ++i) {
    const torch::jit::WithInsertPoint at_end(graph->return_node());
    graph->return_node()->replaceInput(i, cast_result(*graph, graph->outputs()[i], widths));
  }
  for (Node* node : originals) make_float32(*node);
  cast_inputs(*graph);
}

void warn_of_float_width(const torch::jit::Module& module, Diagnostics& diagnostics) {
  const auto width = float_width(module);
  if (!width) return;
  diagnostics.warn(
      fmt::format("the model computes in {}: it is converted to float32, between casts that keep the dtypes "
                  "of its inputs and results; results are those of the model without its rounding to {}",
                  dtype_name(*width), dtype_name(*width)));
}

void set_default_width(std::vector<InputSpec>& specs, at::ScalarType width) {
  for (InputSpec& spec : specs) {
    if (!spec.dtype) spec.dtype = width;
  }
}

}  // namespace nnapi_convert
