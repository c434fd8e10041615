// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/litert_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json_text.h"
#include "lib/base/output_file.h"
#include "lib/base/refusal_groups.h"
#include "lib/format/operation_table.h"
#include "lib/nnapi/signature.h"
#include "lib/serialize/size_conditions.h"

namespace nnapi_convert {
namespace {

using json = nlohmann::json;

constexpr size_t kNnapiRank = 4;
constexpr const char* kForwardKey = "serving_default";

[[noreturn]] void refuse_file(const std::string& reason) {
  throw ConvertError(ExitCode::kNotConvertible, "no LiteRT file (--litert): " + reason);
}

std::string key_text(const c10::IValue& key) {
  if (key.isString()) return key.toStringRef();
  return key.isInt() ? std::to_string(key.toInt()) : std::string();
}

// Names the tensors of a result: by the keys of dicts, the fields of named tuples, the numbers of other elements.
void name_results(const ReturnTree& tree, const std::string& path, std::vector<std::string>& names) {
  if (tree.kind == ReturnTree::Kind::kTensor) {
    names.at(tree.tensor) = path.empty() ? "output_0" : path;
    return;
  }
  for (size_t i = 0; i < tree.elements.size(); ++i) {
    std::string part;
    if (tree.kind == ReturnTree::Kind::kDict && i < tree.keys.size()) {
      part = key_text(tree.keys[i]);
    } else if (tree.named != nullptr && tree.named->schema() != nullptr) {
      part = tree.named->schema()->arguments().at(i).name();
    }
    if (part.empty()) part = path.empty() ? fmt::format("output_{}", i) : std::to_string(i);
    name_results(tree.elements[i], path.empty() ? part : path + "_" + part, names);
  }
}

std::vector<std::string> result_names(const ModuleInterface& interface) {
  std::vector<std::string> names(interface.outputs.size());
  name_results(interface.return_tree, "", names);
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) names[i] = fmt::format("output_{}", i);
  }
  return names;
}

// Makes the names of a signature differ from each other.
void make_unique(std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string base = names[i];
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(i);
    for (int number = 1; std::find(names.begin(), end, names[i]) != end; ++number) {
      names[i] = fmt::format("{}_{}", base, number);
    }
  }
}

nnapi::Operand operand_of(const at::Tensor& constant) {
  const bool is_whole = at::isIntegralType(constant.scalar_type(), false);
  const at::ScalarType dtype = constant.scalar_type() == at::kBool ? at::kBool : is_whole ? at::kInt : at::kFloat;
  const auto value = std::make_shared<at::Tensor>(constant.to(dtype).contiguous());
  nnapi::Operand operand;
  operand.dims = to_dims(value->sizes().vec());
  nnapi::DataType type = nnapi::DataType::kFloat32;
  if (dtype == at::kInt) {
    operand.type = OperandCode::TENSOR_INT32;
    type = nnapi::DataType::kInt32;
  } else if (dtype == at::kBool) {
    operand.type = OperandCode::TENSOR_BOOL8;
    type = nnapi::DataType::kBool;
  }
  operand.value = nnapi::Constant(type, value->sizes().vec(), value->data_ptr(), value);
  return operand;
}

litert::OutputPort output_port(const InterfaceOutput& output, const std::string& name) {
  litert::OutputPort port;
  port.name = name;
  port.index = output.index;
  port.is_float = output.dequantize;
  port.is_quantised = output.quantization.scale != 0;
  // A single number has the shape [1], as in NNAPI: another shape would cost an operator.
  if (output.shape && !output.shape->empty()) port.shape = output.shape;
  if (output.source == InterfaceOutput::Source::kConstant) {
    if (output.constant.is_quantized()) refuse_file(fmt::format("{} is a quantised constant", name));
    port.source = litert::OutputPort::Source::kConstant;
    port.constant = operand_of(output.constant);
  } else if (output.source == InterfaceOutput::Source::kInput) {
    port.source = litert::OutputPort::Source::kInput;
  }
  return port;
}

// Returns the number of NNAPI's input that takes the argument; nothing if no operation reads it.
std::optional<size_t> model_input(const nnapi::Model& model, size_t argument) {
  const auto found = std::find_if(model.inputs.begin(), model.inputs.end(),
                                  [&](const nnapi::Boundary& each) { return each.argument == argument; });
  if (found == model.inputs.end()) return std::nullopt;
  return static_cast<size_t>(found - model.inputs.begin());
}

// Returns the type of an argument that no operation reads: the one that callers would give if one did, int32 for bools.
nnapi::Operand unread_operand(const InterfaceInput& input, const std::string& name) {
  TensorType type = input.type;
  if (type.dtype == at::kBool) type.dtype = at::kInt;
  if (type.dtype == at::kByte) type = {at::kQUInt8, type.dims, {1, 0}};
  if (has_operand_code(type.dtype)) return to_operand(type);
  refuse_file(
      fmt::format("argument {}, which no operation reads, is {}; needed: float32, an integer, bool or an 8 bit "
                  "quantised tensor; hint: leave it out of the model",
                  name, dtype_name(type.dtype)));
}

// Makes the signature of a conversion. Its inputs have the order of forward's arguments.
litert::SignatureModel signature_of(const std::string& key, const Conversion& conversion) {
  const nnapi::Model& model = conversion.segments[0].model;
  const ModuleInterface& interface = conversion.interface;
  std::vector<std::string> names;
  for (const InterfaceInput& input : interface.inputs) names.push_back(input.name);
  make_unique(names);
  litert::SignatureModel signature{key, &model, {}, {}};
  for (size_t i = 0; i < names.size(); ++i) {
    const InterfaceInput& input = interface.inputs[i];
    litert::InputPort port;
    port.name = names[i];
    port.is_float = input.quantize.has_value();
    port.is_uint8 = input.type.dtype == at::kByte;
    if (const std::optional<size_t> index = model_input(model, i)) {
      port.index = *index;
      // The file reshapes an argument of more axes than NNAPI has to fewer ones.
      if (input.type.rank() > kNnapiRank) port.shape = input.type.dims;
    } else {
      port.unread = unread_operand(input, names[i]);
    }
    signature.inputs.push_back(std::move(port));
  }
  std::vector<std::string> results = result_names(interface);
  make_unique(results);
  for (size_t i = 0; i < results.size(); ++i) {
    signature.outputs.push_back(output_port(interface.outputs[i], results[i]));
  }
  return signature;
}

// Refuses a model that NNAPI doesn't run whole: LiteRT has nothing around it that would run the rest.
void check_whole(const std::string& method, const Conversion& conversion) {
  const std::string before = method == "forward" ? "" : "method " + method + ": ";
  if (!conversion.variants.empty()) refuse_file("a package holds several models; needed: one model");
  if (conversion.is_whole) return;
  if (conversion.segments.size() == 1 && conversion.cpu_nodes.empty()) {
    refuse_file(
        fmt::format("{}the model's only segment stands in checks or conversions of arguments and results, such as for "
                    "--input NAME=VALUE; needed: a model without them; hint: --fallback none names what keeps it from "
                    "being whole; leave --input NAME=VALUE out if the model converts without it, or make the value a "
                    "constant of the model",
                    before));
  }
  std::string cpu;
  if (!conversion.cpu_nodes.empty()) {
    // Names a step of the user's. Steps that the converter adds, such as for bytes that the user gives, have no source
    // line and hinder nothing.
    const auto is_users = [](const CpuNode& node) { return !node.reason.where.empty(); };
    const auto first = std::find_if(conversion.cpu_nodes.begin(), conversion.cpu_nodes.end(), is_users);
    const CpuNode& named = first == conversion.cpu_nodes.end() ? conversion.cpu_nodes.front() : *first;
    cpu = fmt::format(" and {} on the CPU, the first is {}", counted(conversion.cpu_nodes.size(), "step"),
                      named.reason.op);
    if (!named.reason.where.empty()) cpu += " at " + named.reason.where;
  }
  refuse_file(
      fmt::format("{}the model has {} for NNAPI{}; needed: one segment that is the whole model; "
                  "hint: --fallback none names what to change",
                  before, counted(conversion.segments.size(), "segment"), cpu));
}

// Refuses the layout NCHW by one message, in place of one for each convolution.
void check_layout(const Conversion& conversion) {
  const nnapi::Model& model = conversion.segments[0].model;
  for (const nnapi::Operation& operation : model.operations) {
    const SignatureInfo* signature = nnapi::match_signature(model, operation).signature;
    for (size_t i = 0; signature != nullptr && i < operation.inputs.size(); ++i) {
      const ArgumentInfo& argument = nnapi::argument_of_input(*signature, i, operation.inputs.size());
      const bool* is_nchw = std::get_if<bool>(&model.at(operation.inputs[i]).value);
      if (argument.role != ArgumentRole::kLayout || is_nchw == nullptr || !*is_nchw) continue;
      refuse_file(fmt::format("{}{}: the layout NCHW; needed: NHWC, the only one that LiteRT has; hint: add --nhwc",
                              operation.source.empty() ? "" : operation.source + ": ", name_of(operation.code)));
    }
  }
}

// Returns one line for each reason.
std::string text_of(const std::vector<Refusal>& refusals) {
  std::string text;
  for (const RefusalGroup& group : groups_of(refusals)) text += (text.empty() ? "" : "\n  ") + group.message();
  return text;
}

// Adds the tensors of a result, in the order of a walk through it.
void walk(const ReturnTree& tree, std::vector<size_t>& tensors) {
  if (tree.kind == ReturnTree::Kind::kTensor) tensors.push_back(tree.tensor);
  for (const ReturnTree& element : tree.elements) walk(element, tensors);
}

bool is_nhwc(const nnapi::Model& model, const litert::InputPort& port) {
  return !port.unread && !port.shape && model.inputs[port.index].nhwc;
}

bool is_nhwc(const litert::SignatureModel& signature, const litert::OutputPort& port) {
  if (port.shape || port.source == litert::OutputPort::Source::kConstant) return false;
  if (port.source == litert::OutputPort::Source::kModel) return signature.model->outputs[port.index].nhwc;
  return is_nhwc(*signature.model, signature.inputs[port.index]);
}

// Returns the part of kLitertRecord that tells of one method.
json record_of(const Conversion& conversion, const litert::SignatureModel& signature) {
  json record = {{"key", signature.key}, {"metadata", to_json(metadata_of(conversion))}};
  record["inputs"] = record["results"] = json::array();
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    record["inputs"].push_back({{"argument", i}, {"nhwc", is_nhwc(*signature.model, signature.inputs[i])}});
  }
  std::vector<size_t> tensors;
  walk(conversion.interface.return_tree, tensors);
  for (const size_t number : tensors) {
    const InterfaceOutput& output = conversion.interface.outputs[number];
    record["results"].push_back({{"output", number},
                                 {"nhwc", is_nhwc(signature, signature.outputs[number])},
                                 {"is_number", output.shape.has_value() && output.shape->empty()},
                                 {"dtype", static_cast<int>(output.dtype)}});
  }
  return record;
}

// Warns of conditions on sizes: LiteRT resizes tensors and checks nothing.
void warn_of_conditions(const ModuleInterface& interface, Diagnostics& diagnostics) {
  std::vector<std::string> texts;
  for (const SizeCondition& condition : interface.conditions) texts.push_back(text_of(condition, interface).line());
  if (texts.empty()) return;
  diagnostics.warn(
      fmt::format("a .tflite file doesn't check sizes, and this one may give wrong numbers for others than: {}",
                  fmt::join(texts, "; ")));
}

}  // namespace

litert::File make_litert_file(const std::vector<NamedConversion>& methods, bool keeps_uint8, Diagnostics& diagnostics) {
  std::vector<litert::SignatureModel> signatures;
  json record = json::array();
  for (const auto& [method, conversion] : methods) {
    check_whole(method, *conversion);
    check_layout(*conversion);
    signatures.push_back(signature_of(method == "forward" ? kForwardKey : method, *conversion));
    record.push_back(record_of(*conversion, signatures.back()));
    record.back()["method"] = method == "forward" ? "" : method;
  }
  litert::ConvertedFile result = litert::convert_model(signatures, {keeps_uint8});
  for (Warning& warning : result.warnings) diagnostics.warn(std::move(warning));
  for (const auto& [method, conversion] : methods) warn_of_conditions(conversion->interface, diagnostics);
  if (!result.refusals.empty()) {
    const std::string text = text_of(result.refusals);
    for (Refusal& refusal : result.refusals) diagnostics.refusals.push_back(std::move(refusal));
    refuse_file(text);
  }
  result.file.metadata.emplace_back(kLitertRecord, json_text(record, -1, true));
  return std::move(result.file);
}

litert::File make_litert_file(const Conversion& conversion, bool keeps_uint8, Diagnostics& diagnostics) {
  return make_litert_file({{"forward", &conversion}}, keeps_uint8, diagnostics);
}

uint64_t write_litert_file(const litert::File& file, const std::string& path) {
  OutputFile out(path);
  const uint64_t bytes = litert::write_file(file, [&out](const void* data, size_t size) { out.append(data, size); });
  const std::string problem = out.finish();
  if (!problem.empty()) fail_to_write(path, problem);
  return bytes;
}

}  // namespace nnapi_convert
