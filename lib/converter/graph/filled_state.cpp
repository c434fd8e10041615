// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/filled_state.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/graph/guarded_call.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;
using Paths = std::set<AttributePath>;

const c10::Symbol kFilled = c10::Symbol::attr("filled"), kEmpties = c10::Symbol::attr("empties");

// True for an operator that asks for a tensor's size.
bool asks_for_size(const Node& node) {
  static const c10::Symbol numel = c10::Symbol::aten("numel");
  const c10::Symbol kind = node.kind();
  return kind == c10::aten::len || kind == numel || kind == c10::aten::size || kind == c10::aten::dim;
}

// True for an operator that makes a condition from a size.
bool judges_size(const Node& node) {
  const c10::Symbol kind = node.kind();
  return kind == c10::aten::__getitem__ || kind == c10::aten::__not__ || kind == c10::aten::Bool ||
         kind == c10::aten::Int || kind == c10::aten::eq || kind == c10::aten::ne || kind == c10::aten::lt ||
         kind == c10::aten::le || kind == c10::aten::gt || kind == c10::aten::ge;
}

// Computes `value` from the size of `asked`, as if `asked` were `tensor`. Nothing if `value` needs more than that size.
c10::optional<c10::IValue> computed(const Value& value, const Value& asked, const at::Tensor& tensor) {
  if (&value == &asked) return c10::IValue(tensor);
  if (auto constant = torch::jit::toIValue(&value)) return constant;
  const Node& node = *value.node();
  if (node.outputs().size() != 1 || !(asks_for_size(node) || judges_size(node))) return c10::nullopt;
  torch::jit::Stack stack;
  for (const Value* input : node.inputs()) {
    auto argument = computed(*input, asked, tensor);
    if (!argument) return c10::nullopt;
    stack.push_back(std::move(*argument));
  }
  try {
    call_operator(node, stack);
  } catch (const std::exception&) {  // such as the size of an axis that the tensor lacks
    return c10::nullopt;
  }
  return stack.back();
}

// Returns the tensor from whose size the value is computed; null if there is none.
const Value* asked_tensor(const Value& value) {
  const Node& node = *value.node();
  if (node.inputs().empty() || !(asks_for_size(node) || judges_size(node))) return nullptr;
  return asks_for_size(node) ? node.input(0) : asked_tensor(*node.input(0));
}

// True for a tensor that is certainly without elements.
bool has_no_elements(const Value& value) {
  if (const auto constant = torch::jit::toIValue(&value)) {
    return constant->isTensor() && constant->toTensor().defined() && constant->toTensor().numel() == 0;
  }
  const Node& maker = *value.node();
  if (maker.kind() != c10::aten::zeros && maker.kind() != c10::aten::empty) return false;
  const auto sizes = torch::jit::toIValue(maker.input(0));
  if (sizes && sizes->isIntList()) {
    const std::vector<int64_t> numbers = sizes->toIntVector();
    return std::find(numbers.begin(), numbers.end(), 0) != numbers.end();
  }
  const auto made = maker.input(0)->node()->inputs();
  return std::any_of(made.begin(), made.end(), [](const Value* size) {
    const auto number = torch::jit::toIValue(size);
    return number && number->isInt() && number->toInt() == 0;
  });
}

bool is_within(const Node& node, const Block& block) {
  for (const Block* around = node.owningBlock(); around != nullptr;) {
    if (around == &block) return true;
    const Node* owner = around->owningNode();
    around = owner == nullptr ? nullptr : owner->owningBlock();
  }
  return false;
}

Node* make_filled_read(torch::jit::Graph& graph, Value& read) {
  Node* node = graph.create(c10::aten::alias, {&read}, 1);
  node->output()->setType(c10::TensorType::get());
  node->setSourceRange(read.node()->sourceRange());
  node->i_(kFilled, 1);
  return node;
}

class FilledState {
 public:
  explicit FilledState(NormalisedModel& model) : model_(model) {}

  void run() {
    for_each_node(*model_.graph, [this](const Node& node) {
      if (!is_attribute_access(node, c10::prim::GetAttr)) return;
      const c10::IValue value = attribute_value(model_.frozen, attribute_path(node));
      const bool is_tensor = value.isTensor() && value.toTensor().defined() && !value.toTensor().is_quantized();
      if (is_tensor && value.toTensor().numel() == 0) empty_.emplace(attribute_path(node), value.toTensor());
    });
    if (empty_.empty()) return;
    Paths filled;
    visit(*model_.graph->block(), filled);
    for (const auto& [path, read] : open_reads_) {
      if (!is_only_asked(*read)) empty_.erase(path);
    }
    Paths marked;
    for (const Guarded& each : guarded_) {
      if (empty_.count(each.path) != 0 && mark_within(*each.read, *each.block)) marked.insert(each.path);
    }
    for (const auto& [path, read] : filled_reads_) {
      if (empty_.count(path) == 0) continue;
      mark_behind(*read);
      marked.insert(path);
    }
    for (const auto& [path, set] : emptying_) {
      if (marked.count(path) != 0) set->i_(kEmpties, 1);
    }
  }

 private:
  // A branch that runs only if `read`, the attribute's tensor, has elements.
  struct Guarded {
    AttributePath path;
    Value* read;
    Block* block;
  };

  // Visits the nodes in order. `filled` holds the attributes that have elements at the current node.
  void visit(Block& block, Paths& filled) {
    for (Node* node : block.nodes()) {
      if (is_attribute_access(*node, c10::prim::SetAttr)) {
        set(*node, filled);
      } else if (is_attribute_access(*node, c10::prim::GetAttr)) {
        read(*node, filled);
      } else if (node->kind() == c10::prim::If) {
        branch(*node, filled);
      } else if (!node->blocks().empty()) {
        repeat(*node, filled);
      }
    }
  }

  void set(Node& node, Paths& filled) {
    const AttributePath path = attribute_path(node);
    if (empty_.count(path) == 0) return;
    newest_reads_.erase(path);
    if (!has_no_elements(*node.input(1))) {
      filled.insert(path);
      return;
    }
    filled.erase(path);
    emptying_.emplace_back(path, &node);
  }

  void read(Node& node, const Paths& filled) {
    const AttributePath path = attribute_path(node);
    if (empty_.count(path) == 0) return;
    if (filled.count(path) != 0) return filled_reads_.push_back({path, node.output()});
    open_reads_.push_back({path, node.output()});
    newest_reads_[path].insert(node.output());
  }

  void branch(Node& node, Paths& filled) {
    Paths sides[2] = {filled, filled};
    Value* asked = const_cast<Value*>(asked_tensor(*node.input(0)));
    const AttributePath path = asked == nullptr ? AttributePath() : path_of_newest(*asked);
    if (const auto side = path.empty() ? std::nullopt : side_with_elements(*node.input(0), *asked, path)) {
      sides[*side].insert(path);
      guarded_.push_back({path, asked, node.blocks()[*side]});
    }
    for (size_t i = 0; i < 2; ++i) visit(*node.blocks()[i], sides[i]);
    filled.clear();
    std::set_intersection(sides[0].begin(), sides[0].end(), sides[1].begin(), sides[1].end(),
                          std::inserter(filled, filled.begin()));
  }

  // Visits a loop. Forgets the attributes that the loop sets, as an earlier round may have set them.
  void repeat(Node& node, Paths& filled) {
    for_each_node(node, [&](const Node& each) {
      if (!is_attribute_access(each, c10::prim::SetAttr)) return;
      filled.erase(attribute_path(each));
      newest_reads_.erase(attribute_path(each));
    });
    for (Block* block : node.blocks()) {
      Paths inside = filled;
      visit(*block, inside);
    }
  }

  // Returns the attribute that the value was read from; an empty path if a node has set the attribute since.
  AttributePath path_of_newest(Value& value) const {
    for (const auto& [path, reads] : newest_reads_) {
      if (reads.count(&value) != 0) return path;
    }
    return {};
  }

  // Returns the number of the If's block that runs only where the tensor has elements; nothing if there is none.
  std::optional<size_t> side_with_elements(const Value& condition, const Value& asked,
                                           const AttributePath& path) const {
    const auto empty = computed(condition, asked, empty_.at(path));
    const auto few = computed(condition, asked, at::zeros({1})), more = computed(condition, asked, at::zeros({3, 2}));
    if (!empty || !few || !more || !empty->isBool() || !few->isBool() || !more->isBool()) return std::nullopt;
    if (few->toBool() != more->toBool() || empty->toBool() == few->toBool()) return std::nullopt;
    return few->toBool() ? 0 : 1;
  }

  // True if the value is used only to ask for its size, and in branches where it has elements.
  bool is_only_asked(const Value& read) const {
    return std::all_of(read.uses().begin(), read.uses().end(), [&](const torch::jit::Use& use) {
      return asks_for_size(*use.user) || std::any_of(guarded_.begin(), guarded_.end(), [&](const Guarded& each) {
               return each.read == &read && is_within(*use.user, *each.block);
             });
    });
  }

  void mark_behind(Value& read) {
    Node* made = make_filled_read(*model_.graph, read);
    made->insertAfter(read.node());
    read.replaceAllUsesAfterNodeWith(made, made->output());
  }

  // Marks the read within the block. Returns false if the block doesn't use the value that was read.
  bool mark_within(Value& read, Block& block) {
    std::vector<torch::jit::Use> uses(read.uses().begin(), read.uses().end());
    uses.erase(std::remove_if(uses.begin(), uses.end(),
                              [&](const torch::jit::Use& use) { return !is_within(*use.user, block); }),
               uses.end());
    if (uses.empty()) return false;
    Node* made = make_filled_read(*model_.graph, read);
    block.prependNode(made);
    for (const torch::jit::Use& use : uses) use.user->replaceInput(use.offset, made->output());
    return true;
  }

  NormalisedModel& model_;
  std::map<AttributePath, at::Tensor> empty_;  // attributes whose tensors begin without elements
  std::vector<std::pair<AttributePath, Value*>> filled_reads_, open_reads_;
  std::vector<std::pair<AttributePath, Node*>> emptying_;
  std::map<AttributePath, std::set<const Value*>> newest_reads_;  // since the attribute was set, where it may be empty
  std::vector<Guarded> guarded_;
};

}  // namespace

void mark_filled_state(NormalisedModel& model) {
  FilledState(model).run();
}

bool is_filled_read(const Node& node) {
  return node.kind() == c10::aten::alias && node.hasAttribute(kFilled);
}

bool empties_state(const Node& node) {
  return node.kind() == c10::prim::SetAttr && node.hasAttribute(kEmpties);
}

}  // namespace nnapi_convert
