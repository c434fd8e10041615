// SPDX-License-Identifier: BSD-3-Clause
// IF and WHILE: the models that they run become subgraphs.
#include "lib/litert/operations.h"

namespace nnapi_convert::litert {
namespace {

const nnapi::Model& subgraph_at(const OperationWriter& w, size_t index) {
  return **w.input_operand(index).subgraph();
}

}  // namespace

void write_if(OperationWriter& w) {
  const int32_t then_number = w.subgraphs.write_subgraph(subgraph_at(w, 1), 0);
  const int32_t else_number = w.subgraphs.write_subgraph(subgraph_at(w, 2), 0);
  std::vector<TensorId> inputs{w.input(0)}, outputs;
  for (size_t i = 3; i < w.operation.inputs.size(); ++i) inputs.push_back(w.input(i));
  for (size_t i = 0; i < w.operation.outputs.size(); ++i) outputs.push_back(w.output(i));
  Table options;
  options.set(0, then_number);
  options.set(1, else_number);
  w.graph.emit(Builtin::IF, std::move(inputs), std::move(outputs), Options::IF, std::move(options));
}

// NNAPI's body returns only the values that change, and WHILE only those that the caller reads. In LiteRT both return
// all of them, so the body's subgraph passes the others on.
void write_while(OperationWriter& w) {
  const nnapi::Model &condition = subgraph_at(w, 0), &body = subgraph_at(w, 1);
  std::vector<TensorId> inputs, outputs;
  for (size_t i = 2; i < w.operation.inputs.size(); ++i) inputs.push_back(w.input(i));
  for (size_t i = 0; i < w.operation.outputs.size(); ++i) outputs.push_back(w.output(i));
  while (outputs.size() < inputs.size()) outputs.push_back(w.graph.like(inputs[outputs.size()]));
  Table options;
  options.set(0, w.subgraphs.write_subgraph(condition, 0));
  options.set(1, w.subgraphs.write_subgraph(body, body.inputs.size() - body.outputs.size()));
  w.graph.emit(Builtin::WHILE, std::move(inputs), std::move(outputs), Options::WHILE, std::move(options));
}

}  // namespace nnapi_convert::litert
