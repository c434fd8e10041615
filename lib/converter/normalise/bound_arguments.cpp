#include "lib/converter/normalise/bound_arguments.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <stdexcept>

#include "lib/base/error.h"
#include "lib/base/written_value.h"
#include "lib/converter/graph/float_width.h"
#include "lib/converter/load/method_view.h"
#include "lib/converter/normalise/arguments.h"
#include "lib/converter/normalise/pixel_input.h"
#include "lib/converter/normalise/stated_sizes.h"
#include "lib/converter/normalise/tensor_value.h"

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

c10::IValue bound_value(const c10::Argument& argument, const std::string& text) {
  const bool is_optional = argument.type()->kind() == TypeKind::OptionalType;
  if (is_optional && text == kNone) return {};
  const c10::TypePtr type = present_type(argument.type());
  if (type->kind() == TypeKind::TensorType) return bound_tensor(argument.name(), text);
  const auto value = value_of(text, *type);
  if (value) return *value;
  throw ConvertError(ExitCode::kUsage,
                     fmt::format("--input {}={}: forward takes {} for {}, and \"{}\" is not {}{}", argument.name(),
                                 text, argument.type()->annotation_str(), argument.name(), text, name_of(*type),
                                 is_optional ? " or None" : ""));
}

// True if the argument takes a value that the text may be, not a tensor of these sizes.
bool is_bound(const c10::Argument& argument, const std::string& text) {
  const c10::TypePtr type = present_type(argument.type());
  if (is_value_type(*type) || (type->kind() == TypeKind::TensorType && is_tensor_value(text))) return true;
  return argument.type()->kind() == TypeKind::OptionalType && text == kNone;
}

const c10::Argument* find(const c10::FunctionSchema& forward, const std::string& name) {
  const auto& arguments = forward.arguments();
  const auto found = std::find_if(arguments.begin() + 1, arguments.end(),
                                  [&](const c10::Argument& argument) { return argument.name() == name; });
  return found == arguments.end() ? nullptr : &*found;
}

// The dtype of a bound tensor is the one of the example in the file. The sizes may differ.
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

// Returns the dtypes that the file or --input states for arguments, Undefined for integers and bools. A spec without a
// name is for the tensor of its position; behind an argument that holds several tensors the position tells nothing.
std::map<size_t, at::ScalarType> stated_float_dtypes(const LoadedModel& loaded, const c10::FunctionSchema& forward,
                                                     const std::vector<InputSpec>& specs) {
  std::map<size_t, at::ScalarType> dtypes;
  if (const InputTuple* example = loaded.example()) dtypes = float_dtypes_of(*example);
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
      if (is_meant && specs[k].dtype) dtypes[i] = float_dtype_of(*specs[k].dtype);
    }
    ++position;
  }
  return dtypes;
}

}  // namespace

BoundValues bound_values(const c10::FunctionSchema& forward, const std::vector<BoundArgument>& bound) {
  BoundValues values;
  for (const BoundArgument& each : bound) {
    const c10::Argument* argument = find(forward, each.name);
    if (argument == nullptr || !is_bound(*argument, each.text)) {
      throw ConvertError(ExitCode::kUsage, fmt::format("--input {}={}: forward has no argument {} that takes a value",
                                                       each.name, each.text, each.name));
    }
    if (!values.emplace(each.name, bound_value(*argument, each.text)).second) {
      throw ConvertError(ExitCode::kUsage, fmt::format("two --input for input {}", each.name));
    }
  }
  return values;
}

ConvertOptions bind_arguments(LoadedModel& loaded, const ConvertOptions& options) {
  check_has_forward(loaded);
  const c10::FunctionSchema forward = loaded.module.get_method("forward").function().getSchema();
  ConvertOptions result = options;
  result.inputs.clear();
  for (InputSpec spec : options.inputs) {
    if (!spec.name.empty()) spec.name = name_of_value(forward, spec.name);
    const c10::Argument* argument = spec.name.empty() ? nullptr : find(forward, spec.name);
    if (argument != nullptr && is_bound(*argument, spec.text)) {
      result.bound.push_back({spec.name, spec.text});
    } else if (!spec.problem.empty()) {
      throw ConvertError(ExitCode::kUsage, spec.problem);
    } else {
      result.inputs.push_back(spec);
    }
  }
  if (options.pixels) take_pixels(loaded, *options.pixels, result.inputs);
  loaded.bound = bound_values(forward, result.bound);
  if (!loaded.stated.empty()) result.inputs = with_stated(result.inputs, loaded.stated, loaded.bound);
  const auto width = float_width(loaded.module);
  if (width && loaded.stated.empty() && loaded.example() == nullptr) set_default_width(result.inputs, *width);
  if (loaded.stated.empty() && loaded.example() != nullptr)
    check_like_example(forward, loaded.bound, *loaded.example());
  loaded.float_dtypes = stated_float_dtypes(loaded, forward, result.inputs);
  loaded.frozen.reset();
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
