// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include "lib/base/error.h"
#include "lib/converter/frontend/cpu_reason.h"
#include "lib/converter/frontend/express_sizes.h"
#include "lib/converter/frontend/frontend.h"
#include "lib/converter/frontend/infer.h"
#include "lib/converter/frontend/quant_mode.h"
#include "lib/converter/frontend/row_wise.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/plan/interface.h"
#include "lib/converter/plan/lower.h"
#include "lib/converter/plan/segment_sizes.h"
#include "lib/nnapi/dump.h"
#include "lib/ops/tensor_limits.h"
#include "lib/ops/value_range.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// Returns the node's source line; if it has none, the line of a node that reads its output.
std::string line_of(const Node& node) {
  std::string where = source_of(node);
  for (const Value* output : node.outputs()) {
    for (const torch::jit::Use& use : output->uses()) {
      if (where.empty()) where = source_of(*use.user);
    }
  }
  return where;
}

// Returns the name of a node for messages.
std::string name_of_origin(const Node& node) {
  if (node.kind() == c10::prim::Loop) return "the loop";
  if (node.kind() == c10::prim::If) return "the branch";
  return node.kind().toQualString();
}

// Returns a valid Python name that no local variable of the emitted source has: "x3_features_0".
std::string argument_name(const Value& value, size_t number) {
  std::string name = fmt::format("x{}_", number);
  for (const char letter : value.debugName()) name += std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
  return name;
}

bool is_plain_number(const Value& value) {
  const c10::TypeKind kind = value.type()->kind();
  return kind == c10::TypeKind::FloatType || kind == c10::TypeKind::IntType || kind == c10::TypeKind::BoolType;
}

// Says what isn't known of a value: the types of what it depends on end at the node `end`.
std::string unknown_in(const Value& value, const Node& end, const char* what) {
  if (is_plain_number(value)) return fmt::format("{} is a number that is known only when the model runs", what);
  const std::string origin = end.kind().toUnqualString();
  if (origin == "_make_per_channel_quantized_tensor" || origin == "quantize_per_channel") {
    return fmt::format("{} has a scale for each channel, and NNAPI has no such tensors but weights", what);
  }
  return fmt::format("the shape of {} is known only when the model runs", what);
}

class Extraction {
 public:
  Extraction(const std::vector<Node*>& nodes, const TypeMap& types, const std::optional<SegmentRows>& rows)
      : nodes_(nodes), types_(types), inside_(nodes.begin(), nodes.end()) {
    segment_.model.graph = std::make_shared<Graph>();
    segment_.rows = rows;
    std::vector<Dims> sizes;
    std::unordered_set<const Value*> seen;
    for (const Node* node : nodes_) add_input_sizes(*node, seen, sizes);
    sizes_.emplace(sizes);
    if (!rows) add_size_inputs(seen, sizes);
  }

  Segment run() {
    for (Node* node : nodes_) copy(*node);
    for (Value* input : size_inputs_) add_input(input);
    segment_.size_inputs = size_inputs_.size();
    for (const auto& [original, value] : values_) segment_.names[value->debugName()] = original->debugName();
    for (Node* node : nodes_) {
      for (Value* output : node->outputs()) {
        if (leaves(*output)) add_output(output);
      }
    }
    compute_numbers();
    make_return();
    return std::move(segment_);
  }

 private:
  Graph& graph() { return *segment_.model.graph; }

  // Adds the sizes of tensors from outside that the node reads, in the order in which map() makes them inputs.
  void add_input_sizes(const Node& node, std::unordered_set<const Value*>& seen, std::vector<Dims>& sizes) {
    for (const Value* value : node.inputs()) {
      if (inside_.count(value->node()) != 0 || !seen.insert(value).second) continue;
      if (value->node()->kind() == c10::prim::Constant) continue;
      if (is_glue(*value->node())) {
        add_input_sizes(*value->node(), seen, sizes);
      } else if (const TensorType* type = tensor_type_of(value, types_)) {
        sizes.push_back(in_one_call(type->dims));
      } else if (const auto known = types_.find(value); known != types_.end()) {
        const Dims* numbers = std::get_if<Dims>(&known->second);
        if (numbers != nullptr && std::none_of(numbers->begin(), numbers->end(), is_of_values))
          read_.push_back(*numbers);
      }
    }
  }

  size_t told_numbers() const {
    return static_cast<size_t>(std::count_if(read_.begin(), read_.end(),
                                             [this](const Dims& numbers) { return sizes_->own(numbers).has_value(); }));
  }

  // Adds inputs of the whole model for numbers that no tensor of the segment tells. Such an input is handed over for
  // its sizes alone: NNAPI doesn't get it.
  void add_size_inputs(const std::unordered_set<const Value*>& seen, std::vector<Dims> sizes) {
    size_t told = told_numbers();
    for (Value* input : nodes_[0]->owningGraph()->inputs()) {
      if (told == read_.size()) return;
      const TensorType* type = tensor_type_of(input, types_);
      if (type == nullptr || all_fixed(type->dims) || !has_operand_code(type->dtype) || seen.count(input) != 0)
        continue;
      sizes.push_back(type->dims);
      sizes_.emplace(sizes);
      const size_t now = told_numbers();
      if (now > told) {
        size_inputs_.push_back(input);
      } else {
        sizes.pop_back();
        sizes_.emplace(sizes);
      }
      told = now;
    }
  }

  void copy(Node& node) {
    for (Value* input : node.inputs()) map(input);
    Node* clone = graph().insertNode(graph().createClone(&node, [this](Value* value) { return values_.at(value); }));
    for (size_t i = 0; i < node.outputs().size(); ++i) values_[node.output(i)] = clone->output(i);
  }

  void map(Value* value) {
    if (values_.count(value) != 0) return;
    if (value->node()->kind() == c10::prim::Constant || is_glue(*value->node())) {
      copy(*value->node());
    } else if (const auto numbers = numbers_of_one_call(*value)) {
      values_[value] = graph().insertConstant(*numbers);
    } else if (const auto own = own_numbers(*value)) {
      Value* later = graph().insertNode(graph().create(c10::prim::Uninitialized))->output();
      values_[value] = later->setType(value->type());
      numbers_.emplace_back(later, *own);
    } else {
      add_input(value);
    }
  }

  // Replaces the size of the rows by the number of rows in one call; other open sizes stay.
  Dims in_one_call(const Dims& dims) const {
    Dims result = dims;
    for (Dim& dim : result) {
      const std::set<OpenSize> sizes = open_sizes_in(dim);
      if (!segment_.rows || sizes != std::set<OpenSize>{segment_.rows->size}) continue;
      dim = dim.evaluate([this](int, int) { return segment_.rows->per_call; });
    }
    return result;
  }

  // Returns numbers computed from the number of rows, for the rows of one call; nothing for other values.
  std::optional<c10::IValue> numbers_of_one_call(const Value& value) const {
    const auto found = types_.find(&value);
    const Dims* numbers = found == types_.end() ? nullptr : std::get_if<Dims>(&found->second);
    if (numbers == nullptr) return std::nullopt;
    const Dims fixed = in_one_call(*numbers);
    return all_fixed(fixed) ? std::optional<c10::IValue>(sizes_constant(value, fixed_values(fixed))) : std::nullopt;
  }

  // Returns numbers that are made of open sizes, expressed by the sizes of the segment's inputs; nothing for other
  // values.
  std::optional<Dims> own_numbers(const Value& value) const {
    const auto found = types_.find(&value);
    const Dims* numbers = found == types_.end() ? nullptr : std::get_if<Dims>(&found->second);
    return numbers == nullptr ? std::nullopt : sizes_->own(in_one_call(*numbers));
  }

  // Computes the numbers in front of all other nodes.
  void compute_numbers() {
    if (numbers_.empty()) return;
    const torch::jit::WithInsertPoint begin(*graph().nodes().begin());
    for (const auto& [later, numbers] : numbers_) {
      std::vector<Value*> made;
      for (const Dim& number : numbers) {
        made.push_back(insert_size(graph(), number, [this](const OpenSize& size) {
          Value* input = segment_.model.inputs.at(static_cast<size_t>(size.first));
          return graph().insert(c10::aten::size, {input, static_cast<int64_t>(size.second)});
        }));
      }
      const bool is_list = later->type()->kind() == c10::TypeKind::ListType;
      Value* result =
          is_list ? graph().insertNode(graph().createList(c10::IntType::get(), made))->output() : made.at(0);
      if (later->type()->kind() == c10::TypeKind::TensorType) {
        result = graph().insertNode(graph().createNumToTensor(result))->output();
      }
      later->replaceAllUsesWith(result);
    }
    for (const auto& [later, numbers] : numbers_) later->node()->destroy();  // the first may be the insert point
  }

  static constexpr const char* kResult = "its result";

  // Returns the node of the segment that reads the value, directly or in a list, tuple or dict; null for a result of
  // it.
  const Node* reader_of(const Value& value) const {
    for (const torch::jit::Use& use : value.uses()) {
      if (inside_.count(use.user) != 0) return use.user;
      const Node* reader = is_glue(*use.user) ? reader_of(*use.user->output()) : nullptr;
      if (reader != nullptr) return reader;
    }
    return nullptr;
  }

  [[noreturn]] void refuse(const Value& value, const std::string& message) const {
    const Node* node = inside_.count(value.node()) != 0 ? value.node() : reader_of(value);
    throw RefusedNode(message, node == nullptr ? *nodes_[0] : *node);
  }

  TensorType type_of(const Value& value, const char* what) const {
    const TensorType* type = tensor_type_of(&value, types_);
    if (type != nullptr && has_operand_code(type->dtype)) {
      const Dims dims = in_one_call(type->dims);
      const TensorType result = type->with_dims(sizes_->own(dims).value_or(dims));
      if (is_empty(result)) {
        refuse(value, fmt::format("{} has no elements: {}; NNAPI needs sizes of 1 or more", what, to_text(result)));
      }
      if (segment_.rows && !all_fixed(result.dims)) {
        refuse(value, fmt::format("{} has an open size beside one that depends on values", what));
      }
      // Inference expresses the open sizes of results by those of inputs, in whatever form the model's are simplified.
      const bool is_told = what == kResult && std::none_of(dims.begin(), dims.end(), is_of_values);
      if (is_told || sizes_->own(dims)) return result;
    }
    const auto known = types_.find(&value);
    if (known == types_.end()) refuse_unknown(value, what);
    if (std::holds_alternative<Dims>(known->second)) {
      refuse(value, "it reads an open size that none of its tensors has");
    }
    refuse(value, fmt::format("{} {}", what,
                              type == nullptr ? "is a list"
                              : !all_fixed(type->dims)
                                  ? "has a size that depends on values"
                                  : fmt::format("is {}; NNAPI gets float32, int32, int64 and bool", to_text(*type))));
  }

  // Throws an error that names the operator after which the value's type is unknown.
  [[noreturn]] void refuse_unknown(const Value& value, const char* what) const {
    const Node* end = inside_.count(value.node()) != 0 ? nullptr : where_types_end(value, types_);
    if (end != nullptr) {
      throw UnknownType(fmt::format("{}: it depends on {}", unknown_in(value, *end, what), name_of_origin(*end)),
                        line_of(*end));
    }
    refuse(value, fmt::format("the shape of {} is known only when the model runs", what));
  }

  void add_input(Value* value) {
    segment_.input_types.push_back(type_of(*value, "its input"));
    segment_.model_sizes.push_back(in_one_call(tensor_type_of(value, types_)->dims));
    segment_.input_row_axes.push_back(row_axis_of(*value));
    Value* input = graph().addInput();
    input->setType(c10::TensorType::get());
    values_[value] = input;
    if (const auto range = integer_range(*value, types_)) note_range(*input, *range);
    segment_.model.inputs.push_back(input);
    segment_.model.input_names.push_back(argument_name(*value, segment_.inputs.size()));
    segment_.inputs.push_back(value);
  }

  std::optional<size_t> row_axis_of(const Value& value) const {
    if (!segment_.rows) return std::nullopt;
    return row_axis(std::get<TensorType>(types_.at(&value)), segment_.rows->size);
  }

  // True if a node outside the segment reads the value, directly or in a list, tuple or dict.
  bool leaves(const Value& value) const {
    const auto& uses = value.uses();
    return std::any_of(uses.begin(), uses.end(), [&](const torch::jit::Use& use) {
      if (inside_.count(use.user) != 0) return false;
      return !is_glue(*use.user) || leaves(*use.user->output());
    });
  }

  void add_output(Value* value) {
    segment_.output_types.push_back(type_of(*value, kResult));
    segment_.output_row_axes.push_back(row_axis_of(*value));
    segment_.outputs.push_back(value);
    segment_.model.outputs.push_back(values_.at(value));
  }

  void make_return() {
    NormalisedModel& model = segment_.model;
    for (Value* output : model.outputs) graph().registerOutput(output);
    if (model.outputs.size() == 1) return;
    model.return_tree.kind = ReturnTree::Kind::kTuple;
    for (size_t i = 0; i < model.outputs.size(); ++i) {
      ReturnTree element;
      element.tensor = i;
      model.return_tree.elements.push_back(element);
    }
  }

  const std::vector<Node*>& nodes_;
  const TypeMap& types_;
  std::unordered_set<const Node*> inside_;
  std::unordered_map<const Value*, Value*> values_;
  std::optional<SegmentSizes> sizes_;
  std::vector<Dims> read_;  // numbers from outside that are made of open sizes
  std::vector<Value*> size_inputs_;
  std::vector<std::pair<Value*, Dims>> numbers_;  // values that are computed later, of open sizes of the segment
  Segment segment_;
};

Offer refused(std::vector<Refusal> nodes) {
  SegmentRefusal refusal{nodes[0].message()};
  for (const Refusal& node : nodes) {
    if (!node.where.empty()) refusal.refused_sources.insert(node.where);
  }
  refusal.nodes = std::move(nodes);
  return {{}, std::move(refusal)};
}

// Returns boundaries without quantising and dequantising.
QuantBoundaries plain_boundaries(const Segment& segment) {
  QuantBoundaries boundaries;
  for (const TensorType& type : segment.input_types) boundaries.inputs.push_back({type, std::nullopt});
  boundaries.outputs.resize(segment.outputs.size());
  return boundaries;
}

// Returns the choice without the input numbers of --nhwc, as these refer to inputs of the whole model.
LayoutChoice layout_of_segments(LayoutChoice layout) {
  layout.nhwc_inputs.clear();
  return layout;
}

}  // namespace

Segment extract_segment(const std::vector<Node*>& nodes, const TypeMap& types, const std::optional<SegmentRows>& rows) {
  return Extraction(nodes, types, rows).run();
}

Offer lower_segment(Segment& segment, const PlanOptions& options, Diagnostics& diagnostics) {
  InferredTypes inferred = infer(segment.model, segment.input_types, infer_options(options));
  if (!inferred.refusals.empty()) return refused(std::move(inferred.refusals));
  LoweredModel lowered = lower(segment.model, segment.input_types, inferred.types, target_of(options), diagnostics);
  if (!lowered.refusals.empty()) return refused(std::move(lowered.refusals));
  const std::vector<TensorType> outputs = output_types(segment.model, inferred.types);
  NnapiPart part;
  part.interface =
      make_interface(segment.model, plain_boundaries(segment), lowered, segment.input_types, outputs, outputs);
  part.interface.owns_outputs = true;
  part.model = std::move(lowered.model);
  for (nnapi::Operand& operand : part.model.operands) {
    const auto name = segment.names.find(operand.name);
    // Operators inserted by a rewrite have values with no name in the model's graph: their operands stay unnamed.
    operand.name = name == segment.names.end() ? "" : name->second;
  }
  optimise_part(part, options, layout_of_segments(options.layout), diagnostics);
  return {std::move(part), std::nullopt};
}

}  // namespace nnapi_convert
