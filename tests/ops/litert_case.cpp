// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ops/litert_case.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lib/base/error.h"
#include "lib/converter/convert.h"
#include "lib/converter/emit/litert_file.h"
#include "lib/converter/graph/quantised_engine.h"
#include "lib/format/operation_table.h"
#include "tests/ops/case_module.h"

namespace nnapi_convert {
namespace {

using json = nlohmann::json;
namespace fs = std::filesystem;

ConvertOptions options_of(const OpCase& op_case) {
  ConvertOptions options;
  for (const CaseTensor& input : op_case.inputs) {
    InputSpec spec{input.name, {}, input.type.dtype, input.type.quantization};
    for (const Dim& dim : input.type.dims) spec.sizes.push_back(dim.fixed_value());
    options.inputs.push_back(spec);
  }
  options.layout.nhwc = true;
  options.layout.is_explicit = true;
  options.quant = op_case.quant;
  options.runtime = op_case.runtime.value_or(Runtime::kPytorch);
  options.control_flow = op_case.control_flow;
  options.feature_level = op_case.level;
  return options;
}

at::Tensor in_layout(const at::Tensor& tensor, bool is_nhwc) {
  return is_nhwc && tensor.dim() == 4 ? tensor.permute({0, 2, 3, 1}) : tensor;
}

// The tensor's numbers in the file's type.
at::Tensor as_type(at::Tensor tensor, litert::TensorType type) {
  if (tensor.is_quantized()) tensor = type == litert::TensorType::FLOAT32 ? tensor.dequantize() : tensor.int_repr();
  switch (type) {
    case litert::TensorType::INT8:
      return tensor.scalar_type() == at::kByte ? (tensor.to(at::kInt) - 128).to(at::kChar) : tensor.to(at::kChar);
    case litert::TensorType::UINT8:
      return tensor.to(at::kByte);
    case litert::TensorType::INT32:
      return tensor.to(at::kInt);
    case litert::TensorType::BOOL:
      return tensor.to(at::kBool);
    default:
      return tensor.to(at::kFloat);
  }
}

json write_tensor(const at::Tensor& tensor, bool is_nhwc, litert::TensorType type, const fs::path& path) {
  const at::Tensor value = as_type(in_layout(tensor, is_nhwc), type).contiguous();
  std::ofstream(path, std::ios::binary)
      .write(static_cast<const char*>(value.data_ptr()), static_cast<std::streamsize>(value.nbytes()));
  return path.string();
}

// Puts the tensors of a result in the order of the interface.
void collect(const ReturnTree& tree, const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (tree.kind == ReturnTree::Kind::kTensor) {
    tensors.at(tree.tensor) = value.toTensor();
  } else if (tree.kind == ReturnTree::Kind::kDict) {
    const auto dict = value.toGenericDict();
    for (size_t i = 0; i < tree.keys.size(); ++i) collect(tree.elements[i], dict.at(tree.keys[i]), tensors);
  } else if (tree.kind == ReturnTree::Kind::kTuple) {
    const auto& elements = value.toTupleRef().elements();
    for (size_t i = 0; i < elements.size(); ++i) collect(tree.elements[i], elements[i], tensors);
  } else if (tree.kind == ReturnTree::Kind::kList) {
    for (size_t i = 0; i < tree.elements.size(); ++i) collect(tree.elements[i], value.toListRef()[i], tensors);
  }
}

class LitertCase {
 public:
  LitertCase(OpCase& op_case, fs::path folder, std::string stem)
      : case_(op_case), folder_(std::move(folder)), stem_(std::move(stem)) {}

  json write() {
    LoadedModel loaded{case_.file, make_case_module(case_), {}};
    Diagnostics diagnostics;
    conversion_ = convert(loaded, options_of(case_), diagnostics);
    file_ = make_litert_file(conversion_, false, diagnostics);
    const fs::path path = folder_ / (stem_ + ".tflite");
    write_litert_file(file_, path.string());
    json result{{"model", path.string()}, {"operations", operations()}, {"samples", json::array()}};
    torch::jit::Module module = conversion_.runnable_module();
    for (const uint64_t seed : {1, 2}) result["samples"].push_back(write_sample(module, seed));
    return result;
  }

 private:
  json operations() const {
    json names = json::array();
    for (const nnapi::Model* model : nnapi::with_subgraphs(conversion_.segments[0].model)) {
      for (const nnapi::Operation& operation : model->operations)
        names.push_back(nnapi_convert::name_of(operation.code));
    }
    return names;
  }

  json write_sample(torch::jit::Module& module, uint64_t seed) {
    const std::vector<at::Tensor> inputs = case_inputs(case_, seed, false);
    const nnapi::Model& model = conversion_.segments[0].model;
    const litert::Subgraph& main = file_.subgraphs[0];
    const std::string before = stem_ + "_" + std::to_string(seed);
    json result{{"in", json::array()}, {"out", json::array()}};
    for (size_t i = 0; i < inputs.size(); ++i) {
      result["in"].push_back(write_tensor(inputs[i], is_input_nhwc(model, i), main.tensors[main.inputs[i]].type,
                                          folder_ / (before + "_in" + std::to_string(i) + ".bin")));
    }
    const std::vector<at::Tensor> outputs = run(module, inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const InterfaceOutput& output = conversion_.interface.outputs[i];
      const bool is_nhwc = !output.shape && is_boundary_nhwc(model, output);
      result["out"].push_back(write_tensor(outputs[i], is_nhwc, main.tensors[main.outputs[i]].type,
                                           folder_ / (before + "_out" + std::to_string(i) + ".bin")));
    }
    return result;
  }

  // An argument that no operation reads keeps PyTorch's order.
  static bool is_input_nhwc(const nnapi::Model& model, size_t argument) {
    return std::any_of(model.inputs.begin(), model.inputs.end(),
                       [argument](const nnapi::Boundary& input) { return input.argument == argument && input.nhwc; });
  }

  static bool is_boundary_nhwc(const nnapi::Model& model, const InterfaceOutput& output) {
    if (output.source == InterfaceOutput::Source::kNnapi) return model.outputs.at(output.index).nhwc;
    return output.source == InterfaceOutput::Source::kInput && is_input_nhwc(model, output.index);
  }

  std::vector<at::Tensor> run(torch::jit::Module& module, const std::vector<at::Tensor>& inputs) const {
    c10::InferenceMode guard;
    std::vector<c10::IValue> arguments;
    for (const at::Tensor& input : inputs) arguments.emplace_back(input.clone(at::MemoryFormat::Preserve));
    std::vector<at::Tensor> outputs(conversion_.interface.outputs.size());
    collect(conversion_.interface.return_tree, module.forward(std::move(arguments)), outputs);
    return outputs;
  }

  OpCase& case_;
  fs::path folder_;
  std::string stem_;
  Conversion conversion_;
  litert::File file_;
};

}  // namespace

std::string write_litert_case(OpCase& op_case, const fs::path& folder, const std::string& stem) {
  json result{{"file", op_case.file}, {"case", op_case.name}};
  try {
    if (!op_case.refusals.empty()) return "";
    result.update(LitertCase(op_case, folder, stem).write());
  } catch (const ConvertError& error) {
    result["refused"] = error.what();
  } catch (const std::exception& error) {
    result["failed"] = error.what();
  }
  return result.dump();
}

}  // namespace nnapi_convert
