// SPDX-License-Identifier: BSD-3-Clause
// Texts between Java, which has UTF-16, and the C interface, which has UTF-8. JNI's own functions (NewStringUTF,
// GetStringUTFChars) have a UTF-8 of their own: signs outside of the basic plane differ, and a driver's name that is no
// UTF-8 at all, or a message that is cut within a sign, may end the process.
#pragma once

#include <jni.h>

#include <string>

namespace nnapi_shim {

// Returns a string of Java, with U+FFFD in place of what is no UTF-8; null if Java throws.
jstring to_java(JNIEnv* env, const char* text);

// The UTF-8 of a string of Java while this object lives; NULL for null. Half a surrogate pair becomes U+FFFD, and a
// zero two bytes as in JNI, so that the text doesn't end there.
class Text {
 public:
  Text(JNIEnv* env, jstring text);

  const char* get() const { return is_null_ ? nullptr : text_.c_str(); }
  bool has_failed() const { return has_failed_; }  // Java throws

 private:
  bool is_null_, has_failed_ = false;
  std::string text_;
};

}  // namespace nnapi_shim
