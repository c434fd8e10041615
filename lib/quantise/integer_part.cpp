// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/integer_part.h"

#include <algorithm>
#include <map>
#include <optional>

#include "lib/format/operation_table.h"
#include "lib/nnapi/cost.h"
#include "lib/nnapi/integer_forms.h"
#include "lib/quantise/groups.h"
#include "lib/quantise/minimum_cut.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::OperandId;
using nnapi::Operation;

constexpr int64_t kUnknownWork = 1000000000;  // for flexible sizes: more than any tensor's elements

int64_t elements_of(const Model& model, OperandId id) {
  return std::max<int64_t>(1, nnapi::element_count(model.at(id)).value_or(1));
}

// Returns how much an operation gains by integers, in multiply-adds.
int64_t gain_of(const Model& model, const Operation& operation) {
  const Count macs = nnapi::multiply_adds(model, operation);
  if (!macs.is_known()) return kUnknownWork;
  if (macs.value_or(0) > 0) return macs.value_or(0);
  const bool is_exact = nnapi::only_moves(operation.code) || find_operation(operation.code)->fused_as != FuseCode::NONE;
  return is_exact ? elements_of(model, operation.outputs[0]) / 4 : 0;
}

class Parting {
 public:
  Parting(const Model& model, bool integer_outputs, std::vector<bool>& is_integer)
      : model_(model),
        integer_outputs_(integer_outputs),
        is_integer_(is_integer),
        network_(model.operations.size() + 2),
        groups_(model.operands.size()) {}

  void run() {
    readers_.resize(model_.operands.size());
    makers_.resize(model_.operands.size());
    for (size_t i = 0; i < model_.operations.size(); ++i) add_operation(i);
    for (const nnapi::Boundary& output : model_.outputs) {
      readers_[static_cast<size_t>(output.operand)].push_back(integer_outputs_ ? FlowNetwork::kSource
                                                                               : FlowNetwork::kSink);
    }
    for (size_t i = 0; i < model_.operands.size(); ++i) add_tensor(static_cast<OperandId>(i));
    const std::vector<bool> has_float = groups_with_float();
    const std::vector<bool> is_gain = network_.source_side();
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      if (is_integer_[i] && has_float[group_of(i)]) is_integer_[i] = is_gain[node(i)];
    }
  }

 private:
  static size_t node(size_t operation) { return operation + 2; }

  void add_operation(size_t number) {
    const Operation& operation = model_.operations[number];
    if (!is_integer_[number]) {
      network_.add_edge(node(number), FlowNetwork::kSink, FlowNetwork::kEndless);
    } else {
      network_.add_edge(FlowNetwork::kSource, node(number), gain_of(model_, operation));
    }
    for (const OperandId id : operation.inputs) {
      if (is_float_variable(model_.at(id))) readers_[static_cast<size_t>(id)].push_back(node(number));
    }
    for (const OperandId id : operation.outputs) {
      if (is_float_variable(model_.at(id))) makers_[static_cast<size_t>(id)] = node(number);
    }
    const std::vector<OperandId> variables = float_variables(model_, operation);
    for (const OperandId id : variables) groups_.join(id, variables[0]);
  }

  // Adds the cost of a tensor's conversion: once for all operations that read it in the other form. The model's own
  // inputs cost nothing.
  void add_tensor(OperandId id) {
    const std::vector<size_t>& readers = readers_[static_cast<size_t>(id)];
    const std::optional<size_t> maker = makers_[static_cast<size_t>(id)];
    if (!maker || readers.empty()) return;
    const int64_t cost = elements_of(model_, id);
    const size_t dequantised = network_.add_node(), quantised = network_.add_node();
    network_.add_edge(*maker, dequantised, cost);
    network_.add_edge(quantised, *maker, cost);
    for (const size_t reader : readers) {
      network_.add_edge(dequantised, reader, FlowNetwork::kEndless);
      network_.add_edge(reader, quantised, FlowNetwork::kEndless);
    }
  }

  size_t group_of(size_t number) {
    const std::vector<OperandId> variables = float_variables(model_, model_.operations[number]);
    return variables.empty() ? 0 : groups_.find(variables[0]);
  }

  std::vector<bool> groups_with_float() {
    std::vector<bool> result(model_.operands.size(), false);
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      if (!is_integer_[i] && !float_variables(model_, model_.operations[i]).empty()) result[group_of(i)] = true;
    }
    return result;
  }

  const Model& model_;
  bool integer_outputs_;
  std::vector<bool>& is_integer_;
  FlowNetwork network_;
  Groups groups_;
  std::vector<std::vector<size_t>> readers_;   // by operand: nodes
  std::vector<std::optional<size_t>> makers_;  // by operand: its node
};

}  // namespace

std::vector<std::vector<size_t>> formulas_of(const Model& model) {
  Groups groups(model.operands.size());
  std::vector<const Operation*> makers(model.operands.size(), nullptr);
  const auto is_step = [](const Operation& operation) {
    return nnapi::form_of(operation.code) != nnapi::IntegerForm::kWeighted && !nnapi::only_moves(operation.code) &&
           !operation.source.empty();
  };
  for (const Operation& operation : model.operations) {
    if (!is_step(operation)) continue;
    for (const OperandId id : operation.inputs) {
      const Operation* maker = makers[static_cast<size_t>(id)];
      if (maker != nullptr && maker->source == operation.source) groups.join(operation.outputs[0], maker->outputs[0]);
    }
    for (const OperandId id : operation.outputs) makers[static_cast<size_t>(id)] = &operation;
  }
  std::map<size_t, std::vector<size_t>> members;
  for (size_t i = 0; i < model.operations.size(); ++i) {
    if (is_step(model.operations[i])) members[groups.find(model.operations[i].outputs[0])].push_back(i);
  }
  std::vector<std::vector<size_t>> formulas;
  for (auto& each : members) formulas.push_back(std::move(each.second));
  return formulas;
}

void choose_integer_part(const Model& model, bool integer_outputs, std::vector<bool>& is_integer) {
  for (const std::vector<size_t>& formula : formulas_of(model)) {
    const auto is_integer_one = [&](size_t operation) { return is_integer[operation]; };
    if (std::all_of(formula.begin(), formula.end(), is_integer_one)) continue;
    for (const size_t operation : formula) is_integer[operation] = false;
  }
  if (!model.operations.empty()) Parting(model, integer_outputs, is_integer).run();
}

}  // namespace nnapi_convert::quantise
