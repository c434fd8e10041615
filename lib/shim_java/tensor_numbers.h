// SPDX-License-Identifier: BSD-3-Clause
// Converts between Java's numbers and the C interface's structs: the handle of a model; the description of a tensor, in
// the order that NnapiTensor's constructor reads.
#pragma once

#include <jni.h>

#include <cstdint>
#include <cstring>

#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

inline nnapi_shim_model* model_of(jlong handle) {
  return reinterpret_cast<nnapi_shim_model*>(static_cast<intptr_t>(handle));
}

constexpr jsize kTensorNumbers = 2 + NNAPI_SHIM_MOST_AXES + 5;

inline jlongArray to_java(JNIEnv* env, const nnapi_shim_tensor& tensor) {
  jlong numbers[kTensorNumbers] = {tensor.type, tensor.rank};
  for (jsize i = 0; i < NNAPI_SHIM_MOST_AXES; ++i) numbers[2 + i] = tensor.sizes[i];
  int32_t scale;
  std::memcpy(&scale, &tensor.scale, sizeof scale);
  jlong* rest = numbers + 2 + NNAPI_SHIM_MOST_AXES;
  rest[0] = scale;
  rest[1] = tensor.zero_point;
  rest[2] = static_cast<jlong>(tensor.bytes);
  rest[3] = tensor.argument;
  rest[4] = tensor.is_nhwc;
  jlongArray array = env->NewLongArray(kTensorNumbers);
  if (array != nullptr) env->SetLongArrayRegion(array, 0, kTensorNumbers, numbers);
  return array;
}

inline nnapi_shim_tensor to_tensor(JNIEnv* env, jlongArray array) {
  jlong numbers[kTensorNumbers];
  env->GetLongArrayRegion(array, 0, kTensorNumbers, numbers);
  nnapi_shim_tensor tensor = {};
  tensor.type = static_cast<int32_t>(numbers[0]);
  tensor.rank = static_cast<uint32_t>(numbers[1]);
  for (jsize i = 0; i < NNAPI_SHIM_MOST_AXES; ++i) tensor.sizes[i] = static_cast<uint32_t>(numbers[2 + i]);
  const jlong* rest = numbers + 2 + NNAPI_SHIM_MOST_AXES;
  const auto scale = static_cast<int32_t>(rest[0]);
  std::memcpy(&tensor.scale, &scale, sizeof scale);
  tensor.zero_point = static_cast<int32_t>(rest[1]);
  tensor.bytes = static_cast<size_t>(rest[2]);
  tensor.argument = static_cast<uint32_t>(rest[3]);
  tensor.is_nhwc = static_cast<uint32_t>(rest[4]);
  return tensor;
}

}  // namespace nnapi_shim
