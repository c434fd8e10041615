// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim_java/java_error.h"

#include "lib/shim_java/java_text.h"

namespace nnapi_shim {

bool check(JNIEnv* env, int status, const nnapi_shim_error& error) {
  if (status == NNAPI_SHIM_OK) return true;
  jclass type = env->FindClass("org/nnapiconvert/NnapiException");
  if (type == nullptr) return false;
  jmethodID constructor = env->GetMethodID(type, "<init>", "(IILjava/lang/String;)V");
  jstring message = constructor != nullptr ? to_java(env, error.message) : nullptr;
  if (message == nullptr) return false;
  jobject exception = env->NewObject(type, constructor, static_cast<jint>(status), error.nnapi_code, message);
  if (exception != nullptr) env->Throw(static_cast<jthrowable>(exception));
  return false;
}

}  // namespace nnapi_shim
