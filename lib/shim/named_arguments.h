// SPDX-License-Identifier: BSD-3-Clause
// Makes the values of a method's arguments from tensors that have paths: "x", "images[0]", "state.hidden",
// batch["image"].
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/program/program.h"
#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// One step of a path: its text within the path, without brackets, dot and quotation marks.
struct PathStep {
  const char* text;
  size_t length;
  bool is_quoted;  // the text has \" for a quotation mark and \\ for a backslash

  bool is(const char* name) const;
  bool to_index(uint32_t* index) const;
};

// Reads the step that begins at `at`, and moves behind it. The first step of a path needs no dot. Returns false for a
// text that is no step, and at the end.
bool read_step(const char** at, bool is_first, PathStep* step);

// Makes a value for each argument. The values refer to the caller's memory, into which nothing writes. Returns
// NNAPI_SHIM_BAD_ARGUMENT for tensors that don't fit, paths that are missing, unknown or given twice.
int make_arguments(const program::Method& method, program::Context& context, const nnapi_shim_named_tensor* tensors,
                   uint32_t count, program::Value* values, nnapi_shim_error* error);

// Makes a value that refers to the memory of one tensor. `path` is for messages.
int borrow_tensor(program::Context& context, const nnapi_shim_named_tensor& tensor, program::Value* value,
                  nnapi_shim_error* error);

}  // namespace nnapi_shim
