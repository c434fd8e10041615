// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/op_arguments.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <sstream>

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

// A frame of a Python stack as traces record it: "file.py(12): function".
struct Frame {
  std::string file, line;
};

std::optional<Frame> parse_frame(const std::string& text) {
  const size_t open = text.find('(');
  const size_t close = text.find("):");
  if (open == std::string::npos || close == std::string::npos || close <= open + 1) return std::nullopt;
  const std::string line = text.substr(open + 1, close - open - 1);
  if (line.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;  // a line of code, not a frame
  return Frame{text.substr(0, open), line};
}

// Returns the innermost frame outside PyTorch itself; empty if there is none.
std::string user_frame(const std::string& stack) {
  std::istringstream lines(stack);
  for (std::string line; std::getline(lines, line);) {
    const auto frame = parse_frame(line);
    if (frame && frame->file.find("/torch/") == std::string::npos) return frame->file + ":" + frame->line;
  }
  return "";
}

// Returns the Python source that the node came from, or its place in the archive's code if the debug information is
// damaged.
torch::jit::SourceRange original_range(const torch::jit::SourceRange& range) {
  try {
    return range.findSourceRangeThatGenerated().value_or(range);
  } catch (const std::exception&) {
    return range;
  }
}

bool is_of_pytorch(const std::string& place) {
  return place.find("/torch/") != std::string::npos;
}

// Returns a line such as "net.py:12"; empty if it is unknown. An archive's code is generated; its debug information
// leads back to the Python that was traced or scripted.
std::string line_of(const torch::jit::SourceRange& range) {
  const auto location = range.file_line_col();
  if (!location || std::get<0>(*location).empty()) return "";
  return fmt::format("{}:{}", std::get<0>(*location), std::get<1>(*location));
}

// Returns the user's line that led to a line of PyTorch's own: from the frames that a trace records, or from the calls
// that were inlined.
std::string line_of_user(const torch::jit::SourceRange& range, const TorchNode& node) {
  if (range.source()) {
    const std::string frame = user_frame(range.source()->text_str().str());
    if (!frame.empty()) return frame;
  }
  if (!node.callstack()) return "";
  const auto calls = (*node.callstack())->vec();  // the innermost last
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    const std::string line = line_of(original_range(std::get<1>(*call)));
    if (!line.empty() && !is_of_pytorch(line)) return line;
  }
  return "";
}

}  // namespace

const TensorType* tensor_type_of(const TorchValue* value, const TypeMap& types) {
  const auto found = types.find(value);
  return found == types.end() ? nullptr : std::get_if<TensorType>(&found->second);
}

std::string source_of(const TorchNode& node) {
  const torch::jit::SourceRange range = original_range(node.sourceRange());
  const std::string own = line_of(range);
  if (!own.empty() && !is_of_pytorch(own)) return own;
  const std::string user = line_of_user(range, node);
  if (own.empty()) return user.empty() ? node.scopeName() : user;
  return user.empty() ? own : fmt::format("{} ({})", user, own.substr(own.rfind('/') + 1));
}

TensorType type_of_constant(const at::Tensor& tensor) {
  TensorType type{tensor.scalar_type(), to_dims(tensor.sizes().vec()), {}};
  if (tensor.is_quantized() && tensor.qscheme() == at::kPerTensorAffine) {
    type.quantization = {tensor.q_scale(), tensor.q_zero_point()};
  }
  return type;
}

void OpArguments::refuse(std::string found, std::string needed, std::string hint) const {
  throw NodeRefused(
      {source_of(node_), node_.kind().toQualString(), std::move(found), std::move(needed), std::move(hint)});
}

bool OpArguments::has(const std::string& name) const {
  return node_.schema().argumentIndexWithName(name).has_value();
}

const TorchValue* OpArguments::input(const std::string& name) const {
  const auto index = node_.schema().argumentIndexWithName(name);
  NNC_ASSERT(index.has_value(), "no argument " + name + " in " + node_.kind().toQualString());
  return node_.input(static_cast<size_t>(*index));
}

bool OpArguments::is_constant(const std::string& name) const {
  return torch::jit::toIValue(input(name)).has_value();
}

c10::IValue OpArguments::value(const std::string& name) const {
  auto constant = torch::jit::toIValue(input(name));
  if (!constant) {
    const auto found = types_.find(input(name));
    const bool is_of_sizes = found != types_.end() && std::holds_alternative<Dims>(found->second);
    refuse(fmt::format("the model computes argument {} from the input", name), "a constant",
           is_of_sizes ? "give every size of the input with --input" : "");
  }
  return *constant;
}

bool OpArguments::is_none(const std::string& name) const {
  const auto constant = torch::jit::toIValue(input(name));
  return constant && constant->isNone();
}

TensorType OpArguments::type_of(const TorchValue* value) const {
  const auto found = types_.find(value);
  if (found != types_.end()) {
    if (const auto* type = std::get_if<TensorType>(&found->second)) return *type;
  }
  const auto constant = torch::jit::toIValue(value);
  if (constant && constant->isTensor()) return type_of_constant(constant->toTensor());
  refuse(fmt::format("value {} is no tensor of known type", value->debugName()), "a tensor");
}

TensorType OpArguments::tensor(const std::string& name) const {
  return type_of(input(name));
}

const TensorTypes* OpArguments::tensor_list(const std::string& name) const {
  const auto found = types_.find(input(name));
  return found == types_.end() ? nullptr : std::get_if<TensorTypes>(&found->second);
}

TensorTypes OpArguments::tensors(const std::string& name) const {
  if (const TensorTypes* made = tensor_list(name)) return *made;
  TensorTypes types;
  if (is_constant(name)) {
    for (const at::Tensor& tensor : constants(name)) types.push_back(type_of_constant(tensor));
    return types;
  }
  for (const TorchValue* element : elements(name)) types.push_back(type_of(element));
  return types;
}

std::vector<const TorchValue*> OpArguments::elements(const std::string& name) const {
  const TorchNode* list = input(name)->node();
  require(list->kind() == c10::prim::ListConstruct, fmt::format("argument {} is a list made elsewhere", name),
          "a list of tensors made in place");
  return {list->inputs().begin(), list->inputs().end()};
}

std::vector<at::Tensor> OpArguments::constants(const std::string& name) const {
  std::vector<at::Tensor> tensors;
  if (const auto list = torch::jit::toIValue(input(name))) {
    require(list->isTensorList(), fmt::format("argument {} is {}", name, list->tagKind()), "a list of tensors");
    for (const at::Tensor& tensor : list->toTensorVector()) tensors.push_back(tensor.detach());
    return tensors;
  }
  for (const TorchValue* element : elements(name)) {
    const auto found = torch::jit::toIValue(element);
    require(found && found->isTensor(), fmt::format("argument {} has tensors computed at run time", name),
            "constant tensors");
    tensors.push_back(found->toTensor().detach());
  }
  return tensors;
}

at::Tensor OpArguments::constant(const std::string& name) const {
  const auto found = torch::jit::toIValue(input(name));
  require(found && found->isTensor(), fmt::format("argument {} is computed at run time", name), "a constant tensor");
  return found->toTensor().detach();
}

at::Tensor OpArguments::float_constant(const std::string& name) const {
  const at::Tensor tensor = constant(name);
  require(tensor.scalar_type() == at::kFloat,
          fmt::format("argument {} of dtype {}", name, dtype_name(tensor.scalar_type())), "float32",
          "convert the model with model.float()");
  return tensor;
}

int64_t OpArguments::integer(const std::string& name) const {
  return size(name).value();
}

double OpArguments::number(const std::string& name) const {
  const c10::IValue constant = value(name);
  const c10::Scalar number = constant.isTensor() ? single_number(name, constant.toTensor()) : constant.toScalar();
  require(!number.isComplex(), "argument " + name + " is a complex number", "a real one");
  return number.toDouble();
}

c10::Scalar OpArguments::single_number(const std::string& name, const at::Tensor& tensor) const {
  require(tensor.numel() == 1, fmt::format("argument {} has {} numbers", name, tensor.numel()), "one");
  return tensor.item();
}

bool OpArguments::boolean(const std::string& name) const {
  return value(name).toBool();
}

std::string OpArguments::string(const std::string& name) const {
  return value(name).toStringRef();
}

std::vector<int64_t> OpArguments::integers(const std::string& name) const {
  const Dims found = sizes(name);
  require(all_fixed(found), fmt::format("argument {} = {} depends on the input's size", name, to_text(found)),
          "numbers", "give every size of the input with --input");
  return fixed_values(found);
}

std::vector<int64_t> OpArguments::integers(const std::string& name, size_t size, int64_t fallback) const {
  std::vector<int64_t> found = is_none(name) ? std::vector<int64_t>() : integers(name);
  if (found.empty()) found.assign(size, fallback);
  if (found.size() == 1) found.assign(size, found[0]);
  require(found.size() == size, fmt::format("argument {} has {} numbers", name, found.size()), std::to_string(size));
  return found;
}

Dims OpArguments::sizes(const std::string& name) const {
  const auto found = types_.find(input(name));
  if (found != types_.end()) {
    if (const Dims* dims = std::get_if<Dims>(&found->second)) return *dims;
  }
  const c10::IValue constant = value(name);
  if (constant.isInt()) return {Dim(constant.toInt())};
  if (constant.isTensor() && at::isIntegralType(constant.toTensor().scalar_type(), false)) {
    return {Dim(single_number(name, constant.toTensor()).toLong())};
  }
  require(constant.isIntList(), fmt::format("argument {} is {}", name, constant.tagKind()), "whole numbers");
  return to_dims(constant.toIntVector());
}

Dim OpArguments::size(const std::string& name) const {
  const Dims found = sizes(name);
  require(found.size() == 1, fmt::format("argument {} has {} numbers", name, found.size()), "one");
  require(found[0].is_fixed(), fmt::format("argument {} = {} depends on the input's size", name, found[0].text()),
          "a number", "give every size of the input with --input");
  return found[0];
}

}  // namespace nnapi_convert
