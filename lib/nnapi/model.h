// nnapi::Model: one NNAPI model as the converter builds it: operands, operations, inputs and outputs, and the models
// that its IF and WHILE operations run.
//
// Dims are in physical order: rules build PyTorch's order (filters in NNAPI's fixed order), and the layout pass
// (passes/choose_layout.h) rewrites what becomes NHWC.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lib/base/dim.h"
#include "lib/format/nnapi_codes.h"
#include "lib/nnapi/constant.h"

namespace nnapi_convert::nnapi {

using OperandId = int32_t;

// An optional input of an operation that is left out. Only the buffer's version 2 can say it.
struct Omitted {};

// A model that an operation runs, the value of an operand of type MODEL. Only the buffer's version 2 can say it. A copy
// of the model that refers to it shares it.
struct Model;
using Subgraph = std::shared_ptr<Model>;

// Nothing for an operand that an operation or the caller fills; Dims for INT32 and TENSOR_INT32 constants, which may
// hold expressions; bool and float for scalars; a Constant for weights.
using OperandValue = std::variant<std::monostate, Omitted, Dims, bool, float, Constant, Subgraph>;

// A scale for each index of an axis. Only the buffer's version 2 can say it.
struct ChannelScales {
  size_t axis = 0;
  std::vector<float> scales;
};

struct Operand {
  OperandCode type = OperandCode::TENSOR_FLOAT32;
  Dims dims;        // empty for scalars
  float scale = 0;  // quantised types
  int32_t zero_point = 0;
  OperandValue value;
  std::shared_ptr<const ChannelScales> channels = nullptr;  // of TENSOR_QUANT8_SYMM_PER_CHANNEL
  std::string name = {};  // of the value of the original's graph that it holds; empty where it holds none
  bool is_nhwc = false;   // the axes of that value are in NHWC order here

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

// A model input or output as the caller hands it over.
struct Boundary {
  OperandId operand;
  bool nhwc = false;    // the operand is NHWC, the caller's tensor NCHW
  size_t argument = 0;  // of an input: the number of the argument of forward
};

struct Model {
  std::vector<Operand> operands;
  std::vector<Operation> operations;  // in execution order
  std::vector<Boundary> inputs;
  std::vector<Boundary> outputs;
  // Its inputs and outputs keep their number, order of axes and types, which the operation that runs it relies on.
  bool is_subgraph = false;

  Operand& at(OperandId id) { return operands[static_cast<size_t>(id)]; }
  const Operand& at(OperandId id) const { return operands[static_cast<size_t>(id)]; }
  OperandId add(Operand operand);
};

// The model and its subgraphs, each before its own: the numbers that dumps and the buffer give them.
std::vector<Model*> with_subgraphs(Model& model);
std::vector<const Model*> with_subgraphs(const Model& model);

bool is_tensor(OperandCode type);
bool is_quant8(OperandCode type);

// For every operand the operation that writes it, or -1; and how many operations and model outputs read it.
struct Uses {
  explicit Uses(const Model& model);
  std::vector<int> producer;
  std::vector<int> readers;
};

// Makes every reader of `from` (operations and model outputs) read `to`.
void replace_reads(Model& model, OperandId from, OperandId to);

}  // namespace nnapi_convert::nnapi
