// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/model.h"

#include <algorithm>

namespace nnapi_convert::nnapi {

OperandId Model::add(Operand operand) {
  operands.push_back(std::move(operand));
  return static_cast<OperandId>(operands.size() - 1);
}

namespace {

template <typename AnyModel>
void append_with_subgraphs(AnyModel& model, std::vector<AnyModel*>& models) {
  models.push_back(&model);
  for (const Operation& operation : model.operations) {
    for (const OperandId id : operation.inputs) {
      if (const Subgraph* subgraph = model.at(id).subgraph()) append_with_subgraphs<AnyModel>(**subgraph, models);
    }
  }
}

}  // namespace

std::vector<Model*> with_subgraphs(Model& model) {
  std::vector<Model*> models;
  append_with_subgraphs(model, models);
  return models;
}

std::vector<const Model*> with_subgraphs(const Model& model) {
  std::vector<const Model*> models;
  append_with_subgraphs(model, models);
  return models;
}

bool is_tensor(OperandCode type) {
  switch (type) {
    case OperandCode::FLOAT32:
    case OperandCode::INT32:
    case OperandCode::UINT32:
    case OperandCode::BOOL:
    case OperandCode::FLOAT16:
    case OperandCode::MODEL:
      return false;
    default:
      return true;
  }
}

bool is_quant8(OperandCode type) {
  return type == OperandCode::TENSOR_QUANT8_ASYMM || type == OperandCode::TENSOR_QUANT8_ASYMM_SIGNED;
}

Uses::Uses(const Model& model) : producer(model.operands.size(), -1), readers(model.operands.size(), 0) {
  for (size_t i = 0; i < model.operations.size(); ++i) {
    for (const OperandId id : model.operations[i].outputs) producer[static_cast<size_t>(id)] = static_cast<int>(i);
    for (const OperandId id : model.operations[i].inputs) ++readers[static_cast<size_t>(id)];
  }
  for (const Boundary& output : model.outputs) ++readers[static_cast<size_t>(output.operand)];
}

std::vector<std::vector<size_t>> readers_of(const Model& model) {
  std::vector<std::vector<size_t>> readers(model.operands.size());
  for (size_t i = 0; i < model.operations.size(); ++i) {
    for (const OperandId id : model.operations[i].inputs) {
      std::vector<size_t>& known = readers[static_cast<size_t>(id)];
      if (known.empty() || known.back() != i) known.push_back(i);
    }
  }
  return readers;
}

void replace_reads(Model& model, OperandId from, OperandId to) {
  for (Operation& operation : model.operations) {
    std::replace(operation.inputs.begin(), operation.inputs.end(), from, to);
  }
  for (Boundary& output : model.outputs) {
    if (output.operand == from) output.operand = to;
  }
}

}  // namespace nnapi_convert::nnapi
