// SPDX-License-Identifier: BSD-3-Clause
// Records the outcome of one model of a batch.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "lib/base/error.h"

namespace nnapi_convert {

constexpr double kMegabyte = 1e6;  // bytes; the unit of the progress and the summary

enum class Status {
  kConverted,
  kRefused,             // exit code 1 of the conversion
  kWrongOptions,        // exit code 2: an option doesn't fit this model
  kBadFile,             // exit code 3: the model can't be read, or a result can't be written
  kVerificationFailed,  // exit code 4
  kInternalError,       // exit code 70
  kCrashed,             // a signal ended the worker
  kOutOfMemory,         // the model exceeded --memory although it ran alone, or the system had no memory left
  kTimedOut,
  kNotRun,  // the batch was stopped before
};

// Returns a name such as "converted" or "verification_failed".
const char* name_of(Status status);
// Returns the status of a name. Throws ConvertError (kBadFile) for an unknown name.
Status status_of(const std::string& name);
Status status_of(ExitCode code);

struct Outcome {
  Status status = Status::kNotRun;
  std::string error;        // why the model was not converted
  std::string key;          // hash of model, options and program; empty if it could not be computed
  nlohmann::json report;    // by schemas/report.schema.json
  nlohmann::json outputs;   // hashes of the written files, by path below the output folder
  uint64_t file_bytes = 0;  // size of the module
  double seconds = 0;       // `seconds` and `peak_bytes` are measured and differ between runs
  uint64_t peak_bytes = 0;
  bool is_up_to_date = false;  // taken from an earlier run
};

nlohmann::json to_json(const Outcome& outcome);
// Reads an outcome. Throws nlohmann::json::exception or ConvertError if `object` is none.
Outcome outcome_from_json(const nlohmann::json& object);

// Returns a report for a model whose conversion wrote none.
nlohmann::json failure_report(const std::string& model, const std::string& error);

}  // namespace nnapi_convert
