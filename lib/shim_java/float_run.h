// SPDX-License-Identifier: BSD-3-Clause
// Runs a model on Java's arrays of floats, whose numbers are copied.
#pragma once

#include <jni.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// A run. take_inputs() and run() return an nnapi_shim_status, and describe a failure in `error`. The model, the shapes
// and `error` have to outlive the object.
class FloatRun {
 public:
  FloatRun(nnapi_shim_model* model, const nnapi_shim_shape* shapes, uint32_t shape_count, nnapi_shim_error* error)
      : model_(model), shapes_(shapes), shape_count_(shape_count), error_(error) {}

  // Copies the inputs: an array for each, with as many numbers as its tensor has.
  int take_inputs(JNIEnv* env, jobjectArray inputs);
  int run();
  // Returns an array for each output; null, with an exception, if Java has no memory left.
  jobjectArray outputs(JNIEnv* env) const;

 private:
  // Native memory for a tensor. The library is compiled without C++ exceptions, so that has_memory() tells a lack of
  // memory.
  struct Floats {
    explicit Floats(size_t length) : count(length), numbers(new (std::nothrow) jfloat[length]) {}
    bool has_memory() const { return numbers != nullptr; }

    size_t count;
    std::unique_ptr<jfloat[]> numbers;
  };

  int fail(const char* what, uint32_t index, const char* needed);
  static std::vector<nnapi_shim_buffer> buffers(const std::vector<Floats>& tensors);

  nnapi_shim_model* model_;
  const nnapi_shim_shape* shapes_;
  uint32_t shape_count_;
  nnapi_shim_error* error_;
  std::vector<Floats> inputs_, outputs_;
};

}  // namespace nnapi_shim
