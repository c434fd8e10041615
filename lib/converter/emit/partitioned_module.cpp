// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/partitioned_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "lib/base/error.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/traced_numbers.h"
#include "lib/converter/plan/segment.h"
#include "lib/ops/node_place.h"
#include "lib/serialize/argument_source.h"
#include "lib/serialize/class_copies.h"
#include "lib/serialize/partitioned_source.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// Makes the graph of the host module's forward.
class PartitionedGraph {
 public:
  PartitionedGraph(const PartitionedModuleRequest& request, const torch::jit::Module& host)
      : request_(request), host_(host), graph_(std::make_shared<Graph>()) {}

  std::shared_ptr<Graph> run() {
    add_inputs();
    run_steps(request_.plan.steps);
    Value* result = request_.model.graph->outputs()[0];
    map(result);
    graph_->registerOutput(values_.at(result));
    return graph_;
  }

 private:
  void run_steps(const std::vector<PlanStep>& steps) {
    for (const PlanStep& step : steps) {
      if (step.segment >= 0) {
        call_segment(static_cast<size_t>(step.segment));
      } else {
        for (Node* node : step.nodes) copy(*node);
      }
    }
  }

  void add_inputs() {
    self_ = graph_->addInput("self");
    self_->setType(host_.type());
    std::vector<Value*> arguments;
    for (const Argument& argument : request_.model.arguments) {
      arguments.push_back(graph_->addInput(argument.name));
      arguments.back()->setType(argument.tree.type);
    }
    const std::vector<Value*> values = leaf_values(arguments);
    for (size_t i = 0; i < values.size(); ++i) set(request_.model.graph->inputs()[i + 1], values[i]);
    std::vector<Value*> tensors;
    for (const Value* input : request_.model.inputs) tensors.push_back(values_.at(input));
    call(self_, kCheckMethod, tensors, c10::NoneType::get());
  }

  std::vector<Value*> leaf_values(const std::vector<Value*>& arguments) {
    if (is_flat(request_.model.arguments)) return arguments;
    std::vector<c10::TypePtr> types;
    for (const ArgumentTree* leaf : leaves(request_.model.arguments)) types.push_back(leaf->known_type());
    Value* tuple = call(self_, kFlattenMethod, arguments, c10::TupleType::create(types));
    return graph_->insertNode(graph_->createTupleUnpack(tuple))->outputs().vec();
  }

  Value* call(Value* object, const char* method, const std::vector<Value*>& arguments, const c10::TypePtr& type) {
    Node* node = graph_->create(c10::prim::CallMethod, {object});
    node->s_(c10::attr::name, method);
    for (Value* argument : arguments) node->addInput(argument);
    node->output()->setType(type);
    return graph_->insertNode(node)->output();
  }

  void call_segment(size_t number) {
    const Segment& segment = request_.plan.segments[number].segment;
    const std::string name = fmt::format("segment_{}", number);
    std::vector<Value*> arguments;
    for (Value* input : segment.inputs) {
      map(input);
      arguments.push_back(values_.at(input));
    }
    const size_t count = segment.outputs.size();
    const std::vector<c10::TypePtr> tensors(count, c10::TensorType::get());
    const c10::TypePtr type = count == 1 ? tensors[0] : c10::TupleType::create(tensors);
    Value* result = nullptr;
    if (segment.rows) {
      result = call(self_, row_calls_method(number).c_str(), arguments, type);
    } else {
      Node* get = graph_->insertNode(graph_->createGetAttr(self_, name));
      result = call(get->output(), "forward", arguments, type);
    }
    if (count == 1) return set(segment.outputs[0], result);
    Node* parts = graph_->insertNode(graph_->createTupleUnpack(result));
    for (size_t i = 0; i < count; ++i) set(segment.outputs[i], parts->output(i));
  }

  // Copies a node whose inputs are already mapped. Inputs that are constants or glue are copied with it.
  void copy(Node& node) {
    if (gives_module(node)) return;
    const bool is_access = node.kind() == c10::prim::GetAttr || node.kind() == c10::prim::SetAttr;
    if (is_access && !attribute_path(node).empty()) return copy_access(node);
    const bool has_blocks = !node.blocks().empty();
    for_each_read(node, [&](Value* value) {
      const bool comes_later = is_made_inside(*value, node) || (has_blocks && is_glue(*value->node()));
      if (!comes_later) map(value);
    });
    if (has_blocks) return copy_control_flow(node);
    Node* clone = graph_->insertNode(graph_->createClone(&node, [this](Value* value) { return values_.at(value); }));
    for (size_t i = 0; i < node.outputs().size(); ++i) set(node.output(i), clone->output(i));
  }

  // Copies a prim::GetAttr or prim::SetAttr: state is kept in attributes of the host module itself.
  void copy_access(Node& node) {
    const AttributePath path = attribute_path(node);
    const auto attribute = std::find_if(request_.state.begin(), request_.state.end(),
                                        [&](const StateAttribute& each) { return each.path == path; });
    NNC_ASSERT(attribute != request_.state.end(), path_text(path));
    if (node.kind() == c10::prim::GetAttr) {
      Value* holder = holder_of_state(*graph_, self_);
      set(node.output(), graph_->insertNode(graph_->createGetAttr(holder, attribute->name))->output());
      return;
    }
    map(node.input(1));
    Value* holder = holder_of_state(*graph_, self_);
    graph_->insertNode(graph_->createSetAttr(holder, attribute->name, values_.at(node.input(1))));
  }

  void copy_control_flow(Node& node) {
    Node* clone = graph_->insertNode(graph_->create(node.kind(), node.outputs().size()));
    take_place(*clone, node);
    for (Value* input : node.inputs()) clone->addInput(values_.at(input));
    for (torch::jit::Block* block : node.blocks()) copy_block(*block, *clone->addBlock());
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      clone->output(i)->copyMetadata(node.output(i));
      set(node.output(i), clone->output(i));
    }
  }

  void copy_block(torch::jit::Block& block, torch::jit::Block& result) {
    const size_t outside = set_.size();
    for (Value* input : block.inputs()) {
      Value* copied = result.addInput();
      copied->copyMetadata(input);
      set(input, copied);
    }
    torch::jit::WithInsertPoint inside(&result);
    run_steps(request_.plan.blocks.at(&block));
    for (Value* output : block.outputs()) {
      map(output);
      result.registerOutput(values_.at(output));
    }
    for (; set_.size() > outside; set_.pop_back()) values_.erase(set_.back());
  }

  void set(const Value* value, Value* copied) {
    if (values_.emplace(value, copied).second) {
      set_.push_back(value);
    } else {
      values_[value] = copied;
    }
  }

  // Maps a value by copying its node. Glue is copied for each reader (separate_glue() says why).
  void map(Value* value) {
    const bool is_module = value == request_.model.graph->inputs()[0] || gives_module(*value->node());
    if (!is_module && (values_.count(value) == 0 || is_glue(*value->node()))) copy(*value->node());
  }

  const PartitionedModuleRequest& request_;
  const torch::jit::Module& host_;
  std::shared_ptr<Graph> graph_;
  Value* self_ = nullptr;
  std::unordered_map<const Value*, Value*> values_;
  std::vector<const Value*> set_;  // keys of values_ in order: values of a block are removed at the block's end
};

// Returns the calls of the segments that run rows whose number depends on values.
std::vector<RowCalls> row_calls(const Plan& plan) {
  std::vector<RowCalls> result;
  for (size_t number = 0; number < plan.segments.size(); ++number) {
    const Segment& segment = plan.segments[number].segment;
    if (!segment.rows) continue;
    RowCalls calls{number, segment.rows->per_call, {}, {}};
    for (size_t i = 0; i < segment.inputs.size(); ++i) {
      calls.inputs.push_back({segment.model.input_names[i], segment.input_types[i], segment.input_row_axes[i]});
    }
    for (size_t i = 0; i < segment.outputs.size(); ++i) {
      calls.outputs.push_back({"", segment.output_types[i], segment.output_row_axes[i]});
    }
    result.push_back(std::move(calls));
  }
  return result;
}

// Removes constants that nothing reads. Control flow is copied with all constants that its blocks read, also with
// weights of segments, which are gone. The lite interpreter's writer reads every constant.
void drop_unused_constants(Graph& graph) {
  std::vector<Node*> unused;
  for_each_node(graph, [&](Node& node) {
    if (node.kind() == c10::prim::Constant && node.output()->uses().empty()) unused.push_back(&node);
  });
  for (Node* node : unused) node->destroy();
}

// Returns forward's schema: the original's, as far as the graph's result is of the type that the original declares. A
// constant argument may have left one branch of a result that is None in others.
c10::FunctionSchema forward_schema(const PartitionedModuleRequest& request, const Graph& graph, ClassCopies& classes) {
  std::vector<c10::Argument> arguments{c10::Argument("self", graph.inputs()[0]->type())};
  for (const Argument& argument : request.model.arguments) {
    arguments.emplace_back(argument.name, argument.tree.type, c10::nullopt, argument.default_value);
  }
  const c10::TypePtr declared = classes.type(request.model.declared);
  const c10::TypePtr& found = graph.outputs()[0]->type();
  return {"forward", "", std::move(arguments), {c10::Argument("", found->isSubtypeOf(*declared) ? declared : found)}};
}

}  // namespace

void use_copies(Graph& graph, ClassCopies& classes) {
  graph.remapTypes([&](const c10::TypePtr& type) { return classes.type(type); });
  for_each_node(graph, [&](Node& node) {
    const bool is_value = node.kind() == c10::prim::Constant && node.hasAttribute(c10::attr::value) &&
                          node.kindOf(c10::attr::value) == torch::jit::AttributeKind::ival;
    if (is_value) node.ival_(c10::attr::value, classes.value(node.ival(c10::attr::value)));
  });
}

std::string segment_class(size_t number, const std::string& suffix) {
  return fmt::format("NnapiSegment{}{}", number, suffix);
}

torch::jit::Module build_partitioned_module(const PartitionedModuleRequest& request) {
  std::vector<std::string> segments;
  for (size_t i = 0; i < request.segments.size(); ++i) {
    segments.push_back(segment_class(i, request.place.suffix));
  }
  PartitionedSource source{
      request.interface,       request.model.arguments,         segments,
      row_calls(request.plan), !request.bundled_inputs.empty(), kWrapperClass + request.place.suffix};
  add_named_types(request.model.arguments, *request.unit);
  torch::jit::Module host = make_object(partitioned_source(source), {source.class_name, request.unit});
  host.setattr("training", false);
  const auto copies = request.place.classes ? request.place.classes : std::make_shared<ClassCopies>(request.unit);
  ClassCopies& classes = *copies;
  if (request.place.state) {
    host.register_module(kStateHolder, *request.place.state);
  } else {
    add_state(host, request.state, classes);
  }
  for (size_t i = 0; i < request.segments.size(); ++i) {
    host.setattr(fmt::format("segment_{}", i), request.segments[i]._ivalue());
  }
  set_bundled_inputs(host, request.bundled_inputs, request.model.arguments);
  const std::shared_ptr<Graph> graph = PartitionedGraph(request, host).run();
  drop_unused_constants(*graph);
  use_copies(*graph, classes);
  use_scalars(*graph);
  keep_single_tensors(*graph);
  const c10::QualifiedName name(*host.type()->name(), "forward");
  torch::jit::Function* forward = request.unit->create_function(name, graph);
  forward->setSchema(forward_schema(request, *graph, classes));
  host.type()->addMethod(forward);
  for (const KeptMethod& method : request.methods) {
    add_method(host, method, request.state);
    use_copies(*method.graph, classes);
  }
  return host;
}

}  // namespace nnapi_convert
