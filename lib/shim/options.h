// SPDX-License-Identifier: BSD-3-Clause
// Reads the caller's options into a struct that owns its texts.
#pragma once

#include <cstdint>
#include <string>

#include "lib/shim/driver_rules.h"
#include "lib/shim/failure.h"

namespace nnapi_shim {

// The fields of nnapi_shim_options; an empty text stands for a null pointer.
struct Options {
  std::string library;
  bool is_support_library = false;
  std::string device;
  int32_t device_kind = NNAPI_SHIM_ANY_DEVICE;
  int32_t preference = 0, priority = 0;
  uint64_t compile_timeout_ns = 0, execute_timeout_ns = 0, loop_timeout_ns = 0;
  bool measure_timing = false;
  std::string cache_directory;
  uint32_t max_compiled = 4;
  bool no_burst = false, no_reuse = false;
  bool no_self_check = false;
  uint32_t variant = 0;  // the model of a package, counted from 1; 0: the package chooses
  bool measure_models = false;
  std::string driver_rules, driver_rules_file;
  bool replaces_rules = false;
  DriverRules own_rules;  // used if `replaces_rules` is set
  bool is_trial = false;  // the process may die: nnapi_shim_probe sets it

  bool takes_any_device() const { return device.empty() && device_kind == NNAPI_SHIM_ANY_DEVICE; }
  bool needs_one_device() const { return compile_timeout_ns != 0 || execute_timeout_ns != 0 || measure_timing; }
  const DriverRules& rules() const { return replaces_rules ? own_rules : DriverRules::shipped(); }
  const char* library_path() const { return library.empty() ? nullptr : library.c_str(); }
};

// Checks and copies the caller's options; null gives the defaults. The struct of an older caller is shorter: missing
// fields become 0. The struct of a newer caller is longer: the unknown fields have to be 0.
int read_options(const nnapi_shim_options* from, Options* options, nnapi_shim_error* error);

}  // namespace nnapi_shim
