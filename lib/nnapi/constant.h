// SPDX-License-Identifier: BSD-3-Clause
// Holds the value of a weight: a view of bytes with another owner, and a recipe that turns the bytes into the value for
// NNAPI. Building and changing a Constant does not read the bytes; bytes() reads them once, when the model is written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lib/base/source_check.h"

namespace nnapi_convert::nnapi {

// The type of a constant's elements. kFloat16: a float32 operand's value that the file stores in half the size.
enum class DataType : uint8_t { kFloat32, kInt32, kInt8, kUInt8, kBool, kFloat16 };
size_t size_of(DataType type);

// One step of a recipe. Shapes and axes are those before the step.
struct Permute {  // result axis i is source axis order[i]
  std::vector<int64_t> order;
};
struct Reshape {
  std::vector<int64_t> shape;
};
struct ScaleAxis {  // float32: multiplies by factors[i] at index i of `axis`
  int64_t axis;
  std::shared_ptr<const std::vector<float>> factors;
};
struct AddVector {  // float32: adds values[i] at index i of the last axis
  std::shared_ptr<const std::vector<float>> values;
};
struct ShiftToUInt8 {};  // int8 -> uint8: adds 128
struct Requantize {      // int8 -> int8: value * from_scales[i] / to_scale, rounded, at index i of `axis`
  int64_t axis;
  std::shared_ptr<const std::vector<float>> from_scales;
  float to_scale;
};
struct QuantizeBias {  // float32 -> int32: value / scale, rounded half away from zero, saturated
  double scale;
};
struct AppendZeros {  // adds `count` zeros at the end of the last axis
  int64_t count;
};
struct RoundToFloat16 {};  // float32 -> float16, to the nearest, ties to even; the last step
using RecipeStep = std::variant<Permute, Reshape, ScaleAxis, AddVector, ShiftToUInt8, Requantize, QuantizeBias,
                                AppendZeros, RoundToFloat16>;

// A function that takes the next bytes of a value.
using ByteSink = std::function<void(const void* bytes, size_t size)>;

class Constant {
 public:
  // `data` points to product(shape) contiguous elements, which live as long as `owner`.
  Constant(DataType type, std::vector<int64_t> shape, const void* data, std::shared_ptr<const void> owner);
  static Constant of_floats(std::vector<float> values);  // rank 1
  static Constant of_floats(std::vector<float> values, std::vector<int64_t> shape);

  // The type and shape of the result.
  DataType type() const { return type_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  size_t element_count() const;
  size_t byte_count() const { return element_count() * size_of(type_); }

  // Returns this constant whose source is checked as write_to() reads it. Null: it was checked before.
  Constant checked_by(std::shared_ptr<SourceCheck> check) const;
  // The check if it is for exactly this constant's source; else null.
  const std::shared_ptr<SourceCheck>& whole_check() const;

  // Returns this constant with one more step.
  Constant then(RecipeStep step) const;

  // Returns true if the result is the source's bytes, so that source() can be used without a copy.
  bool is_source() const { return steps_.empty(); }
  const void* source() const { return data_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  // Evaluates the recipe: product(shape()) elements of type().
  std::vector<uint8_t> bytes() const;
  // Writes the bytes of bytes() in pieces, and checks them (checked_by()). Needs little memory if each index of axis 0
  // has its own part of the source.
  void write_to(const ByteSink& sink) const;
  // Returns a constant of the same value without a recipe; this constant if it has no recipe.
  Constant evaluated() const;
  // Returns the result as numbers, for small float32 constants.
  std::vector<float> floats() const;

  // Frees the source and its owner, and keeps type, shape and recipe. Do not ask for the bytes after that.
  void release();

  // Returns true if both give the same bytes by the same recipe. Reads bytes only if types, shapes and recipes agree.
  friend bool operator==(const Constant& a, const Constant& b);
  // Equal constants have equal hashes. Reads the source's first 256 bytes: most weights differ in them.
  size_t sample_hash() const;
  // Returns a text such as "permute(0,2,3,1) scale_axis(0)"; empty without steps.
  std::string recipe_text() const;

 private:
  const uint8_t* source_bytes() const;
  bool has_rows() const;
  std::optional<Constant> rows(int64_t begin, int64_t end) const;

  DataType source_type_;
  std::vector<int64_t> source_shape_;
  const void* data_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<SourceCheck> check_ = nullptr;
  std::vector<RecipeStep> steps_;
  DataType type_;
  std::vector<int64_t> shape_;
};

}  // namespace nnapi_convert::nnapi
