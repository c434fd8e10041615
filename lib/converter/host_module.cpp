#include "lib/converter/host_module.h"

#include <fmt/format.h>

#include <unordered_map>

#include "lib/converter/node_reads.h"
#include "lib/serialize/host_source.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// Makes the graph of forward.
class HostGraph {
 public:
  HostGraph(const HostModuleRequest& request, const torch::jit::Module& host)
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
    std::vector<Value*> inputs;
    for (size_t i = 0; i < request_.model.inputs.size(); ++i) {
      Value* input = graph_->addInput(request_.model.input_names[i]);
      input->setType(c10::TensorType::get());
      set(request_.model.inputs[i], input);
      inputs.push_back(input);
    }
    call(self_, "check_inputs", inputs, c10::NoneType::get());
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
    Node* get = graph_->insertNode(graph_->createGetAttr(self_, name));
    std::vector<Value*> arguments;
    for (Value* input : segment.inputs) {
      map(input);
      arguments.push_back(values_.at(input));
    }
    const size_t count = segment.outputs.size();
    const std::vector<c10::TypePtr> tensors(count, c10::TensorType::get());
    const c10::TypePtr type = count == 1 ? tensors[0] : c10::TupleType::create(tensors);
    Value* result = call(get->output(), "forward", arguments, type);
    if (count == 1) return set(segment.outputs[0], result);
    Node* parts = graph_->insertNode(graph_->createTupleUnpack(result));
    for (size_t i = 0; i < count; ++i) set(segment.outputs[i], parts->output(i));
  }

  // A node whose inputs are mapped, or are constants or glue, which come along.
  void copy(Node& node) {
    for_each_read(node, [&](Value* value) {
      if (!is_made_inside(*value, node)) map(value);
    });
    if (!node.blocks().empty()) return copy_control_flow(node);
    Node* clone = graph_->insertNode(graph_->createClone(&node, [this](Value* value) { return values_.at(value); }));
    for (size_t i = 0; i < node.outputs().size(); ++i) set(node.output(i), clone->output(i));
  }

  void copy_control_flow(Node& node) {
    Node* clone = graph_->insertNode(graph_->create(node.kind(), node.outputs().size()));
    clone->setSourceRange(node.sourceRange());
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
    if (values_.emplace(value, copied).second) set_.push_back(value);
  }

  void map(Value* value) {
    if (values_.count(value) == 0) copy(*value->node());
  }

  const HostModuleRequest& request_;
  const torch::jit::Module& host_;
  std::shared_ptr<Graph> graph_;
  Value* self_ = nullptr;
  std::unordered_map<const Value*, Value*> values_;
  std::vector<const Value*> set_;  // those in values_, in order: what a block makes is not known outside of it
};

// The result's type as the graph has it, arguments by the interface's names.
c10::FunctionSchema forward_schema(const HostModuleRequest& request, const Graph& graph) {
  std::vector<c10::Argument> arguments{c10::Argument("self", graph.inputs()[0]->type())};
  for (const std::string& name : request.model.input_names) arguments.emplace_back(name, c10::TensorType::get());
  return {"forward", "", std::move(arguments), {c10::Argument("", graph.outputs()[0]->type())}};
}

}  // namespace

std::string segment_class(size_t number) {
  return fmt::format("NnapiSegment{}", number);
}

torch::jit::Module build_host_module(const HostModuleRequest& request) {
  std::vector<std::string> classes;
  for (size_t i = 0; i < request.segments.size(); ++i) classes.push_back(segment_class(i));
  torch::jit::Module host = make_object(host_source(request.interface, classes, bundled_type(request.bundled_inputs)),
                                        {kWrapperClass, request.unit});
  host.setattr("training", false);
  for (size_t i = 0; i < request.segments.size(); ++i) {
    host.setattr(fmt::format("segment_{}", i), request.segments[i]._ivalue());
  }
  set_bundled_inputs(host, request.bundled_inputs);
  const std::shared_ptr<Graph> graph = HostGraph(request, host).run();
  const c10::QualifiedName name(*host.type()->name(), "forward");
  torch::jit::Function* forward = request.unit->create_function(name, graph);
  forward->setSchema(forward_schema(request, *graph));
  host.type()->addMethod(forward);
  return host;
}

}  // namespace nnapi_convert
