// SPDX-License-Identifier: BSD-3-Clause
// Converts a batch of models into a folder of results and summaries.
#pragma once

#include <cstdint>
#include <string>

#include "tools/nnapi-convert/batch/summary.h"
#include "tools/nnapi-convert/batch/worker.h"

namespace nnapi_convert {

struct BatchRequest {
  std::string zoo;
  std::string program;  // name and version, for summaries
  std::vector<BatchModel> models;
  WorkerSettings worker;
  int jobs = 1;
  uint64_t memory = 0;                      // bytes for all processes together; 0: no limit
  uint64_t reserved = 0, step_seconds = 0;  // as in pool.h
  double timeout = 0;                       // seconds for one model; 0: no limit
  bool keep_going = false;
  bool is_quiet = false;
};

struct BatchResult {
  Batch batch;
  int signal = 0;  // the signal that ended the run early; 0: none
};

// Throws ConvertError (kUsage) if two models would write the same file.
void check_names(const BatchRequest& request);

// Converts the models that are not up to date. Throws ConvertError: kUsage from check_names() or if the memory budget
// is too small for one worker, kBadFile if the output folder can't be written or another batch writes to it. A model
// that fails is no error.
BatchResult run_batch(const BatchRequest& request);

// Writes summary.json, summary.md and summary.xml to the output folder. Throws ConvertError (kBadFile).
void write_summaries(const Batch& batch, const std::filesystem::path& output_folder, const std::string& comparison);

}  // namespace nnapi_convert
