// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/graph_nodes.h"

#include <fmt/format.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "lib/base/error.h"
#include "lib/converter/load/argument_values.h"
#include "lib/converter/load/control_flow_nodes.h"
#include "lib/converter/load/export_json.h"
#include "lib/converter/load/quantised_nodes.h"
#include "lib/converter/load/size_nodes.h"
#include "lib/converter/load/tensor_meta.h"
#include "lib/converter/load/vmap_nodes.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

using Arguments = std::map<std::string, const json*>;  // of a node, by the parameters' names

struct Frame {
  std::string file;
  size_t line = 0;
  std::string code;
};

// Reads a line such as ` File "model.py", line 12, in forward`.
std::optional<Frame> frame_in(const std::string& line) {
  constexpr const char* kFile = "File \"";
  constexpr const char* kLine = "\", line ";
  const size_t file = line.find(kFile), number = line.find(kLine);
  if (file == std::string::npos || number == std::string::npos || number < file) return std::nullopt;
  const size_t begin = file + std::string(kFile).size(), digits = number + std::string(kLine).size();
  Frame frame{line.substr(begin, number - begin), 0, ""};
  for (size_t i = digits; i < line.size() && i < digits + 9 && std::isdigit(static_cast<unsigned char>(line[i])) != 0;
       ++i) {
    frame.line = frame.line * 10 + static_cast<size_t>(line[i] - '0');
  }
  return frame.line == 0 ? std::nullopt : std::optional<Frame>(frame);
}

// Returns the innermost frame outside PyTorch itself, or the innermost of all.
std::optional<Frame> frame_of(const std::string& trace) {
  std::optional<Frame> last, of_user;
  Frame* open = nullptr;
  for (size_t begin = 0; begin < trace.size();) {
    const size_t end = std::min(trace.find('\n', begin), trace.size());
    const std::string line = trace.substr(begin, end - begin);
    begin = end + 1;
    if (const auto frame = frame_in(line)) {
      last = frame;
      open = &*last;
      if (frame->file.find("/torch/") == std::string::npos && frame->file[0] != '<') {
        of_user = frame;
        open = &*of_user;
      }
    } else if (open != nullptr && open->code.empty()) {
      open->code = line;
    }
  }
  return of_user ? of_user : last;
}

std::optional<Frame> frame_of(const json& node) {
  const json* metadata = find_member(node, "metadata");
  const json* trace = metadata == nullptr ? nullptr : find_member(*metadata, "stack_trace");
  return trace == nullptr || !trace->is_string() ? std::nullopt : frame_of(trace->get<std::string>());
}

torch::jit::SourceRange range_of(const Frame& frame) {
  const auto source = std::make_shared<torch::jit::Source>(frame.code + "\n", frame.file, frame.line - 1);
  return {source, 0, frame.code.size()};
}

// Returns the operator's name from a target such as "aten.add.Tensor".
c10::OperatorName operator_name(const ExportNode& node) {
  const size_t first = node.target.find('.'), last = node.target.rfind('.');
  if (first == std::string::npos || first == last || first == 0) {
    refuse_node(node, "it is no operator of a library; remove it, or replace it by operators of PyTorch");
  }
  const std::string overload = node.target.substr(last + 1);
  return {node.target.substr(0, first) + "::" + node.target.substr(first + 1, last - first - 1),
          overload == "default" ? "" : overload};
}

std::shared_ptr<torch::jit::Operator> find_operator(const c10::OperatorName& name) {
  for (const auto& each : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name.name))) {
    if (each->schema().overload_name() == name.overload_name) return each;
  }
  return nullptr;
}

bool is_number(const json& argument) {
  static const std::vector<std::string> kinds = {"as_int",     "as_float",     "as_bool",    "as_complex",
                                                 "as_sym_int", "as_sym_float", "as_sym_bool"};
  return std::find(kinds.begin(), kinds.end(), tagged(argument).kind) != kinds.end();
}

// Returns the overload for a number: programs give numbers to overloads that take tensors ("add.Tensor"), and
// TorchScript has others for numbers.
c10::OperatorName for_numbers(const c10::OperatorName& name, const Arguments& arguments) {
  constexpr const char* kTensor = "Tensor";
  const auto other = arguments.find("other");
  if (name.overload_name.rfind(kTensor, 0) != 0 || other == arguments.end() || !is_number(*other->second)) {
    return name;
  }
  const std::string rest = name.overload_name.substr(std::string(kTensor).size());
  const c10::OperatorName with_number(name.name, "Scalar" + rest);
  return find_operator(with_number) != nullptr ? with_number : name;
}

// Returns reshape for a view: the program's tensor need not have the order in memory that it has here.
c10::OperatorName as_reshape(const c10::OperatorName& name) {
  const bool is_view = (name.name == "aten::view" && name.overload_name.empty()) || name.name == "aten::_unsafe_view";
  return is_view ? c10::OperatorName("aten::reshape", "") : name;
}

// True for a check of the exported program itself: it was exported with what such a node checks.
bool is_check(const c10::OperatorName& name) {
  return name.name.rfind("aten::_assert_", 0) == 0 || name.name.rfind("aten::sym_constrain_range", 0) == 0 ||
         name.name == "aten::_functional_assert_async";
}

// True for operators that return their input unchanged when no gradients are recorded.
bool gives_input(const c10::OperatorName& name) {
  static const std::vector<std::string> names = {"aten::alias", "aten::detach", "aten::detach_", "aten::lift_fresh",
                                                 "aten::lift"};
  return std::find(names.begin(), names.end(), name.name) != names.end();
}

Arguments arguments_of(const ExportNode& node) {
  Arguments arguments;
  for (const json& input : list_of(member(node.json, "inputs"))) {
    arguments[text_member(input, "name")] = &member(input, "arg");
  }
  return arguments;
}

void check_arguments(const ExportNode& node, const c10::FunctionSchema& schema, const Arguments& arguments) {
  for (const auto& [name, argument] : arguments) {
    if (schema.argumentIndexWithName(name)) continue;
    refuse_node(node, fmt::format("argument {} found, which the operator lacks in PyTorch 1.13.1 on the device; "
                                  "leave it out of the model's call",
                                  name));
  }
}

Value* default_value(Graph& graph, const ExportNode& node, const c10::Argument& parameter) {
  if (parameter.default_value()) return graph.insertConstant(*parameter.default_value());
  if (parameter.type()->kind() == c10::TypeKind::OptionalType) return graph.insertConstant(c10::IValue());
  fail_export(fmt::format("{}{}: argument {} is missing", place_of(node), node.target, parameter.name()));
}

// True if the program says that the tensor has this dtype.
bool is_of_dtype(const ExportNode& node, const std::string& tensor, c10::ScalarType dtype) {
  const json* meta = node.tensor_values == nullptr ? nullptr : find_member(*node.tensor_values, tensor.c_str());
  return meta != nullptr && read_dtype(integer_of(member(*meta, "dtype")), tensor) == dtype;
}

Value* to_dtype(Graph& graph, Value* tensor, c10::ScalarType dtype) {
  return graph.insert(c10::aten::to, {tensor, static_cast<int64_t>(dtype)});
}

// Casts int32 indices to int64: PyTorch 2 takes both for positions, 1.13.1 only int64. `list` is made of `argument`.
void widen_indices(Graph& graph, const ExportNode& node, const json& argument, Value* list) {
  const json& elements = list_of(*tagged(argument).value);
  Node* made = list->node();
  const torch::jit::WithInsertPoint here(made);
  for (size_t i = 0; i < elements.size(); ++i) {
    const json* tensor = elements[i].contains("name") ? &elements[i] : find_member(elements[i], "as_tensor");
    if (tensor == nullptr || !is_of_dtype(node, text_member(*tensor, "name"), at::kInt)) continue;
    made->replaceInput(i, to_dtype(graph, made->input(i), at::kLong));
  }
}

// Returns the node's results; a list becomes as many values as the program names.
TorchValues results_of(Graph& graph, const ExportNode& node, Node* made) {
  const json& outputs = list_of(member(node.json, "outputs"));
  if (made->outputs().size() == 1 && outputs.size() == 1) {
    const TaggedJson output = tagged(outputs[0]);
    if (output.kind == "as_tensors") {
      Node* unpack = graph.create(c10::prim::ListUnpack, {made->output()}, list_of(*output.value).size());
      for (Value* element : unpack->outputs()) element->setType(c10::TensorType::get());
      return graph.insertNode(unpack)->outputs().vec();
    }
    const bool is_number = made->output()->type()->kind() == c10::TypeKind::NumberType;
    if (is_number && output.kind == "as_sym_int") return {graph.insert(c10::aten::Int, {made->output()})};
    if (is_number && output.kind == "as_sym_float") return {graph.insert(c10::aten::Float, {made->output()})};
    if (is_number && output.kind == "as_sym_bool") return {graph.insert(c10::aten::Bool, {made->output()})};
  }
  return made->outputs().vec();
}

// Casts a result back to bool: True and False are the numbers 1 and 0 in TorchScript, of which the operator makes
// integers.
void keep_bool(Graph& graph, const ExportNode& node, const c10::FunctionSchema& schema, const Arguments& arguments,
               TorchValues& results) {
  const auto& parameters = schema.arguments();
  const bool has_bool = std::any_of(parameters.begin(), parameters.end(), [&](const c10::Argument& parameter) {
    const auto given = arguments.find(parameter.name());
    return given != arguments.end() && parameter.type()->kind() == c10::TypeKind::NumberType &&
           tagged(*given->second).kind == "as_bool";
  });
  const json& outputs = list_of(member(node.json, "outputs"));
  if (!has_bool || results.size() != 1 || outputs.size() != 1) return;
  const TaggedJson output = tagged(outputs[0]);
  if (output.kind != "as_tensor" || !is_of_dtype(node, text_member(*output.value, "name"), at::kBool)) return;
  results[0] = to_dtype(graph, results[0], at::kBool);
}

void add_operator(Graph& graph, const ExportNode& node, ExportScope& scope) {
  const c10::OperatorName given_name = operator_name(node);
  if (is_check(given_name)) return;
  Arguments arguments = arguments_of(node);
  const c10::OperatorName name = as_reshape(for_numbers(given_name, arguments));
  if (name.name == "aten::reshape" && given_name.name != name.name && arguments.count("size") != 0) {
    arguments["shape"] = arguments["size"];
    arguments.erase("size");
  }
  if (gives_input(name) && arguments.count("self") != 0) {
    name_results(node, {value_of(graph, *arguments.at("self"), scope)}, scope);
    return;
  }
  const auto found = find_operator(name);
  if (!found) {
    refuse_node(node,
                "PyTorch 1.13.1 on the device has no such operator; replace it in the model, or give the "
                "library that has it with --torch-library");
  }
  check_arguments(node, found->schema(), arguments);
  TorchValues inputs;
  for (const c10::Argument& parameter : found->schema().arguments()) {
    const auto given = arguments.find(parameter.name());
    inputs.push_back(given == arguments.end() ? default_value(graph, node, parameter)
                                              : value_for(graph, *given->second, parameter, scope));
    const bool has_indices = given != arguments.end() && parameter.name() == "indices";
    if (has_indices && inputs.back()->node()->kind() == c10::prim::ListConstruct) {
      widen_indices(graph, node, *given->second, inputs.back());
    }
  }
  const auto& returns = found->schema().returns();
  Node* made = graph.create(c10::Symbol::fromQualString(name.name), inputs, returns.size());
  for (size_t i = 0; i < returns.size(); ++i) made->output(i)->setType(returns[i].type());
  graph.insertNode(made);
  const c10::FunctionSchema* schema = made->maybeSchema();
  if (schema == nullptr || schema->overload_name() != name.overload_name) {
    fail_export(fmt::format("{}{}: its arguments are not of the operator's types", place_of(node), node.target));
  }
  TorchValues results = results_of(graph, node, made);
  keep_bool(graph, node, found->schema(), arguments, results);
  name_results(node, results, scope);
}

void add_node(Graph& graph, const ExportNode& node, const json& graph_json, ExportScope& scope) {
  if (add_vmap_node(graph, node, graph_json, scope, add_operator)) return;
  if (add_size_node(graph, node, scope) || add_control_flow(graph, node, scope, add_nodes)) return;
  if (add_quantised_node(graph, node, scope)) return;
  add_operator(graph, node, scope);
}

std::string target_of(const json& node) {
  constexpr const char* kNamePrefix = "torch.ops.";
  const std::string target = text_member(node, "target");
  return target.rfind(kNamePrefix, 0) == 0 ? target.substr(std::string(kNamePrefix).size()) : target;
}

}  // namespace

void add_nodes(Graph& graph, const json& graph_json, ExportScope& scope) {
  for (const json& node_json : list_of(member(graph_json, "nodes"))) {
    const auto frame = frame_of(node_json);
    const ExportNode node{node_json, target_of(node_json), frame ? fmt::format("{}:{}", frame->file, frame->line) : "",
                          find_member(graph_json, "tensor_values")};
    const auto cursor = graph.insertPoint();
    Node* before = cursor->prev();
    add_node(graph, node, graph_json, scope);
    if (!frame) continue;
    const torch::jit::SourceRange range = range_of(*frame);
    for (Node* made = cursor->prev(); made != before; made = made->prev()) made->setSourceRange(range);
  }
}

}  // namespace nnapi_convert
