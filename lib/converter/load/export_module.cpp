// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/export_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <set>

#include "lib/base/error.h"
#include "lib/base/value_path.h"
#include "lib/converter/load/argument_values.h"
#include "lib/converter/load/export_json.h"
#include "lib/converter/load/fuse_quantised.h"
#include "lib/converter/load/graph_nodes.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;
using torch::jit::Graph;
using torch::jit::Module;
using torch::jit::Value;
using InputKind = ExportInput::Kind;

constexpr const char* kClass = "__torch__.ExportedProgram";

// True for a letter of a module's name: PyTorch takes any name without a dot, such as "block1-0".
bool is_name_letter(char letter) {
  return std::isgraph(static_cast<unsigned char>(letter)) != 0 && letter != '"' && letter != '\'' && letter != '\\';
}

// Splits a path such as "layers.0.weight" at its dots. Throws ConvertError for a path that names no weight.
std::vector<std::string> parts_of(const std::string& path) {
  constexpr size_t kMostParts = 100;
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    const bool is_name = !parts.back().empty() && std::all_of(parts.back().begin(), parts.back().end(), is_name_letter);
    if (!is_name || parts.size() > kMostParts) fail_export(fmt::format("{} is no name of a weight", path));
    begin = end + 1;
  }
  return parts;
}

// Adds the paths of the tree's leaves, such as "pair[0]". `type` is the tree's in TorchScript: a dict of values of
// several types is a tuple there.
void add_paths(const ValueTree& tree, const c10::Type& type, const ValuePath& path, std::vector<std::string>& paths) {
  if (tree.kind == ValueTree::Kind::kLeaf) paths.push_back(to_text(path));
  const auto elements = type.containedTypes();
  for (size_t i = 0; i < tree.elements.size(); ++i) {
    const bool is_tuple = type.kind() == c10::TypeKind::TupleType;
    const std::string key = type.kind() == c10::TypeKind::DictType ? tree.keys[i] : std::to_string(i);
    ValuePath element = path;
    element.steps.push_back({key});
    add_paths(tree.elements[i], is_tuple ? *elements[i] : *elements.back(), element, paths);
  }
}

// Adds the names of all values in an argument. Named arguments have a name, too, which is no value's.
void add_names(const json& argument, std::set<std::string>& names) {
  if (!argument.is_structured()) return;
  const bool is_named = argument.is_object() && argument.contains("arg");
  for (const auto& [key, each] : argument.items()) {
    if (key == "name" && each.is_string() && !is_named) names.insert(each.get<std::string>());
    add_names(each, names);
  }
}

class ModuleBuilder {
 public:
  ModuleBuilder(const ExportArchive& archive, const ExportSignature& signature, Diagnostics& diagnostics)
      : archive_(archive),
        signature_(signature),
        diagnostics_(diagnostics),
        unit_(std::make_shared<torch::jit::CompilationUnit>()),
        root_(make_module()),
        graph_(std::make_shared<Graph>()) {}

  ExportModule run() {
    for (const ExportInput& input : signature_.inputs) {
      if (input.kind == InputKind::kWeight || input.kind == InputKind::kConstant) add_weight(input);
    }
    self_ = graph_->addInput("self")->setType(root_.type());
    for (const ExportInput& input : signature_.inputs) {
      if (input.kind == InputKind::kWeight || input.kind == InputKind::kConstant) {
        scope_.add(input.value, attribute(input.target));
      }
    }
    const json& program_graph = member(member(archive_.program, "graph_module"), "graph");
    add_quantised_weights(program_graph);
    add_arguments();
    add_nodes(*graph_, program_graph, scope_);
    add_results();
    fuse_quantised(*graph_, root_);
    add_forward();
    const bool is_dynamic = !scope_.quantised.of_call.empty();
    return {root_,          forward_,      argument_trees_, tensor_values_, tensor_paths_,
            number_values_, number_paths_, fixed_,          is_dynamic};
  }

 private:
  Module make_module() const {
    Module module(c10::QualifiedName(kClass), unit_, true);
    module.register_attribute("training", c10::BoolType::get(), false);
    return module;
  }

  const at::Tensor& weight(const ExportInput& input) const {
    for (const auto* tensors : {&archive_.weights, &archive_.constants}) {
      const auto found = tensors->find(input.target);
      if (found != tensors->end()) return found->second;
    }
    fail_export(fmt::format("the weight {} is missing", input.target));
  }

  // Adds the weight of an input to the module, once: two inputs may name the same weight.
  void add_weight(const ExportInput& input) {
    if (!weights_.insert(input.target).second) return;
    std::vector<std::string> path = parts_of(input.target);
    const std::string name = path.back();
    path.pop_back();
    Module module = root_;
    for (const std::string& part : path) {
      if (!module.hasattr(part)) module.register_module(part, make_module());
      if (!module.attr(part).isModule()) fail_export(fmt::format("{} is within another weight", input.target));
      module = module.attr(part).toModule();
    }
    if (module.hasattr(name)) fail_export(fmt::format("two weights named {} found", input.target));
    if (input.is_parameter) {
      module.register_parameter(name, weight(input), false);
    } else {
      module.register_buffer(name, weight(input));
    }
  }

  // Notes the values of weights that only operators of quantised programs read, and that nothing changes.
  void add_quantised_weights(const json& program_graph) {
    std::set<std::string> others;
    for (const json& node : list_of(member(program_graph, "nodes"))) {
      const bool is_quantised = text_member(node, "target").find("quantized_decomposed.") != std::string::npos;
      if (!is_quantised) add_names(member(node, "inputs"), others);
    }
    for (const ExportOutput& output : signature_.outputs) others.insert(output.target);
    for (const ExportInput& input : signature_.inputs) {
      const bool is_weight = input.kind == InputKind::kWeight || input.kind == InputKind::kConstant;
      const bool is_changed = others.count(input.value) + others.count(input.target) != 0;
      if (is_weight && !is_changed) scope_.quantised.weights.emplace(input.value, weight(input).detach());
    }
  }

  // Returns the module that the weight is an attribute of, and sets `name` to the attribute's name.
  Value* owner(const std::string& path, std::string& name) {
    const std::vector<std::string> parts = parts_of(path);
    name = parts.back();
    Value* value = self_;
    for (size_t i = 0; i + 1 < parts.size(); ++i) value = graph_->insertGetAttr(value, parts[i]);
    return value;
  }

  Value* attribute(const std::string& path) {
    std::string name;
    Value* module = owner(path, name);
    return graph_->insertGetAttr(module, name);
  }

  static c10::TypePtr type_of_fixed(const c10::IValue& value) {
    return value.isNone() ? c10::TypePtr(c10::OptionalType::ofTensor()) : value.type();
  }

  c10::TypePtr type_of_leaf(const ExportInput& input) const {
    if (input.kind == InputKind::kFixed) return type_of_fixed(input.fixed);
    if (input.kind_of_user == "as_sym_int") return c10::IntType::get();
    if (input.kind_of_user == "as_sym_float") return c10::FloatType::get();
    if (input.kind_of_user == "as_sym_bool") return c10::BoolType::get();
    return c10::TensorType::get();
  }

  std::vector<const ExportInput*> leaves() const {
    std::vector<const ExportInput*> result;
    for (const ExportInput& input : signature_.inputs) {
      if (input.kind == InputKind::kUser || input.kind == InputKind::kFixed) result.push_back(&input);
    }
    if (result.size() != leaf_count(signature_.arguments)) {
      fail_export(fmt::format("{} arguments found in the signature, {} in their structure", result.size(),
                              leaf_count(signature_.arguments)));
    }
    return result;
  }

  void add_arguments() {
    const auto all = leaves();
    const auto& by_position = signature_.arguments.elements[0].elements;
    const ValueTree& by_keyword = signature_.arguments.elements[1];
    size_t next = 0;
    for (size_t i = 0; i < by_position.size() + by_keyword.elements.size(); ++i) {
      const bool is_keyword = i >= by_position.size();
      const ValueTree& tree = is_keyword ? by_keyword.elements[i - by_position.size()] : by_position[i];
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(next);
      const std::vector<const ExportInput*> own(begin, begin + static_cast<std::ptrdiff_t>(leaf_count(tree)));
      next += own.size();
      const std::string name = name_of(i, is_keyword ? &by_keyword.keys[i - by_position.size()] : nullptr, own);
      add_argument(name, tree, own);
    }
    add_defaults();
  }

  // Makes fixed values at the end of forward's arguments their defaults: a call need not give them.
  void add_defaults() {
    for (auto argument = schema_arguments_.rbegin(); argument != schema_arguments_.rend(); ++argument) {
      const auto fixed = std::find_if(fixed_.begin(), fixed_.end(),
                                      [&](const FixedValue& each) { return each.path == argument->name(); });
      if (fixed == fixed_.end()) return;
      *argument = c10::Argument(argument->name(), argument->type(), c10::nullopt, fixed->value);
    }
  }

  std::string name_of(size_t index, const std::string* key, const std::vector<const ExportInput*>& own) {
    std::string name = index < signature_.names.size() ? signature_.names[index] : "";
    if (key != nullptr) name = *key;
    if (name.empty() && own.size() == 1) name = own[0]->value;
    const bool is_name = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 && name != "self" &&
                         std::all_of(name.begin(), name.end(), [](char letter) {
                           return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
                         });
    if (!is_name) name = fmt::format("argument_{}", index);
    while (!argument_names_.insert(name).second) name += "_";
    return name;
  }

  void add_argument(const std::string& name, const ValueTree& tree, const std::vector<const ExportInput*>& own) {
    std::vector<c10::TypePtr> types;
    for (const ExportInput* input : own) types.push_back(type_of_leaf(*input));
    size_t next = 0;
    Value* argument = graph_->addInput(name)->setType(type_of(tree, types, next));
    TorchValues values;
    take_apart(*graph_, tree, argument, values);
    std::vector<std::string> paths;
    add_paths(tree, *argument->type(), {name}, paths);
    for (size_t i = 0; i < own.size(); ++i) {
      if (own[i]->kind == InputKind::kFixed) {  // the program's graph has no input for it
        fix(paths[i], own[i]->fixed, is_beside_number(own, paths, i));
        continue;
      }
      scope_.add(own[i]->value, values[i]);
      const bool is_tensor = types[i]->kind() == c10::TypeKind::TensorType;
      if (!is_tensor && types[i]->kind() != c10::TypeKind::IntType) continue;
      (is_tensor ? tensor_values_ : number_values_).push_back(own[i]->value);
      (is_tensor ? tensor_paths_ : number_paths_).push_back(paths[i]);
    }
    say_fields("took", "takes", tree, *argument->type());
    argument_trees_.push_back(tree);
    schema_arguments_.emplace_back(name, argument->type());
  }

  // True if the leaf's container holds a number that is not fixed: the container is then read as one value.
  static bool is_beside_number(const std::vector<const ExportInput*>& own, const std::vector<std::string>& paths,
                               size_t leaf) {
    const auto container = [&](size_t i) {
      ValuePath path = parse_path(paths[i]).value();
      if (!path.steps.empty()) path.steps.pop_back();
      return to_text(path);
    };
    for (size_t i = 0; i < own.size(); ++i) {
      const bool is_number = own[i]->kind == InputKind::kUser && own[i]->kind_of_user != "as_tensor";
      if (is_number && container(i) == container(leaf)) return true;
    }
    return false;
  }

  void fix(const std::string& path, const c10::IValue& value, bool is_unchecked) {
    const bool is_nan = value.isDouble() && std::isnan(value.toDouble());  // NaN equals nothing
    const FixedValue fixed = fixed_value(path, value);
    if (!is_nan && !is_unchecked) fixed_.push_back(fixed);
    if (value.isNone()) return;
    diagnostics_.warn(
        fmt::format("torch.export fixed argument {} to {}: {}", path, fixed.text,
                    is_nan || is_unchecked ? "other values change nothing" : "a call with another value is an error"));
  }

  void add_results() {
    TorchValues results;
    for (const ExportOutput& output : signature_.outputs) {
      if (output.kind != ExportOutput::Kind::kUser) continue;
      results.push_back(
          output_of(*graph_, member(member(archive_.program, "graph_module"), "graph"), *output.argument, scope_));
    }
    if (results.size() != leaf_count(signature_.results)) {
      fail_export(
          fmt::format("{} results found, {} in their structure", results.size(), leaf_count(signature_.results)));
    }
    size_t next = 0;
    result_ = put_together(*graph_, signature_.results, results, next);
    say_fields("returned", "returns", signature_.results, *result_->type());
    for (const ExportOutput& output : signature_.outputs) {
      if (output.kind != ExportOutput::Kind::kUser) add_change(output);
    }
    graph_->registerOutput(result_);
  }

  // Warns of objects whose fields became a dict, or a tuple where they are of several types.
  void say_fields(const char* before, const char* now, const ValueTree& tree, const c10::Type& type) {
    const auto elements = type.containedTypes();
    for (size_t i = 0; i < tree.elements.size(); ++i) {
      const bool is_tuple = type.kind() == c10::TypeKind::TupleType;
      say_fields(before, now, tree.elements[i], is_tuple ? *elements[i] : *elements.back());
    }
    if (tree.class_name.empty()) return;
    diagnostics_.warn(fmt::format(
        "forward {} an object of class {}: the converted model {} a {} of its fields: {}", before, tree.class_name, now,
        type.kind() == c10::TypeKind::DictType ? "dict" : "tuple", fmt::join(tree.keys, ", ")));
  }

  void add_change(const ExportOutput& output) {
    if (output.argument == nullptr) fail_export(fmt::format("a change of {} without its value found", output.target));
    Value* value = scope_.at(text_member(*output.argument, "name"));
    if (output.kind == ExportOutput::Kind::kInput) {
      graph_->insert(c10::aten::copy_, {scope_.at(output.target), value});
      return;
    }
    if (weights_.count(output.target) == 0) fail_export(fmt::format("{} changes, which is no buffer", output.target));
    std::string name;
    Value* module = owner(output.target, name);
    torch::jit::Node* set = graph_->create(c10::prim::SetAttr, {module, value}, 0);
    graph_->insertNode(set->s_(c10::attr::name, name));
  }

  void add_forward() {
    const c10::QualifiedName name(*root_.type()->name(), "forward");
    std::vector<c10::Argument> arguments = {c10::Argument("self", root_.type())};
    arguments.insert(arguments.end(), schema_arguments_.begin(), schema_arguments_.end());
    forward_ = c10::FunctionSchema("forward", "", arguments, {c10::Argument("", result_->type())});
    torch::jit::Function* function = unit_->create_function(name, graph_);
    function->setSchema(forward_);
    root_.type()->addMethod(function);
  }

  const ExportArchive& archive_;
  const ExportSignature& signature_;
  Diagnostics& diagnostics_;
  std::shared_ptr<torch::jit::CompilationUnit> unit_;
  Module root_;
  std::shared_ptr<Graph> graph_;
  Value* self_ = nullptr;
  Value* result_ = nullptr;
  ExportScope scope_;
  std::set<std::string> weights_;
  std::set<std::string> argument_names_;
  std::vector<c10::Argument> schema_arguments_;
  std::vector<ValueTree> argument_trees_;
  std::vector<std::string> tensor_values_;
  std::vector<std::string> tensor_paths_;
  std::vector<std::string> number_values_;
  std::vector<std::string> number_paths_;
  std::vector<FixedValue> fixed_;
  c10::FunctionSchema forward_{"forward", "", {}, {}};
};

}  // namespace

ExportModule build_module(const ExportArchive& archive, const ExportSignature& signature, Diagnostics& diagnostics) {
  return ModuleBuilder(archive, signature, diagnostics).run();
}

}  // namespace nnapi_convert
