// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/program_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace nnapi_convert {
namespace {

bool is_same(const torch::jit::Module& a, const torch::jit::Module& b) {
  return a._ivalue().get() == b._ivalue().get();
}

void add_segments(const torch::jit::Module& module, std::vector<const c10::ivalue::Object*>& seen,
                  std::vector<torch::jit::Module>& segments) {
  const c10::ivalue::Object* const object = module._ivalue().get();
  if (std::find(seen.begin(), seen.end(), object) != seen.end()) return;
  seen.push_back(object);
  if (module.hasattr(kCompilationAttribute) && module.attr(kCompilationAttribute).isCustomClass()) {
    segments.push_back(module);
  }
  for (const torch::jit::Module& child : module.children()) add_segments(child, seen, segments);
}

// A tensor of the state, and the attribute that it is in.
struct StateTensor {
  at::Tensor tensor;
  std::string attribute;
};

void append_tensors(const c10::IValue& value, const std::string& attribute, std::vector<StateTensor>& tensors) {
  const auto append_all = [&](const auto& parts) {
    for (const c10::IValue& part : parts) append_tensors(part, attribute, tensors);
  };
  if (value.isTensor()) {
    if (value.toTensor().defined()) tensors.push_back({value.toTensor(), attribute});
  } else if (value.isTuple()) {
    append_all(value.toTupleRef().elements());
  } else if (value.isList()) {
    append_all(value.toListRef());
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) append_tensors(entry.value(), attribute, tensors);
  }
}

// Returns the first byte of a strided tensor's elements and the byte behind them.
std::pair<const char*, const char*> extent_of(const at::Tensor& tensor) {
  const auto begin = static_cast<const char*>(tensor.data_ptr());
  int64_t elements = tensor.numel() == 0 ? 0 : 1;
  for (int64_t axis = 0; axis < tensor.dim() && elements > 0; ++axis) {
    elements += (tensor.size(axis) - 1) * tensor.stride(axis);
  }
  return {begin, begin + elements * static_cast<int64_t>(tensor.element_size())};
}

// Programs store each tensor by itself. Throws std::invalid_argument for two tensors with common elements of which one
// is changed: its change would not be a change of the other.
void check_apart(const std::vector<StateTensor>& tensors, const std::function<bool(const std::string&)>& is_changed) {
  std::vector<std::pair<std::pair<const char*, const char*>, const StateTensor*>> extents;
  for (const StateTensor& each : tensors) {
    if (each.tensor.layout() == at::kStrided && each.tensor.numel() > 0) {
      extents.push_back({extent_of(each.tensor), &each});
    }
  }
  std::sort(extents.begin(), extents.end());
  for (size_t i = 1; i < extents.size(); ++i) {
    const StateTensor &one = *extents[i - 1].second, &other = *extents[i].second;
    if (extents[i].first.first >= extents[i - 1].first.second || one.tensor.is_same(other.tensor)) continue;
    if (!is_changed(one.attribute) && !is_changed(other.attribute)) continue;
    throw std::invalid_argument(
        fmt::format("the attributes {} and {}, which share memory", one.attribute, other.attribute));
  }
}

}  // namespace

std::string program_type(const c10::TypePtr& type) {
  const auto texts_of = [](const auto& types) {
    std::string text;
    for (const c10::TypePtr& each : types) text += (text.empty() ? "" : ", ") + program_type(each);
    return text;
  };
  switch (type->kind()) {
    case c10::TypeKind::TensorType:
      return "Tensor";
    case c10::TypeKind::IntType:
      return "int";
    case c10::TypeKind::FloatType:
      return "float";
    case c10::TypeKind::BoolType:
      return "bool";
    case c10::TypeKind::StringType:
      return "str";
    case c10::TypeKind::NoneType:
      return "NoneType";
    case c10::TypeKind::OptionalType:
      return fmt::format("Optional[{}]", texts_of(type->containedTypes()));
    case c10::TypeKind::ListType:
      return fmt::format("List[{}]", texts_of(type->containedTypes()));
    case c10::TypeKind::DictType:
      return fmt::format("Dict[{}]", texts_of(type->containedTypes()));
    case c10::TypeKind::TupleType: {
      const auto& tuple = type->expectRef<c10::TupleType>();
      if (tuple.schema() == nullptr) return fmt::format("Tuple[{}]", texts_of(tuple.elements()));
      std::string text;
      for (const c10::Argument& field : tuple.schema()->arguments())
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", field.name(), program_type(field.type()));
      return fmt::format("NamedTuple[{}]", text);
    }
    default:
      throw std::invalid_argument("a value of type " + type->repr_str());
  }
}

std::vector<torch::jit::Module> segments_of(const torch::jit::Module& module) {
  std::vector<torch::jit::Module> segments;
  std::vector<const c10::ivalue::Object*> seen;  // a module may be an attribute of several
  add_segments(module, seen, segments);
  return segments;
}

std::optional<uint32_t> ModuleParts::segment(const torch::jit::Module& module) const {
  const auto found = std::find_if(segments_.begin(), segments_.end(),
                                  [&](const torch::jit::Module& each) { return is_same(each, module); });
  if (found == segments_.end()) return std::nullopt;
  return static_cast<uint32_t>(found - segments_.begin());
}

uint32_t ModuleParts::field(const torch::jit::Module& holder, const std::string& name) {
  const auto found = std::find_if(fields_.begin(), fields_.end(), [&](const Field& field) {
    return field.name == name && is_same(field.holder, holder);
  });
  if (found != fields_.end()) return static_cast<uint32_t>(found - fields_.begin());
  fields_.push_back({holder, name});
  return static_cast<uint32_t>(fields_.size() - 1);
}

uint32_t ModuleParts::write_state(ProgramWriter& writer,
                                  const std::function<bool(const std::string&)>& is_changed) const {
  std::vector<uint32_t> numbers;
  std::vector<StateTensor> tensors;
  for (const Field& field : fields_) append_tensors(field.holder.attr(field.name), field.name, tensors);
  check_apart(tensors, is_changed);
  for (const Field& field : fields_) numbers.push_back(writer.constant(field.holder.attr(field.name)));
  return writer.object(numbers);
}

}  // namespace nnapi_convert
