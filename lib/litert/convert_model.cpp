// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/convert_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lib/format/operation_table.h"
#include "lib/litert/graph.h"
#include "lib/litert/operations.h"

namespace nnapi_convert::litert {
namespace {

const std::vector<int32_t> kToNhwc = {0, 2, 3, 1}, kToNchw = {0, 3, 1, 2};

// Writes the operations of a model and of the models within, each into a subgraph of the file.
class ModelWriter : public SubgraphWriter {
 public:
  ModelWriter(ConvertedFile& result, BufferPool& buffers, const WriteOptions& options)
      : result_(result), buffers_(buffers), options_(options) {}

  // Writes all but inputs and outputs.
  void write_operations(Graph& graph) {
    for (const nnapi::Operation& operation : graph.model().operations) write(graph, operation);
  }

  int32_t write_subgraph(const nnapi::Model& model, size_t passes_on) override {
    const size_t number = result_.file.subgraphs.size();
    result_.file.subgraphs.emplace_back();
    Subgraph subgraph;
    subgraph.name = fmt::format("subgraph_{}", number);
    Graph graph(subgraph, buffers_, model, options_);
    for (const nnapi::Boundary& input : model.inputs) subgraph.inputs.push_back(graph.of(input.operand));
    write_operations(graph);
    for (const nnapi::Boundary& output : model.outputs) subgraph.outputs.push_back(graph.of(output.operand));
    for (size_t i = model.inputs.size() - passes_on; i < model.inputs.size(); ++i) {
      subgraph.outputs.push_back(subgraph.inputs[i]);
    }
    result_.file.subgraphs[number] = std::move(subgraph);
    return static_cast<int32_t>(number);
  }

 private:
  void write(Graph& graph, const nnapi::Operation& operation) {
    try {
      const OperationRow* row = find_row(operation.code);
      if (row == nullptr) OperationWriter::refuse("an operation that LiteRT has no operators for", "another form");
      OperationWriter writer(graph, operation, *this);
      write_operation(writer, *row);
    } catch (const RefusedOperation& refusal) {
      result_.refusals.push_back(
          {operation.source, name_of(operation.code), refusal.found, refusal.needed, refusal.hint});
    }
  }

  ConvertedFile& result_;
  BufferPool& buffers_;
  const WriteOptions& options_;
};

// One signature: the ports around a model.
class SignatureWriter {
 public:
  SignatureWriter(ConvertedFile& result, BufferPool& buffers, const WriteOptions& options,
                  const SignatureModel& signature)
      : result_(result), buffers_(buffers), options_(options), signature_(signature) {}

  void write() {
    const size_t number = result_.file.subgraphs.size();
    result_.file.subgraphs.emplace_back();
    Subgraph subgraph;
    subgraph.name = signature_.key;
    Graph graph(subgraph, buffers_, *signature_.model, options_);
    Signature names{signature_.key, number, {}, {}};
    for (size_t i = 0; i < signature_.inputs.size(); ++i) {
      subgraph.inputs.push_back(write_input(graph, i));
      names.inputs.push_back(signature_.inputs[i].name);
    }
    ModelWriter(result_, buffers_, options_).write_operations(graph);
    for (const OutputPort& port : signature_.outputs) {
      subgraph.outputs.push_back(write_output(graph, port));
      names.outputs.push_back(port.name);
    }
    result_.file.subgraphs[number] = std::move(subgraph);
    result_.file.signatures.push_back(std::move(names));
  }

 private:
  // The tensor that callers fill, and what leads from it to the model's input.
  TensorId write_input(Graph& graph, size_t index) {
    const nnapi::Boundary& boundary = signature_.model->inputs[index];
    const InputPort& port = signature_.inputs[index];
    const TensorId inner = graph.of(boundary.operand);
    TensorId typed = inner;
    if (port.is_float && graph.at(inner).is_quantised()) {
      typed = graph.floats_like(inner);
    } else if (port.is_uint8 && graph.at(inner).type == TensorType::INT8) {
      typed = graph.like(inner);
      graph.at(typed).type = TensorType::UINT8;
      graph.at(typed).zero_points[0] += kSignedShift;
    }
    const TensorId outer = port.shape ? graph.like(typed, *port.shape) : typed;
    graph.at(outer).name = port.name;
    if (outer != inner) graph.at(inner).name = port.name + "/inner";
    if (outer != typed && boundary.nhwc) {
      const Dims nhwc = graph.dims_of(typed);
      const TensorId planes = graph.reshaped(outer, {nhwc[0], nhwc[3], nhwc[1], nhwc[2]});
      graph.transpose_into(planes, typed, kToNhwc);
    } else if (outer != typed) {
      graph.reshape_into(outer, typed);
    }
    if (typed != inner) graph.quantise_into(typed, inner);
    return outer;
  }

  TensorId write_output(Graph& graph, const OutputPort& port) {
    TensorId tensor = inner_output(graph, port);
    if (port.is_float) tensor = graph.dequantised(tensor);
    if (port.shape && is_nhwc(port)) tensor = graph.transposed(tensor, kToNchw);
    const Dims dims = port.shape.value_or(graph.dims_of(tensor));
    // A tensor is one output at most, and no input or constant.
    const std::vector<TensorId>& inputs = graph.subgraph().inputs;
    const bool is_input = std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
    const bool is_copied = is_input || graph.at(tensor).is_constant() || outputs_.count(tensor) > 0;
    if (is_copied || port.shape) tensor = graph.reshaped(tensor, dims);
    outputs_.insert(tensor);
    graph.at(tensor).name = port.name;
    return tensor;
  }

  bool is_nhwc(const OutputPort& port) const {
    return port.source == OutputPort::Source::kModel && signature_.model->outputs[port.index].nhwc;
  }

  TensorId inner_output(Graph& graph, const OutputPort& port) const {
    switch (port.source) {
      case OutputPort::Source::kModel:
        return graph.of(signature_.model->outputs[port.index].operand);
      case OutputPort::Source::kInput:
        if (port.is_quantised) return graph.of(signature_.model->inputs[port.index].operand);
        return graph.subgraph().inputs[port.index];
      case OutputPort::Source::kConstant:
        break;
    }
    return graph.constant_of(port.constant);
  }

  ConvertedFile& result_;
  BufferPool& buffers_;
  const WriteOptions& options_;
  const SignatureModel& signature_;
  std::set<TensorId> outputs_;
};

}  // namespace

ConvertedFile convert_model(const std::vector<SignatureModel>& signatures, const WriteOptions& options) {
  ConvertedFile result;
  result.file.description = "nnapi-convert";
  BufferPool buffers(result.file.buffers);
  for (const SignatureModel& signature : signatures) {
    try {
      SignatureWriter(result, buffers, options, signature).write();
    } catch (const RefusedOperation& refusal) {
      result.refusals.push_back({"", signature.key, refusal.found, refusal.needed, refusal.hint});
    }
  }
  return result;
}

}  // namespace nnapi_convert::litert
