// SPDX-License-Identifier: BSD-3-Clause
// Converts texts between Java's UTF-16 and the C interface's UTF-8. JNI's own functions (NewStringUTF,
// GetStringUTFChars) use a modified UTF-8: characters outside of the basic plane differ, and a driver's name that is no
// UTF-8 at all, or a message that is cut within a character, may end the process.
#pragma once

#include <jni.h>

#include <string>

namespace nnapi_shim {

// Returns a Java string, with U+FFFD in place of bytes that are no UTF-8; null if Java throws.
jstring to_java(JNIEnv* env, const char* text);

// Holds the UTF-8 form of a Java string; NULL for null. Half a surrogate pair becomes U+FFFD, and a zero becomes two
// bytes as in JNI, so that the text doesn't end there.
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
