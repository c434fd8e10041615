// SPDX-License-Identifier: BSD-3-Clause
// The doctor: finds which operation of a file is wrong on which device, and what to do about it.
#pragma once

#include <cstdint>
#include <string>

#include "lib/shim/nnapi_shim.h"
#include "tools/nnapi-probe/doctor/examination.h"

namespace nnapi_doctor {

struct DoctorRequest {
  std::string path;
  uint32_t variant = 0;     // the model of a package, counted from 1; 0: the first
  std::string json, trace;  // files to write; empty: none
  DoctorOptions options;
};

// Examines, prints the table to standard output, and writes the files: those of the request, and into the options'
// folder doctor.json, driver_rules.json, and for each device its profile, NAME.profile.json. Returns an
// nnapi_shim_status: NNAPI_SHIM_BAD_MODEL and NNAPI_SHIM_BAD_ARGUMENT for the file to examine, NNAPI_SHIM_FAILED if a
// file can't be written, NNAPI_SHIM_UNAVAILABLE if devices can't be examined.
int run_doctor(const DoctorRequest& request, nnapi_shim_error* error);

// Writes a file whole or not at all. Returns an empty text, or why it can't be written.
std::string write_text(const std::string& path, const std::string& text);

}  // namespace nnapi_doctor
