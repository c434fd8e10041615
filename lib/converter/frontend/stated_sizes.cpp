// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/stated_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw ConvertError(ExitCode::kUsage, fmt::format("--input {}: {}; torch.export fixed it; export the model again "
                                                   "with dynamic_shapes, or leave --input out",
                                                   path, what));
}

bool fits(const ExportedTensor::Size& size, int64_t given) {
  return size.number ? given == *size.number : given >= size.min && (!size.max || given <= *size.max);
}

// Returns "3" for a fixed size, and, for example, "1 to 16" for one that is not.
std::string range_text(const ExportedTensor::Size& size) {
  if (size.number) return std::to_string(*size.number);
  return size.max ? fmt::format("{} to {}", size.min, *size.max) : fmt::format("{} or more", size.min);
}

// Refuses sizes and dtypes other than those that the program states: it is made for them.
void check_spec(const InputSpec& spec, const ExportedTensor& stated) {
  if (spec.sizes.size() != stated.sizes.size()) {
    refuse(stated.path, fmt::format("rank {} found, {} needed", spec.sizes.size(), stated.sizes.size()));
  }
  for (size_t axis = 0; axis < spec.sizes.size(); ++axis) {
    const ExportedTensor::Size& size = stated.sizes[axis];
    const auto given = spec.sizes[axis];
    if (!given && !size.number) continue;
    if (given && fits(size, *given)) continue;
    refuse(stated.path, fmt::format("size {} found at axis {}, {} needed", given ? std::to_string(*given) : "?", axis,
                                    range_text(size)));
  }
  if (spec.dtype && *spec.dtype != stated.dtype) {
    refuse(stated.path, fmt::format("dtype {} found, {} needed", dtype_name(*spec.dtype), dtype_name(stated.dtype)));
  }
}

InputSpec spec_of(const ExportedTensor& stated) {
  InputSpec spec;
  spec.name = stated.path;
  spec.dtype = stated.dtype;
  spec.source = TypeSource::kExportedProgram;
  for (const ExportedTensor::Size& size : stated.sizes) {
    const SizeRange range{size.least(), size.max};
    if (!size.number && range.has_limits()) spec.open[spec.sizes.size()].range = range;
    spec.sizes.push_back(size.number);
  }
  return spec;
}

InputSpec spec_of(const std::string& name, const at::Tensor& tensor) {
  InputSpec spec;
  spec.name = name;
  spec.dtype = tensor.scalar_type();
  for (const int64_t size : tensor.sizes()) spec.sizes.emplace_back(size);
  return spec;
}

// Finds the values of symbols that given sizes and integers need, and what follows.
class Symbols {
 public:
  // Throws ConvertError if no value of the symbols gives the sizes.
  void add(const InputSpec& spec, const ExportedTensor& stated) {
    for (size_t axis = 0; axis < spec.sizes.size(); ++axis) {
      if (!spec.sizes[axis]) continue;
      const int64_t found = *spec.sizes[axis];
      add(stated.sizes[axis], found, stated.path, fmt::format("size {} found at axis {}", found, axis),
          fmt::format("{} has size {} at axis {}", stated.path, found, axis));
    }
  }

  // Throws ConvertError for an integer that the program doesn't take.
  void add(const ExportedNumber& number, int64_t found) {
    const std::string problem = fmt::format("{} found", found);
    if (!fits(number.value, found))
      refuse(number.path, fmt::format("{}, {} needed", problem, range_text(number.value)));
    add(number.value, found, number.path, problem, fmt::format("{} is {}", number.path, found));
  }

  // Returns the size or integer that follows; nothing for one that is fixed or whose symbol is not known.
  std::optional<int64_t> following(const ExportedTensor::Size& size) const {
    const auto known = size.expression ? values_.find(size.expression->symbol) : values_.end();
    return known == values_.end() ? std::nullopt : size_for(*size.expression, known->second.value);
  }

 private:
  struct Given {
    int64_t value;  // value of the symbol
    std::string reason;
  };

  void add(const ExportedTensor::Size& size, int64_t found, const std::string& path, const std::string& problem,
           const std::string& reason) {
    if (!size.expression) return;
    const auto value = symbol_for(*size.expression, found);
    if (!value) {
      refuse(path, fmt::format("{}, {} needed for a whole number {}", problem, to_text(*size.expression),
                               size.expression->symbol));
    }
    const auto [known, is_new] = values_.emplace(size.expression->symbol, Given{*value, reason});
    if (is_new || known->second.value == *value) return;
    refuse(path, fmt::format("{}, {} needed, as {}", problem,
                             size_for(*size.expression, known->second.value).value_or(0), known->second.reason));
  }

  std::map<std::string, Given> values_;
};

// Collects the inputs of one program.
class Joining {
 public:
  explicit Joining(const LoadedModel& loaded) : loaded_(loaded) {
    for (const ExportedNumber& number : loaded.numbers) {
      const auto bound = loaded.bound.find(number.path);
      if (bound != loaded.bound.end() && bound->second.isInt()) symbols_.add(number, bound->second.toInt());
    }
    for (const ExportedTensor& tensor : loaded.stated) {
      const auto bound = loaded.bound.find(tensor.path);
      if (bound == loaded.bound.end()) {
        specs_.push_back(spec_of(tensor));
        tensors_.push_back(&tensor);
      } else if (bound->second.isTensor()) {
        take(spec_of(tensor.path, bound->second.toTensor()), tensor);
      }
    }
  }

  StatedInputs join(const std::vector<InputSpec>& given) {
    std::vector<InputSpec> others;
    for (size_t i = 0; i < given.size(); ++i) {
      const auto found =
          std::find_if(specs_.begin(), specs_.end(), [&](const InputSpec& spec) { return spec.name == given[i].name; });
      const size_t index = given[i].name.empty() ? i : static_cast<size_t>(found - specs_.begin());
      if (index >= specs_.size()) {
        others.push_back(given[i]);  // refused later, with the names that there are
        continue;
      }
      take(given[i], *tensors_[index]);
      specs_[index].sizes = given[i].sizes;
      add_open(given[i], specs_[index]);
      specs_[index].source = TypeSource::kOption;
    }
    StatedInputs result;
    for (size_t i = 0; i < specs_.size(); ++i) fill(specs_[i], *tensors_[i]);
    result.tensors = std::move(specs_);
    result.tensors.insert(result.tensors.end(), others.begin(), others.end());
    for (const ExportedNumber& number : loaded_.numbers) {
      const auto value = symbols_.following(number.value);
      if (value && loaded_.bound.count(number.path) == 0)
        result.numbers.push_back({number.path, std::to_string(*value)});
    }
    return result;
  }

 private:
  void take(const InputSpec& spec, const ExportedTensor& tensor) {
    check_spec(spec, tensor);
    symbols_.add(spec, tensor);
  }

  // Joins the open sizes: names are those of --input, and ranges lie within the program's.
  static void add_open(const InputSpec& given, InputSpec& spec) {
    for (const auto& [axis, open] : given.open) {
      OpenSizeSpec& joined = spec.open[axis];
      const SizeRange both = joined.range.within(open.range);
      if (both.most && *both.most < both.least) {
        refuse(spec.name, fmt::format("range {} found at axis {}, sizes of {} needed", to_text(open.range), axis,
                                      to_text(joined.range)));
      }
      joined = open;
      joined.range = both;
    }
  }

  void fill(InputSpec& spec, const ExportedTensor& stated) const {
    for (size_t axis = 0; axis < spec.sizes.size(); ++axis) {
      if (!spec.sizes[axis]) spec.sizes[axis] = symbols_.following(stated.sizes[axis]);
    }
  }

  const LoadedModel& loaded_;
  std::vector<InputSpec> specs_;
  std::vector<const ExportedTensor*> tensors_;  // of specs_
  Symbols symbols_;
};

}  // namespace

StatedInputs with_stated(const std::vector<InputSpec>& given, const LoadedModel& loaded) {
  return Joining(loaded).join(given);
}

}  // namespace nnapi_convert
