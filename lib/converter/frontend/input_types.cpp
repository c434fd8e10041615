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
#include "lib/base/options_needed.h"
#include "lib/converter/frontend/arguments.h"
#include "lib/converter/frontend/bound_arguments.h"
#include "lib/converter/frontend/index_range.h"
#include "lib/converter/frontend/pixel_input.h"
#include "lib/converter/frontend/related_sizes.h"
#include "lib/converter/frontend/solve_sizes.h"
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

// Returns the number of the input of this name.
size_t number_of_input(const NormalisedModel& model, const std::string& name) {
  const auto found = std::find(model.input_names.begin(), model.input_names.end(), name);
  if (found != model.input_names.end()) return static_cast<size_t>(found - model.input_names.begin());
  throw ConvertError(ExitCode::kUsage,
                     fmt::format("--input {}: forward has no such tensor; it {}", name, tensors_of(model)));
}

std::vector<const InputSpec*> specs_by_input(const NormalisedModel& model, const std::vector<InputSpec>& specs) {
  for (const InputSpec& spec : specs) {  // checks names first: a wrong name explains a wrong number
    if (!spec.name.empty()) (void)number_of_input(model, spec.name);
  }
  if (specs.size() > model.inputs.size()) {
    throw ConvertError(ExitCode::kUsage,
                       fmt::format("{} --input found, and forward {}", specs.size(), tensors_of(model)));
  }
  std::vector<const InputSpec*> result(model.inputs.size(), nullptr);
  size_t next = 0;
  for (const InputSpec& spec : specs) {
    size_t index = next++;
    if (!spec.name.empty()) index = number_of_input(model, spec.name);
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

// The input of a convolution: [N, channels, ...] of this rank.
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

// Returns the first result of `find` in the nodes that read the value, also behind those that keep ranks and channels.
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

// Returns the sizes that the convolution behind the value takes, if it is over one or two axes: NNAPI may leave its
// other sizes open. Nothing if there is none.
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

// Returns the result of the nodes for pixels, which --input-pixels put before the original's: the last of them moves
// the channels to their place.
const Value* behind_pixels(const Value* bytes) {
  const Value* value = bytes;
  while (value->uses().size() == 1 && !is_one_of(*value->node(), {"aten::permute"})) {
    const Node* reader = value->uses()[0].user;
    if (reader->outputs().size() != 1) break;
    value = reader->output();
  }
  return value;
}

// Returns the sizes of the bytes of a picture, by the convolution that takes the picture made of them.
std::optional<Dims> pixels_from_weights(const Value* bytes, size_t input, const PixelInput& pixels) {
  const auto image = dims_from_weights(behind_pixels(bytes), input);
  if (!image || image->size() != 4) return std::nullopt;
  const Dim channels = image->at(1);
  check_pixel_channels(channels.value(), pixels);
  const int number = static_cast<int>(input);
  return Dims{Dim::of_input(number, 0), Dim::of_input(number, 1), Dim::of_input(number, 2),
              pixels.has_alpha ? Dim(4) : channels};
}

// False for indices into a quantised table and the arguments that go with them.
bool is_quantized_argument(const torch::jit::Use& use) {
  const c10::FunctionSchema* schema = use.user->maybeSchema();
  if (schema == nullptr || use.offset >= schema->arguments().size()) return true;
  const std::string& name = schema->arguments()[use.offset].name();
  return name != "indices" && name != "offsets" && name != "per_sample_weights" && name != "compressed_indices_mapping";
}

bool feeds_quantized_operator(const Value* value) {
  return std::any_of(value->uses().begin(), value->uses().end(), [](const torch::jit::Use& use) {
    // Dynamically quantised operators, which are refused, take floats.
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

// Refuses an input that NNAPI can't take. Where the CPU runs parts of the model, it may read such an input.
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

// The text in messages for sizes that nothing tells.
constexpr const char* kAnySizes = "DIMS";

// Returns the pixels that the input takes, or null.
const PixelInput* takes_pixels(const NormalisedModel& model, size_t index, const std::optional<PixelInput>& pixels) {
  if (!pixels) return nullptr;
  const auto is_argument = [](const std::string& name) { return name.find_first_of(".[") == std::string::npos; };
  const auto& names = model.input_names;
  const auto taker = pixels->name.empty() ? std::find_if(names.begin(), names.end(), is_argument)
                                          : std::find(names.begin(), names.end(), pixels->name);
  return taker - names.begin() == static_cast<std::ptrdiff_t>(index) ? &*pixels : nullptr;
}

// Returns for example "1,3,?,?", with a dtype other than float32 behind it.
std::string spec_text(const Dims& dims, at::ScalarType dtype) {
  std::string text;
  for (const Dim& dim : dims) {
    text += (text.empty() ? "" : ",") + (dim.is_fixed() ? std::to_string(dim.value()) : std::string("?"));
  }
  if (text.empty()) text = "scalar";
  return dtype == at::kFloat ? text : text + ":" + dtype_name(dtype);
}

// Finds the types of inputs that neither the file nor --input gives. One message tells all that the weights don't tell.
class MissingTypes {
 public:
  MissingTypes(const NormalisedModel& model, const std::optional<PixelInput>& pixels)
      : model_(model), pixels_(pixels) {}

  void add(size_t index) { missing_.push_back(unknown(index)); }

  // Puts the types of the missing inputs to their places in `types`. Throws ConvertError if the weights don't tell all.
  void solve(const InferOptions& options, std::vector<std::optional<TensorType>>& types, Diagnostics& diagnostics);

 private:
  UnknownInput unknown(size_t index) const;
  std::string with_name(size_t index, const std::string& text) const {
    return model_.inputs.size() == 1 ? text : model_.input_names[index] + "=" + text;
  }
  std::string example(size_t number) const;
  bool is_known(size_t number) const;
  std::string known_text(size_t number) const;
  std::string index_text(size_t index) const;
  [[noreturn]] void refuse() const;

  const NormalisedModel& model_;
  const std::optional<PixelInput>& pixels_;
  std::vector<UnknownInput> missing_;
  std::vector<std::optional<SolvedSizes>> solved_;  // one for each of missing_
};

UnknownInput MissingTypes::unknown(size_t index) const {
  const Value* input = model_.inputs[index];
  if (const PixelInput* pixels = takes_pixels(model_, index, pixels_)) {
    return {index, at::kByte, pixels_from_weights(input, index, *pixels)};
  }
  const auto range = index_range(*input, {});
  return {index, range && !range->is_cast ? at::kLong : at::kFloat, dims_from_weights(input, index)};
}

void MissingTypes::solve(const InferOptions& options, std::vector<std::optional<TensorType>>& types,
                         Diagnostics& diagnostics) {
  if (missing_.empty()) return;
  const bool lacks_scale = std::any_of(missing_.begin(), missing_.end(), [&](const UnknownInput& each) {
    return feeds_quantized_operator(model_.inputs[each.index]);
  });
  TypeMap known;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i]) known[model_.inputs[i]] = *types[i];
  }
  solved_.resize(missing_.size());
  if (!lacks_scale) solved_ = solve_sizes(model_, known, missing_, options);
  std::string told;
  bool is_usual = false, has_any_rows = false;
  for (size_t i = 0; i < missing_.size(); ++i) {
    if (!is_known(i)) refuse();
    const size_t index = missing_[i].index;
    types[index] = TensorType{missing_[i].dtype, solved_[i]->dims, {}};
    Dims taken = solved_[i]->dims;
    if (solved_[i]->has_any_rows) taken[0] = Dim(1);
    told += fmt::format("{}input {}: {}", told.empty() ? "" : ", ", model_.input_names[index],
                        spec_text(taken, missing_[i].dtype));
    is_usual = is_usual || solved_[i]->is_usual;
    has_any_rows = has_any_rows || solved_[i]->has_any_rows;
  }
  if (told.empty()) return;
  diagnostics.warn(fmt::format("{}, {}{}; --input gives other sizes", told,
                               is_usual ? "the usual size of pictures, as the weights take any" : "from the weights",
                               has_any_rows ? ", or any other number of rows" : ""));
}

// Returns what --input may be for an input, with DIMS for sizes of which nothing is known.
std::string MissingTypes::example(size_t number) const {
  const UnknownInput& input = missing_[number];
  if (feeds_quantized_operator(model_.inputs[input.index])) {
    return with_name(input.index, "DIMS:quint8:SCALE:ZERO_POINT");
  }
  const bool has_example = solved_[number] && !solved_[number]->example.empty();
  if (has_example) return with_name(input.index, spec_text(to_dims(solved_[number]->example), input.dtype));
  return with_name(input.index, input.dtype == at::kLong ? std::string("1,5:int64") : std::string(kAnySizes));
}

// False for an input that the model flattens first: it may have other axes.
bool MissingTypes::is_known(size_t number) const {
  if (!solved_[number] || !solved_[number]->may_be_taken) return false;
  const auto& uses = model_.inputs[missing_[number].index]->uses();
  return std::none_of(uses.begin(), uses.end(), [](const torch::jit::Use& use) {
    return is_one_of(*use.user, {"aten::flatten", "aten::reshape", "aten::view"});
  });
}

// Returns what the weights tell of an input, such as "x=1,?,40"; empty if they tell nothing.
std::string MissingTypes::known_text(size_t number) const {
  if (!solved_[number]) return "";
  const std::string sizes = spec_text(solved_[number]->dims, missing_[number].dtype);
  const bool is_flattened = solved_[number]->may_be_taken && !is_known(number);
  return with_name(missing_[number].index, sizes) + (is_flattened ? " of the flattened input" : "");
}

std::string MissingTypes::index_text(size_t index) const {
  const auto range = index_range(*model_.inputs[index], {});
  if (!range) return "";
  const std::string where = source_of(*range->reader);
  return fmt::format("; the model reads {} as indices ({}{})", model_.input_names[index],
                     where.empty() ? "" : where + ": ", range->reader->kind().toQualString());
}

void MissingTypes::refuse() const {
  if (missing_.size() == 1 && feeds_quantized_operator(model_.inputs[missing_[0].index])) {
    fail(model_.input_names[missing_[0].index],
         "it is quantised and the file holds no input scale; give --input DIMS:quint8:SCALE:ZERO_POINT");
  }
  std::string examples, names, known, notes;
  std::vector<std::string> words;
  for (size_t i = 0; i < missing_.size(); ++i) {
    words.insert(words.end(), {"--input", example(i)});
    examples += (examples.empty() ? "--input " : " --input ") + words.back();
    names += (names.empty() ? "" : ", ") + model_.input_names[missing_[i].index];
    const std::string of_input = known_text(i);
    known += (known.empty() || of_input.empty() ? "" : ", ") + of_input;
    notes += index_text(missing_[i].index);
  }
  const bool is_one = missing_.size() == 1;
  const std::string why =
      fmt::format("{} {}: {} sizes are not known: the file holds no example of {}, and the weights tell {}{}",
                  is_one ? "input" : "inputs", names, is_one ? "its" : "their", is_one ? "it" : "them",
                  known.empty() ? "nothing" : "only " + known, notes);
  if (examples.find(kAnySizes) != std::string::npos) {
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("{}; give {}, where DIMS are the sizes, with commas between them", why, examples));
  }
  std::string open;
  const bool may_stay_open =
      std::all_of(solved_.begin(), solved_.end(), [](const auto& each) { return each && each->may_stay_open; });
  for (size_t i = 0; may_stay_open && i < missing_.size(); ++i) {
    open += fmt::format("{} --input '{}'", i == 0 ? ", or for any size" : "", known_text(i));
  }
  throw OptionsNeeded(ExitCode::kNotConvertible, fmt::format("{}; give them, for example {}{}", why, examples, open),
                      words);
}

}  // namespace

InputTypes input_types(const NormalisedModel& model, const ExampleTensors& example, const std::vector<InputSpec>& specs,
                       const std::optional<PixelInput>& pixels, const InferOptions& options, Diagnostics& diagnostics) {
  const std::vector<const InputSpec*> by_input = specs_by_input(model, specs);
  std::vector<std::optional<TensorType>> types(model.inputs.size());
  InputTypes result;
  MissingTypes missing(model, pixels);
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const auto in_file = example_type(example.tensors, i);
    TypeSource source = TypeSource::kWeights;
    if (by_input[i] != nullptr) {
      source = by_input[i]->source;
      types[i] = type_from_spec(*by_input[i], i, in_file);
    } else if (in_file) {
      source = example.source;
      types[i] = *in_file;
    } else {
      missing.add(i);
    }
    if (types[i]) check(*types[i], model.inputs[i], model.input_names[i], source, model.run_by);
    result.sources.push_back(source);
  }
  missing.solve(options, types, diagnostics);
  for (size_t i = 0; i < types.size(); ++i) {
    check(*types[i], model.inputs[i], model.input_names[i], result.sources[i], model.run_by);
    result.types.push_back(std::move(*types[i]));
  }
  relate_sizes(by_input, result.types);
  result.ranges.resize(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    if (by_input[i] == nullptr) continue;
    for (const auto& [axis, open] : by_input[i]->open) result.ranges[i][axis] = open.range;
  }
  return result;
}

}  // namespace nnapi_convert
