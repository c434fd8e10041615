// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/constant.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "lib/base/error.h"
#include "lib/base/file_pages.h"
#include "lib/format/float16.h"
#include "lib/nnapi/copy_permuted.h"
#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi {
namespace {

size_t count(const std::vector<int64_t>& shape) {
  return static_cast<size_t>(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()));
}

// Memory that is not filled with zeros first: filling it would cost as much as the copy.
using Memory = std::unique_ptr<uint8_t[]>;

Memory new_memory(size_t size) {
  return Memory(new uint8_t[size]);
}

// A tensor between two steps: in memory of its own, or still in the source's memory.
struct Buffer {
  DataType type;
  std::vector<int64_t> shape;
  const uint8_t* source;
  Memory memory = nullptr;

  size_t count() const { return nnapi::count(shape); }
  size_t size() const { return count() * size_of(type); }
  const uint8_t* bytes() const { return memory ? memory.get() : source; }

  uint8_t* writable() {
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
    if (moves_elements(buffer.shape, step.order)) {
      Memory permuted = new_memory(buffer.size());
      copy_permuted(buffer.bytes(), permuted.get(), size_of(buffer.type), buffer.shape, step.order);
      buffer.memory = std::move(permuted);
    }
    buffer.shape = permute(buffer.shape, step.order);
  }
  void operator()(const Reshape& step) const { buffer.shape = step.shape; }
  void operator()(const ScaleAxis& step) const {
    const std::vector<float>& factors = *step.factors;
    for_each_along<float>(buffer, step.axis, [&](float& element, size_t i) { element *= factors[i]; });
  }
  void operator()(const AddVector& step) const {
    const auto last = static_cast<int64_t>(buffer.shape.size()) - 1;
    for_each_along<float>(buffer, last, [&](float& element, size_t i) { element += (*step.values)[i]; });
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
  void operator()(const AppendZeros& step) const {
    const size_t row = static_cast<size_t>(buffer.shape.back()) * size_of(buffer.type);
    const size_t added = static_cast<size_t>(step.count) * size_of(buffer.type);
    const size_t rows = row == 0 ? 0 : buffer.size() / row;
    Memory wide = new_memory(rows * (row + added));
    for (size_t i = 0; i < rows; ++i) {
      std::memcpy(wide.get() + i * (row + added), buffer.bytes() + i * row, row);
      std::memset(wide.get() + i * (row + added) + row, 0, added);
    }
    buffer.memory = std::move(wide);
    buffer.shape.back() += step.count;
  }
  void operator()(const RoundToFloat16&) const {
    Memory halves = new_memory(buffer.count() * size_of(DataType::kFloat16));
    const uint8_t* bytes = buffer.bytes();
    for (size_t i = 0; i < buffer.count(); ++i) {
      float value;
      std::memcpy(&value, bytes + 4 * i, 4);
      const uint16_t half = float16_bits(value);
      std::memcpy(halves.get() + 2 * i, &half, 2);
    }
    buffer.memory = std::move(halves);
    buffer.type = DataType::kFloat16;
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
  std::string operator()(const AppendZeros& step) const { return fmt::format("append_zeros({})", step.count); }
  std::string operator()(const RoundToFloat16&) const { return "round_to_float16"; }
};

// Returns the step for the elements with indices [begin, end) of axis 0, which has `size` elements, of a tensor of
// `rank` axes; nothing if the step mixes these elements with others.
struct RowsOfStep {
  int64_t size, begin, end;
  size_t rank;

  std::optional<RecipeStep> operator()(const Permute& step) const {
    return step.order[0] == 0 ? std::optional<RecipeStep>(step) : std::nullopt;
  }
  std::optional<RecipeStep> operator()(const Reshape& step) const {
    if (step.shape.empty() || step.shape[0] != size) return std::nullopt;
    Reshape result = step;
    result.shape[0] = end - begin;
    return result;
  }
  std::optional<RecipeStep> operator()(const ScaleAxis& step) const {
    return ScaleAxis{step.axis, step.axis == 0 ? part(*step.factors) : step.factors};
  }
  std::optional<RecipeStep> operator()(const AddVector& step) const {
    return rank == 1 ? AddVector{part(*step.values)} : step;
  }
  std::optional<RecipeStep> operator()(const ShiftToUInt8& step) const { return step; }
  std::optional<RecipeStep> operator()(const Requantize& step) const {
    return Requantize{step.axis, step.axis == 0 ? part(*step.from_scales) : step.from_scales, step.to_scale};
  }
  std::optional<RecipeStep> operator()(const QuantizeBias& step) const { return step; }
  std::optional<RecipeStep> operator()(const AppendZeros& step) const {
    return rank == 1 ? std::nullopt : std::optional<RecipeStep>(step);
  }
  std::optional<RecipeStep> operator()(const RoundToFloat16& step) const { return step; }

 private:
  std::shared_ptr<const std::vector<float>> part(const std::vector<float>& values) const {
    return std::make_shared<const std::vector<float>>(values.begin() + begin, values.begin() + end);
  }
};

// Returns the numbers of a step that recipe_text() leaves out.
const std::vector<float>* vector_of(const RecipeStep& step) {
  if (const auto* scale = std::get_if<ScaleAxis>(&step)) return scale->factors.get();
  if (const auto* add = std::get_if<AddVector>(&step)) return add->values.get();
  if (const auto* requantize = std::get_if<Requantize>(&step)) return requantize->from_scales.get();
  return nullptr;
}

}  // namespace

size_t size_of(DataType type) {
  if (type == DataType::kFloat16) return 2;
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

Constant Constant::checked_by(std::shared_ptr<SourceCheck> check) const {
  Constant result = *this;
  result.check_ = std::move(check);
  return result;
}

const std::shared_ptr<SourceCheck>& Constant::whole_check() const {
  static const std::shared_ptr<SourceCheck> none;
  const bool is_whole = check_ != nullptr && check_->covers(data_, count(source_shape_) * size_of(source_type_));
  return is_whole ? check_ : none;
}

Constant Constant::then(RecipeStep step) const {
  Constant result = *this;
  if (const auto* order = std::get_if<Permute>(&step)) result.shape_ = permute(shape_, order->order);
  if (const auto* reshape = std::get_if<Reshape>(&step)) {
    NNC_ASSERT(count(reshape->shape) == element_count(), "reshape of a constant changes its size");
    result.shape_ = reshape->shape;
  }
  if (const auto* zeros = std::get_if<AppendZeros>(&step)) result.shape_.back() += zeros->count;
  if (std::holds_alternative<ShiftToUInt8>(step)) result.type_ = DataType::kUInt8;
  if (std::holds_alternative<QuantizeBias>(step)) result.type_ = DataType::kInt32;
  if (std::holds_alternative<RoundToFloat16>(step)) result.type_ = DataType::kFloat16;
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
  const Buffer buffer = evaluate({source_type_, source_shape_, source_bytes()}, steps_);
  return std::vector<uint8_t>(buffer.bytes(), buffer.bytes() + buffer.size());
}

namespace {

// Takes the parts of a weight that were read out of memory again: most weights are mapped from the model's file, and
// not all of a weight needs to be in memory. Takes out pieces of 2 MB, as each time all processors are told.
class ReadPages {
 public:
  explicit ReadPages(const uint8_t* begin) : begin_(begin) {}
  ~ReadPages() { drop_file_pages(begin_, size_); }
  ReadPages(const ReadPages&) = delete;
  ReadPages& operator=(const ReadPages&) = delete;

  // Notes that the next `size` bytes were read.
  void add(size_t size) {
    constexpr size_t kMostBytes = size_t{1} << 21;
    size_ += size;
    if (size_ < kMostBytes) return;
    drop_file_pages(begin_, size_);
    begin_ += size_;
    size_ = 0;
  }

 private:
  const uint8_t* begin_;
  size_t size_ = 0;
};

}  // namespace

void Constant::write_to(const ByteSink& sink) const {
  constexpr size_t kPieceBytes = size_t{1} << 20;
  ReadPages pages(source_bytes());
  const auto write = [&](const Constant& part) {
    const size_t source_size = count(part.source_shape_) * size_of(part.source_type_);
    if (check_ != nullptr) check_->add(part.source_bytes(), source_size);
    const Buffer buffer = evaluate({part.source_type_, part.source_shape_, part.source_bytes()}, part.steps_);
    sink(buffer.bytes(), buffer.size());
    pages.add(source_size);
  };
  if (byte_count() <= kPieceBytes || !has_rows()) return write(*this);
  const size_t row_bytes = byte_count() / static_cast<size_t>(shape_[0]);
  const auto rows_at_once = static_cast<int64_t>(std::max<size_t>(kPieceBytes / row_bytes, 1));
  for (int64_t begin = 0; begin < shape_[0]; begin += rows_at_once) {
    write(*rows(begin, std::min(begin + rows_at_once, shape_[0])));
  }
}

bool Constant::has_rows() const {
  return !shape_.empty() && rows(0, shape_[0]).has_value();
}

// Returns the constant of the result's elements with indices [begin, end) of axis 0; nothing if they need other
// elements of the source.
std::optional<Constant> Constant::rows(int64_t begin, int64_t end) const {
  if (source_shape_.empty() || source_shape_[0] != shape_[0]) return std::nullopt;
  std::vector<int64_t> part_shape = source_shape_;
  part_shape[0] = end - begin;
  const size_t row_bytes = count(source_shape_) * size_of(source_type_) / static_cast<size_t>(source_shape_[0]);
  Constant part(source_type_, part_shape, source_bytes() + static_cast<size_t>(begin) * row_bytes, owner_);
  for (const RecipeStep& step : steps_) {
    const std::optional<RecipeStep> of_rows = std::visit(RowsOfStep{shape_[0], begin, end, part.shape_.size()}, step);
    if (!of_rows) return std::nullopt;
    part = part.then(*of_rows);
  }
  return part;
}

const uint8_t* Constant::source_bytes() const {
  NNC_ASSERT(data_ != nullptr || count(source_shape_) == 0, "the bytes of a released constant are asked for");
  return static_cast<const uint8_t*>(data_);
}

void Constant::release() {
  data_ = nullptr;
  owner_.reset();
}

Constant Constant::evaluated() const {
  Buffer buffer = evaluate({source_type_, source_shape_, source_bytes()}, steps_);
  if (!buffer.memory) return Constant(type_, shape_, data_, owner_).checked_by(check_);
  const std::shared_ptr<const uint8_t[]> owner = std::move(buffer.memory);
  return Constant(type_, shape_, owner.get(), owner);
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
  return a.data_ == b.data_ || size == 0 || std::memcmp(a.source_bytes(), b.source_bytes(), size) == 0;
}

size_t Constant::sample_hash() const {
  // Hashes only the beginning: a mapped source is read from its file wherever it is touched.
  constexpr size_t kSampleBytes = 256;
  const size_t size = std::min(count(source_shape_) * size_of(source_type_), kSampleBytes);
  std::string sample = fmt::format("{} {}", static_cast<int>(source_type_), fmt::join(source_shape_, ","));
  if (size != 0) sample.append(reinterpret_cast<const char*>(source_bytes()), size);
  return std::hash<std::string>()(sample);
}

std::string Constant::recipe_text() const {
  std::string text;
  for (const RecipeStep& step : steps_) text += (text.empty() ? "" : " ") + std::visit(StepText{}, step);
  return text;
}

}  // namespace nnapi_convert::nnapi
