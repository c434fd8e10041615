#include "lib/nnapi/constant.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "lib/base/error.h"
#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi {
namespace {

size_t count(const std::vector<int64_t>& shape) {
  return static_cast<size_t>(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()));
}

// A tensor between two steps.
struct Buffer {
  DataType type;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(bytes.data());
  }
  size_t count() const { return bytes.size() / size_of(type); }
};

// Calls visit(element, index along axis) for each element in order.
template <typename T, typename Visit>
void for_each_along(Buffer& buffer, int64_t axis, Visit visit) {
  const auto at = static_cast<size_t>(axis);
  size_t inner = 1;
  for (size_t i = at + 1; i < buffer.shape.size(); ++i) inner *= static_cast<size_t>(buffer.shape[i]);
  const auto size = static_cast<size_t>(buffer.shape[at]);
  T* elements = buffer.as<T>();
  for (size_t i = 0; i < buffer.count(); ++i) visit(elements[i], i / inner % size);
}

// Copies elements of `width` bytes so that result axis i is source axis order[i].
std::vector<uint8_t> permuted(const uint8_t* source, size_t width, const std::vector<int64_t>& shape,
                              const std::vector<int64_t>& order) {
  const size_t rank = shape.size();
  std::vector<size_t> source_stride(rank, width);
  for (size_t i = rank - 1; i > 0; --i) source_stride[i - 1] = source_stride[i] * static_cast<size_t>(shape[i]);
  std::vector<size_t> size(rank);
  std::vector<size_t> stride(rank);
  for (size_t i = 0; i < rank; ++i) {
    size[i] = static_cast<size_t>(shape[static_cast<size_t>(order[i])]);
    stride[i] = source_stride[static_cast<size_t>(order[i])];
  }
  std::vector<uint8_t> result(count(shape) * width);
  std::vector<size_t> index(rank, 0);
  const uint8_t* from = source;
  for (uint8_t* to = result.data(); to != result.data() + result.size(); to += width) {
    std::memcpy(to, from, width);
    for (size_t axis = rank; axis-- > 0;) {  // the next index, and with it the next source position
      from += stride[axis];
      if (++index[axis] < size[axis]) break;
      from -= stride[axis] * size[axis];
      index[axis] = 0;
    }
  }
  return result;
}

int32_t saturated_round(double value) {
  const double rounded = std::round(value);
  if (rounded >= std::numeric_limits<int32_t>::max()) return std::numeric_limits<int32_t>::max();
  if (rounded <= std::numeric_limits<int32_t>::min()) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(rounded);
}

// Applies a step to a buffer in place.
struct ApplyStep {
  Buffer& buffer;

  void operator()(const Permute& step) const {
    if (count(buffer.shape) != 0) {
      buffer.bytes = permuted(buffer.bytes.data(), size_of(buffer.type), buffer.shape, step.order);
    }
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
    for (uint8_t& byte : buffer.bytes) byte = static_cast<uint8_t>(byte ^ 0x80);
    buffer.type = DataType::kUInt8;
  }
  void operator()(const Requantize& step) const {
    for_each_along<int8_t>(buffer, step.axis, [&](int8_t& element, size_t i) {
      const double value = std::round(element * static_cast<double>((*step.from_scales)[i]) / step.to_scale);
      element = static_cast<int8_t>(std::min(127.0, std::max(-128.0, value)));
    });
  }
  void operator()(const QuantizeBias& step) const {
    for (size_t i = 0; i < buffer.count(); ++i) {
      float value;
      std::memcpy(&value, buffer.bytes.data() + 4 * i, 4);
      const int32_t quantized = saturated_round(value / step.scale);
      std::memcpy(buffer.bytes.data() + 4 * i, &quantized, 4);
    }
    buffer.type = DataType::kInt32;
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

Constant::Constant(DataType type, std::vector<int64_t> shape, const void* data, std::shared_ptr<const void> owner)
    : source_type_(type),
      source_shape_(shape),
      data_(data),
      owner_(std::move(owner)),
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

std::vector<uint8_t> Constant::bytes() const {
  const auto* begin = static_cast<const uint8_t*>(data_);
  Buffer buffer{source_type_, source_shape_, {}};
  auto step = steps_.begin();
  if (step != steps_.end() && std::holds_alternative<Permute>(*step) && count(source_shape_) != 0) {
    // The usual first step reads the source itself and saves a copy.
    const auto& order = std::get<Permute>(*step).order;
    buffer.bytes = permuted(begin, size_of(source_type_), source_shape_, order);
    buffer.shape = permute(source_shape_, order);
    ++step;
  } else {
    buffer.bytes.assign(begin, begin + count(source_shape_) * size_of(source_type_));
  }
  for (; step != steps_.end(); ++step) std::visit(ApplyStep{buffer}, *step);
  return std::move(buffer.bytes);
}

Constant Constant::evaluated() const {
  if (is_source()) return *this;
  auto owner = std::make_shared<const std::vector<uint8_t>>(bytes());
  const uint8_t* data = owner->data();
  return Constant(type_, shape_, data, std::move(owner));
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
