// SPDX-License-Identifier: BSD-3-Clause
// What the doctor has found.
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
  kHalf,  // differs, and half precision explains it: no fault
  kWrong,
  kError,  // NNAPI answers with an error code
  kCrash,  // the driver ended its own process or the doctor's child
  kHang,
};
constexpr int32_t kFindings = 9;

// "right", "half precision", "wrong" and so on.
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
  uint32_t runs = 0, wrong_runs = 0;  // those that were checked; none where the trial ended otherwise
  std::string message;

  // A fault that is not there in each run: no trial that happens to be right excuses it.
  bool comes_and_goes() const { return wrong_runs > 0 && wrong_runs < runs; }
};

// ", in 3 of 8 runs" where a fault comes and goes; else empty.
std::string runs_text(const TrialResult& result);

struct OperationReport {
  bool is_taken = true;
  TrialResult alone;                 // as a model of its own
  TrialResult in_place;              // a fault that showed only with other operations before it
  std::string after;                 // of in_place: what has to stand before it, a list in JSON; empty: not found out
  std::optional<uint64_t> added_ns;  // what it adds to the time of all operations before it
  bool is_right_after = false;       // was tried with what stands before it, and was right

  bool is_faulty() const { return is_fault(alone.finding) || is_fault(in_place.finding); }
};

struct PartReport {
  bool any_taken = true;
  std::vector<TrialResult> whole;  // of each sample
  bool copies_weights = false;     // failed with weights by their file, and was right with a copy
  std::vector<OperationReport> operations;
  bool was_examined = false;      // operation by operation
  TrialResult rest;               // all operations together that are not faulty
  uint32_t bisection_trials = 0;  // compilations until the first operation was named in place
  uint32_t sample = 0;            // the one whose values were used

  bool is_right() const;
  Finding worst_whole() const;
};

struct DeviceReport {
  std::string name, version;  // an empty name: what NNAPI chooses
  int32_t type = 0;
  uint32_t feature_level = 0;
  std::vector<PartReport> parts;

  bool is_right() const;
  bool computes_in_half() const;
};

struct Report {
  std::string reference;  // the device that computed the expected values; empty: what NNAPI chooses
  std::vector<std::string>
      disagree;  // of each part: how the reference differs from the file's samples; empty: it does not
  std::vector<std::string> unknown;  // of each part: why some expected values are not known; empty: all are
  uint32_t feature_level = 0;        // NNAPI's
  std::vector<DeviceReport> devices;
};

}  // namespace nnapi_doctor
