// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lib/format/float16.h"
#include "lib/program/float_loops.h"

namespace nnapi_shim::program {

namespace {

struct Half {
  uint16_t bits;
};

struct Truth {
  uint8_t byte;
};

template <typename To, typename From>
To converted(From value) {
  return static_cast<To>(value);
}
template <>
int64_t converted(double value) {
  return int_of(value);
}
template <>
int64_t converted(float value) {
  return int_of(static_cast<double>(value));
}
template <>
float converted(Half value) {
  return nnapi_convert::float_of_float16(value.bits);
}
template <>
double converted(Half value) {
  return static_cast<double>(nnapi_convert::float_of_float16(value.bits));
}
template <>
int64_t converted(Half value) {
  return int_of(static_cast<double>(nnapi_convert::float_of_float16(value.bits)));
}

template <typename From, typename To>
void load_run(const uint8_t* from, ptrdiff_t step, size_t count, void* to) {
  To* results = static_cast<To*>(to);
  for (size_t i = 0; i < count; ++i, from += step) results[i] = converted<To>(*reinterpret_cast<const From*>(from));
}

// Converts an element. Whole numbers lose their upper digits, as in C.
template <typename To, typename From>
struct Stored {
  static To of(From value) { return static_cast<To>(converted<int64_t>(value)); }
};
template <typename From>
struct Stored<float, From> {
  static float of(From value) { return static_cast<float>(value); }
};
template <typename From>
struct Stored<double, From> {
  static double of(From value) { return static_cast<double>(value); }
};
template <typename From>
struct Stored<Half, From> {
  static Half of(From value) { return {nnapi_convert::float16_bits(static_cast<float>(value))}; }
};
template <typename From>
struct Stored<Truth, From> {
  static Truth of(From value) { return {static_cast<uint8_t>(value != 0 ? 1 : 0)}; }
};

template <typename From, typename To>
void store_run(const void* from, size_t count, uint8_t* to, ptrdiff_t step) {
  const From* values = static_cast<const From*>(from);
  for (size_t i = 0; i < count; ++i, to += step) *reinterpret_cast<To*>(to) = Stored<To, From>::of(values[i]);
}

using Load = void (*)(const uint8_t*, ptrdiff_t, size_t, void*);
using Store = void (*)(const void*, size_t, uint8_t*, ptrdiff_t);

template <typename T>
struct Rows {
  static constexpr Load kLoads[kComputeClasses] = {load_run<T, float>, load_run<T, double>, load_run<T, int64_t>};
  static constexpr Store kStores[kComputeClasses] = {store_run<float, T>, store_run<double, T>, store_run<int64_t, T>};
};
constexpr Store kTruthStores[kComputeClasses] = {store_run<float, Truth>, store_run<double, Truth>,
                                                 store_run<int64_t, Truth>};

const Load* loads_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kInt8:
      return Rows<int8_t>::kLoads;
    case ScalarType::kInt16:
      return Rows<int16_t>::kLoads;
    case ScalarType::kInt32:
      return Rows<int32_t>::kLoads;
    case ScalarType::kInt64:
      return Rows<int64_t>::kLoads;
    case ScalarType::kFloat16:
      return Rows<Half>::kLoads;
    case ScalarType::kFloat32:
      return Rows<float>::kLoads;
    case ScalarType::kFloat64:
      return Rows<double>::kLoads;
    default:
      return Rows<uint8_t>::kLoads;
  }
}

const Store* stores_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kInt8:
      return Rows<int8_t>::kStores;
    case ScalarType::kInt16:
      return Rows<int16_t>::kStores;
    case ScalarType::kInt32:
      return Rows<int32_t>::kStores;
    case ScalarType::kInt64:
      return Rows<int64_t>::kStores;
    case ScalarType::kFloat16:
      return Rows<Half>::kStores;
    case ScalarType::kFloat32:
      return Rows<float>::kStores;
    case ScalarType::kFloat64:
      return Rows<double>::kStores;
    case ScalarType::kBool:
      return kTruthStores;
    default:
      return Rows<uint8_t>::kStores;
  }
}

size_t class_bytes(Compute compute) {
  return compute == Compute::kFloat ? 4 : 8;
}

bool is_class_type(ScalarType dtype, Compute compute) {
  constexpr ScalarType kTypes[] = {ScalarType::kFloat32, ScalarType::kFloat64, ScalarType::kInt64};
  return dtype == kTypes[static_cast<size_t>(compute)];
}

}  // namespace

Compute compute_of(ScalarType dtype) {
  if (dtype == ScalarType::kFloat32 || dtype == ScalarType::kFloat16) return Compute::kFloat;
  return dtype == ScalarType::kFloat64 ? Compute::kDouble : Compute::kInt;
}

Compute conversion_class(ScalarType from, ScalarType to) {
  return compute_of(is_floating(from) ? from : to);
}

int64_t int_of(double value) {
  return value >= -9223372036854775808.0 && value < 9223372036854775808.0 ? static_cast<int64_t>(value)
                                                                          : std::numeric_limits<int64_t>::min();
}

void load_elements(const uint8_t* from, ScalarType dtype, ptrdiff_t step, size_t count, Compute compute, void* to) {
  if (step == static_cast<ptrdiff_t>(class_bytes(compute)) && is_class_type(dtype, compute)) {
    std::memcpy(to, from, count * class_bytes(compute));
  } else if (dtype == ScalarType::kFloat32 && compute == Compute::kDouble && step == sizeof(float)) {
    widen(count, reinterpret_cast<const float*>(from), static_cast<double*>(to));
  } else {
    loads_of(dtype)[static_cast<size_t>(compute)](from, step, count, to);
  }
}

void store_elements(const void* from, Compute compute, size_t count, uint8_t* to, ScalarType dtype, ptrdiff_t step) {
  if (dtype == ScalarType::kBool && compute == Compute::kFloat && step == 1) {
    set_truths(count, static_cast<const float*>(from), to);
  } else {
    stores_of(dtype)[static_cast<size_t>(compute)](from, count, to, step);
  }
}

double load_double(const Tensor& tensor, int64_t element) {
  double value;
  load_elements(tensor.storage->data + element * static_cast<int64_t>(element_bytes(tensor.dtype)), tensor.dtype, 0, 1,
                Compute::kDouble, &value);
  return value;
}

int64_t load_int(const Tensor& tensor, int64_t element) {
  int64_t value;
  load_elements(tensor.storage->data + element * static_cast<int64_t>(element_bytes(tensor.dtype)), tensor.dtype, 0, 1,
                Compute::kInt, &value);
  return value;
}

void store_double(const Tensor& tensor, int64_t element, double value) {
  store_elements(&value, Compute::kDouble, 1,
                 tensor.storage->data + element * static_cast<int64_t>(element_bytes(tensor.dtype)), tensor.dtype, 0);
}

void store_int(const Tensor& tensor, int64_t element, int64_t value) {
  store_elements(&value, Compute::kInt, 1,
                 tensor.storage->data + element * static_cast<int64_t>(element_bytes(tensor.dtype)), tensor.dtype, 0);
}

void Cursor::start(const Tensor& tensor, const uint32_t* axes) {
  start(tensor, tensor.rank, tensor.sizes, tensor.strides, axes);
}

void Cursor::start(const Tensor& tensor, uint32_t axis_count, const int64_t* axis_sizes, const int64_t* axis_strides,
                   const uint32_t* axes) {
  at = tensor.bytes();
  dtype = tensor.dtype;
  rank = 0;
  const auto bytes = static_cast<int64_t>(element_bytes(dtype));
  for (uint32_t i = 0; i < axis_count; ++i) {
    const uint32_t axis = axes == nullptr ? i : axes[i];
    if (axis_sizes[axis] == 1) continue;
    const int64_t step = axis_strides[axis] * bytes;
    if (rank > 0 && steps[rank - 1] == step * axis_sizes[axis]) {
      sizes[rank - 1] *= axis_sizes[axis];
      steps[rank - 1] = step;
    } else {
      sizes[rank] = axis_sizes[axis];
      steps[rank] = step;
      index[rank++] = 0;
    }
  }
  if (rank == 0) {
    sizes[0] = 1;
    steps[0] = bytes;
    index[0] = 0;
    rank = 1;
  }
}

bool Cursor::is_one_run(Compute compute) const {
  return rank == 1 && steps[0] == static_cast<int64_t>(class_bytes(compute)) && is_class_type(dtype, compute);
}

namespace {

// Gives runs of elements with one step to `run`, until `count` elements are done.
template <typename Run>
void walk(Cursor& cursor, size_t count, const Run& run) {
  const uint32_t last = cursor.rank - 1;
  while (count > 0) {
    const size_t length = std::min(count, static_cast<size_t>(cursor.sizes[last] - cursor.index[last]));
    run(cursor.at, cursor.steps[last], length);
    count -= length;
    cursor.index[last] += static_cast<int64_t>(length);
    cursor.at += static_cast<int64_t>(length) * cursor.steps[last];
    for (uint32_t axis = last; axis > 0 && cursor.index[axis] == cursor.sizes[axis]; --axis) {
      cursor.at += cursor.steps[axis - 1] - cursor.sizes[axis] * cursor.steps[axis];
      cursor.index[axis] = 0;
      ++cursor.index[axis - 1];
    }
  }
}

}  // namespace

void Cursor::read(size_t count, Compute compute, void* to) {
  auto* result = static_cast<uint8_t*>(to);
  const ScalarType type = dtype;
  walk(*this, count, [&result, type, compute](const uint8_t* from, int64_t step, size_t length) {
    load_elements(from, type, step, length, compute, result);
    result += length * class_bytes(compute);
  });
}

void Cursor::write(size_t count, Compute compute, const void* from) {
  const auto* values = static_cast<const uint8_t*>(from);
  const ScalarType type = dtype;
  walk(*this, count, [&values, type, compute](uint8_t* to, int64_t step, size_t length) {
    store_elements(values, compute, length, to, type, step);
    values += length * class_bytes(compute);
  });
}

void Cursor::skip(size_t count) {
  walk(*this, count, [](const uint8_t*, int64_t, size_t) {});
}

void memory_order(const Tensor& tensor, uint32_t* axes) {
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    uint32_t place = i;
    while (place > 0 && tensor.strides[axes[place - 1]] < tensor.strides[i]) {
      axes[place] = axes[place - 1];
      --place;
    }
    axes[place] = i;
  }
}

bool map_elements(Compute compute, Kernel kernel, const void* parameters, const Tensor& out, uint32_t count,
                  const Tensor* const* operands) {
  uint32_t axes[kMostAxes];
  memory_order(out, axes);
  Cursor out_cursor, cursors[kMostOperands];
  out_cursor.start(out, axes);
  const void* in[kMostOperands];
  ChunkBuffer buffers[kMostOperands], out_buffer;
  bool is_read[kMostOperands] = {};  // whether the operand is read into a buffer for each chunk
  bool all_direct = out_cursor.is_one_run(compute);
  const bool out_direct = all_direct;
  for (uint32_t i = 0; i < count; ++i) {
    const Tensor& operand = *operands[i];
    int64_t strides[kMostAxes];
    bool is_one_element = true;
    for (uint32_t axis = 0; axis < out.rank; ++axis) {
      const uint32_t missing = out.rank - operand.rank;
      const bool is_repeated = axis < missing || operand.sizes[axis - missing] == 1;
      strides[axis] = is_repeated ? 0 : operand.strides[axis - missing];
      is_one_element = is_one_element && (strides[axis] == 0 || out.sizes[axis] == 1);
    }
    cursors[i].start(operand, out.rank, out.sizes, strides, axes);
    if (is_one_element) {
      load_elements(operand.bytes(), operand.dtype, 0, out.numel() > 0 ? kChunk : 0, compute, &buffers[i]);
      in[i] = &buffers[i];
      all_direct = false;
    } else if (cursors[i].is_one_run(compute)) {
      in[i] = cursors[i].at;
    } else {
      in[i] = &buffers[i];
      is_read[i] = true;
      all_direct = false;
    }
  }
  auto left = static_cast<size_t>(out.numel());
  if (all_direct) return kernel(left, out_cursor.at, in, parameters);
  uint8_t* to = out_cursor.at;
  // The element that fills an operand's buffer: if it is repeated for more chunks, the buffer is not filled again.
  const uint8_t* repeated[kMostOperands] = {};
  while (left > 0) {
    const size_t length = std::min(left, kChunk);
    for (uint32_t i = 0; i < count; ++i) {
      if (!is_read[i]) continue;
      Cursor& cursor = cursors[i];
      const uint32_t last = cursor.rank - 1;
      const bool repeats =
          cursor.steps[last] == 0 && static_cast<size_t>(cursor.sizes[last] - cursor.index[last]) >= length;
      if (repeats && repeated[i] == cursor.at) {
        cursor.skip(length);
        continue;
      }
      repeated[i] = repeats ? cursor.at : nullptr;
      cursor.read(length, compute, &buffers[i]);
    }
    if (!kernel(length, out_direct ? static_cast<void*>(to) : &out_buffer, in, parameters)) return false;
    if (out_direct) {
      to += length * class_bytes(compute);
    } else {
      out_cursor.write(length, compute, &out_buffer);
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (!is_read[i] && in[i] != &buffers[i]) {
        in[i] = static_cast<const uint8_t*>(in[i]) + length * class_bytes(compute);
      }
    }
    left -= length;
  }
  return true;
}

namespace {

void fill(const Tensor& to, Compute compute, const void* value) {
  const size_t bytes = element_bytes(to.dtype);
  uint64_t bits = 0;
  store_elements(value, compute, 1, reinterpret_cast<uint8_t*>(&bits), to.dtype, 0);
  uint32_t axes[kMostAxes];
  memory_order(to, axes);
  Cursor cursor;
  cursor.start(to, axes);
  walk(cursor, static_cast<size_t>(to.numel()), [bytes, bits](uint8_t* at, int64_t step, size_t length) {
    if (bits == 0 && step == static_cast<int64_t>(bytes)) {
      std::memset(at, 0, length * bytes);
      return;
    }
    for (size_t i = 0; i < length; ++i, at += step) {
      switch (bytes) {
        case 1:
          *at = static_cast<uint8_t>(bits);
          break;
        case 2:
          *reinterpret_cast<uint16_t*>(at) = static_cast<uint16_t>(bits);
          break;
        case 4:
          std::memcpy(at, &bits, 4);
          break;
        default:
          std::memcpy(at, &bits, 8);
          break;
      }
    }
  });
}

}  // namespace

void fill_elements(const Tensor& to, double value) {
  fill(to, Compute::kDouble, &value);
}
void fill_elements(const Tensor& to, int64_t value) {
  fill(to, Compute::kInt, &value);
}

}  // namespace nnapi_shim::program
