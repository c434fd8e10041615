#include "lib/nnapi/constant.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "lib/base/error.h"
#include "lib/nnapi/copy_permuted.h"
#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi {
namespace {

size_t count(const std::vector<int64_t>& shape) {
  return static_cast<size_t>(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()));
}

// Bytes that nothing is written to before they are used: zeros first would cost as much as the copy.
using Memory = std::unique_ptr<uint8_t[]>;

Memory new_memory(size_t size) {
  return Memory(new uint8_t[size]);
}

// A tensor between two steps: in memory of its own, or still where its source is, which may be overwritten or not.
struct Buffer {
  DataType type;
  std::vector<int64_t> shape;
  const uint8_t* source;
  bool overwrites_source = false;
  Memory memory = nullptr;

  size_t count() const { return nnapi::count(shape); }
  size_t size() const { return count() * size_of(type); }
  const uint8_t* bytes() const { return memory ? memory.get() : source; }

  uint8_t* writable() {
    if (!memory && overwrites_source) return const_cast<uint8_t*>(source);
    if (!memory) {
      memory = new_memory(size());
      if (size() != 0) std::memcpy(memory.get(), source, size());
    }
    return memory.get();
  }
};

// Calls visit(element, index along axis) for each element in order.
template <typename T, typename Visit>
void for_each_along(Buffer& buffer, int64_t axis, Visit visit) {
  const auto at = static_cast<size_t>(axis);
  const auto size = static_cast<size_t>(buffer.shape[at]);
  size_t inner = 1;
  for (size_t i = at + 1; i < buffer.shape.size(); ++i) inner *= static_cast<size_t>(buffer.shape[i]);
  T* element = reinterpret_cast<T*>(buffer.writable());
  const T* end = element + buffer.count();
  while (element != end) {
    for (size_t i = 0; i < size; ++i) {
      for (const T* last = element + inner; element != last; ++element) visit(*element, i);
    }
  }
}

int32_t saturated_round(double value) {
  const double rounded = std::round(value);
  if (rounded >= std::numeric_limits<int32_t>::max()) return std::numeric_limits<int32_t>::max();
  if (rounded <= std::numeric_limits<int32_t>::min()) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(rounded);
}

// Applies a step to a buffer.
struct ApplyStep {
  Buffer& buffer;

  void operator()(const Permute& step) const {
    if (moves_elements(buffer.shape, step.order)) permute_elements(step.order);
    buffer.shape = permute(buffer.shape, step.order);
  }
  void operator()(const Reshape& step) const { buffer.shape = step.shape; }
  void operator()(const ScaleAxis& step) const {
    const std::vector<float>& factors = *step.factors;
    for_each_along<float>(buffer, step.axis, [&](float& element, size_t i) { element *= factors[i]; });
  }
  void operator()(const AddVector& step) const {
    for_each_along<float>(buffer, 0, [&](float& element, size_t i) { element += (*step.values)[i]; });
  }
  void operator()(const ShiftToUInt8&) const {
    uint8_t* bytes = buffer.writable();
    for (size_t i = 0; i < buffer.count(); ++i) bytes[i] = static_cast<uint8_t>(bytes[i] ^ 0x80);
    buffer.type = DataType::kUInt8;
  }
  void operator()(const Requantize& step) const {
    for_each_along<int8_t>(buffer, step.axis, [&](int8_t& element, size_t i) {
      const double value = std::round(element * static_cast<double>((*step.from_scales)[i]) / step.to_scale);
      element = static_cast<int8_t>(std::min(127.0, std::max(-128.0, value)));
    });
  }
  void operator()(const QuantizeBias& step) const {
    uint8_t* bytes = buffer.writable();
    for (size_t i = 0; i < buffer.count(); ++i) {
      float value;
      std::memcpy(&value, bytes + 4 * i, 4);
      const int32_t quantized = saturated_round(value / step.scale);
      std::memcpy(bytes + 4 * i, &quantized, 4);
    }
    buffer.type = DataType::kInt32;
  }

 private:
  // Where they are, as far as that takes little memory: pages that the process has cost less than new ones.
  void permute_elements(const std::vector<int64_t>& order) const {
    constexpr size_t kMostCopied = size_t{16} << 20;
    const size_t width = size_of(buffer.type);
    const bool may_overwrite = buffer.memory != nullptr || buffer.overwrites_source;
    if (may_overwrite && elements_permuted_together(buffer.shape, order) * width <= kMostCopied) {
      return permute_in_place(buffer.writable(), width, buffer.shape, order);
    }
    Memory permuted = new_memory(buffer.size());
    copy_permuted(buffer.bytes(), permuted.get(), width, buffer.shape, order);
    buffer.memory = std::move(permuted);
  }
};

struct StepText {
  std::string operator()(const Permute& step) const { return fmt::format("permute({})", fmt::join(step.order, ",")); }
  std::string operator()(const Reshape& step) const { return fmt::format("reshape({})", fmt::join(step.shape, ",")); }
  std::string operator()(const ScaleAxis& step) const { return fmt::format("scale_axis({})", step.axis); }
  std::string operator()(const AddVector&) const { return "add_vector"; }
  std::string operator()(const ShiftToUInt8&) const { return "shift_to_uint8"; }
  std::string operator()(const Requantize& step) const {
    return fmt::format("requantize({}, {})", step.axis, step.to_scale);
  }
  std::string operator()(const QuantizeBias& step) const { return fmt::format("quantize_bias({})", step.scale); }
};

// The numbers of a step that its text leaves out.
const std::vector<float>* vector_of(const RecipeStep& step) {
  if (const auto* scale = std::get_if<ScaleAxis>(&step)) return scale->factors.get();
  if (const auto* add = std::get_if<AddVector>(&step)) return add->values.get();
  if (const auto* requantize = std::get_if<Requantize>(&step)) return requantize->from_scales.get();
  return nullptr;
}

}  // namespace

size_t size_of(DataType type) {
  return type == DataType::kFloat32 || type == DataType::kInt32 ? 4 : 1;
}

Constant::Constant(DataType type, std::vector<int64_t> shape, const void* data, std::shared_ptr<const void> owner,
                   IsSoleOwner is_sole_owner)
    : source_type_(type),
      source_shape_(shape),
      data_(data),
      owner_(std::move(owner)),
      is_sole_owner_(is_sole_owner),
      type_(type),
      shape_(std::move(shape)) {}

Constant Constant::of_floats(std::vector<float> values) {
  const auto size = static_cast<int64_t>(values.size());
  return of_floats(std::move(values), {size});
}

Constant Constant::of_floats(std::vector<float> values, std::vector<int64_t> shape) {
  auto owner = std::make_shared<const std::vector<float>>(std::move(values));
  const float* data = owner->data();
  return Constant(DataType::kFloat32, std::move(shape), data, std::move(owner));
}

size_t Constant::element_count() const {
  return count(shape_);
}

Constant Constant::then(RecipeStep step) const {
  Constant result = *this;
  if (const auto* order = std::get_if<Permute>(&step)) result.shape_ = permute(shape_, order->order);
  if (const auto* reshape = std::get_if<Reshape>(&step)) {
    NNC_ASSERT(count(reshape->shape) == element_count(), "reshape of a constant changes its size");
    result.shape_ = reshape->shape;
  }
  if (std::holds_alternative<ShiftToUInt8>(step)) result.type_ = DataType::kUInt8;
  if (std::holds_alternative<QuantizeBias>(step)) result.type_ = DataType::kInt32;
  result.steps_.push_back(std::move(step));
  return result;
}

namespace {

Buffer evaluate(Buffer buffer, const std::vector<RecipeStep>& steps) {
  for (const RecipeStep& step : steps) std::visit(ApplyStep{buffer}, step);
  return buffer;
}

}  // namespace

std::vector<uint8_t> Constant::bytes() const {
  const Buffer buffer = evaluate({source_type_, source_shape_, static_cast<const uint8_t*>(data_)}, steps_);
  return std::vector<uint8_t>(buffer.bytes(), buffer.bytes() + buffer.size());
}

Constant Constant::without_recipe(bool overwrites_source) const {
  Buffer buffer =
      evaluate({source_type_, source_shape_, static_cast<const uint8_t*>(data_), overwrites_source}, steps_);
  if (!buffer.memory) return Constant(type_, shape_, data_, owner_);
  const std::shared_ptr<const uint8_t[]> owner = std::move(buffer.memory);
  return Constant(type_, shape_, owner.get(), owner);
}

Constant Constant::evaluated() const& {
  return without_recipe(false);
}

Constant Constant::evaluated() && {
  return without_recipe(is_sole_owner_ != nullptr && owner_.use_count() == 1 && is_sole_owner_(owner_.get()));
}

std::vector<float> Constant::floats() const {
  NNC_ASSERT(type_ == DataType::kFloat32, "not a float constant");
  const std::vector<uint8_t> raw = bytes();
  std::vector<float> values(raw.size() / 4);
  if (!raw.empty()) std::memcpy(values.data(), raw.data(), raw.size());
  return values;
}

bool operator==(const Constant& a, const Constant& b) {
  if (a.source_type_ != b.source_type_ || a.source_shape_ != b.source_shape_ || a.steps_.size() != b.steps_.size() ||
      a.recipe_text() != b.recipe_text()) {
    return false;
  }
  for (size_t i = 0; i < a.steps_.size(); ++i) {
    const auto* left = vector_of(a.steps_[i]);
    const auto* right = vector_of(b.steps_[i]);
    if (left != right && (left == nullptr || right == nullptr || *left != *right)) return false;
  }
  const size_t size = count(a.source_shape_) * size_of(a.source_type_);
  return a.data_ == b.data_ || size == 0 || std::memcmp(a.data_, b.data_, size) == 0;
}

std::string Constant::recipe_text() const {
  std::string text;
  for (const RecipeStep& step : steps_) text += (text.empty() ? "" : " ") + std::visit(StepText{}, step);
  return text;
}

}  // namespace nnapi_convert::nnapi
