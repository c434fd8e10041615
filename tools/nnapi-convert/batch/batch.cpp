// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/batch/batch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <numeric>

#include "lib/base/file.h"
#include "lib/base/input_file.h"
#include "lib/base/json_text.h"
#include "lib/format/json_nesting.h"
#include "tools/nnapi-convert/batch/output_folder.h"
#include "tools/nnapi-convert/batch/pool.h"
#include "tools/nnapi-convert/batch/progress.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;

// Makes the output folder, locks out other batches, and removes unfinished files of earlier batches.
class OutputFolder {
 public:
  explicit OutputFolder(const fs::path& folder) : staging_(staging_folder(folder, 0).parent_path()) {
    std::error_code error;
    fs::create_directories(state_folder(folder), error);
    if (error) fail_to_write(folder, error.message());
    const fs::path path = state_folder(folder) / "lock";
    lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (lock_ < 0) fail_to_write(path, std::strerror(errno));
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
      ::close(lock_);
      fail_to_write(folder, "another batch writes to it; wait for that one or take another folder");
    }
    fs::remove_all(staging_, error);
  }
  ~OutputFolder() {
    std::error_code ignored;
    fs::remove_all(staging_, ignored);
    ::close(lock_);
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

 private:
  fs::path staging_;
  int lock_ = -1;
};

uint64_t size_of(const fs::path& file) {
  std::error_code error;
  const uintmax_t size = fs::is_regular_file(file, error) ? fs::file_size(file, error) : 0;
  return error ? 0 : size;
}

// Estimates the memory of a worker: its peak of an earlier run, else a factor of this batch times the file's size.
class Estimates {
 public:
  Estimates(const BatchRequest& request, const std::vector<uint64_t>& sizes)
      : sizes_(sizes), own_(own_resident_bytes()), known_(sizes.size()) {
    for (size_t i = 0; request.memory != 0 && i < sizes.size(); ++i) {
      std::string ignored;
      const auto text = text_of_file(record_path(request.worker.output_folder, request.models[i].name), ignored);
      if (!text || is_nested_too_deep(*text)) continue;
      const nlohmann::json record = nlohmann::json::parse(*text, nullptr, false);
      if (record.is_object() && record.value("peak_bytes", nlohmann::json()).is_number_unsigned()) {
        known_[i] = record["peak_bytes"];
      }
    }
  }

  uint64_t of(size_t number) const {
    const auto by_size = static_cast<uint64_t>(factor_ * static_cast<double>(sizes_[number]));
    return known_[number] != 0 ? known_[number] : kBase + by_size;
  }
  void learn(size_t number, uint64_t peak) {
    known_[number] = peak;
    if (sizes_[number] < kTelling || peak < kBase) return;
    factor_ = std::max(factor_, static_cast<double>(peak - kBase) / static_cast<double>(sizes_[number]));
  }
  uint64_t smallest() const { return own_ + kBase; }  // this process and a worker

 private:
  static constexpr uint64_t kBase = 100'000'000;    // bytes of a worker without weights
  static constexpr uint64_t kTelling = 10'000'000;  // bytes: a smaller file's peak tells nothing about weights

  const std::vector<uint64_t>& sizes_;
  uint64_t own_;
  double factor_ = 1;  // weights are read and written one by one, but one may be most of a file
  std::vector<uint64_t> known_;
};

// Orders large models first: at the end, a large model would keep one worker busy alone.
std::vector<size_t> largest_first(const std::vector<uint64_t>& sizes) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
  return order;
}

// Writes a report for a model whose worker wrote none. On a full disk the model stays without a report.
void write_missing_report(const BatchModel& model, Outcome& outcome, const BatchRequest& request) {
  if (outcome.status == Status::kNotRun || !outcome.outputs.empty()) return;
  if (outcome.report.is_null()) outcome.report = failure_report(model.shown, outcome.error);
  const fs::path path = request.worker.output_folder / outputs_of(model, request.worker.extension)[1].name;
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  try {
    write_file(path, json_text(outcome.report, 2) + "\n");
  } catch (const ConvertError&) {
    return;
  }
}

}  // namespace

void check_names(const BatchRequest& request) {
  std::map<std::string, std::string> owners;
  for (const BatchModel& model : request.models) {
    for (const BatchOutput& output : outputs_of(model, request.worker.extension)) {
      const auto [owner, is_new] = owners.emplace(output.name, model.shown);
      if (is_new) continue;
      throw ConvertError(ExitCode::kUsage,
                         fmt::format("{} and {} would both be written to {}; give one another \"name\" "
                                     "in a manifest",
                                     owner->second, model.shown, output.name));
    }
  }
}

BatchResult run_batch(const BatchRequest& request) {
  check_names(request);
  const OutputFolder folder(request.worker.output_folder);
  std::vector<uint64_t> sizes;
  for (const BatchModel& model : request.models) sizes.push_back(size_of(model.file));
  Estimates estimates(request, sizes);
  if (request.memory != 0 && request.memory < estimates.smallest()) {
    throw ConvertError(ExitCode::kUsage, fmt::format("--memory: {} MB found, at least {} MB needed for one worker",
                                                     request.memory / 1'000'000, estimates.smallest() / 1'000'000));
  }
  BatchResult result;
  Batch& batch = result.batch;
  batch = {request.zoo, request.program, request.models, std::vector<Outcome>(request.models.size()), 0, 0};
  BatchProgress progress(sizes, request.is_quiet);
  PoolRequest pool;
  pool.order = largest_first(sizes);
  pool.jobs = request.jobs;
  pool.memory = request.memory;
  pool.reserved = request.reserved;
  pool.timeout = request.timeout;
  pool.step_seconds = request.step_seconds;
  pool.keep_going = request.keep_going;
  pool.work = [&](size_t number) { return convert_model(request.models[number], number, request.worker); };
  pool.estimate = [&](size_t number) { return estimates.of(number); };
  pool.on_done = [&](size_t number, Outcome& outcome) {
    std::error_code ignored;
    fs::remove_all(staging_folder(request.worker.output_folder, number), ignored);
    if (!outcome.is_up_to_date) estimates.learn(number, outcome.peak_bytes);
    write_missing_report(request.models[number], outcome, request);
    progress.done(number, request.models[number].name, outcome);
    batch.outcomes[number] = std::move(outcome);
  };
  pool.on_tick = [&] { progress.tick(); };
  const auto start = std::chrono::steady_clock::now();
  const PoolResult done = run_pool(pool);
  batch.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  batch.peak_bytes = done.peak_bytes;
  result.signal = done.signal;
  return result;
}

void write_summaries(const Batch& batch, const fs::path& output_folder, const std::string& comparison) {
  const nlohmann::json summary = summary_json(batch);
  write_file(output_folder / "summary.json", json_text(summary, 2) + "\n");
  write_file(output_folder / "summary.md", summary_markdown(summary, comparison));
  write_file(output_folder / "summary.xml", summary_junit(batch));
}

}  // namespace nnapi_convert
