// SPDX-License-Identifier: BSD-3-Clause
// The native half of org.nnapiconvert.NnapiResult, and of the calls that return one.
#include <jni.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "lib/shim/nnapi_shim.h"
#include "lib/shim_java/java_error.h"
#include "lib/shim_java/java_text.h"

namespace {

nnapi_shim_result* result_of(jlong handle) {
  return reinterpret_cast<nnapi_shim_result*>(static_cast<intptr_t>(handle));
}

nnapi_shim_named_tensor tensor_of(jlong handle, jint index) {
  nnapi_shim_named_tensor tensor = {};
  nnapi_shim_result_tensor(result_of(handle), static_cast<uint32_t>(index), &tensor, nullptr);
  return tensor;
}

// The arguments of a call. Java keeps the buffers while native code runs.
class Arguments {
 public:
  // `types` has PyTorch's number of each dtype.
  Arguments(JNIEnv* env, jobjectArray paths, jintArray types, jobjectArray sizes, jobjectArray data) {
    const jsize count = env->GetArrayLength(paths);
    for (jsize i = 0; i < count && !has_failed_; ++i) {
      auto path = static_cast<jstring>(env->GetObjectArrayElement(paths, i));
      auto extents = static_cast<jlongArray>(env->GetObjectArrayElement(sizes, i));
      jobject buffer = env->GetObjectArrayElement(data, i);
      texts_.push_back(std::make_unique<nnapi_shim::Text>(env, path));
      nnapi_shim_named_tensor tensor = {};
      const jsize rank = env->GetArrayLength(extents);
      has_failed_ = texts_.back()->has_failed();
      if (has_failed_) break;
      sizes_.emplace_back(static_cast<size_t>(rank) + 1);  // data() of an empty vector may be null
      env->GetLongArrayRegion(extents, 0, rank, sizes_.back().data());
      jint type = 0;
      env->GetIntArrayRegion(types, i, 1, &type);
      tensor.path = texts_.back()->get();
      tensor.dtype = type;
      tensor.rank = static_cast<uint32_t>(rank);
      static_assert(sizeof(jlong) == sizeof(int64_t));
      tensor.sizes = reinterpret_cast<const int64_t*>(sizes_.back().data());
      tensor.data = env->GetDirectBufferAddress(buffer);
      tensor.bytes = static_cast<size_t>(env->GetDirectBufferCapacity(buffer));
      tensors_.push_back(tensor);
      env->DeleteLocalRef(path);
      env->DeleteLocalRef(extents);
      env->DeleteLocalRef(buffer);
    }
  }

  bool has_failed() const { return has_failed_; }
  const nnapi_shim_named_tensor* data() const { return tensors_.data(); }
  uint32_t count() const { return static_cast<uint32_t>(tensors_.size()); }

 private:
  std::vector<std::unique_ptr<nnapi_shim::Text>> texts_;
  std::vector<std::vector<jlong>> sizes_;  // by tensor; the outer vector may move, the inner ones stay in place
  std::vector<nnapi_shim_named_tensor> tensors_;
  bool has_failed_ = false;
};

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_org_nnapiconvert_NnapiModel_call(JNIEnv* env, jclass, jlong handle, jstring method,
                                                              jobjectArray paths, jintArray types, jobjectArray sizes,
                                                              jobjectArray data) {
  const nnapi_shim::Text name(env, method);
  if (name.has_failed()) return 0;
  const Arguments arguments(env, paths, types, sizes, data);
  nnapi_shim_error error = {};
  if (arguments.has_failed() || env->ExceptionCheck() != JNI_FALSE) return 0;
  nnapi_shim_result* result = nnapi_shim_result_new();
  if (result == nullptr) {
    error.status = NNAPI_SHIM_FAILED;
    std::snprintf(error.message, sizeof error.message, "memory is short for the result");
    nnapi_shim::check(env, error.status, error);
    return 0;
  }
  auto* model = reinterpret_cast<nnapi_shim_model*>(static_cast<intptr_t>(handle));
  const int status = nnapi_shim_call(model, name.get(), arguments.data(), arguments.count(), result, &error);
  if (nnapi_shim::check(env, status, error)) return static_cast<jlong>(reinterpret_cast<intptr_t>(result));
  nnapi_shim_result_free(result);
  return 0;
}

JNIEXPORT jint JNICALL Java_org_nnapiconvert_NnapiResult_count(JNIEnv*, jclass, jlong handle) {
  return static_cast<jint>(nnapi_shim_result_count(result_of(handle)));
}

JNIEXPORT jstring JNICALL Java_org_nnapiconvert_NnapiResult_path(JNIEnv* env, jclass, jlong handle, jint index) {
  return nnapi_shim::to_java(env, tensor_of(handle, index).path);
}

JNIEXPORT jlongArray JNICALL Java_org_nnapiconvert_NnapiResult_describe(JNIEnv* env, jclass, jlong handle, jint index) {
  const nnapi_shim_named_tensor tensor = tensor_of(handle, index);
  std::vector<jlong> numbers = {tensor.dtype};
  numbers.insert(numbers.end(), tensor.sizes, tensor.sizes + tensor.rank);
  jlongArray array = env->NewLongArray(static_cast<jsize>(numbers.size()));
  if (array != nullptr) env->SetLongArrayRegion(array, 0, static_cast<jsize>(numbers.size()), numbers.data());
  return array;
}

JNIEXPORT jobject JNICALL Java_org_nnapiconvert_NnapiResult_data(JNIEnv* env, jclass, jlong handle, jint index) {
  const nnapi_shim_named_tensor tensor = tensor_of(handle, index);
  if (tensor.bytes == 0) return nullptr;
  return env->NewDirectByteBuffer(const_cast<void*>(tensor.data), static_cast<jlong>(tensor.bytes));
}

JNIEXPORT void JNICALL Java_org_nnapiconvert_NnapiResult_free(JNIEnv*, jclass, jlong handle) {
  nnapi_shim_result_free(result_of(handle));
}

}  // extern "C"
