// SPDX-License-Identifier: BSD-3-Clause
// The doctor's findings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/nnapi-probe/doctor/trial.h"

namespace nnapi_doctor {

enum class Finding : int32_t {
  kNotTried,
  kUnknown,   // no expected value is known
  kNotTaken,  // the device does not take it
  kRight,
  kHalf,  // the result differs, and half precision explains it: no fault
  kWrong,
  kError,  // NNAPI answers with an error code
  kCrash,  // the driver ended its own process or the doctor's child
  kHang,
};
constexpr int32_t kFindings = 9;

// Returns "right", "half precision", "wrong" and so on.
const char* name_of(Finding finding);
inline bool is_fault(Finding finding) {
  return finding >= Finding::kWrong;
}

struct TrialResult {
  Finding finding = Finding::kNotTried;
  int32_t nnapi_code = 0;
  Comparison worst;
  uint32_t worst_operand = 0;
  uint64_t median_ns = 0;
  uint32_t runs = 0, wrong_runs = 0;  // checked runs; 0 if the trial ended before a check
  std::string message;

  // Returns whether only some runs have the fault: a trial that happens to be right then proves nothing.
  bool comes_and_goes() const { return wrong_runs > 0 && wrong_runs < runs; }
};

// Returns ", in 3 of 8 runs" if a fault comes and goes; otherwise an empty text.
std::string runs_text(const TrialResult& result);

struct OperationReport {
  bool is_taken = true;
  TrialResult alone;     // the operation as a model of its own
  TrialResult in_place;  // a fault that showed only with other operations before it
  std::string after;     // for in_place: operations that have to stand before it, a JSON list; empty: unknown
  std::optional<uint64_t> added_ns;  // the time that it adds to that of all operations before it
  bool is_right_after = false;       // it was tried with the operations that it reads from, and was right

  bool is_faulty() const { return is_fault(alone.finding) || is_fault(in_place.finding); }
};

struct PartReport {
  bool any_taken = true;
  std::vector<TrialResult> whole;  // by sample
  bool copies_weights = false;     // it failed with the weights' file, and was right with a copy
  std::vector<OperationReport> operations;
  bool was_examined = false;      // operation by operation
  TrialResult rest;               // all operations that are not faulty, together
  uint32_t bisection_trials = 0;  // compilations until the first operation was named in place
  uint32_t sample = 0;            // the sample whose values were used

  bool is_right() const;
  Finding worst_whole() const;
};

struct DeviceReport {
  std::string name, version;  // an empty name: NNAPI's choice
  int32_t type = 0;
  uint32_t feature_level = 0;
  std::vector<PartReport> parts;

  bool is_right() const;
  bool computes_in_half() const;
};

struct Report {
  std::string reference;              // the device that computed the expected values; empty: NNAPI's choice
  std::vector<std::string> disagree;  // by part: how the reference differs from the file's samples; empty: it does not
  std::vector<std::string> unknown;   // by part: why some expected values are not known; empty: all are
  uint32_t feature_level = 0;         // NNAPI's own level
  std::vector<DeviceReport> devices;
};

}  // namespace nnapi_doctor
