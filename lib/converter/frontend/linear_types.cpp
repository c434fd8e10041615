// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/linear_types.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>

#include "lib/converter/frontend/express_sizes.h"
#include "lib/converter/frontend/row_wise.h"
#include "lib/converter/frontend/trial_run.h"
#include "lib/converter/graph/open_sizes.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using Types = std::vector<ValueType>;

// True for operators, other than row-wise ones, whose sizes are linear in the inputs' sizes whatever the values are.
bool is_linear(const TorchNode& node) {
  return find_traits(node).has(Fact::kSizesAreSums) || may_be_row_wise(node);
}

// Chooses trial numbers for the unknown sizes. They have no common divisor, so that no two sizes fit by chance.
class Points {
 public:
  explicit Points(const std::set<OpenSize>& sizes) : sizes_(sizes.begin(), sizes.end()) {}

  size_t count() const { return sizes_.empty() ? 1 : sizes_.size() + 2; }
  const std::vector<OpenSize>& sizes() const { return sizes_; }

  // Returns the number of a size at a point. Point 0 is the base; at point i + 1 only size i differs from the base; at
  // the last point all sizes differ.
  int64_t at(size_t point, size_t size) const {
    return kNumbers[size] + (point == size + 1 || point == sizes_.size() + 1 ? kStep : 0);
  }
  int64_t base(size_t size) const { return kNumbers[size]; }
  bool fits() const { return sizes_.size() <= kNumbers.size(); }

  Dims evaluate(const Dims& dims, size_t point) const {
    Dims result;
    for (const Dim& dim : dims) {
      result.emplace_back(dim.evaluate([&](int input, int axis) {
        const auto found = std::find(sizes_.begin(), sizes_.end(), OpenSize(input, axis));
        return at(point, static_cast<size_t>(found - sizes_.begin()));
      }));
    }
    return result;
  }

  static constexpr int64_t kStep = 42;

 private:
  static inline const std::vector<int64_t> kNumbers = {5, 11, 17, 29, 37, 59};  // also primes with kStep added
  std::vector<OpenSize> sizes_;
};

// Visits all values that the node reads, elements of lists among them.
template <typename Visit>
void for_each_value_read(const TorchNode& node, const Visit& visit) {
  std::vector<const TorchValue*> open(node.inputs().begin(), node.inputs().end());
  while (!open.empty()) {
    const TorchValue* value = open.back();
    open.pop_back();
    visit(value);
    if (value->node()->kind() != c10::prim::ListConstruct) continue;
    open.insert(open.end(), value->node()->inputs().begin(), value->node()->inputs().end());
  }
}

class Evaluation {
 public:
  Evaluation(const TorchNode& node, const TypeMap& types) : node_(node), types_(types), points_(sizes_read()) {}

  std::optional<Types> run() {
    if (!points_.fits() || !are_counts_) return std::nullopt;
    std::vector<Types> results;
    for (size_t point = 0; point < points_.count(); ++point) {
      auto result = at(point);
      if (!result) return std::nullopt;
      results.push_back(std::move(*result));
    }
    return combine(results);
  }

 private:
  template <typename Visit>
  void for_each_input(const Visit& visit) const {
    for_each_value_read(node_, visit);
  }

  void add(const Dims& dims, std::set<OpenSize>& sizes) {
    for (const Dim& dim : dims) {
      const std::set<OpenSize> found = open_sizes_in(dim);
      sizes.insert(found.begin(), found.end());
    }
  }

  // True if the Dim is a size: numbers below 0 have other meanings.
  static bool is_count(const Dim& dim) {
    return dim.is_fixed() || dim.evaluate([](int, int) { return 0; }) >= 0;
  }

  std::set<OpenSize> sizes_read() {
    std::set<OpenSize> sizes;
    for_each_input([&](const TorchValue* value) {
      const auto found = types_.find(value);
      if (found == types_.end()) return;
      if (const auto* tensor = std::get_if<TensorType>(&found->second)) add(tensor->dims, sizes);
      if (const auto* list = std::get_if<TensorTypes>(&found->second)) {
        for (const TensorType& tensor : *list) add(tensor.dims, sizes);
      }
      if (const auto* numbers = std::get_if<Dims>(&found->second)) {
        add(*numbers, sizes);
        are_counts_ = are_counts_ && std::all_of(numbers->begin(), numbers->end(), is_count);
      }
    });
    return sizes;
  }

  ValueType evaluated(const ValueType& type, size_t point) const {
    if (const auto* tensor = std::get_if<TensorType>(&type)) {
      return tensor->with_dims(points_.evaluate(tensor->dims, point));
    }
    if (const auto* numbers = std::get_if<Dims>(&type)) return points_.evaluate(*numbers, point);
    TensorTypes list = std::get<TensorTypes>(type);
    for (TensorType& tensor : list) tensor.dims = points_.evaluate(tensor.dims, point);
    return list;
  }

  std::optional<Types> at(size_t point) const {
    TypeMap types;
    for_each_input([&](const TorchValue* value) {
      const auto found = types_.find(value);
      if (found != types_.end()) types.emplace(value, evaluated(found->second, point));
    });
    const auto is_possible = [](const auto& each) { return are_sizes_possible(each.second); };
    if (!std::all_of(types.begin(), types.end(), is_possible)) return std::nullopt;  // the model needs larger inputs
    if (const OpRule* rule = find_typed_rule(node_, types)) {
      try {
        return rule->shape(OpArguments(node_, types));
      } catch (const NodeRefused&) {
        return observed_types(node_, types);  // PyTorch may run a node that the rule refuses
      }
    }
    return observed_types(node_, types);
  }

  // True if no tensor has negative sizes.
  static bool are_sizes_possible(const ValueType& type) {
    const auto are_possible = [](const TensorType& tensor) {
      return std::all_of(tensor.dims.begin(), tensor.dims.end(), [](const Dim& size) { return size.value() >= 0; });
    };
    if (const auto* tensor = std::get_if<TensorType>(&type)) return are_possible(*tensor);
    const auto* list = std::get_if<TensorTypes>(&type);
    return list == nullptr || std::all_of(list->begin(), list->end(), are_possible);
  }

  // Returns the linear sum of sizes that has these values at the points; nothing if there is none.
  std::optional<Dim> sum(const std::vector<int64_t>& numbers) const {
    Dim result;
    int64_t constant = numbers[0];
    for (size_t i = 0; i < points_.sizes().size(); ++i) {
      const int64_t difference = numbers[i + 1] - numbers[0];
      if (difference % Points::kStep != 0) return std::nullopt;
      const int64_t factor = difference / Points::kStep;
      if (factor == 0) continue;
      result += Dim(factor) * to_dim(points_.sizes()[i]);
      constant -= factor * points_.base(i);
    }
    result += Dim(constant);
    const bool fits = points_.sizes().empty() || points_.evaluate({result}, points_.count() - 1)[0] == numbers.back();
    return fits ? std::optional<Dim>(result) : std::nullopt;
  }

  std::optional<TensorType> combine(const std::vector<const TensorType*>& tensors) const {
    TensorType result = *tensors[0];
    for (const TensorType* tensor : tensors) {
      if (tensor->rank() != result.rank() || tensor->dtype != result.dtype) return std::nullopt;
      if (!(tensor->quantization == result.quantization) || !all_fixed(tensor->dims)) return std::nullopt;
    }
    for (size_t axis = 0; axis < result.rank(); ++axis) {
      std::vector<int64_t> numbers;
      for (const TensorType* tensor : tensors) numbers.push_back(tensor->dims[axis].value());
      const auto found = sum(numbers);
      if (!found) return std::nullopt;
      result.dims[axis] = *found;
    }
    return result;
  }

  std::optional<ValueType> combine(const std::vector<Types>& results, size_t output) const {
    std::vector<TensorTypes> lists;
    const bool is_list = std::holds_alternative<TensorTypes>(results[0][output]);
    for (const Types& types : results) {
      if (const auto* tensor = std::get_if<TensorType>(&types[output])) lists.push_back({*tensor});
      if (const auto* list = std::get_if<TensorTypes>(&types[output])) lists.push_back(*list);
      if (std::holds_alternative<Dims>(types[output]) || lists.back().size() != lists[0].size()) return std::nullopt;
    }
    TensorTypes combined;
    for (size_t i = 0; i < lists[0].size(); ++i) {
      std::vector<const TensorType*> tensors;
      for (const TensorTypes& list : lists) tensors.push_back(&list[i]);
      auto tensor = combine(tensors);
      if (!tensor) return std::nullopt;
      combined.push_back(std::move(*tensor));
    }
    return is_list ? ValueType(combined) : ValueType(combined.at(0));
  }

  std::optional<Types> combine(const std::vector<Types>& results) const {
    Types combined;
    for (size_t i = 0; i < node_.outputs().size(); ++i) {
      auto type = combine(results, i);
      if (!type) return std::nullopt;
      combined.push_back(std::move(*type));
    }
    return combined;
  }

  const TorchNode& node_;
  const TypeMap& types_;
  bool are_counts_ = true;
  Points points_;
};

}  // namespace

namespace {

template <typename Visit>
void for_each_size(const ValueType& type, const Visit& visit) {
  if (const auto* tensor = std::get_if<TensorType>(&type))
    std::for_each(tensor->dims.begin(), tensor->dims.end(), visit);
  if (const auto* numbers = std::get_if<Dims>(&type)) std::for_each(numbers->begin(), numbers->end(), visit);
  const auto* list = std::get_if<TensorTypes>(&type);
  if (list == nullptr) return;
  for (const TensorType& tensor : *list) std::for_each(tensor.dims.begin(), tensor.dims.end(), visit);
}

template <typename Change>
ValueType with_sizes(ValueType type, const Change& change) {
  const auto change_all = [&](Dims& dims) {
    for (Dim& dim : dims) dim = change(dim);
  };
  if (auto* tensor = std::get_if<TensorType>(&type)) change_all(tensor->dims);
  if (auto* numbers = std::get_if<Dims>(&type)) change_all(*numbers);
  if (auto* list = std::get_if<TensorTypes>(&type)) {
    for (TensorType& tensor : *list) change_all(tensor.dims);
  }
  return type;
}

// Takes each open size that the node reads, whatever it is made of, as one size of its own.
class OwnSizes {
 public:
  OwnSizes(const TorchNode& node, const TypeMap& types) {
    for_each_value_read(node, [&](const TorchValue* value) {
      const auto found = types.find(value);
      if (found == types.end()) return;
      types_.emplace(value, with_sizes(found->second, [this](const Dim& size) { return own(size); }));
    });
  }

  const TypeMap& types() const { return types_; }
  ValueType given(const ValueType& type) const {
    return with_sizes(type, [this](const Dim& size) {
      return *with_others(size, [this](const OpenSize& open) { return std::optional(sizes_.at(number_of(open))); });
    });
  }

 private:
  Dim own(const Dim& size) {
    if (size.is_fixed()) return size;
    const auto number = static_cast<size_t>(std::find(sizes_.begin(), sizes_.end(), size) - sizes_.begin());
    if (number == sizes_.size()) sizes_.push_back(size);
    return to_dim(runtime_size(number));
  }

  std::vector<Dim> sizes_;
  TypeMap types_;
};

}  // namespace

bool reads_open_size(const TorchNode& node, const TypeMap& types) {
  bool reads = false;
  for_each_value_read(node, [&](const TorchValue* value) {
    const auto found = types.find(value);
    if (found == types.end()) return;
    for_each_size(found->second, [&](const Dim& size) { reads = reads || (!size.is_fixed() && !is_of_values(size)); });
  });
  return reads;
}

std::optional<Types> types_by_trials(const TorchNode& node, const TypeMap& types) {
  if (auto result = Evaluation(node, types).run()) return result;
  const OwnSizes own(node, types);
  auto result = Evaluation(node, own.types()).run();
  if (!result) return std::nullopt;
  for (ValueType& type : *result) type = own.given(type);
  return result;
}

std::optional<Types> linear_types(const TorchNode& node, const TypeMap& types) {
  if (!is_linear(node)) return std::nullopt;
  return Evaluation(node, types).run();
}

}  // namespace nnapi_convert
