#include "lib/converter/normalise/stated_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

[[noreturn]] void refuse(const ExportedTensor& stated, const std::string& what) {
  throw ConvertError(ExitCode::kUsage, fmt::format("--input {}: {}; torch.export fixed it; export the model again "
                                                   "with dynamic_shapes, or leave --input out",
                                                   stated.path, what));
}

// "3", or "1 to 16" of a size that is not fixed.
std::string range_text(const ExportedTensor::Size& size) {
  if (size.number) return std::to_string(*size.number);
  return size.max ? fmt::format("{} to {}", size.min, *size.max) : fmt::format("{} or more", size.min);
}

// A program is made for the sizes that it states.
void check_spec(const InputSpec& spec, const ExportedTensor& stated) {
  if (spec.sizes.size() != stated.sizes.size()) {
    refuse(stated, fmt::format("rank {} found, {} needed", spec.sizes.size(), stated.sizes.size()));
  }
  for (size_t axis = 0; axis < spec.sizes.size(); ++axis) {
    const ExportedTensor::Size& size = stated.sizes[axis];
    const auto given = spec.sizes[axis];
    if (!given && !size.number) continue;
    const bool fits = size.number ? given == size.number : *given >= size.min && (!size.max || *given <= *size.max);
    if (fits) continue;
    refuse(stated, fmt::format("size {} found at axis {}, {} needed", given ? std::to_string(*given) : "?", axis,
                               range_text(size)));
  }
  if (spec.dtype && *spec.dtype != stated.dtype) {
    refuse(stated, fmt::format("dtype {} found, {} needed", dtype_name(*spec.dtype), dtype_name(stated.dtype)));
  }
}

InputSpec spec_of(const ExportedTensor& stated) {
  InputSpec spec;
  spec.name = stated.path;
  spec.dtype = stated.dtype;
  spec.source = TypeSource::kExportedProgram;
  for (const ExportedTensor::Size& size : stated.sizes) spec.sizes.push_back(size.number);
  return spec;
}

InputSpec spec_of(const std::string& name, const at::Tensor& tensor) {
  InputSpec spec;
  spec.name = name;
  spec.dtype = tensor.scalar_type();
  for (const int64_t size : tensor.sizes()) spec.sizes.emplace_back(size);
  return spec;
}

// Finds the values of symbols that given sizes need, and the sizes that follow.
class Symbols {
 public:
  // Throws ConvertError if no value of the symbols gives the sizes.
  void add(const InputSpec& spec, const ExportedTensor& stated) {
    for (size_t axis = 0; axis < spec.sizes.size(); ++axis) {
      const auto& expression = stated.sizes[axis].expression;
      if (!expression || !spec.sizes[axis]) continue;
      const int64_t found = *spec.sizes[axis];
      const auto value = symbol_for(*expression, found);
      if (!value) {
        refuse(stated, fmt::format("size {} found at axis {}, {} needed for a whole number {}", found, axis,
                                   to_text(*expression), expression->symbol));
      }
      const auto [known, is_new] = values_.emplace(expression->symbol, Given{*value, stated.path, axis, found});
      if (is_new || known->second.value == *value) continue;
      const Given& other = known->second;
      refuse(stated, fmt::format("size {} found at axis {}, {} needed, as {} has size {} at axis {}", found, axis,
                                 size_for(*expression, other.value).value_or(0), other.path, other.size, other.axis));
    }
  }

  void fill(InputSpec& spec, const ExportedTensor& stated) const {
    for (size_t axis = 0; axis < spec.sizes.size(); ++axis) {
      const auto& expression = stated.sizes[axis].expression;
      const auto known = expression ? values_.find(expression->symbol) : values_.end();
      if (!spec.sizes[axis] && known != values_.end()) spec.sizes[axis] = size_for(*expression, known->second.value);
    }
  }

 private:
  struct Given {
    int64_t value;  // of the symbol
    std::string path;
    size_t axis;
    int64_t size;
  };
  std::map<std::string, Given> values_;
};

}  // namespace

std::vector<InputSpec> with_stated(const std::vector<InputSpec>& given, const std::vector<ExportedTensor>& stated,
                                   const BoundValues& bound) {
  std::vector<InputSpec> specs, others;
  std::vector<const ExportedTensor*> tensors;  // of specs
  Symbols symbols;
  const auto take = [&](const InputSpec& spec, const ExportedTensor& tensor) {
    check_spec(spec, tensor);
    symbols.add(spec, tensor);
  };
  for (const ExportedTensor& tensor : stated) {
    const auto found = bound.find(tensor.path);
    if (found == bound.end()) {
      specs.push_back(spec_of(tensor));
      tensors.push_back(&tensor);
    } else if (found->second.isTensor()) {
      take(spec_of(tensor.path, found->second.toTensor()), tensor);
    }
  }
  for (size_t i = 0; i < given.size(); ++i) {
    const auto found =
        std::find_if(specs.begin(), specs.end(), [&](const InputSpec& spec) { return spec.name == given[i].name; });
    const size_t index = given[i].name.empty() ? i : static_cast<size_t>(found - specs.begin());
    if (index >= specs.size()) {
      others.push_back(given[i]);  // refused with the names that there are
      continue;
    }
    take(given[i], *tensors[index]);
    specs[index].sizes = given[i].sizes;
    specs[index].source = TypeSource::kOption;
  }
  for (size_t i = 0; i < specs.size(); ++i) symbols.fill(specs[i], *tensors[i]);
  specs.insert(specs.end(), others.begin(), others.end());
  return specs;
}

}  // namespace nnapi_convert
