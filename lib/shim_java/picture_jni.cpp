// SPDX-License-Identifier: BSD-3-Clause
// The native half of org.nnapiconvert.NnapiModel's functions for pictures, and of those for the labels and notes of a
// file.
#include <jni.h>

#include <vector>

#include "lib/shim/nnapi_shim.h"
#include "lib/shim_java/java_error.h"
#include "lib/shim_java/java_text.h"
#include "lib/shim_java/tensor_numbers.h"

namespace {

using nnapi_shim::check;
using nnapi_shim::model_of;
using nnapi_shim::to_tensor;

// Returns the picture that NnapiPicture's planes and numbers describe. Java keeps the buffers while native code runs.
nnapi_shim_picture to_picture(JNIEnv* env, jobjectArray planes, jlongArray array) {
  constexpr jsize kNumbers = 15;
  jlong numbers[kNumbers];
  env->GetLongArrayRegion(array, 0, kNumbers, numbers);
  nnapi_shim_picture picture = {};
  picture.struct_bytes = sizeof picture;
  picture.pixels = static_cast<int32_t>(numbers[0]);
  picture.width = static_cast<uint32_t>(numbers[1]);
  picture.height = static_cast<uint32_t>(numbers[2]);
  const jsize count = env->GetArrayLength(planes);
  for (jsize i = 0; i < count && i < 3; ++i) {
    jobject plane = env->GetObjectArrayElement(planes, i);
    picture.planes[i] = env->GetDirectBufferAddress(plane);
    picture.plane_bytes[i] = static_cast<size_t>(env->GetDirectBufferCapacity(plane));
    picture.row_bytes[i] = static_cast<size_t>(numbers[3 + i]);
    picture.pixel_bytes[i] = static_cast<size_t>(numbers[6 + i]);
    env->DeleteLocalRef(plane);
  }
  picture.cut_left = static_cast<uint32_t>(numbers[9]);
  picture.cut_top = static_cast<uint32_t>(numbers[10]);
  picture.cut_width = static_cast<uint32_t>(numbers[11]);
  picture.cut_height = static_cast<uint32_t>(numbers[12]);
  picture.rotation = static_cast<int32_t>(numbers[13]);
  picture.is_mirrored = static_cast<int32_t>(numbers[14]);
  return picture;
}

jobjectArray new_strings(JNIEnv* env, size_t count) {
  jclass type = env->FindClass("java/lang/String");
  return type != nullptr ? env->NewObjectArray(static_cast<jsize>(count), type, nullptr) : nullptr;
}

// Sets an element of the array. Returns false if Java throws.
bool set_string(JNIEnv* env, jobjectArray array, size_t index, const char* text) {
  jstring string = nnapi_shim::to_java(env, text);
  if (string == nullptr) return false;
  env->SetObjectArrayElement(array, static_cast<jsize>(index), string);
  env->DeleteLocalRef(string);
  return true;
}

}  // namespace

extern "C" {

JNIEXPORT void JNICALL Java_org_nnapiconvert_NnapiModel_fillPicture(JNIEnv* env, jclass, jlong handle,
                                                                    jobjectArray planes, jlongArray numbers,
                                                                    jlongArray tensor_numbers, jobject buffer,
                                                                    jint position, jint limit) {
  const nnapi_shim_picture picture = to_picture(env, planes, numbers);
  const nnapi_shim_tensor tensor = to_tensor(env, tensor_numbers);
  auto* memory = static_cast<char*>(env->GetDirectBufferAddress(buffer));
  nnapi_shim_error error = {};
  const int status =
      nnapi_shim_picture_fill(model_of(handle), &picture, &tensor, memory != nullptr ? memory + position : nullptr,
                              static_cast<size_t>(limit - position), &error);
  check(env, status, error);
}

JNIEXPORT void JNICALL Java_org_nnapiconvert_NnapiModel_pictureBoxes(JNIEnv* env, jclass, jlong handle,
                                                                     jobjectArray planes, jlongArray numbers,
                                                                     jlongArray tensor_numbers, jfloatArray array) {
  const nnapi_shim_picture picture = to_picture(env, planes, numbers);
  const nnapi_shim_tensor tensor = to_tensor(env, tensor_numbers);
  const jsize count = env->GetArrayLength(array);
  std::vector<jfloat> boxes(static_cast<size_t>(count) + 1);  // data() of an empty vector may be null
  env->GetFloatArrayRegion(array, 0, count, boxes.data());
  nnapi_shim_error error = {};
  const int status = nnapi_shim_picture_boxes(model_of(handle), &picture, &tensor, boxes.data(),
                                              static_cast<uint32_t>(count / 4), &error);
  if (check(env, status, error)) env->SetFloatArrayRegion(array, 0, count, boxes.data());
}

JNIEXPORT jlongArray JNICALL Java_org_nnapiconvert_NnapiModel_pictureTensor(JNIEnv* env, jclass, jlong handle) {
  nnapi_shim_tensor tensor = {};
  nnapi_shim_error error = {};
  const int status = nnapi_shim_picture_tensor(model_of(handle), &tensor, &error);
  return check(env, status, error) ? nnapi_shim::to_java(env, tensor) : nullptr;
}

// Returns null if the file doesn't tell the path.
JNIEXPORT jstring JNICALL Java_org_nnapiconvert_NnapiModel_pictureArgument(JNIEnv* env, jclass, jlong handle) {
  const char* path = nnapi_shim_picture_argument(model_of(handle));
  return path == nullptr ? nullptr : nnapi_shim::to_java(env, path);
}

JNIEXPORT jobjectArray JNICALL Java_org_nnapiconvert_NnapiModel_labels(JNIEnv* env, jclass, jlong handle) {
  const uint32_t count = nnapi_shim_label_count(model_of(handle));
  jobjectArray labels = new_strings(env, count);
  for (uint32_t i = 0; labels != nullptr && i < count; ++i) {
    if (!set_string(env, labels, i, nnapi_shim_label(model_of(handle), i))) return nullptr;
  }
  return labels;
}

JNIEXPORT jintArray JNICALL Java_org_nnapiconvert_NnapiModel_top(JNIEnv* env, jclass, jlong handle, jfloatArray array,
                                                                 jint wanted) {
  const jsize length = env->GetArrayLength(array);
  std::vector<jfloat> scores(static_cast<size_t>(length) + 1);
  env->GetFloatArrayRegion(array, 0, length, scores.data());
  nnapi_shim_tensor output = {};
  output.type = 3;  // ANEURALNETWORKS_TENSOR_FLOAT32
  output.bytes = static_cast<size_t>(length) * sizeof(float);
  auto count = static_cast<uint32_t>(wanted);
  std::vector<nnapi_shim_score> best(size_t{count} + 1);
  nnapi_shim_error error = {};
  const int status = nnapi_shim_top(model_of(handle), &output, scores.data(), best.data(), &count, &error);
  if (!check(env, status, error)) return nullptr;
  std::vector<jint> indices;
  for (uint32_t i = 0; i < count; ++i) indices.push_back(static_cast<jint>(best[i].index));
  jintArray result = env->NewIntArray(static_cast<jsize>(count));
  if (result != nullptr && count > 0) env->SetIntArrayRegion(result, 0, static_cast<jsize>(count), indices.data());
  return result;
}

JNIEXPORT jobjectArray JNICALL Java_org_nnapiconvert_NnapiModel_notes(JNIEnv* env, jclass, jlong handle) {
  const nnapi_shim_model* model = model_of(handle);
  const uint32_t count = nnapi_shim_note_count(model);
  jobjectArray notes = new_strings(env, size_t{count} * 2);
  for (uint32_t i = 0; notes != nullptr && i < count; ++i) {
    const char* key = nnapi_shim_note_key(model, i);
    if (!set_string(env, notes, size_t{i} * 2, key)) return nullptr;
    if (!set_string(env, notes, size_t{i} * 2 + 1, nnapi_shim_note(model, key))) return nullptr;
  }
  return notes;
}

}  // extern "C"
