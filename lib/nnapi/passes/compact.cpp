// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/compact.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "lib/nnapi/dump.h"

namespace nnapi_convert::nnapi {

void drop_unread(Model& model) {
  std::vector<bool> read(model.operands.size(), false);
  for (const Boundary& output : model.outputs) read[static_cast<size_t>(output.operand)] = true;
  std::vector<Operation> kept;
  for (auto operation = model.operations.rbegin(); operation != model.operations.rend(); ++operation) {
    const bool is_read = std::any_of(operation->outputs.begin(), operation->outputs.end(),
                                     [&](OperandId id) { return read[static_cast<size_t>(id)]; });
    if (!is_read) continue;
    for (const OperandId id : operation->inputs) read[static_cast<size_t>(id)] = true;
    kept.push_back(std::move(*operation));
  }
  std::reverse(kept.begin(), kept.end());
  model.operations = std::move(kept);
  if (model.is_subgraph) return;
  auto& inputs = model.inputs;
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(),
                              [&](const Boundary& input) { return !read[static_cast<size_t>(input.operand)]; }),
               inputs.end());
}

namespace {

struct ValueKey {
  std::string operator()(const std::monostate&) const { return ""; }
  std::string operator()(const Omitted&) const { return "omitted"; }
  std::string operator()(const Dims& values) const { return nnapi_convert::to_text(values); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(float value) const { return fmt::format("{}", value); }
  std::string operator()(const Constant& constant) const {
    return fmt::format("{} {:x}", constant.recipe_text(), constant.sample_hash());
  }
  std::string operator()(const Subgraph& subgraph) const { return fmt::format("{}", fmt::ptr(subgraph.get())); }
};

// Returns a key that is equal for equal constants. For weights it holds a hash of the first bytes.
std::string constant_key(const Operand& operand) {
  return type_text(operand) + "=" + std::visit(ValueKey{}, operand.value);
}

bool same_scales(const Operand& a, const Operand& b) {
  if (a.channels == b.channels) return true;
  return a.channels != nullptr && b.channels != nullptr && a.channels->scales == b.channels->scales;
}

bool same_value(const Operand& a, const Operand& b) {
  if (!same_scales(a, b)) return false;
  if (a.constant() == nullptr || b.constant() == nullptr) return true;  // the key holds the whole value
  return *a.constant() == *b.constant();
}

// Returns for each operand the first operand that is the same constant, or the operand itself.
std::vector<OperandId> shared_constants(const Model& model) {
  std::vector<OperandId> shared(model.operands.size());
  std::unordered_map<std::string, std::vector<OperandId>> seen;
  for (size_t i = 0; i < model.operands.size(); ++i) {
    const auto id = static_cast<OperandId>(i);
    shared[i] = id;
    if (!model.operands[i].is_constant()) continue;
    std::vector<OperandId>& candidates = seen[constant_key(model.operands[i])];
    const auto same = std::find_if(candidates.begin(), candidates.end(), [&](OperandId candidate) {
      return same_value(model.at(candidate), model.operands[i]);
    });
    if (same != candidates.end()) {
      shared[i] = *same;
    } else {
      candidates.push_back(id);
    }
  }
  return shared;
}

// Moves operands to a new list in the order of their first use.
class Renumbering {
 public:
  Renumbering(Model& model, std::vector<OperandId> shared)
      : model_(model), shared_(std::move(shared)), new_ids_(model.operands.size(), -1) {}

  void apply(OperandId& id) {
    const auto old_id = static_cast<size_t>(shared_[static_cast<size_t>(id)]);
    if (new_ids_[old_id] < 0) {
      new_ids_[old_id] = static_cast<OperandId>(operands_.size());
      operands_.push_back(std::move(model_.operands[old_id]));
    }
    id = new_ids_[old_id];
  }

  std::vector<Operand> take_operands() { return std::move(operands_); }

 private:
  Model& model_;
  std::vector<OperandId> shared_;
  std::vector<OperandId> new_ids_;
  std::vector<Operand> operands_;
};

}  // namespace

void compact(Model& model) {
  drop_unread(model);
  Renumbering renumbering(model, shared_constants(model));
  for (Boundary& input : model.inputs) renumbering.apply(input.operand);
  for (Operation& operation : model.operations) {
    for (OperandId& id : operation.inputs) renumbering.apply(id);
    for (OperandId& id : operation.outputs) renumbering.apply(id);
  }
  for (Boundary& output : model.outputs) renumbering.apply(output.operand);
  model.operands = renumbering.take_operands();
}

}  // namespace nnapi_convert::nnapi
