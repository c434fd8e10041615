// SPDX-License-Identifier: BSD-3-Clause
// The native half of org.nnapiconvert.NnapiModel. Each function hands its arguments to the C interface (nnapi_shim.h)
// and throws an org.nnapiconvert.NnapiException for a failure. Java checks what native code can't: nulls and heap
// buffers.
#include <jni.h>

#include <cstring>
#include <string>
#include <vector>

#include "lib/shim/nnapi_shim.h"
#include "lib/shim_java/float_run.h"
#include "lib/shim_java/java_error.h"
#include "lib/shim_java/java_text.h"
#include "lib/shim_java/tensor_numbers.h"

namespace {

using nnapi_shim::check;
using nnapi_shim::FloatRun;
using nnapi_shim::model_of;
using nnapi_shim::Text;
using nnapi_shim::to_java;

jlong handle_of(nnapi_shim_model* model) {
  return static_cast<jlong>(reinterpret_cast<intptr_t>(model));
}

// The arguments' shapes in the C interface's form.
class Shapes {
 public:
  Shapes(JNIEnv* env, jintArray ranks, jlongArray sizes) {
    std::vector<jint> each(static_cast<size_t>(env->GetArrayLength(ranks)));
    env->GetIntArrayRegion(ranks, 0, static_cast<jsize>(each.size()), each.data());
    sizes_.resize(static_cast<size_t>(env->GetArrayLength(sizes)) + 1);  // data() of an empty vector may be null
    env->GetLongArrayRegion(sizes, 0, static_cast<jsize>(sizes_.size() - 1), sizes_.data());
    const jlong* at = sizes_.data();
    static_assert(sizeof(jlong) == sizeof(int64_t));
    for (const jint rank : each) {
      shapes_.push_back({static_cast<uint32_t>(rank), reinterpret_cast<const int64_t*>(at)});
      at += rank;
    }
  }
  const nnapi_shim_shape* data() const { return shapes_.data(); }
  uint32_t count() const { return static_cast<uint32_t>(shapes_.size()); }

 private:
  std::vector<jlong> sizes_;
  std::vector<nnapi_shim_shape> shapes_;
};

jlongArray to_java(JNIEnv* env, const std::vector<jlong>& numbers) {
  jlongArray array = env->NewLongArray(static_cast<jsize>(numbers.size()));
  if (array != nullptr) env->SetLongArrayRegion(array, 0, static_cast<jsize>(numbers.size()), numbers.data());
  return array;
}

// Returns the memory of the buffers between their positions and their limits.
std::vector<nnapi_shim_buffer> buffers_of(JNIEnv* env, jobjectArray buffers, jintArray positions) {
  std::vector<jint> ends(static_cast<size_t>(env->GetArrayLength(positions)));
  env->GetIntArrayRegion(positions, 0, static_cast<jsize>(ends.size()), ends.data());
  std::vector<nnapi_shim_buffer> result;
  for (size_t i = 0; i + 1 < ends.size(); i += 2) {
    jobject buffer = env->GetObjectArrayElement(buffers, static_cast<jsize>(i / 2));
    auto* memory = static_cast<char*>(env->GetDirectBufferAddress(buffer));
    env->DeleteLocalRef(buffer);
    result.push_back({memory != nullptr ? memory + ends[i] : nullptr, static_cast<size_t>(ends[i + 1] - ends[i])});
  }
  return result;
}

// Options in the C interface's form. `strings` and `numbers` are in the order of NnapiOptions.strings() and numbers().
class Options {
 public:
  Options(JNIEnv* env, jobjectArray strings, jlongArray numbers)
      : library_(env, at(env, strings, 0)),
        device_(env, at(env, strings, 1)),
        cache_(env, at(env, strings, 2)),
        rules_(env, at(env, strings, 3)),
        rules_file_(env, at(env, strings, 4)) {
    std::memset(&options_, 0, sizeof options_);
    jlong number[kNumbers];
    env->GetLongArrayRegion(numbers, 0, kNumbers, number);
    has_failed_ = env->ExceptionCheck() != JNI_FALSE;
    if (!has_failed_) fill(number);
  }

  bool has_failed() const {
    return has_failed_ || library_.has_failed() || device_.has_failed() || cache_.has_failed() || rules_.has_failed() ||
           rules_file_.has_failed();
  }
  const nnapi_shim_options* get() const { return &options_; }

 private:
  static constexpr jsize kNumbers = 14;

  static jstring at(JNIEnv* env, jobjectArray strings, jsize index) {
    return static_cast<jstring>(env->GetObjectArrayElement(strings, index));
  }

  void fill(const jlong* number) {
    options_.struct_bytes = sizeof options_;
    options_.library = library_.get();
    options_.device = device_.get();
    options_.cache_directory = cache_.get();
    options_.driver_rules = rules_.get();
    options_.driver_rules_file = rules_file_.get();
    options_.is_support_library = static_cast<int32_t>(number[0]);
    options_.device_kind = static_cast<int32_t>(number[1]);
    options_.preference = static_cast<int32_t>(number[2]);
    options_.compile_timeout_ns = static_cast<uint64_t>(number[3]);
    options_.execute_timeout_ns = static_cast<uint64_t>(number[4]);
    options_.measure_timing = static_cast<int32_t>(number[5]);
    options_.max_compiled = static_cast<uint32_t>(number[6]);
    options_.no_self_check = static_cast<int32_t>(number[7]);
    options_.variant = static_cast<uint32_t>(number[8]);
    options_.measure_models = static_cast<int32_t>(number[9]);
    options_.priority = static_cast<int32_t>(number[10]);
    options_.loop_timeout_ns = static_cast<uint64_t>(number[11]);
    options_.no_burst = static_cast<int32_t>(number[12]);
    options_.no_reuse = static_cast<int32_t>(number[13]);
  }

  const Text library_, device_, cache_, rules_, rules_file_;
  nnapi_shim_options options_;
  bool has_failed_ = false;
};

// The Java objects by which read_part() reads an archive.
struct Reading {
  JNIEnv* env;
  jclass model;
  jobject reader;
  jmethodID fill;
};

// Lets Java read a part of an archive into the memory, as a direct buffer. If Java throws, the exception stays pending
// until native code returns.
int read_part(void* context, uint64_t offset, void* destination, size_t bytes) {
  const auto* reading = static_cast<const Reading*>(context);
  jobject buffer = reading->env->NewDirectByteBuffer(destination, static_cast<jlong>(bytes));
  if (buffer == nullptr) return 1;
  reading->env->CallStaticVoidMethod(reading->model, reading->fill, reading->reader, static_cast<jlong>(offset),
                                     buffer);
  if (reading->env->ExceptionCheck()) return 1;
  reading->env->DeleteLocalRef(buffer);
  return 0;
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_org_nnapiconvert_NnapiModel_openFile(JNIEnv* env, jclass, jstring path) {
  const Text text(env, path);
  if (text.has_failed()) return 0;
  nnapi_shim_model* model = nullptr;
  nnapi_shim_error error;
  return check(env, nnapi_shim_open_file(text.get(), &model, &error), error) ? handle_of(model) : 0;
}

JNIEXPORT jlong JNICALL Java_org_nnapiconvert_NnapiModel_openDescriptor(JNIEnv* env, jclass, jint descriptor,
                                                                        jlong offset, jlong bytes) {
  nnapi_shim_model* model = nullptr;
  nnapi_shim_error error;
  const int status = nnapi_shim_open_descriptor(descriptor, static_cast<uint64_t>(offset),
                                                bytes < 0 ? UINT64_MAX : static_cast<uint64_t>(bytes), &model, &error);
  return check(env, status, error) ? handle_of(model) : 0;
}

JNIEXPORT jlong JNICALL Java_org_nnapiconvert_NnapiModel_openMemory(JNIEnv* env, jclass, jobject archive, jlong bytes) {
  nnapi_shim_model* model = nullptr;
  nnapi_shim_error error;
  const int status =
      nnapi_shim_open_archive(env->GetDirectBufferAddress(archive), static_cast<size_t>(bytes), &model, &error);
  return check(env, status, error) ? handle_of(model) : 0;
}

JNIEXPORT jlong JNICALL Java_org_nnapiconvert_NnapiModel_openReader(JNIEnv* env, jclass type, jobject reader,
                                                                    jlong bytes) {
  Reading reading = {env, type, reader,
                     env->GetStaticMethodID(type, "fill", "(Lorg/nnapiconvert/NnapiReader;JLjava/nio/ByteBuffer;)V")};
  if (reading.fill == nullptr) return 0;
  nnapi_shim_model* model = nullptr;
  nnapi_shim_error error;
  const int status = nnapi_shim_open_reader(read_part, &reading, static_cast<uint64_t>(bytes), &model, &error);
  if (env->ExceptionCheck()) {
    nnapi_shim_close(model);
    return 0;
  }
  return check(env, status, error) ? handle_of(model) : 0;
}

JNIEXPORT void JNICALL Java_org_nnapiconvert_NnapiModel_configure(JNIEnv* env, jclass, jlong handle,
                                                                  jobjectArray strings, jlongArray numbers) {
  const Options options(env, strings, numbers);
  if (options.has_failed()) return;
  nnapi_shim_error error;
  check(env, nnapi_shim_configure(model_of(handle), options.get(), &error), error);
}

JNIEXPORT void JNICALL Java_org_nnapiconvert_NnapiModel_probe(JNIEnv* env, jclass, jstring path, jobjectArray strings,
                                                              jlongArray numbers) {
  const Text text(env, path);
  if (text.has_failed()) return;
  const Options options(env, strings, numbers);
  if (options.has_failed()) return;
  nnapi_shim_error error;
  check(env, nnapi_shim_probe(text.get(), options.get(), &error), error);
}

JNIEXPORT jintArray JNICALL Java_org_nnapiconvert_NnapiModel_counts(JNIEnv* env, jclass, jlong handle) {
  const nnapi_shim_model* model = model_of(handle);
  const jint numbers[] = {
      static_cast<jint>(nnapi_shim_argument_count(model)), static_cast<jint>(nnapi_shim_input_count(model)),
      static_cast<jint>(nnapi_shim_output_count(model)), static_cast<jint>(nnapi_shim_feature_level(model))};
  jintArray result = env->NewIntArray(4);
  if (result != nullptr) env->SetIntArrayRegion(result, 0, 4, numbers);
  return result;
}

JNIEXPORT jlongArray JNICALL Java_org_nnapiconvert_NnapiModel_argumentSizes(JNIEnv* env, jclass, jlong handle,
                                                                            jint argument) {
  uint32_t rank = 0;
  int64_t sizes[NNAPI_SHIM_MOST_AXES];
  nnapi_shim_error error;
  const int status = nnapi_shim_argument(model_of(handle), static_cast<uint32_t>(argument), &rank, sizes, &error);
  return check(env, status, error) ? to_java(env, {sizes, sizes + rank}) : nullptr;
}

JNIEXPORT jlongArray JNICALL Java_org_nnapiconvert_NnapiModel_describe(JNIEnv* env, jclass, jlong handle,
                                                                       jintArray ranks, jlongArray sizes, jint index,
                                                                       jboolean is_output) {
  const Shapes shapes(env, ranks, sizes);
  nnapi_shim_tensor tensor;
  nnapi_shim_error error;
  const auto describe = is_output != JNI_FALSE ? nnapi_shim_output : nnapi_shim_input;
  const int status =
      describe(model_of(handle), shapes.data(), shapes.count(), static_cast<uint32_t>(index), &tensor, &error);
  if (!check(env, status, error)) return nullptr;
  return nnapi_shim::to_java(env, tensor);
}

JNIEXPORT void JNICALL Java_org_nnapiconvert_NnapiModel_warmUp(JNIEnv* env, jclass, jlong handle, jintArray ranks,
                                                               jlongArray sizes) {
  const Shapes shapes(env, ranks, sizes);
  nnapi_shim_error error;
  check(env, nnapi_shim_warm_up(model_of(handle), shapes.data(), shapes.count(), &error), error);
}

JNIEXPORT void JNICALL Java_org_nnapiconvert_NnapiModel_run(JNIEnv* env, jclass, jlong handle, jintArray ranks,
                                                            jlongArray sizes, jobjectArray inputs,
                                                            jintArray input_positions, jobjectArray outputs,
                                                            jintArray output_positions) {
  const Shapes shapes(env, ranks, sizes);
  const std::vector<nnapi_shim_buffer> in = buffers_of(env, inputs, input_positions);
  const std::vector<nnapi_shim_buffer> out = buffers_of(env, outputs, output_positions);
  if (env->ExceptionCheck()) return;
  nnapi_shim_error error;
  const int status =
      nnapi_shim_run(model_of(handle), shapes.data(), shapes.count(), in.data(), static_cast<uint32_t>(in.size()),
                     out.data(), static_cast<uint32_t>(out.size()), &error);
  check(env, status, error);
}

JNIEXPORT jobjectArray JNICALL Java_org_nnapiconvert_NnapiModel_runFloats(JNIEnv* env, jclass, jlong handle,
                                                                          jintArray ranks, jlongArray sizes,
                                                                          jobjectArray inputs) {
  const Shapes shapes(env, ranks, sizes);
  nnapi_shim_error error;
  FloatRun run(model_of(handle), shapes.data(), shapes.count(), &error);
  int status = run.take_inputs(env, inputs);
  if (env->ExceptionCheck()) return nullptr;
  if (status == NNAPI_SHIM_OK) status = run.run();
  return check(env, status, error) ? run.outputs(env) : nullptr;
}

// The numbers are in the order that NnapiProfile's constructor reads.
JNIEXPORT jlongArray JNICALL Java_org_nnapiconvert_NnapiModel_profile(JNIEnv* env, jclass, jlong handle) {
  nnapi_shim_profile profile;
  nnapi_shim_get_profile(model_of(handle), &profile);
  std::vector<jlong> numbers;
  for (const uint64_t number :
       {profile.build_ns, profile.compile_ns, profile.executions, profile.last_execute_ns, profile.total_execute_ns,
        profile.last_on_device_ns, profile.last_in_driver_ns, uint64_t{profile.compiled},
        uint64_t{profile.feature_level}, profile.weight_bytes, uint64_t{profile.weights_are_mapped}}) {
    numbers.push_back(static_cast<jlong>(number));
  }
  return to_java(env, numbers);
}

JNIEXPORT jstring JNICALL Java_org_nnapiconvert_NnapiModel_devices(JNIEnv* env, jclass, jlong handle) {
  nnapi_shim_profile profile;
  nnapi_shim_get_profile(model_of(handle), &profile);
  return to_java(env, profile.devices);
}

JNIEXPORT jstring JNICALL Java_org_nnapiconvert_NnapiModel_choice(JNIEnv* env, jclass, jlong handle) {
  char text[1024];
  nnapi_shim_choice(model_of(handle), text, sizeof text);
  return to_java(env, text);
}

JNIEXPORT jstring JNICALL Java_org_nnapiconvert_NnapiModel_state(JNIEnv* env, jclass, jlong handle) {
  nnapi_shim_profile profile;
  nnapi_shim_error failure;
  char choice[1024];
  nnapi_shim_get_profile(model_of(handle), &profile);
  nnapi_shim_last_failure(model_of(handle), &failure);
  nnapi_shim_choice(model_of(handle), choice, sizeof choice);
  std::string text = profile.compiled == 0 ? "not compiled" : "nnapi";
  if (profile.devices[0] != '\0') text += std::string(" on ") + profile.devices;
  if (choice[0] != '\0') text += std::string(", ") + choice;
  if (failure.status != NNAPI_SHIM_OK) text += std::string(": ") + failure.message;
  return to_java(env, text.c_str());
}

JNIEXPORT void JNICALL Java_org_nnapiconvert_NnapiModel_close(JNIEnv*, jclass, jlong handle) {
  nnapi_shim_close(model_of(handle));
}

}  // extern "C"
