// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim_java/float_run.h"

#include <cstdio>
#include <limits>

namespace nnapi_shim {
namespace {

constexpr int32_t kFloat32 = 3;  // ANEURALNETWORKS_TENSOR_FLOAT32
constexpr const char* kNoFloat = "is not float32; run with direct buffers";
constexpr const char* kNoMemory = "needs more memory than there is; run with smaller sizes";

}  // namespace

int FloatRun::take_inputs(JNIEnv* env, jobjectArray inputs) {
  const auto count = static_cast<uint32_t>(env->GetArrayLength(inputs));
  for (uint32_t i = 0; i < count; ++i) {
    auto input = static_cast<jfloatArray>(env->GetObjectArrayElement(inputs, static_cast<jsize>(i)));
    nnapi_shim_tensor tensor;
    if (const int status = nnapi_shim_input(model_, shapes_, shape_count_, i, &tensor, error_)) return status;
    if (tensor.type != kFloat32) return fail("input", i, kNoFloat);
    const jsize length = env->GetArrayLength(input);
    const size_t needed = tensor.bytes / sizeof(jfloat);
    if (static_cast<size_t>(length) != needed) {
      char text[100];
      std::snprintf(text, sizeof text, "has %d numbers, for arguments of these shapes %zu are needed",
                    static_cast<int>(length), needed);
      return fail("input", i, text);
    }
    const Floats& numbers = inputs_.emplace_back(needed);
    if (!numbers.has_memory()) return fail("input", i, kNoMemory);
    env->GetFloatArrayRegion(input, 0, length, numbers.numbers.get());
    env->DeleteLocalRef(input);
  }
  return NNAPI_SHIM_OK;
}

int FloatRun::run() {
  for (uint32_t i = 0; i < nnapi_shim_output_count(model_); ++i) {
    nnapi_shim_tensor tensor;
    if (const int status = nnapi_shim_output(model_, shapes_, shape_count_, i, &tensor, error_)) return status;
    if (tensor.type != kFloat32) return fail("output", i, kNoFloat);
    const size_t count = tensor.bytes / sizeof(jfloat);
    if (count > static_cast<size_t>(std::numeric_limits<jsize>::max())) {
      return fail("output", i, "has more numbers than an array holds; run with direct buffers");
    }
    if (!outputs_.emplace_back(count).has_memory()) return fail("output", i, kNoMemory);
  }
  const std::vector<nnapi_shim_buffer> in = buffers(inputs_), out = buffers(outputs_);
  return nnapi_shim_run(model_, shapes_, shape_count_, in.data(), static_cast<uint32_t>(in.size()), out.data(),
                        static_cast<uint32_t>(out.size()), error_);
}

jobjectArray FloatRun::outputs(JNIEnv* env) const {
  jobjectArray result = env->NewObjectArray(static_cast<jsize>(outputs_.size()), env->FindClass("[F"), nullptr);
  for (size_t i = 0; result != nullptr && i < outputs_.size(); ++i) {
    const auto count = static_cast<jsize>(outputs_[i].count);
    jfloatArray output = env->NewFloatArray(count);
    if (output == nullptr) return nullptr;
    env->SetFloatArrayRegion(output, 0, count, outputs_[i].numbers.get());
    env->SetObjectArrayElement(result, static_cast<jsize>(i), output);
    env->DeleteLocalRef(output);
  }
  return result;
}

int FloatRun::fail(const char* what, uint32_t index, const char* needed) {
  error_->status = NNAPI_SHIM_BAD_ARGUMENT;
  error_->nnapi_code = 0;
  std::snprintf(error_->message, sizeof error_->message, "%s %u %s", what, index, needed);
  return NNAPI_SHIM_BAD_ARGUMENT;
}

std::vector<nnapi_shim_buffer> FloatRun::buffers(const std::vector<Floats>& tensors) {
  std::vector<nnapi_shim_buffer> result;
  for (const Floats& tensor : tensors) result.push_back({tensor.numbers.get(), tensor.count * sizeof(jfloat)});
  return result;
}

}  // namespace nnapi_shim
