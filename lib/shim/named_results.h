// SPDX-License-Identifier: BSD-3-Clause
// Keeps the result of a call as tensors that have paths: "boxes", "[0].scores".
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/program/program.h"
#include "lib/shim/nnapi_shim.h"

// The result of a call. Its memory serves the next call, too.
struct nnapi_shim_result {
 public:
  nnapi_shim_result() = default;
  nnapi_shim_result(const nnapi_shim_result&) = delete;
  nnapi_shim_result& operator=(const nnapi_shim_result&) = delete;
  ~nnapi_shim_result();

  void clear();
  // Copies all tensors, numbers and texts of a value. Returns an nnapi_shim_status.
  int keep(const nnapi_shim::program::Value& value, const nnapi_shim::program::Type* type, nnapi_shim_error* error);

  uint32_t count() const { return static_cast<uint32_t>(entries_.size()); }
  void get(uint32_t number, nnapi_shim_named_tensor* tensor) const;
  // Finds a path, whichever way its steps are written. Returns false if there is none.
  bool find(const char* path, uint32_t* number) const;

 private:
  using Value = nnapi_shim::program::Value;
  using Type = nnapi_shim::program::Type;
  struct Entry {
    size_t path;  // the place where its text begins
    int32_t dtype;
    uint32_t rank;
    int64_t sizes[NNAPI_SHIM_MOST_AXES];
    size_t begin, bytes;  // in `memory_`
    const Value* value;   // set while a call's result is copied
  };

  int list(const Value& value, const Type* type, uint32_t depth, nnapi_shim_error* error);
  int list_parts(const Value& value, const Type* type, uint32_t depth, nnapi_shim_error* error);
  int add(const Value& value, nnapi_shim_error* error);
  void copy(const Entry& entry) const;

  std::vector<Entry> entries_;
  std::vector<char> text_;  // the texts of all paths, each with a zero at its end
  std::vector<char> path_;  // the path of the value that is being listed
  uint8_t* memory_ = nullptr;
  size_t capacity_ = 0;
};
