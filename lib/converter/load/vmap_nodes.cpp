// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/vmap_nodes.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/converter/load/argument_values.h"
#include "lib/converter/load/export_json.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;
using torch::jit::Graph;
using torch::jit::Value;

constexpr const char* kPrefix = "torch._functorch.predispatch.";
constexpr int64_t kBool = 12;  // as programs number dtypes
constexpr const char* kUnknownForm =
    "it runs inside of torch.vmap, where operators of single elements and indexing are known only; write the function "
    "for the whole batch, without torch.vmap";

// Returns the operators that compute each element for itself, in the shape that their tensors are broadcast to.
const std::set<std::string>& pointwise_operators() {
  static const std::set<std::string> names = {
      "__and__",     "__or__",      "__xor__",     "_to_copy",    "abs",   "add",         "alias",     "bitwise_and",
      "bitwise_or",  "bitwise_not", "bitwise_xor", "ceil",        "clamp", "clamp_max",   "clamp_min", "clone",
      "cos",         "detach",      "div",         "eq",          "erf",   "exp",         "floor",     "full_like",
      "ge",          "gelu",        "gt",          "isfinite",    "isinf", "isnan",       "le",        "log",
      "logical_and", "logical_not", "logical_or",  "logical_xor", "lt",    "masked_fill", "maximum",   "minimum",
      "mul",         "ne",          "neg",         "ones_like",   "pow",   "reciprocal",  "relu",      "remainder",
      "round",       "rsqrt",       "rsub",        "sigmoid",     "sign",  "silu",        "sin",       "sqrt",
      "square",      "sub",         "tanh",        "to",          "where", "zeros_like"};
  return names;
}

// Returns "add" for "aten.add.Tensor"; empty for other libraries.
std::string aten_name(const std::string& target) {
  constexpr const char* kAten = "aten.";
  const size_t begin = std::string(kAten).size(), end = target.rfind('.');
  return target.rfind(kAten, 0) != 0 || end < begin ? "" : target.substr(begin, end - begin);
}

std::vector<std::string> tensors_in(const json& argument) {
  const TaggedJson given = tagged(argument);
  std::vector<std::string> names;
  if (given.kind == "as_tensor") names.push_back(text_member(*given.value, "name"));
  if (given.kind == "as_tensors") {
    for (const json& each : list_of(*given.value)) names.push_back(text_member(each, "name"));
  }
  if (given.kind == "as_optional_tensors") {
    for (const json& each : list_of(*given.value)) {
      for (const std::string& name : tensors_in(each)) names.push_back(name);
    }
  }
  return names;
}

class VmapNode {
 public:
  VmapNode(Graph& graph, const ExportNode& node, const json& graph_json, ExportScope& scope,
           const AddOperator& add_operator)
      : graph_(graph), node_(node), graph_json_(graph_json), scope_(scope), add_operator_(add_operator) {}

  void add_step(const std::string& step) {
    if (step == "lazy_load_decompositions") return;
    if (step == "_vmap_increment_nesting") return open();
    if (step == "_vmap_decrement_nesting") return close();
    if (step == "_add_batch_dim") return add_batch();
    if (step == "_remove_batch_dim") return remove_batch();
    refuse_node(node_, "a step of torch.func without a form in TorchScript; write the model without it");
  }

  bool reads_batched() const {
    const std::vector<std::string> names = tensors_read();
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return is_batched(name); });
  }

  void add_batched() {
    const std::string name = aten_name(node_.target);
    if (name.rfind("_assert_", 0) == 0) return;  // the program was exported with what it checks
    if (name == "new_ones" || name == "new_zeros" || name == "new_full") return add_operator_(graph_, node_, scope_);
    if (name == "unsqueeze") return unsqueeze();
    if (name == "expand") return expand();
    if (name == "index") return index();
    if (pointwise_operators().count(name) == 0) refuse_node(node_, kUnknownForm);
    check_dtypes(name);
    mark_results(add_aligned(tensors_read()));
  }

 private:
  const json& argument(size_t index) const {
    const json& inputs = list_of(member(node_.json, "inputs"));
    if (index >= inputs.size()) {
      fail_export(fmt::format("{}{}: argument {} is missing", place_of(node_), node_.target, index));
    }
    return member(inputs[index], "arg");
  }

  std::string tensor(size_t index) const {
    const std::vector<std::string> names = tensors_in(argument(index));
    if (names.size() != 1) fail_export(fmt::format("{}{}: no tensor found", place_of(node_), node_.target));
    return names[0];
  }

  int64_t integer(size_t index) const {
    const TaggedJson given = tagged(argument(index));
    if (given.kind != "as_int") refuse_node(node_, "a number is computed that is needed at export; state it");
    return integer_of(*given.value);
  }

  // Returns the axis that an argument names, counted from the first of `rank` axes.
  int64_t axis(size_t index, int64_t rank) const {
    const int64_t given = integer(index), counted = given < 0 ? given + rank : given;
    if (counted >= 0 && counted < rank) return counted;
    fail_export(fmt::format("{}{}: axis {} of {} found", place_of(node_), node_.target, given, rank));
  }

  // Returns the level that a step names; the outermost is 1.
  int64_t level(size_t index) const {
    const int64_t given = integer(index);
    if (given >= 1 && given <= scope_.batched.open_levels) return given;
    fail_export(fmt::format("{}{}: level {} found, {} are open", place_of(node_), node_.target, given,
                            scope_.batched.open_levels));
  }

  std::vector<std::string> tensors_read() const {
    std::vector<std::string> names;
    for (const json& input : list_of(member(node_.json, "inputs"))) {
      for (const std::string& name : tensors_in(member(input, "arg"))) names.push_back(name);
    }
    return names;
  }

  bool is_batched(const std::string& name) const { return scope_.batched.tensors.count(name) != 0; }

  const json& meta(const std::string& name) const { return member(member(graph_json_, "tensor_values"), name.c_str()); }

  BatchedTensor batched(const std::string& name) const {
    const auto found = scope_.batched.tensors.find(name);
    if (found != scope_.batched.tensors.end()) return found->second;
    return {0, static_cast<int64_t>(list_of(member(meta(name), "sizes")).size())};
  }

  void open() {
    constexpr size_t kRandomness = 1;
    const TaggedJson randomness = tagged(argument(kRandomness));
    if (randomness.kind == "as_string" && text_of(*randomness.value) == "different") {
      refuse_node(node_,
                  "random numbers that differ between lanes of torch.vmap; call torch.vmap with the "
                  "randomness \"error\"");
    }
    ++scope_.batched.open_levels;
  }

  void close() {
    if (scope_.batched.open_levels == 0) fail_export(fmt::format("{}: no level is open", node_.target));
    --scope_.batched.open_levels;
  }

  void add_batch() {
    const std::string name = tensor(0);
    const BatchedTensor from = batched(name);
    const int64_t to_level = level(2), lanes = axis(1, from.rank);
    if (from.levels >= to_level) fail_export(fmt::format("{}: {} has its level already", node_.target, name));
    Value* moved = move_axis(scope_.at(name), from.levels + lanes, from.levels);
    finish(insert_axes(moved, from.levels, to_level - 1 - from.levels), {to_level, from.rank - 1});
  }

  void remove_batch() {
    const std::string name = tensor(0);
    const BatchedTensor from = batched(name);
    const int64_t of_level = level(1), place = axis(3, from.rank + 1);
    if (from.levels > of_level) fail_export(fmt::format("{}: {} has a level within", node_.target, name));
    const bool has_level = from.levels == of_level;
    const BatchedTensor to{has_level ? of_level - 1 : from.levels, from.rank + 1};
    Value* value = scope_.at(name);
    if (!has_level) value = insert_axes(value, from.levels, 1);
    TorchValues sizes(static_cast<size_t>(to.levels + to.rank), graph_.insertConstant(-1));
    sizes[static_cast<size_t>(to.levels)] = value_of(graph_, argument(2), scope_);
    Value* list = graph_.insertNode(graph_.createList(c10::IntType::get(), sizes))->output();
    Value* expanded = graph_.insert(c10::aten::expand, {value, list});
    finish(move_axis(expanded, to.levels, to.levels + place), to);
  }

  void unsqueeze() {
    const std::string name = tensor(0);
    const BatchedTensor from = batched(name);
    const int64_t place = axis(1, from.rank + 1);
    finish(insert_axes(scope_.at(name), from.levels + place, 1), {from.levels, from.rank + 1});
  }

  void expand() {
    const std::string name = tensor(0);
    const BatchedTensor from = batched(name);
    const auto rank = static_cast<int64_t>(list_of(*tagged(argument(1)).value).size());
    if (rank < from.rank) fail_export(fmt::format("{}: {} sizes found", node_.target, rank));
    Value* value = insert_axes(scope_.at(name), from.levels, rank - from.rank);
    Value* levels = graph_.insertConstant(std::vector<int64_t>(static_cast<size_t>(from.levels), -1));
    Value* sizes = graph_.insert(c10::aten::add, {levels, value_of(graph_, argument(1), scope_)});
    finish(graph_.insert(c10::aten::expand, {value, sizes}), {from.levels, rank});
  }

  // Adds an index into a tensor that all lanes share, by tensors of integers for its first axes.
  void index() {
    const std::string from = tensor(0);
    const std::vector<std::string> places = tensors_in(argument(1));
    const bool is_known = !is_batched(from) && places.size() == list_of(*tagged(argument(1)).value).size() &&
                          std::none_of(places.begin(), places.end(), [&](const std::string& name) {
                            return integer_of(member(meta(name), "dtype")) == kBool;
                          });
    if (!is_known) refuse_node(node_, kUnknownForm);
    BatchedTensor result = add_aligned(places);
    result.rank += batched(from).rank - static_cast<int64_t>(places.size());
    mark_results(result);
  }

  // Refuses several dtypes: a tensor without axes yields to others when dtypes are combined, and it has none here only
  // inside of torch.vmap.
  void check_dtypes(const std::string& operation) const {
    if (operation == "to") return;
    std::set<int64_t> dtypes;
    for (const std::string& name : tensors_read()) dtypes.insert(integer_of(member(meta(name), "dtype")));
    dtypes.erase(kBool);
    if (dtypes.size() > 1) {
      refuse_node(node_, "tensors of several dtypes inside of torch.vmap; convert them to one dtype before");
    }
  }

  // Adds the operator for all lanes: its tensors get the levels and the rank that they are broadcast to.
  BatchedTensor add_aligned(const std::vector<std::string>& names) {
    BatchedTensor common{0, 0};
    for (const std::string& name : names) {
      const BatchedTensor each = batched(name);
      common = {std::max(common.levels, each.levels), std::max(common.rank, each.rank)};
    }
    std::map<std::string, Value*> before;
    for (const std::string& name : names) {
      if (is_batched(name) && before.count(name) == 0) before[name] = scope_.at(name);
    }
    for (const auto& [name, value] : before) {
      const BatchedTensor each = batched(name);
      const int64_t axes = common.levels - each.levels + common.rank - each.rank;
      scope_.values[name] = insert_axes(value, each.levels, axes);
    }
    add_operator_(graph_, node_, scope_);
    for (const auto& [name, value] : before) scope_.values[name] = value;
    return common;
  }

  Value* insert_axes(Value* value, int64_t place, int64_t count) {
    for (int64_t i = 0; i < count; ++i) value = graph_.insert(c10::aten::unsqueeze, {value, place});
    return value;
  }

  Value* move_axis(Value* value, int64_t from, int64_t to) {
    return from == to ? value : graph_.insert(c10::aten::movedim, {value, from, to});
  }

  void mark_results(const BatchedTensor& batched) {
    for (const json& output : list_of(member(node_.json, "outputs"))) {
      for (const std::string& name : tensors_in(output)) scope_.batched.tensors[name] = batched;
    }
  }

  void finish(Value* result, const BatchedTensor& batched) {
    name_results(node_, {result}, scope_);
    if (batched.levels > 0) mark_results(batched);
  }

  Graph& graph_;
  const ExportNode& node_;
  const json& graph_json_;
  ExportScope& scope_;
  const AddOperator& add_operator_;
};

}  // namespace

bool add_vmap_node(Graph& graph, const ExportNode& node, const json& graph_json, ExportScope& scope,
                   const AddOperator& add_operator) {
  VmapNode vmap(graph, node, graph_json, scope, add_operator);
  if (node.target.rfind(kPrefix, 0) == 0) {
    vmap.add_step(node.target.substr(std::string(kPrefix).size()));
    return true;
  }
  if (scope.batched.tensors.empty() || !vmap.reads_batched()) return false;
  vmap.add_batched();
  return true;
}

}  // namespace nnapi_convert
