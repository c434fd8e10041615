// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/method_writer.h"

#include <fmt/format.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "lib/converter/emit/integer_boundary.h"
#include "lib/converter/emit/program_forms.h"
#include "lib/converter/emit/program_lifetimes.h"
#include "lib/converter/emit/program_limits.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {
namespace {

using program_format::kConstantBit;
using program_format::Opcode;
using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// The place of a value of the graph in the program: an operand, a module, or a segment that can be called.
struct Place {
  enum class Kind { kOperand, kModule, kCall } kind = Kind::kOperand;
  uint32_t number = 0;  // of the operand, or of the segment that is called
  std::optional<torch::jit::Module> module = {};
};

class MethodWriter {
 public:
  explicit MethodWriter(const ProgramPlace& place)
      : writer_(place.writer),
        parts_(place.parts),
        segments_(place.segments),
        refusals_(place.refusals),
        raised_(place.raised) {}

  // Writes a method of the module. `outputs` are those of NNAPI, in a model that it runs whole.
  ProgramMethod run(const torch::jit::Method& method, const std::vector<Quantization>& outputs) {
    const std::shared_ptr<Graph> graph = method.graph()->copy();
    torch::jit::Inline(*graph);
    use_integers(*graph, outputs);
    use_program_forms(graph);
    ProgramMethod result;
    result.name = method_ = method.name();
    const std::vector<c10::Argument>& arguments = method.function().getSchema().arguments();
    places_[graph->inputs()[0]] = {Place::Kind::kModule, 0, method.owner()};
    for (size_t i = 1; i < graph->inputs().size(); ++i) result.arguments.push_back(argument_of(arguments[i]));
    write(*graph, 1, result);
    return result;
  }

  // Writes the graph of a segment on the CPU.
  ProgramMethod run(Graph& graph, const std::string& name) {
    ProgramMethod result;
    result.name = method_ = name;
    for (size_t i = 0; i < graph.inputs().size(); ++i) result.arguments.push_back({fmt::format("{}", i), "Tensor"});
    write(graph, 0, result);
    return result;
  }

 private:
  // Writes the code of a graph, whose arguments begin with the input `first`.
  void write(Graph& graph, size_t first, ProgramMethod& method) {
    lifetimes_.emplace(graph);
    for (size_t i = first; i < graph.inputs().size(); ++i) make_register(graph.inputs()[i]);
    for (size_t i = first; i < graph.inputs().size(); ++i) {
      if (!lifetimes_->is_read(graph.inputs()[i])) drop(registers_of({graph.inputs()[i]}));
    }
    write_nodes(*graph.block());
    describe("its result", [&] {
      method.result = operand(graph.outputs()[0]);
      method.result_type = program_type(graph.outputs()[0]->type());
    });
    method.registers = register_count_;
    method.code = std::move(code_);
  }

  // Calls `make`. Refuses the method where programs can't hold one of its arguments, or its result.
  template <typename Make>
  void describe(const std::string& what, const Make& make) {
    try {
      make();
    } catch (const std::invalid_argument& problem) {
      refusals_.push_back({"", method_, fmt::format("{} is {}", what, problem.what()),
                           "tensors, numbers, texts, lists, tuples and dicts of them", ""});
    }
  }

  ProgramArgument argument_of(const c10::Argument& argument) {
    ProgramArgument result{argument.name(), ""};
    describe("argument " + argument.name(), [&] {
      result.type = program_type(argument.type());
      if (argument.default_value()) result.default_plus_1 = writer_.constant(*argument.default_value()) + 1;
    });
    return result;
  }

  // Returns a register that no value has: a free one, or else a new one.
  uint32_t take_register() {
    if (free_.empty()) return register_count_++;
    const uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  uint32_t make_register(const Value* value) {
    const uint32_t number = take_register();
    places_[value] = {Place::Kind::kOperand, number};
    return number;
  }
  // Returns the registers of those values that have one.
  ProgramWords registers_of(const std::vector<const Value*>& values) const {
    ProgramWords numbers;
    for (const Value* value : values) {
      const auto found = places_.find(value);
      if (found == places_.end() || found->second.kind != Place::Kind::kOperand) continue;
      if ((found->second.number & kConstantBit) == 0) numbers.push_back(found->second.number);
    }
    return numbers;
  }
  // Frees registers for other values, which are written before they are read.
  void give_back(const ProgramWords& numbers) { free_.insert(free_.end(), numbers.rbegin(), numbers.rend()); }
  void drop(const ProgramWords& numbers) {
    if (numbers.empty()) return;
    code_.insert(code_.end(), {static_cast<uint32_t>(Opcode::kDrop), static_cast<uint32_t>(numbers.size())});
    code_.insert(code_.end(), numbers.begin(), numbers.end());
    give_back(numbers);
  }

  uint32_t operand(const Value* given) {
    const Value* value = lifetimes_->root(given);
    const Node& node = *value->node();
    if (node.kind() == c10::prim::Constant) {
      const std::optional<c10::IValue> constant = torch::jit::toIValue(value);
      if (!constant) throw std::invalid_argument("a constant of type " + value->type()->repr_str());
      return writer_.constant(*constant) | kConstantBit;
    }
    if (node.kind() == c10::prim::Uninitialized) return writer_.none() | kConstantBit;
    const Place& place = places_.at(value);
    if (place.kind != Place::Kind::kOperand) throw std::invalid_argument("an object of the module as a value");
    return place.number;
  }

  void begin(Opcode opcode, const Node& node) {
    code_.push_back(static_cast<uint32_t>(opcode) | (writer_.place(source_of(node)) << 8));
  }
  void push_operands(const Node& node) {
    for (const Value* input : node.inputs()) code_.push_back(operand(input));
  }

  // Returns the code of a block, apart from the code around it.
  ProgramWords code_of(const Block& block) {
    ProgramWords outside;
    std::swap(outside, code_);
    write_nodes(block);
    std::swap(outside, code_);
    return outside;
  }

  void write_nodes(const Block& block) {
    for (const Node* node : block.nodes()) {
      const size_t begin = code_.size();
      try {
        write(*node);
      } catch (const std::invalid_argument& problem) {
        code_.resize(begin);
        refuse(*node, problem.what());
      }
      drop(registers_of(lifetimes_->last_read_by(*node)));
    }
  }

  // Refuses a node. In a branch, which may never run, an error takes the node's place. Elsewhere, and for a call of
  // NNAPI, which is what the file is for, there is no program.
  void refuse(const Node& node, const std::string& found) {
    const bool is_in_branch = depth_ > 0 && node.kind() != c10::prim::CallMethod;
    (is_in_branch ? raised_ : refusals_)
        .push_back({source_of(node), node.kind().toQualString(), found,
                    "what docs/shim.md lists for models without PyTorch", ""});
    if (is_in_branch) {
      begin(Opcode::kRaise, node);
      code_.push_back(writer_.constant(c10::IValue("nnapi-convert: this branch needs PyTorch: " + found)) |
                      kConstantBit);
    }
    for (const Value* output : node.outputs()) {
      if (places_.count(output) == 0) make_register(output);
      if (places_.at(output).kind != Place::Kind::kOperand) continue;
      code_.insert(code_.end(), {static_cast<uint32_t>(Opcode::kTuple), 0, places_.at(output).number});
    }
  }

  void write(const Node& node) {
    switch (node.kind()) {
      case c10::prim::Constant:
      case c10::prim::Uninitialized:
      case c10::prim::unchecked_cast:
        return;
      case c10::prim::GetAttr:
        return write_get(node);
      case c10::prim::SetAttr:
        return write_set(node);
      case c10::prim::isinstance:
        places_[node.output()] = {Place::Kind::kOperand, writer_.constant(is_instance(node)) | kConstantBit};
        return;
      case c10::prim::CreateObject:
        begin(Opcode::kObject, node);
        code_.push_back(static_cast<uint32_t>(node.output()->type()->expectRef<c10::ClassType>().numAttributes()));
        code_.push_back(make_register(node.output()));
        return;
      case c10::prim::ListConstruct:
        if (lifetimes_->is_part_of_call(node)) return;
        return write_sequence(node, Opcode::kList, node.inputs().size());
      case c10::prim::TupleConstruct:
        return write_sequence(node, Opcode::kTuple, node.inputs().size());
      case c10::prim::DictConstruct:
        return write_sequence(node, Opcode::kDict, node.inputs().size() / 2);
      case c10::prim::ListUnpack:
      case c10::prim::TupleUnpack:
        begin(Opcode::kUnpack, node);
        code_.push_back(operand(node.input()));
        code_.push_back(static_cast<uint32_t>(node.outputs().size()));
        return push_results(node);
      case c10::prim::Print:
        return;  // an app has no console
      case c10::prim::RaiseException:
        begin(Opcode::kRaise, node);
        code_.push_back(operand(node.input(0)));
        return;
      case c10::prim::If:
        return write_if(node);
      case c10::prim::Loop:
        return write_loop(node);
      case c10::prim::CallMethod:
        return write_call(node);
      default:
        return write_operator(node);
    }
  }

  // Answers isinstance() by static types. Throws std::invalid_argument where they don't tell.
  static bool is_instance(const Node& node) {
    const c10::TypePtr& type = node.input()->type();
    const std::vector<c10::TypePtr>& types = node.tys(c10::attr::types);
    const auto holds = [&](const c10::TypePtr& each) { return type->isSubtypeOf(*each); };
    if (std::any_of(types.begin(), types.end(), holds)) return true;
    const auto may_hold = [&](const c10::TypePtr& each) { return each->isSubtypeOf(*type); };
    if (std::any_of(types.begin(), types.end(), may_hold))
      throw std::invalid_argument("isinstance() of " + type->repr_str());
    return false;
  }

  void push_results(const Node& node) {
    for (const Value* output : node.outputs()) code_.push_back(make_register(output));
  }

  void write_sequence(const Node& node, Opcode opcode, size_t count) {
    begin(opcode, node);
    code_.push_back(static_cast<uint32_t>(count));
    push_operands(node);
    code_.push_back(make_register(node.output()));
  }

  const Place* place_of(const Value* value) const {
    const auto found = places_.find(lifetimes_->root(value));
    return found == places_.end() ? nullptr : &found->second;
  }

  void write_get(const Node& node) {
    const Place* of = place_of(node.input());
    const std::string& name = node.s(c10::attr::name);
    if (of != nullptr && of->kind == Place::Kind::kModule) {
      const torch::jit::Module module = *of->module;
      const c10::IValue value = module.attr(name);
      const std::optional<uint32_t> segment = parts_.segment(module);
      if (value.isModule()) {
        places_[node.output()] = {Place::Kind::kModule, 0, value.toModule()};
      } else if (segment && name == kCompilationAttribute) {
        places_[node.output()] = {Place::Kind::kCall, *segment};
      } else {
        const uint32_t state = state_object(node);
        begin(Opcode::kGetField, node);
        code_.insert(code_.end(), {state, parts_.field(module, name)});
        code_.push_back(make_register(node.output()));
        drop({state});
      }
      return;
    }
    begin(Opcode::kGetField, node);
    code_.push_back(operand(node.input()));
    code_.push_back(slot_of(node));
    code_.push_back(make_register(node.output()));
  }

  void write_set(const Node& node) {
    const Place* of = place_of(node.input(0));
    const bool is_state = of != nullptr && of->kind == Place::Kind::kModule;
    const uint32_t object = is_state ? state_object(node) : operand(node.input(0));
    begin(Opcode::kSetField, node);
    code_.push_back(object);
    code_.push_back(is_state ? parts_.field(*of->module, node.s(c10::attr::name)) : slot_of(node));
    code_.push_back(operand(node.input(1)));
    if (is_state) drop({object});
  }

  uint32_t state_object(const Node& node) {
    begin(Opcode::kGetState, node);
    code_.push_back(take_register());
    return code_.back();
  }
  static uint32_t slot_of(const Node& node) {
    const auto& type = node.input(0)->type()->expectRef<c10::ClassType>();
    return static_cast<uint32_t>(type.getAttributeSlot(node.s(c10::attr::name)));
  }

  // Writes the condition, the counts, the code's lengths, the results, what the blocks give, and the blocks' code.
  void write_if(const Node& node) {
    const uint32_t condition = operand(node.input());
    ProgramWords results, given, blocks;
    for (const Value* output : node.outputs()) results.push_back(make_register(output));
    ProgramWords lengths;
    for (const Block* block : node.blocks()) {
      ++depth_;
      const ProgramWords code = code_of(*block);
      --depth_;
      for (const Value* output : block->outputs()) given.push_back(operand(output));
      lengths.push_back(static_cast<uint32_t>(code.size()));
      blocks.insert(blocks.end(), code.begin(), code.end());
      give_back(registers_of(lifetimes_->left_by(*block)));
    }
    begin(Opcode::kIf, node);
    code_.insert(code_.end(), {condition, static_cast<uint32_t>(results.size()), lengths[0], lengths[1]});
    code_.insert(code_.end(), results.begin(), results.end());
    code_.insert(code_.end(), given.begin(), given.end());
    code_.insert(code_.end(), blocks.begin(), blocks.end());
  }

  void write_loop(const Node& node) {
    ProgramWords head{operand(node.input(0)), operand(node.input(1)), static_cast<uint32_t>(node.outputs().size())};
    ProgramWords starts, results, own, given;
    for (size_t i = 2; i < node.inputs().size(); ++i) starts.push_back(operand(node.input(i)));
    for (const Value* output : node.outputs()) results.push_back(make_register(output));
    const Block& body = *node.blocks()[0];
    for (const Value* input : body.inputs()) own.push_back(make_register(input));
    const ProgramWords code = code_of(body);
    for (const Value* output : body.outputs()) given.push_back(operand(output));
    give_back(registers_of(lifetimes_->left_by(body)));
    begin(Opcode::kLoop, node);
    head.push_back(static_cast<uint32_t>(code.size()));
    for (const ProgramWords* words : {&std::as_const(head), &std::as_const(starts), &std::as_const(results),
                                      &std::as_const(own), &std::as_const(given), &code})
      code_.insert(code_.end(), words->begin(), words->end());
  }

  // Writes a call of a compilation's methods: run_direct(arguments, scales), run_direct_to_one(arguments, scale),
  // run(arguments, inputs, scales), check(arguments).
  void write_call(const Node& node) {
    const Place* of = place_of(node.input(0));
    const std::string& name = node.s(c10::attr::name);
    if (of == nullptr || of->kind != Place::Kind::kCall) throw std::invalid_argument("a call of " + name);
    if (name == "check") return;  // a segment checks its arguments
    const bool gives_one = name == "run_direct_to_one", is_raw = name == "run";
    if (!gives_one && !is_raw && name != "run_direct") throw std::invalid_argument("a call of " + name);
    const std::vector<c10::IValue> scales = scales_of(node, gives_one, is_raw);
    const auto has_scale = [](const c10::IValue& scale) { return scale.toDouble() != 0; };
    if (std::any_of(scales.begin(), scales.end(), has_scale)) throw std::invalid_argument("a quantised result");
    const Node& arguments = *node.input(1)->node();
    begin(is_raw ? Opcode::kRawSegment : Opcode::kSegment, node);
    code_.push_back(of->number);
    code_.push_back(static_cast<uint32_t>(arguments.inputs().size()));
    if (is_raw) code_.push_back(static_cast<uint32_t>(node.input(2)->node()->inputs().size()));
    code_.push_back(static_cast<uint32_t>(scales.size()));
    push_operands(arguments);
    if (is_raw) push_operands(*node.input(2)->node());
    segments_.at(of->number) = {
        {static_cast<uint32_t>(arguments.inputs().size()), static_cast<uint32_t>(scales.size())}, is_raw};
    if (gives_one) {
      code_.push_back(make_register(node.output()));
      return;
    }
    ProgramWords outputs;
    for (size_t i = 0; i < scales.size(); ++i) outputs.push_back(take_register());
    code_.insert(code_.end(), outputs.begin(), outputs.end());
    begin(Opcode::kList, node);
    code_.push_back(static_cast<uint32_t>(outputs.size()));
    code_.insert(code_.end(), outputs.begin(), outputs.end());
    code_.push_back(make_register(node.output()));
    drop(outputs);
  }

  static std::vector<c10::IValue> scales_of(const Node& node, bool gives_one, bool is_raw) {
    const Value* scales = node.input(is_raw ? 3 : 2);
    std::vector<c10::IValue> result;
    if (gives_one) {
      result.push_back(*torch::jit::toIValue(scales));
    } else if (const auto list = torch::jit::toIValue(scales)) {
      for (const double scale : list->toDoubleVector()) result.emplace_back(scale);
    } else {
      for (const Value* scale : scales->node()->inputs()) result.push_back(*torch::jit::toIValue(scale));
    }
    return result;
  }

  void write_operator(const Node& node) {
    const c10::FunctionSchema* schema = node.maybeSchema();
    const std::string name = schema == nullptr ? node.kind().toQualString() : c10::toString(schema->operator_name());
    check_programs_have(node, name);
    begin(Opcode::kOperator, node);
    code_.insert(code_.end(), {writer_.op(name), static_cast<uint32_t>(node.inputs().size()),
                               static_cast<uint32_t>(node.outputs().size())});
    push_operands(node);
    push_results(node);
  }

  ProgramWriter& writer_;
  ModuleParts& parts_;
  std::vector<SegmentCall>& segments_;
  std::vector<Refusal>&refusals_, &raised_;
  std::string method_;
  size_t depth_ = 0;  // number of branches around the node
  std::optional<Lifetimes> lifetimes_;
  std::unordered_map<const Value*, Place> places_;
  uint32_t register_count_ = 0;
  std::vector<uint32_t> free_;
  ProgramWords code_;
};

}  // namespace

ProgramMethod write_method(const ProgramPlace& place, const torch::jit::Method& method,
                           const std::vector<Quantization>& outputs) {
  return MethodWriter(place).run(method, outputs);
}

ProgramMethod write_function(const ProgramPlace& place, torch::jit::Graph& graph, const std::string& name) {
  return MethodWriter(place).run(graph, name);
}

}  // namespace nnapi_convert
