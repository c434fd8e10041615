// A whole batch: models in, results and summaries in a folder out.
#pragma once

#include <cstdint>
#include <string>

#include "lib/batch/summary.h"
#include "lib/batch/worker.h"

namespace nnapi_convert {

struct BatchRequest {
  std::string zoo;
  std::string program;  // name and version, for summaries
  std::vector<BatchModel> models;
  WorkerSettings worker;
  int jobs = 1;
  uint64_t memory = 0;  // bytes for all processes together; 0: any
  double timeout = 0;   // seconds for one model; 0: any
  bool keep_going = false;
  bool is_quiet = false;
};

struct BatchResult {
  Batch batch;
  int signal = 0;  // that ended the run early
};

// Throws ConvertError (kUsage) where two models would write the same file.
void check_names(const BatchRequest& request);

// Converts what is not up to date. Throws ConvertError: kUsage for check_names() or where the budget holds no worker at
// all, kBadFile where the output folder can't be written or another batch writes to it. A model that
// fails is no error.
BatchResult run_batch(const BatchRequest& request);

// summary.json, summary.md and summary.xml in the output folder. Throws ConvertError (kBadFile).
void write_summaries(const Batch& batch, const std::filesystem::path& output_folder, const std::string& comparison);

}  // namespace nnapi_convert
