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

  // Writes the operations, without the subgraph's inputs and outputs.
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

// Writes one signature: a subgraph with the callers' inputs and outputs around a model.
class SignatureWriter {
 public:
  // With `ports_keep_uint8` callers give and get uint8, even if the tensors inside are int8 by `options`.
  SignatureWriter(ConvertedFile& result, BufferPool& buffers, const WriteOptions& options, bool ports_keep_uint8,
                  const SignatureModel& signature)
      : result_(result),
        buffers_(buffers),
        options_(options),
        ports_keep_uint8_(ports_keep_uint8),
        signature_(signature) {}

  void write() {
    const size_t number = result_.file.subgraphs.size();
    result_.file.subgraphs.emplace_back();
    Subgraph subgraph;
    subgraph.name = signature_.key;
    Graph graph(subgraph, buffers_, *signature_.model, options_);
    Signature names{signature_.key, number, {}, {}};
    for (const InputPort& port : signature_.inputs) {
      subgraph.inputs.push_back(write_input(graph, port, subgraph.inputs.size()));
      names.inputs.push_back(port.name);
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
  // Writes the tensor that callers fill and the operators from it to the model's input. Returns that tensor.
  TensorId write_input(Graph& graph, const InputPort& port, size_t number) {
    if (port.unread) return write_unread(graph, port, number);
    const nnapi::Boundary& boundary = signature_.model->inputs[port.index];
    const TensorId inner = graph.of(boundary.operand);
    TensorId typed = inner;
    if (port.is_float && graph.at(inner).is_quantised()) {
      typed = graph.floats_like(inner);
    } else if (port.is_uint8 || keeps_uint8(graph.model().at(boundary.operand))) {
      typed = uint8_like(graph, inner);
    }
    const TensorId outer = port.shape ? graph.like(typed, *port.shape) : typed;
    graph.at(outer).name = port.name;
    graph.set_argument(number, outer, boundary.nhwc && !port.shape);
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

  TensorId write_unread(Graph& graph, const InputPort& port, size_t number) {
    Tensor tensor = graph.described(*port.unread);
    if (port.is_uint8 || keeps_uint8(*port.unread)) {
      tensor.type = TensorType::UINT8;
      tensor.zero_points = {port.unread->zero_point};
    }
    tensor.name = port.name;
    const TensorId result = graph.add(std::move(tensor));
    graph.set_argument(number, result, false);
    return result;
  }

  // Returns whether callers give or get an operand as uint8; it may be int8 in the file.
  bool keeps_uint8(const nnapi::Operand& operand) const {
    return ports_keep_uint8_ && operand.type == OperandCode::TENSOR_QUANT8_ASYMM;
  }

  // Returns a new uint8 tensor for the numbers of an int8 tensor; any other tensor is returned as it is.
  static TensorId uint8_like(Graph& graph, TensorId id) {
    if (graph.at(id).type != TensorType::INT8) return id;
    const TensorId result = graph.like(id);
    graph.at(result).type = TensorType::UINT8;
    graph.at(result).zero_points[0] += kSignedShift;
    return result;
  }

  TensorId write_output(Graph& graph, const OutputPort& port) {
    TensorId tensor = inner_output(graph, port);
    if (port.is_float) {
      tensor = graph.dequantised(tensor);
    } else if (const nnapi::Operand* operand = operand_of(port); operand != nullptr && keeps_uint8(*operand)) {
      const TensorId bytes = uint8_like(graph, tensor);
      if (bytes != tensor) graph.quantise_into(tensor, bytes);
      tensor = bytes;
    }
    if (port.shape && is_nhwc(port)) tensor = graph.transposed(tensor, kToNchw);
    const Dims dims = port.shape.value_or(graph.dims_of(tensor));
    // Each output needs a tensor of its own that is neither an input nor a constant.
    const std::vector<TensorId>& inputs = graph.subgraph().inputs;
    const bool is_input = std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
    const bool is_copied = is_input || graph.at(tensor).is_constant() || outputs_.count(tensor) > 0;
    if (is_copied || port.shape) tensor = graph.reshaped(tensor, dims);
    outputs_.insert(tensor);
    graph.at(tensor).name = port.name;
    return tensor;
  }

  static bool is_of_model(const OutputPort& port) { return port.source == OutputPort::Source::kModel; }

  bool is_nhwc(const OutputPort& port) const { return is_of_model(port) && signature_.model->outputs[port.index].nhwc; }

  // Returns the model's operand behind an output; null for a constant and for an argument that no operation reads.
  const nnapi::Operand* operand_of(const OutputPort& port) const {
    const nnapi::Model& model = *signature_.model;
    if (is_of_model(port)) return &model.at(model.outputs[port.index].operand);
    if (port.source == OutputPort::Source::kConstant || signature_.inputs[port.index].unread) return nullptr;
    return &model.at(model.inputs[signature_.inputs[port.index].index].operand);
  }

  TensorId inner_output(Graph& graph, const OutputPort& port) const {
    switch (port.source) {
      case OutputPort::Source::kModel:
        return graph.of(signature_.model->outputs[port.index].operand);
      case OutputPort::Source::kInput: {
        const InputPort& input = signature_.inputs[port.index];
        if (port.is_quantised && !input.unread) return graph.of(signature_.model->inputs[input.index].operand);
        return graph.subgraph().inputs[port.index];
      }
      case OutputPort::Source::kConstant:
        break;
    }
    return graph.constant_of(port.constant);
  }

  ConvertedFile& result_;
  BufferPool& buffers_;
  const WriteOptions& options_;
  bool ports_keep_uint8_;
  const SignatureModel& signature_;
  std::set<TensorId> outputs_;
};

bool has_channel_scales(const SignatureModel& signature) {
  for (const nnapi::Model* model : nnapi::with_subgraphs(*signature.model)) {
    const auto has_channels = [](const nnapi::Operand& operand) { return operand.channels != nullptr; };
    if (std::any_of(model->operands.begin(), model->operands.end(), has_channels)) return true;
  }
  return false;
}

}  // namespace

ConvertedFile convert_model(const std::vector<SignatureModel>& signatures, const WriteOptions& options) {
  ConvertedFile result;
  result.file.description = "nnapi-convert";
  BufferPool buffers(result.file.buffers);
  // LiteRT has scales per channel only for int8 tensors.
  WriteOptions inner = options;
  inner.keeps_uint8 = options.keeps_uint8 && std::none_of(signatures.begin(), signatures.end(), has_channel_scales);
  if (inner.keeps_uint8 != options.keeps_uint8) {
    result.warnings.push_back(
        {"--litert-uint8: the weights have a scale for each channel, which LiteRT has with int8 alone: inputs and "
         "outputs "
         "are uint8, all between them is int8",
         "", "", "", 0});
  }
  for (const SignatureModel& signature : signatures) {
    try {
      SignatureWriter(result, buffers, inner, options.keeps_uint8, signature).write();
    } catch (const RefusedOperation& refusal) {
      result.refusals.push_back({"", signature.key, refusal.found, refusal.needed, refusal.hint});
    }
  }
  return result;
}

}  // namespace nnapi_convert::litert
