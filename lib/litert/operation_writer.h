// SPDX-License-Identifier: BSD-3-Clause
// Gives the functions that write one NNAPI operation its arguments, by their names in the operations table
// (schemas/nnapi_operations.json), and its results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/litert/graph.h"
#include "lib/nnapi/signature.h"

namespace nnapi_convert::litert {

// Writes a subgraph of an IF or WHILE, and returns its number in the file. The last `passes_on` inputs become its last
// outputs, too.
class SubgraphWriter {
 public:
  virtual ~SubgraphWriter() = default;
  virtual int32_t write_subgraph(const nnapi::Model& model, size_t passes_on) = 0;
};

class OperationWriter {
 public:
  OperationWriter(Graph& graph, const nnapi::Operation& operation, SubgraphWriter& subgraphs);

  Graph& graph;
  const nnapi::Operation& operation;
  SubgraphWriter& subgraphs;

  // Returns whether the operation has the argument, and it isn't left out.
  bool has(const char* name) const { return operand_of(name) != nullptr; }
  // Returns the operand of an argument; null if it isn't there.
  const nnapi::Operand* operand_of(const char* name) const;
  // Returns the argument's tensor; kLeftOut if it isn't there.
  TensorId tensor(const char* name);
  // Return constant arguments. Refuse arguments that another operation computes, or that depend on open sizes.
  int64_t integer(const char* name) const;
  int64_t integer(const char* name, int64_t value_if_absent) const;
  float number(const char* name) const;
  bool flag(const char* name, bool value_if_absent = false) const;
  std::vector<int32_t> integers(const char* name) const;

  const nnapi::Operand& input_operand(size_t index) const { return graph.model().at(operation.inputs[index]); }
  const nnapi::Operand& output_operand(size_t index = 0) const { return graph.model().at(operation.outputs[index]); }
  TensorId input(size_t index) { return graph.of(operation.inputs[index]); }
  TensorId output(size_t index = 0) { return graph.of(operation.outputs[index]); }
  // Returns whether the operation has explicit numbers of padding.
  bool has_explicit_padding() const { return has("padding_left"); }

  // Returns the argument's axis, counted from the front.
  int32_t axis(const char* name, size_t rank) const;
  void refuse_nchw() const;  // refuses an operation in NCHW

  static Table activation_options(int id, int64_t activation);

  [[noreturn]] static void refuse(const std::string& found, const std::string& needed, const std::string& hint = "") {
    throw RefusedOperation{found, needed, hint};
  }

 private:
  const nnapi::Operand& known(const char* name) const;

  const SignatureInfo* signature_;
};

}  // namespace nnapi_convert::litert
