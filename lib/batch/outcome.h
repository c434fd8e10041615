// What became of one model of a batch.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "lib/base/error.h"

namespace nnapi_convert {

constexpr double kMegabyte = 1e6;  // bytes, as the progress and the summary tell them

enum class Status {
  kConverted,
  kRefused,             // exit code 1 of the conversion
  kWrongOptions,        // 2: an option that doesn't fit this model
  kBadFile,             // 3: the model can't be read, or a result can't be written
  kVerificationFailed,  // 4
  kInternalError,       // 70
  kCrashed,             // its worker was ended by a signal
  kOutOfMemory,         // beyond --memory with no other model at work, or the system had none left
  kTimedOut,
  kNotRun,  // the batch was stopped before
};

// "converted", "verification_failed"...
const char* name_of(Status status);
// Throws ConvertError (kBadFile) for a name that is none.
Status status_of(const std::string& name);
Status status_of(ExitCode code);

struct Outcome {
  Status status = Status::kNotRun;
  std::string error;        // why, where it was not converted
  std::string key;          // hash of model, options and program; empty where there was none to make
  nlohmann::json report;    // by schemas/report.schema.json
  nlohmann::json outputs;   // hashes of the files written, by their path below the output folder
  uint64_t file_bytes = 0;  // size of the module
  double seconds = 0;       // these two are measured: no two runs agree
  uint64_t peak_bytes = 0;
  bool is_up_to_date = false;  // taken from an earlier run
};

nlohmann::json to_json(const Outcome& outcome);
// Throws nlohmann::json::exception or ConvertError where it is none.
Outcome outcome_from_json(const nlohmann::json& object);

// A report for what has none of its own.
nlohmann::json failure_report(const std::string& model, const std::string& error);

}  // namespace nnapi_convert
