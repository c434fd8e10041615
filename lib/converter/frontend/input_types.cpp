// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/input_types.h"

#include <ATen/ATen.h>
#include <ATen/native/quantized/PackedParams.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <optional>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/converter/frontend/arguments.h"
#include "lib/converter/frontend/bound_arguments.h"
#include "lib/converter/frontend/index_range.h"
#include "lib/converter/frontend/pixel_input.h"
#include "lib/ops/known_refusals.h"
#include "lib/ops/op_context.h"
#include "lib/ops/registry.h"
#include "lib/ops/shape_rules.h"
#include "lib/ops/tensor_limits.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

// Returns for example "takes 2 tensors: colour, depth", and names forward's arguments that are no tensors.
std::string tensors_of(const NormalisedModel& model) {
  const size_t count = model.inputs.size();
  std::string text = count == 0
                         ? "takes no tensor"
                         : fmt::format("takes {}: {}", counted(count, "tensor"), fmt::join(model.input_names, ", "));
  for (const ArgumentTree* leaf : leaves(model.arguments)) {
    if (leaf->is_tensor() || leaf->kind != ArgumentTree::Kind::kLeaf) continue;
    std::string hint = hint_to_bind(leaf->path, leaf->type);
    const std::string example = example_name(leaf->path, leaf->type);
    if (example != leaf->path) hint = fmt::format(", whose tensors --input names, such as {}", example);
    text += fmt::format("; {} is {}{}", leaf->path, leaf->type->annotation_str(),
                        hint.empty() ? ", which --input doesn't give" : hint);
  }
  return text;
}

std::vector<const InputSpec*> specs_by_input(const NormalisedModel& model, const std::vector<InputSpec>& specs) {
  if (specs.size() > model.inputs.size()) {
    throw ConvertError(ExitCode::kUsage,
                       fmt::format("{} --input found, and forward {}", specs.size(), tensors_of(model)));
  }
  std::vector<const InputSpec*> result(model.inputs.size(), nullptr);
  size_t next = 0;
  for (const InputSpec& spec : specs) {
    size_t index = next++;
    if (!spec.name.empty()) {
      const auto found = std::find(model.input_names.begin(), model.input_names.end(), spec.name);
      if (found == model.input_names.end()) {
        throw ConvertError(ExitCode::kUsage,
                           fmt::format("--input {}: forward has no such tensor; it {}", spec.name, tensors_of(model)));
      }
      index = static_cast<size_t>(found - model.input_names.begin());
    }
    if (result[index] != nullptr) {
      throw ConvertError(ExitCode::kUsage, fmt::format("two --input for input {}", model.input_names[index]));
    }
    result[index] = &spec;
  }
  return result;
}

TensorType type_of_tensor(const at::Tensor& tensor) {
  TensorType type{tensor.scalar_type(), to_dims(tensor.sizes().vec()), {}};
  if (tensor.is_quantized()) type.quantization = {tensor.q_scale(), tensor.q_zero_point()};
  return type;
}

std::optional<TensorType> example_type(const InputTuple& example, size_t index) {
  if (index >= example.size() || !example[index].isTensor()) return std::nullopt;
  return type_of_tensor(example[index].toTensor());
}

// True for operations that keep an image's rank and channels; they may stand before the first convolution.
bool keeps_rank_and_channels(const Node& node) {
  return find_traits(node).has(Fact::kKeepsChannels);
}

// What a convolution takes: [N, channels, ...] of this rank.
struct ConvolutionInput {
  int64_t channels;
  int64_t rank;
};

std::optional<at::Tensor> constant_argument(const Node& node, const char* name) {
  const auto value = torch::jit::toIValue(node.namedInput(name));
  return value && value->isTensor() ? std::optional(value->toTensor()) : std::nullopt;
}

bool is_one_of(const Node& node, std::initializer_list<const char*> kinds) {
  return std::any_of(kinds.begin(), kinds.end(),
                     [&, kind = std::string(node.kind().toQualString())](const char* each) { return kind == each; });
}

// Returns what a convolution needs as its first input; nothing for other nodes.
std::optional<ConvolutionInput> wanted_input(const Node& node) {
  if (is_one_of(node, {"aten::_convolution", "aten::conv1d", "aten::conv2d", "aten::conv3d"})) {
    const auto weight = constant_argument(node, "weight");
    const auto groups = torch::jit::toIValue(node.namedInput("groups"));
    const bool transposed = is_one_of(node, {"aten::_convolution"}) &&
                            torch::jit::toIValue(node.namedInput("transposed")).value_or(false).toBool();
    if (!weight || !groups || weight->dim() < 3) return std::nullopt;
    return ConvolutionInput{transposed ? weight->size(0) : weight->size(1) * groups->toInt(), weight->dim()};
  }
  if (is_one_of(node, {"quantized::conv2d", "quantized::conv2d_relu"})) {
    const auto packed = torch::jit::toIValue(node.namedInput("packed_weight"));
    if (!packed || !packed->isCustomClass()) return std::nullopt;
    const auto params = packed->toCustomClass<ConvPackedParamsBase<2>>();
    const at::Tensor weight = std::get<0>(params->unpack());
    return ConvolutionInput{weight.size(1) * params->groups(), weight.dim()};
  }
  return std::nullopt;
}

// Returns what `find` finds in the nodes that read the value, also behind those that keep ranks and channels.
template <typename Find>
auto find_in_readers(const Value* value, const Find& find) -> decltype(find(*value->node())) {
  for (const torch::jit::Use& use : value->uses()) {
    if (use.offset != 0) continue;
    if (auto found = find(*use.user)) return found;
    if (!keeps_rank_and_channels(*use.user)) continue;
    if (auto found = find_in_readers(use.user->output(), find)) return found;
  }
  return std::nullopt;
}

// Returns the sizes that the convolution behind the value takes, where NNAPI may leave the others open: of a
// convolution over one or two axes. Nothing if there is none.
std::optional<Dims> dims_from_weights(const Value* value, size_t input) {
  constexpr int64_t kMostRank = 4;
  const auto wanted = find_in_readers(value, wanted_input);
  if (!wanted || wanted->rank > kMostRank) return std::nullopt;
  const int number = static_cast<int>(input);
  Dims dims;
  for (int axis = 0; axis < wanted->rank; ++axis) dims.push_back(Dim::of_input(number, axis));
  dims[1] = Dim(wanted->channels);
  return dims;
}

// The pixels' nodes, which --input-pixels put before the original's: the last moves the channels to their place.
const Value* behind_pixels(const Value* bytes) {
  const Value* value = bytes;
  while (value->uses().size() == 1 && !is_one_of(*value->node(), {"aten::permute"})) {
    const Node* reader = value->uses()[0].user;
    if (reader->outputs().size() != 1) break;
    value = reader->output();
  }
  return value;
}

// Returns the sizes of the bytes of a picture, by the convolution that takes what becomes of them.
std::optional<Dims> pixels_from_weights(const Value* bytes, size_t input, const PixelInput& pixels) {
  const auto image = dims_from_weights(behind_pixels(bytes), input);
  if (!image || image->size() != 4) return std::nullopt;
  const Dim channels = image->at(1);
  check_pixel_channels(channels.value(), pixels);
  const int number = static_cast<int>(input);
  return Dims{Dim::of_input(number, 0), Dim::of_input(number, 1), Dim::of_input(number, 2),
              pixels.has_alpha ? Dim(4) : channels};
}

// False for indices into a quantised table and what goes with them.
bool is_quantized_argument(const torch::jit::Use& use) {
  const c10::FunctionSchema* schema = use.user->maybeSchema();
  if (schema == nullptr || use.offset >= schema->arguments().size()) return true;
  const std::string& name = schema->arguments()[use.offset].name();
  return name != "indices" && name != "offsets" && name != "per_sample_weights" && name != "compressed_indices_mapping";
}

bool feeds_quantized_operator(const Value* value) {
  return std::any_of(value->uses().begin(), value->uses().end(), [](const torch::jit::Use& use) {
    // Dynamic quantisation, which is refused, takes float.
    return std::string(use.user->kind().ns().toUnqualString()) == "quantized" && known_refusal(*use.user) == nullptr &&
           is_quantized_argument(use);
  });
}

TensorType type_from_spec(const InputSpec& spec, size_t index, const std::optional<TensorType>& in_file) {
  TensorType type;
  for (size_t axis = 0; axis < spec.sizes.size(); ++axis) {
    type.dims.push_back(spec.sizes[axis] ? Dim(*spec.sizes[axis])
                                         : Dim::of_input(static_cast<int>(index), static_cast<int>(axis)));
  }
  if (spec.dtype) {
    type.dtype = *spec.dtype;
    type.quantization = spec.quantization.value_or(Quantization{});
  } else if (in_file) {
    type.dtype = in_file->dtype;
    type.quantization = in_file->quantization;
  }
  return type;
}

[[noreturn]] void fail(const std::string& name, const std::string& problem) {
  throw ConvertError(ExitCode::kNotConvertible, fmt::format("input {}: {}", name, problem));
}

// Returns what to do about an input of a dtype that NNAPI has not.
std::string hint_for_dtype(at::ScalarType dtype, TypeSource source, const torch::jit::Graph& graph) {
  const bool may_differ = source == TypeSource::kTrace || source == TypeSource::kBundledInputs;
  const std::string hint = c10::isFloatingType(dtype) ? "; " + hint_for_floats(graph) : "";
  const bool names_option = hint.find("--input") != std::string::npos;
  return may_differ && !names_option ? hint + "; --input DIMS:DTYPE gives another" : hint;
}

// What NNAPI can't take, the CPU may read, where it runs parts of the model.
void check_for_nnapi(const TensorType& type, const Value* input, const std::string& name, TypeSource source) {
  for (const Dim& dim : type.dims) {
    if (dim.is_fixed() && dim.value() < 1)
      fail(name, fmt::format("shape {} found, sizes of 1 or more needed", to_text(type.dims)));
  }
  const bool is_taken = has_operand_code(type.dtype) || type.dtype == at::kByte;
  if (!is_taken && !input->uses().empty()) {
    fail(name, fmt::format("dtype {} found, float32, int32, int64, bool or quint8 needed{}", dtype_name(type.dtype),
                           hint_for_dtype(type.dtype, source, *input->owningGraph())));
  }
}

void check(const TensorType& type, const Value* input, const std::string& name, TypeSource source, RunBy run_by) {
  if (type.rank() > kHighestRank) {
    fail(name, fmt::format("rank {} found, 0 to {} needed", type.rank(), kHighestRank));
  }
  if (run_by == RunBy::kNnapi) check_for_nnapi(type, input, name, source);
  const std::string problem = excess(type);
  if (!problem.empty()) fail(name, fmt::format("{}, the most that NNAPI can address", problem));
  if (feeds_quantized_operator(input) && !type.is_quantized()) {
    fail(name,
         fmt::format("it is quantised and the file holds no input scale; give --input DIMS:quint8:SCALE:ZERO_POINT"));
  }
}

// Returns a type with the channels that the weights need; nothing if the weights don't tell them. `pixels` is of this
// input, or null.
std::optional<TensorType> type_from_weights(const Value* input, size_t index, const PixelInput* pixels) {
  if (feeds_quantized_operator(input)) return std::nullopt;
  const auto dims = pixels != nullptr ? pixels_from_weights(input, index, *pixels) : dims_from_weights(input, index);
  if (!dims) return std::nullopt;
  return TensorType{pixels != nullptr ? at::kByte : at::kFloat, *dims, {}};
}

// Returns sizes that the node might take as its first input, by its weights.
std::optional<std::string> sizes_of_weights(const Node& node) {
  if (const auto wanted = wanted_input(node)) {
    const char* rest = wanted->rank == 3 ? "100" : wanted->rank == 4 ? "224,224" : "16,112,112";
    return fmt::format("1,{},{}", wanted->channels, rest);
  }
  if (is_one_of(node, {"aten::linear"})) {
    const auto weight = constant_argument(node, "weight");
    if (weight && weight->dim() == 2) return fmt::format("1,{}", weight->size(1));
  }
  return std::nullopt;
}

// Stands for sizes that nothing tells.
constexpr const char* kAnySizes = "DIMS";

// Returns sizes that the first operation with weights might take, as an example in a message.
std::string sizes_for_example(const Value* input) {
  return find_in_readers(input, sizes_of_weights).value_or(kAnySizes);
}

// Returns the pixels that the input takes, or null.
const PixelInput* takes_pixels(const NormalisedModel& model, size_t index, const std::optional<PixelInput>& pixels) {
  if (!pixels) return nullptr;
  const auto is_argument = [](const std::string& name) { return name.find_first_of(".[") == std::string::npos; };
  const auto& names = model.input_names;
  const auto taker = pixels->name.empty() ? std::find_if(names.begin(), names.end(), is_argument)
                                          : std::find(names.begin(), names.end(), pixels->name);
  return taker - names.begin() == static_cast<std::ptrdiff_t>(index) ? &*pixels : nullptr;
}

// Collects the inputs without a shape, so that one message says how to give all of them.
class MissingShapes {
 public:
  explicit MissingShapes(const NormalisedModel& model) : model_(model) {}

  void add(size_t index) { missing_.push_back(index); }

  // Throws ConvertError if an input has no shape.
  void check() const {
    if (missing_.empty()) return;
    const Value* first = model_.inputs[missing_[0]];
    if (missing_.size() == 1 && feeds_quantized_operator(first)) {
      fail(model_.input_names[missing_[0]],
           "it is quantised and the file holds no input scale; give --input DIMS:quint8:SCALE:ZERO_POINT");
    }
    constexpr const char* kWhy =
        "the file holds no example of the inputs, and shapes are read from the weights only where the first operation "
        "is a convolution over one or two axes";
    std::string examples, names, indices;
    for (const size_t index : missing_) {
      examples += (examples.empty() ? "--input " : " --input ") + example(index);
      names += (names.empty() ? "" : ", ") + model_.input_names[index];
      indices += index_text(index);
    }
    const bool is_open = examples.find(kAnySizes) != std::string::npos;
    const std::string meaning = is_open ? ", where DIMS are the sizes, with commas between them" : "";
    if (missing_.size() == 1) {
      fail(names, fmt::format("its shape is not known: {}; give {}{}{}{}", kWhy,
                              is_open ? "" : "--input DIMS, for example ", examples, meaning, indices));
    }
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("the shapes of {} inputs are not known: {}: {}; give --input for each, as in {}{}{}",
                                   missing_.size(), names, kWhy, examples, meaning, indices));
  }

 private:
  std::string example(size_t index) const {
    const Value* input = model_.inputs[index];
    const std::string name = model_.inputs.size() == 1 ? "" : model_.input_names[index] + "=";
    if (feeds_quantized_operator(input)) return name + "DIMS:quint8:SCALE:ZERO_POINT";
    const auto range = index_range(*input, {});
    if (!range) return name + sizes_for_example(input);
    return name + (range->is_cast ? "1,5" : "1,5:int64");
  }

  std::string index_text(size_t index) const {
    const auto range = index_range(*model_.inputs[index], {});
    if (!range) return "";
    const std::string where = source_of(*range->reader);
    return fmt::format("; the model reads {} as indices ({}{})", model_.input_names[index],
                       where.empty() ? "" : where + ": ", range->reader->kind().toQualString());
  }

  const NormalisedModel& model_;
  std::vector<size_t> missing_;
};

}  // namespace

InputTypes input_types(const NormalisedModel& model, const ExampleTensors& example, const std::vector<InputSpec>& specs,
                       const std::optional<PixelInput>& pixels) {
  const std::vector<const InputSpec*> by_input = specs_by_input(model, specs);
  InputTypes result;
  MissingShapes missing(model);
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const Value* input = model.inputs[i];
    const auto in_file = example_type(example.tensors, i);
    TensorType type;
    TypeSource source = example.source;
    if (by_input[i] != nullptr) {
      source = by_input[i]->source;
      type = type_from_spec(*by_input[i], i, in_file);
    } else if (in_file) {
      type = *in_file;
    } else if (const auto from_weights = type_from_weights(input, i, takes_pixels(model, i, pixels))) {
      source = TypeSource::kWeights;
      type = *from_weights;
    } else {
      missing.add(i);
      continue;
    }
    check(type, input, model.input_names[i], source, model.run_by);
    result.types.push_back(std::move(type));
    result.sources.push_back(source);
  }
  missing.check();
  return result;
}

}  // namespace nnapi_convert
