// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/bound_arguments.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <stdexcept>

#include "lib/base/error.h"
#include "lib/base/written_value.h"
#include "lib/converter/frontend/arguments.h"
#include "lib/converter/frontend/pixel_input.h"
#include "lib/converter/frontend/stated_sizes.h"
#include "lib/converter/frontend/tensor_value.h"
#include "lib/converter/graph/float_width.h"
#include "lib/converter/load/method_view.h"

namespace nnapi_convert {
namespace {

using TypeKind = c10::TypeKind;

constexpr const char* kNone = "None";

// Returns the type without Optional.
c10::TypePtr present_type(const c10::TypePtr& type) {
  const auto optional = type->cast<c10::OptionalType>();
  return optional ? optional->getElementType() : type;
}

bool is_value_type(const c10::Type& type) {
  return type.kind() == TypeKind::IntType || type.kind() == TypeKind::FloatType || type.kind() == TypeKind::BoolType ||
         type.kind() == TypeKind::StringType;
}

const char* name_of(const c10::Type& type) {
  if (type.kind() == TypeKind::IntType) return "a whole number";
  return type.kind() == TypeKind::FloatType ? "a number" : "true or false";
}

std::string without_quotes(const std::string& text) {
  const bool is_quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

std::optional<c10::IValue> value_of(const std::string& text, const c10::Type& type) {
  switch (type.kind()) {
    case TypeKind::IntType: {
      const auto value = whole_number(text);
      return value ? std::optional<c10::IValue>(*value) : std::nullopt;
    }
    case TypeKind::FloatType: {
      const auto value = decimal_number(text);
      return value ? std::optional<c10::IValue>(*value) : std::nullopt;
    }
    case TypeKind::BoolType: {
      const auto value = true_or_false(text);
      return value ? std::optional<c10::IValue>(*value) : std::nullopt;
    }
    default:
      return c10::IValue(without_quotes(text));
  }
}

at::Tensor bound_tensor(const std::string& name, const std::string& text) {
  try {
    return tensor_value(text);
  } catch (const std::invalid_argument& error) {
    throw ConvertError(ExitCode::kUsage,
                       fmt::format("--input {}={}: {}; write the values as Python does, for example {}=[36] or "
                                   "{}=[[0.5,1],[2,4]]:float32",
                                   name, text, error.what(), name, name));
  }
}

c10::IValue bound_value(const std::string& name, const c10::TypePtr& whole_type, const std::string& text) {
  const bool is_optional = whole_type->kind() == TypeKind::OptionalType;
  if (is_optional && text == kNone) return {};
  const c10::TypePtr type = present_type(whole_type);
  if (type->kind() == TypeKind::TensorType) return bound_tensor(name, text);
  const auto value = value_of(text, *type);
  if (value) return *value;
  throw ConvertError(ExitCode::kUsage, fmt::format("--input {}={}: forward takes {} for {}, and \"{}\" is not {}{}",
                                                   name, text, whole_type->annotation_str(), name, text, name_of(*type),
                                                   is_optional ? " or None" : ""));
}

// True if an argument of this type takes a value that the text may be, not a tensor of these sizes.
bool is_bound(const c10::TypePtr& whole_type, const std::string& text) {
  const c10::TypePtr type = present_type(whole_type);
  if (is_value_type(*type) || (type->kind() == TypeKind::TensorType && is_tensor_value(text))) return true;
  return whole_type->kind() == TypeKind::OptionalType && text == kNone;
}

// Returns what torch.export fixed as specs of values. Takes those that `given` has out of it. Throws ConvertError
// (kUsage) where `given` has another value.
std::vector<BoundArgument> fixed_arguments(const LoadedModel& loaded, const c10::FunctionSchema& forward,
                                           std::vector<BoundArgument>& given) {
  std::vector<BoundArgument> arguments;
  for (const FixedValue& fixed : loaded.fixed) {
    const auto same =
        std::find_if(given.begin(), given.end(), [&](const BoundArgument& each) { return each.name == fixed.path; });
    if (same != given.end()) {
      const c10::IValue value = bound_value(fixed.path, value_named(forward, fixed.path)->type, same->text);
      if (value != fixed.value) {
        throw ConvertError(ExitCode::kUsage,
                           fmt::format("--input {}={}: torch.export fixed {} to {}; export the model again with the "
                                       "other value, or leave this --input out",
                                       fixed.path, same->text, fixed.path, fixed.text));
      }
      given.erase(same);
    }
    arguments.push_back({fixed.path, fixed.text});
  }
  return arguments;
}

// Refuses a bound tensor whose dtype is not that of the example in the file. The sizes may differ.
void check_like_example(const c10::FunctionSchema& forward, const BoundValues& bound, const InputTuple& example) {
  for (size_t i = 1; i < forward.arguments().size() && i <= example.size(); ++i) {
    const std::string& name = forward.arguments()[i].name();
    const auto found = bound.find(name);
    if (found == bound.end() || !found->second.isTensor() || !example[i - 1].isTensor()) continue;
    const at::ScalarType given = found->second.toTensor().scalar_type(),
                         needed = example[i - 1].toTensor().scalar_type();
    if (given == needed) continue;
    throw ConvertError(
        ExitCode::kUsage,
        fmt::format("--input {}: {} found, {} needed, as the example in the file; write :{} behind the list", name,
                    dtype_name(given), dtype_name(needed), dtype_name(needed)));
  }
}

// Returns what the file or --input states of arguments. A spec without a name is for the tensor of its position; behind
// an argument that holds several tensors the position tells nothing.
StatedFloats stated_floats(const LoadedModel& loaded, const c10::FunctionSchema& forward,
                           const std::vector<InputSpec>& specs) {
  StatedFloats stated;
  if (const InputTuple* example = loaded.example()) stated = stated_floats_of(*example);
  size_t position = 0;
  bool is_counted = true;
  for (size_t i = 1; i < forward.arguments().size(); ++i) {
    const c10::Argument& argument = forward.arguments()[i];
    if (loaded.bound.count(argument.name()) != 0) continue;
    const c10::TypePtr type = present_type(argument.type());
    is_counted = is_counted && type->containedTypes().empty();
    if (type->kind() != TypeKind::TensorType) continue;
    for (size_t k = 0; k < specs.size(); ++k) {
      const bool is_meant = specs[k].name.empty() ? is_counted && k == position : specs[k].name == argument.name();
      if (!is_meant) continue;
      if (specs[k].dtype) stated[i].dtype = float_dtype_of(*specs[k].dtype);
      if (!stated[i].dtype) stated[i].dtype = at::kFloat;  // as a spec without a dtype says
      stated[i].has_rank_0 = specs[k].sizes.empty();
    }
    ++position;
  }
  return stated;
}

}  // namespace

BoundValues bound_values(const c10::FunctionSchema& forward, const std::vector<BoundArgument>& bound) {
  BoundValues values;
  for (const BoundArgument& each : bound) {
    const auto value = value_named(forward, each.name);
    if (!value || !is_bound(value->type, each.text)) {
      throw ConvertError(ExitCode::kUsage, fmt::format("--input {}={}: forward has no argument {} that takes a value",
                                                       each.name, each.text, each.name));
    }
    if (!values.emplace(value->name, bound_value(value->name, value->type, each.text)).second) {
      throw ConvertError(ExitCode::kUsage, fmt::format("two --input for input {}", each.name));
    }
  }
  return values;
}

namespace {

// Joins the options with the sizes that an exported program states.
void take_stated(LoadedModel& loaded, const c10::FunctionSchema& forward, ConvertOptions& options) {
  StatedInputs stated = with_stated(options.inputs, loaded);
  options.inputs = std::move(stated.tensors);
  options.bound.insert(options.bound.end(), stated.numbers.begin(), stated.numbers.end());
  if (!stated.numbers.empty()) loaded.bound = bound_values(forward, options.bound);
}

// Refuses a text that is no sizes: it may be a value for an argument that forward doesn't have.
[[noreturn]] void refuse_text(const InputSpec& spec, const c10::FunctionSchema& forward) {
  const std::string argument = spec.name.substr(0, spec.name.find_first_of(".["));
  if (argument.empty() || forward.argumentIndexWithName(argument)) throw ConvertError(ExitCode::kUsage, spec.problem);
  std::vector<std::string> names;
  for (size_t i = 1; i < forward.arguments().size(); ++i) names.push_back(forward.arguments()[i].name());
  throw ConvertError(ExitCode::kUsage, fmt::format("--input {}={}: forward has no argument {}; it takes {}", spec.name,
                                                   spec.text, argument, fmt::join(names, ", ")));
}

}  // namespace

ConvertOptions bind_arguments(LoadedModel& loaded, const ConvertOptions& options) {
  check_has_forward(loaded);
  const c10::FunctionSchema forward = loaded.module.get_method("forward").function().getSchema();
  ConvertOptions result = options;
  result.inputs.clear();
  for (InputSpec spec : options.inputs) {
    const auto value = spec.name.empty() ? std::nullopt : value_named(forward, spec.name);
    if (value) spec.name = value->name;
    if (value && is_bound(value->type, spec.text)) {
      result.bound.push_back({spec.name, spec.text});
    } else if (!spec.problem.empty()) {
      refuse_text(spec, forward);
    } else {
      result.inputs.push_back(spec);
    }
  }
  if (options.pixels) take_pixels(loaded, *options.pixels, result.inputs);
  std::vector<BoundArgument> fixed = fixed_arguments(loaded, forward, result.bound);
  result.bound.insert(result.bound.end(), std::make_move_iterator(fixed.begin()), std::make_move_iterator(fixed.end()));
  loaded.bound = bound_values(forward, result.bound);
  if (!loaded.stated.empty() || !loaded.numbers.empty()) take_stated(loaded, forward, result);
  const auto width = float_width(loaded.module);
  if (width && loaded.stated.empty() && loaded.example() == nullptr) set_default_width(result.inputs, *width);
  if (loaded.stated.empty() && loaded.example() != nullptr)
    check_like_example(forward, loaded.bound, *loaded.example());
  loaded.stated_floats = stated_floats(loaded, forward, result.inputs);
  return result;
}

std::string hint_to_bind(const std::string& name, const c10::TypePtr& type) {
  if (!is_value_type(*present_type(type))) return "";
  return fmt::format("; bind it to a value with --input {}=VALUE", name);
}

void warn_of_unbound(const torch::jit::Graph& graph, const ForwardArguments& arguments, Diagnostics& diagnostics) {
  const std::vector<const ArgumentTree*> all = leaves(arguments);
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string hint = hint_to_bind(all[i]->path, all[i]->known_type());
    if (hint.empty() || graph.inputs()[i + 1]->uses().empty()) continue;
    diagnostics.warn(
        fmt::format("argument {} has no value, and what depends on it stays on the CPU{}", all[i]->path, hint));
  }
}

void check_bound_values(const torch::jit::Graph& graph, const BoundValues& bound) {
  if (bound.empty()) return;
  for (const torch::jit::Node* node : graph.nodes()) {
    if (node->kind() != c10::prim::RaiseException) continue;
    std::string names;
    for (const auto& [name, value] : bound) names += (names.empty() ? "" : ", ") + name;
    const auto message = torch::jit::toIValue(node->input(0));
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("forward raises an error with the values that --input gives to {}{}", names,
                                   message && message->isString() ? ": " + message->toStringRef() : ""));
  }
}

void insert_bound_values(torch::jit::Graph& graph, const c10::FunctionSchema& forward, const BoundValues& bound) {
  const torch::jit::WithInsertPoint at_start(*graph.nodes().begin());
  for (size_t i = 1; i < forward.arguments().size(); ++i) {
    const auto found = bound.find(forward.arguments()[i].name());
    if (found != bound.end()) graph.inputs()[i]->replaceAllUsesWith(graph.insertConstant(found->second));
  }
}

}  // namespace nnapi_convert
