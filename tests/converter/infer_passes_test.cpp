// SPDX-License-Identifier: BSD-3-Clause
// The rewrites of inference, each alone on a graph in IR text; typing changes nothing.
#include "lib/converter/frontend/passes.h"

#include <torch/csrc/jit/ir/irparser.h>

#include <catch2/catch.hpp>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/converter/frontend/infer.h"
#include "lib/types/infer_passes.h"

namespace nnapi_convert {
namespace {

using Catch::Contains;

TensorType float32(Dims dims) {
  return {at::kFloat, std::move(dims), {}};
}

NormalisedModel model_of(const std::string& ir) {
  NormalisedModel model;
  model.graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(ir, model.graph.get());
  for (torch::jit::Value* input : model.graph->inputs()) model.inputs.push_back(input);
  for (torch::jit::Value* output : model.graph->outputs()) model.outputs.push_back(output);
  return model;
}

std::vector<std::string> all_passes() {
  return {std::begin(kInferPasses), std::end(kInferPasses)};
}

// The options of inference with these passes only.
InferOptions only(const std::set<std::string>& passes) {
  InferOptions options;
  for (const std::string& pass : all_passes()) {
    if (passes.count(pass) == 0) options.disabled_passes.insert(pass);
  }
  return options;
}

InferOptions split() {
  InferOptions options;
  options.keeps_numbers = true;
  return options;
}

InferOptions nnapis_control_flow() {
  InferOptions options;
  options.control_flow = ControlFlow::kNnapi;
  return options;
}

// Returns the nodes of the graph, one a line, after inference with the passes.
std::string rewritten(const std::string& ir, const std::vector<TensorType>& inputs, const InferOptions& options) {
  NormalisedModel model = model_of(ir);
  infer(model, inputs, options);
  model.graph->lint();
  return model.graph->toString(false);
}

const std::string kBranch = R"(
graph(%x : Tensor):
  %yes : bool = prim::Constant[value=1]()
  %y : Tensor = prim::If(%yes)
    block0():
      %a : Tensor = aten::relu(%x)
      -> (%a)
    block1():
      %b : Tensor = aten::sigmoid(%x)
      -> (%b)
  return (%y))";

const std::string kLoop = R"(
graph(%x : Tensor):
  %yes : bool = prim::Constant[value=1]()
  %rounds : int = prim::Constant[value=3]()
  %y : Tensor = prim::Loop(%rounds, %yes, %x)
    block0(%i : int, %z : Tensor):
      %a : Tensor = aten::relu(%z)
      -> (%yes, %a)
  return (%y))";

// Fills a part of a tensor that is made in the graph.
const std::string kFilled = R"(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %zero : int = prim::Constant[value=0]()
  %size : int = prim::Constant[value=4]()
  %sizes : int[] = prim::ListConstruct(%size)
  %mask : Tensor = aten::zeros(%sizes, %none, %none, %none, %none)
  %part : Tensor = aten::select(%mask, %zero, %zero)
  %full : Tensor = aten::fill_(%part, %size)
  %y : Tensor = aten::mul(%x, %mask)
  return (%y))";

size_t occurrences(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("the names of --disable-pass are those of the passes, in their order") {
  std::vector<std::string> names;
  for (const NodePass& pass : node_passes()) names.emplace_back(pass.name);
  for (const GraphPass& pass : graph_passes()) names.emplace_back(pass.name);
  CHECK(names == all_passes());
}

TEST_CASE("typing changes nothing, and types a rewritten graph as inference did") {
  for (const std::string& ir : {kBranch, kLoop, kFilled}) {
    NormalisedModel model = model_of(ir);
    const std::string before = model.graph->toString(false);
    const TypeMap inputs = {{model.inputs[0], float32({1, 4})}};
    (void)types_of(model, inputs, {});
    CHECK(model.graph->toString(false) == before);
    const InferredTypes inferred = infer(model, inputs, {});
    CHECK(inferred.refusals.empty());
    CHECK(to_text(model, types_of(model, inputs, {}).types) == to_text(model, inferred.types));
  }
}

TEST_CASE("without passes the graph stays, and its branches and loops are refused") {
  for (const std::string& ir : {kBranch, kLoop, kFilled}) {
    NormalisedModel model = model_of(ir);
    const std::string before = model.graph->toString(false);
    CHECK(!infer(model, std::vector<TensorType>{float32({1, 4})}, only({})).refusals.empty());
    CHECK(model.graph->toString(false) == before);
  }
}

TEST_CASE("choose_branches") {
  const std::string graph = rewritten(kBranch, {float32({1, 4})}, only({"choose_branches"}));
  CHECK_THAT(graph, Contains("aten::relu(%x)") && !Contains("prim::If") && !Contains("sigmoid"));
}

TEST_CASE("unroll_known_loops") {
  const std::string graph = rewritten(kLoop, {float32({1, 4})}, only({"unroll_known_loops"}));
  CHECK(occurrences(graph, "aten::relu") == 3);
  CHECK_THAT(graph, !Contains("prim::Loop"));
}

TEST_CASE("unroll_known_loops finds by tries how often a while loop runs") {
  const std::string graph = rewritten(R"(
graph(%x : Tensor):
  %yes : bool = prim::Constant[value=1]()
  %most : int = prim::Constant[value=9223372036854775807]()
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %y : Tensor, %n : int = prim::Loop(%most, %yes, %x, %zero)
    block0(%i : int, %z : Tensor, %k : int):
      %a : Tensor = aten::relu(%z)
      %next : int = aten::add(%k, %one)
      %more : bool = aten::lt(%next, %two)
      -> (%more, %a, %next)
  return (%y))",
                                      {float32({1, 4})}, only({"unroll_known_loops", "evaluate_constants"}));
  CHECK(occurrences(graph, "aten::relu") == 2);
  CHECK_THAT(graph, !Contains("prim::Loop"));
}

TEST_CASE("numbers_to_tensors") {
  const std::string graph = rewritten(R"(
graph(%x : Tensor):
  %two : float = prim::Constant[value=2.]()
  %s : Scalar = aten::item(%x)
  %f : float = aten::Float(%x)
  %t : float = aten::mul(%f, %two)
  %y : Tensor = aten::mul(%x, %t)
  return (%y))",
                                      {float32({1})}, only({"numbers_to_tensors"}));
  CHECK_THAT(graph, !Contains("aten::Float") && Contains("aten::reshape"));
}

TEST_CASE("numbers_to_tensors leaves numbers where TorchScript runs the graph") {
  const std::string ir = R"(
graph(%x : Tensor):
  %f : float = aten::Float(%x)
  %y : Tensor = aten::mul(%x, %f)
  return (%y))";
  CHECK_THAT(rewritten(ir, {float32({1})}, split()), Contains("aten::Float"));
}

TEST_CASE("expand_operators") {
  const std::string graph = rewritten(R"(
graph(%x : Tensor):
  %parts : Tensor[] = prim::ListConstruct(%x, %x)
  %y : Tensor = aten::hstack(%parts)
  return (%y))",
                                      {float32({1, 4})}, only({"expand_operators"}));
  CHECK_THAT(graph, Contains("aten::cat") && !Contains("= aten::hstack"));
}

TEST_CASE("join_masked_parts") {
  const std::string ir = R"(
graph(%x : Tensor, %z : Tensor, %mask : Tensor):
  %no : bool = prim::Constant[value=0]()
  %factor : float = prim::Constant[value=0.5]()
  %indices : Tensor?[] = prim::ListConstruct(%mask)
  %part : Tensor = aten::index(%x, %indices)
  %more : Tensor = aten::index(%z, %indices)
  %scaled : Tensor = aten::mul(%part, %factor)
  %product : Tensor = aten::mul(%scaled, %more)
  %y : Tensor = aten::index_put(%x, %indices, %product, %no)
  return (%y))";
  const TensorType mask{at::kBool, {2}, {}};
  const std::string joined = rewritten(ir, {float32({2, 4}), float32({2, 4}), mask}, only({"join_masked_parts"}));
  CHECK_THAT(joined, Contains("aten::where") && !Contains("aten::index(") && !Contains("index_put"));
  // Parts of other sizes may broadcast to each other, and wholes otherwise.
  const std::string apart = rewritten(ir, {float32({2, 4}), float32({2, 1}), mask}, only({"join_masked_parts"}));
  CHECK_THAT(apart, Contains("index_put"));
}

TEST_CASE("pad_nested") {
  const std::string graph =
      rewritten(R"(
graph(%x : Tensor, %mask : Tensor):
  %yes : bool = prim::Constant[value=1]()
  %zero : float = prim::Constant[value=0.]()
  %nested : Tensor = aten::_nested_tensor_from_mask(%x, %mask, %yes)
  %a : Tensor = aten::relu(%nested)
  %none : NoneType = prim::Constant()
  %y : Tensor = aten::to_padded_tensor(%a, %zero, %none)
  return (%y))",
                {float32({2, 3, 4}), {at::kBool, {2, 3}, {}}}, only({"pad_nested", "drop_pairs"}));
  CHECK_THAT(graph, Contains("aten::relu(%x)") && Contains("aten::masked_fill") && !Contains("nested"));
}

TEST_CASE("take_apart_tuples") {
  const std::string graph = rewritten(R"(
graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %both : (Tensor, Tensor) = prim::TupleConstruct(%x, %a)
  %b : Tensor, %c : Tensor = prim::TupleUnpack(%both)
  %y : Tensor = aten::sigmoid(%c)
  return (%y))",
                                      {float32({1, 4})}, only({"take_apart_tuples"}));
  CHECK_THAT(graph, Contains("aten::sigmoid(%1)") && !Contains("TupleUnpack"));
}

TEST_CASE("drop_casts drops casts to the dtype that a tensor has") {
  const std::string ir = R"IR(
graph(%x : Tensor, %y : Tensor, %n : Tensor):
  %no : bool = prim::Constant[value=0]()
  %yes : bool = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %a : Tensor = aten::type_as(%x, %y)
  %b : Tensor = aten::to(%a, %y, %no, %no, %none)
  %c : Tensor = aten::to(%b, %y, %no, %yes, %none)
  %d : Tensor = aten::type_as(%c, %n)
  return (%d))IR";
  const TensorType ints{at::kInt, {2}, {}};
  const std::string text = rewritten(ir, {float32({2}), float32({3}), ints}, only({"drop_casts"}));
  CHECK_THAT(text, Contains("aten::to(%x, %y, %3, %4, %5)") && Contains("aten::type_as(%8, %n)"));
  CHECK(occurrences(text, "aten::to") + occurrences(text, "aten::type_as") == 2);
}

TEST_CASE("replace_sizes and evaluate_constants") {
  const std::string ir = R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %size : int = aten::size(%x, %one)
  %half : int = aten::floordiv(%size, %two)
  %whole : bool = aten::eq(%half, %two)
  %y : Tensor = prim::If(%whole)
    block0():
      %a : Tensor = aten::relu(%x)
      -> (%a)
    block1():
      -> (%x)
  return (%y))";
  const std::vector<TensorType> inputs = {float32({1, 4})};
  CHECK_THAT(rewritten(ir, inputs, only({"replace_sizes", "evaluate_constants"})),
             Contains("prim::If") && !Contains("aten::eq"));
  CHECK_THAT(rewritten(ir, inputs, {}), Contains("aten::relu(%x)") && !Contains("prim::If"));
  CHECK_THAT(rewritten(ir, inputs, only({"evaluate_constants", "choose_branches"})), Contains("prim::If"));
}

TEST_CASE("numbers_into_loops and numbers_out_of_blocks") {
  const std::string ir = R"(
graph(%x : Tensor, %n : Tensor):
  %yes : bool = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %y : Tensor, %k : int = prim::Loop(%n, %yes, %x, %zero)
    block0(%i : int, %z : Tensor, %j : int):
      %a : Tensor = aten::relu(%z)
      -> (%yes, %a, %one)
  %scaled : Tensor = aten::mul(%y, %k)
  return (%scaled))";
  const std::vector<TensorType> inputs = {float32({1, 4}), {at::kLong, {}, {}}};
  NormalisedModel model = model_of(ir);
  CHECK(infer(model, inputs, nnapis_control_flow()).refusals.empty());
  const torch::jit::Node* loop = model.outputs[0]->node()->input(0)->node();
  CHECK(loop->input(3)->type()->kind() == c10::TypeKind::TensorType);
  CHECK(loop->blocks()[0]->outputs()[2]->type()->kind() == c10::TypeKind::TensorType);
  for (const char* left_out : {"numbers_into_loops", "numbers_out_of_blocks"}) {
    NormalisedModel other = model_of(ir);
    InferOptions options = nnapis_control_flow();
    options.disabled_passes = {left_out};
    CHECK(!infer(other, inputs, options).refusals.empty());
  }
}

TEST_CASE("replace_empty") {
  const std::string graph = rewritten(R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %none : Tensor = aten::narrow(%x, %one, %zero, %zero)
  %parts : Tensor[] = prim::ListConstruct(%none, %x)
  %y : Tensor = aten::cat(%parts, %one)
  return (%y))",
                                      {float32({1, 4})}, only({"replace_empty"}));
  CHECK_THAT(graph, !Contains("aten::narrow"));
}

TEST_CASE("drop_pairs drops complex numbers of which only the parts are read") {
  const std::string ir = R"(
graph(%x : Tensor):
  %z : Tensor = aten::view_as_complex(%x)
  %y : Tensor = aten::view_as_real(%z)
  return (%y))";
  NormalisedModel model = model_of(ir);
  CHECK(infer(model, std::vector<TensorType>{float32({3, 2})}, {}).refusals.empty());
  CHECK_THAT(model.graph->toString(false), Contains("aten::stack") && !Contains("aten::complex["));
  NormalisedModel other = model_of(ir);
  InferOptions without;
  without.disabled_passes = {"drop_pairs"};
  infer(other, std::vector<TensorType>{float32({3, 2})}, without);
  CHECK_THAT(other.graph->toString(false), Contains("aten::complex["));
}

TEST_CASE("evaluate_writes: a tensor of constants that is filled in place is a constant") {
  const std::string graph = rewritten(kFilled, {float32({1, 4})}, {});
  CHECK_THAT(graph, Contains("value= 4  0  0  0") && !Contains("fill_") && !Contains("aten::zeros"));
  CHECK_THAT(rewritten(kFilled, {float32({1, 4})}, split()), !Contains("fill_"));
  const std::string without = rewritten(kFilled, {float32({1, 4})}, only({"evaluate_constants"}));
  CHECK_THAT(without, Contains("aten::zeros") && Contains("fill_"));
}

TEST_CASE("evaluate_writes leaves a tensor that is changed by what isn't known") {
  for (const char* change : {"copy_(%mask, %x, %no)", "bernoulli_(%mask, %half, %none)"}) {
    const std::string ir = std::string(R"(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %no : bool = prim::Constant[value=0]()
  %half : float = prim::Constant[value=0.5]()
  %size : int = prim::Constant[value=4]()
  %sizes : int[] = prim::ListConstruct(%size)
  %mask : Tensor = aten::zeros(%sizes, %none, %none, %none, %none)
  %full : Tensor = aten::)") +
                           change + R"(
  %y : Tensor = aten::mul(%x, %mask)
  return (%y))";
    CHECK_THAT(rewritten(ir, {float32({4})}, split()), Contains("aten::zeros") && Contains("_(%"));
  }
}

TEST_CASE("evaluate_writes leaves a tensor that is read before it is changed, or changed in a branch") {
  const std::string begin = R"(
graph(%x : Tensor, %c : bool):
  %none : NoneType = prim::Constant()
  %one : int = prim::Constant[value=1]()
  %size : int = prim::Constant[value=4]()
  %sizes : int[] = prim::ListConstruct(%size)
  %mask : Tensor = aten::zeros(%sizes, %none, %none, %none, %none)
)";
  const std::string read_before = begin + R"(
  %early : Tensor = aten::mul(%x, %mask)
  %full : Tensor = aten::fill_(%mask, %one)
  %y : Tensor = aten::add(%early, %mask, %one)
  return (%y))";
  const std::string in_branch = begin + R"(
  prim::If(%c)
    block0():
      %full : Tensor = aten::fill_(%mask, %one)
      -> ()
    block1():
      -> ()
  %y : Tensor = aten::mul(%x, %mask)
  return (%y))";
  for (const std::string& ir : {read_before, in_branch}) {
    NormalisedModel model = model_of(ir);
    infer(model, TypeMap{{model.inputs[0], float32({4})}}, split());
    CHECK_THAT(model.graph->toString(false), Contains("aten::zeros") && Contains("fill_"));
  }
}

TEST_CASE("evaluate_writes never changes a constant of the model") {
  NormalisedModel model = model_of(R"(
graph(%x : Tensor, %w : Tensor):
  %one : int = prim::Constant[value=1]()
  %full : Tensor = aten::fill_(%w, %one)
  %y : Tensor = aten::mul(%x, %w)
  return (%y))");
  const at::Tensor weight = at::zeros({4});
  torch::jit::Value* input = model.inputs.back();
  model.inputs.pop_back();
  {
    const torch::jit::WithInsertPoint begin(*model.graph->nodes().begin());
    input->replaceAllUsesWith(model.graph->insertConstant(weight));
  }
  infer(model, std::vector<TensorType>{float32({4})}, split());
  CHECK(weight.sum().item<float>() == 0.0F);
  CHECK_THAT(model.graph->toString(false), Contains("fill_"));
}

TEST_CASE("remove_changes: writes of an unrolled loop") {
  const std::string ir = R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %yes : bool = prim::Constant[value=1]()
  %y : Tensor = aten::relu(%x)
  prim::Loop(%two, %yes)
    block0(%i : int):
      %end : int = aten::add(%i, %two)
      %part : Tensor = aten::slice(%y, %zero, %i, %end, %one)
      %done : Tensor = aten::add_(%part, %one, %one)
      -> (%yes)
  return (%y))";
  InferOptions options;
  CHECK_THAT(rewritten(ir, {float32({4})}, options), Contains("add_("));
  options.removes_changes = true;
  CHECK_THAT(rewritten(ir, {float32({4})}, options), Contains("slice_scatter") && !Contains("add_("));
}

TEST_CASE("drop_list_changes and simplify_containers") {
  const std::string ir = R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %yes : bool = prim::Constant[value=1]()
  %parts : Tensor[] = prim::ListConstruct(%x)
  prim::If(%yes)
    block0():
      %more : Tensor[] = aten::append(%parts, %x)
      -> ()
    block1():
      -> ()
  %y : Tensor = aten::cat(%parts, %one)
  return (%y))";
  for (const char* pass : {"drop_list_changes", "simplify_containers"}) {
    const InferOptions options = only({"choose_branches", "expand_operators", pass});
    CHECK_THAT(rewritten(ir, {float32({1, 4})}, options), Contains("aten::cat") && !Contains("aten::append"));
  }
  CHECK_THAT(rewritten(ir, {float32({1, 4})}, only({"choose_branches", "expand_operators"})), Contains("aten::append"));
}

TEST_CASE("each pass that changed the graph is reported with the graph's text") {
  std::map<std::string, std::string> texts;
  InferOptions options;
  options.on_pass = [&](const std::string& pass, const std::string& text) { texts[pass] = text; };
  NormalisedModel model = model_of(kBranch);
  infer(model, std::vector<TensorType>{float32({1, 4})}, options);
  CHECK(texts.size() == 1);
  CHECK_THAT(texts["choose_branches"], Contains("relu") && !Contains("sigmoid"));
}

}  // namespace nnapi_convert
