// SPDX-License-Identifier: BSD-3-Clause
// Holds one NNAPI model as the converter builds it: operands, operations, inputs and outputs, and the models that its
// IF and WHILE operations run (subgraphs).
//
// Dims are in physical order. Rules build PyTorch's order (filters in NNAPI's fixed order); the layout pass
// (passes/choose_layout.h) rewrites the operands that become NHWC.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "lib/base/dim.h"
#include "lib/format/nnapi_codes.h"
#include "lib/nnapi/constant.h"

namespace nnapi_convert::nnapi {

using OperandId = int32_t;

// Marks an optional input of an operation as left out. Only version 2 of the buffer format can hold it.
struct Omitted {};

// A model that an operation runs: the value of an operand of type MODEL. Only version 2 of the buffer format can hold
// it. A copy of the outer model shares the subgraph.
struct Model;
using Subgraph = std::shared_ptr<Model>;

// The value of an operand. monostate: an operation or the caller fills the operand. Dims: an INT32 or TENSOR_INT32
// constant, which may hold expressions. bool and float: scalars. Constant: weights.
using OperandValue = std::variant<std::monostate, Omitted, Dims, bool, float, Constant, Subgraph>;

// A scale for each index of an axis. Only version 2 of the buffer format can hold it.
struct ChannelScales {
  size_t axis = 0;
  std::vector<float> scales;
};

struct Operand {
  OperandCode type = OperandCode::TENSOR_FLOAT32;
  Dims dims;        // empty for scalars
  float scale = 0;  // for quantised types
  int32_t zero_point = 0;
  OperandValue value;
  std::shared_ptr<const ChannelScales> channels = nullptr;  // for TENSOR_QUANT8_SYMM_PER_CHANNEL
  std::string name = {};  // the name of the graph's value that the operand holds; empty if it holds none
  bool is_nhwc = false;   // the axes of the graph's value are in NHWC order here

  bool is_constant() const { return !std::holds_alternative<std::monostate>(value); }
  const Constant* constant() const { return std::get_if<Constant>(&value); }
  const Dims* ints() const { return std::get_if<Dims>(&value); }
  bool is_omitted() const { return std::holds_alternative<Omitted>(value); }
  const Subgraph* subgraph() const { return std::get_if<Subgraph>(&value); }
};

struct Operation {
  OperationCode code;
  std::vector<OperandId> inputs;
  std::vector<OperandId> outputs;
  std::string source;  // the model's source line, for messages
};

// A model input or output.
struct Boundary {
  OperandId operand;
  bool nhwc = false;    // the operand is NHWC, the caller's tensor NCHW
  size_t argument = 0;  // of an input: the index of the argument of forward
};

struct Model {
  std::vector<Operand> operands;
  std::vector<Operation> operations;  // in execution order
  std::vector<Boundary> inputs;
  std::vector<Boundary> outputs;
  // True for a subgraph. The operation that runs it relies on its inputs and outputs: passes keep their number, axes
  // and types.
  bool is_subgraph = false;
  // Source lines of recurrent layers, whose operations stay float where others are quantised: errors add up from step
  // to step.
  std::set<std::string> recurrent_sources = {};

  Operand& at(OperandId id) { return operands[static_cast<size_t>(id)]; }
  const Operand& at(OperandId id) const { return operands[static_cast<size_t>(id)]; }
  OperandId add(Operand operand);
};

// Returns the model and all its subgraphs, each before its own subgraphs. Dumps and the buffer number them in this
// order.
std::vector<Model*> with_subgraphs(Model& model);
std::vector<const Model*> with_subgraphs(const Model& model);

bool is_tensor(OperandCode type);
bool is_quant8(OperandCode type);

// For each operand: the operation that writes it, or -1, and the number of operations and model outputs that read it.
struct Uses {
  explicit Uses(const Model& model);
  std::vector<int> producer;
  std::vector<int> readers;
};

// Returns for each operand the operations that read it, each once, in order.
std::vector<std::vector<size_t>> readers_of(const Model& model);

// Makes every reader of `from` (operations and model outputs) read `to`.
void replace_reads(Model& model, OperandId from, OperandId to);

}  // namespace nnapi_convert::nnapi
