// SPDX-License-Identifier: BSD-3-Clause
// Runs a compiled model, and replaces its device if that fails among the first runs.
#include "lib/format/nnapi_codes.h"
#include "lib/shim/failure.h"
#include "lib/shim/model.h"
#include "lib/shim/monotonic_clock.h"

namespace nnapi_shim {
namespace {

using nnapi_convert::ResultCode;

}  // namespace

// Runs the model; the first runs have a note in the journal.
int Model::run_guarded(ShapeEntry& entry, const RunBuffers& buffers, DeviceTimes* times, nnapi_shim_error* error) {
  uint32_t left = entry.guarded_runs.load(std::memory_order_relaxed);
  if (left == 0) return entry.compiled->run(buffers, times, error);
  if (entry.journal) entry.journal->enter();
  const int status = entry.compiled->run(buffers, times, error);
  if (entry.journal) entry.journal->leave();
  while (status == NNAPI_SHIM_OK && left > 0 && !entry.guarded_runs.compare_exchange_weak(left, left - 1)) {
  }
  return status;
}

// Drops a compiled model that failed. Returns whether another device may run the model: one that fails among the first
// runs is not used again, unless the other devices fail with this input, too.
bool Model::drop_failed(ShapeEntry& entry, const nnapi_shim_error& failure) {
  const bool has_died = failure.nnapi_code == static_cast<int32_t>(ResultCode::DEAD_OBJECT);
  const bool is_guarded = entry.guarded_runs.load(std::memory_order_relaxed) > 0;
  const Verdict verdict = verdict_of(failure);
  const bool may_try_another = is_guarded && verdict != Verdict::kUnknown && failure.status == NNAPI_SHIM_FAILED;
  // If the driver died, the compiled model died with it: the next run compiles again.
  if (has_died || may_try_another) shapes_.drop(&entry);
  if (may_try_another && has_died) {
    verdicts_.set(entry.choice.key, entry.choice.version, verdict, failure.message);
  } else if (may_try_another) {
    verdicts_.suspect(entry.choice.key, entry.choice.version, verdict, failure.message);
  }
  return may_try_another;
}

int Model::run(const CallShapes& shapes, const RunBuffers& buffers, nnapi_shim_error* error) {
  bool may_try_another = false;
  nnapi_shim_error failure{};
  int status = run_on_one(shapes, buffers, &may_try_another, &failure);
  if (!may_try_another) {
    if (status != NNAPI_SHIM_OK && error) *error = failure;
    return status;
  }
  // The loop ends, as each round condemns a device.
  while (may_try_another) {
    nnapi_shim_error later{};
    status = run_on_one(shapes, buffers, &may_try_another, &later);
  }
  if (status == NNAPI_SHIM_OK) {
    verdicts_.confirm();
    return status;
  }
  // All devices fail with this input, so the fault is the input's. The entry remembers that no device is left: drops
  // it, so that later calls compile again.
  verdicts_.acquit();
  shapes_.drop(shapes_.find(shapes).get());
  if (error) *error = failure;
  return failure.status;
}

int Model::run_on_one(const CallShapes& shapes, const RunBuffers& buffers, bool* may_try_another,
                      nnapi_shim_error* error) {
  *may_try_another = false;
  std::shared_ptr<ShapeEntry> entry;
  int status = get_compiled(shapes, &entry, error);
  if (status == NNAPI_SHIM_OK) status = check_buffers(buffers, entry->tensors, error);
  if (status != NNAPI_SHIM_OK) return status;
  DeviceTimes times;
  const uint64_t start = now_ns();
  status = run_guarded(*entry, buffers, &times, error);
  const uint64_t taken = now_ns() - start;
  if (status != NNAPI_SHIM_OK) {
    *may_try_another = drop_failed(*entry, *error);
    remember(*error);
    return status;
  }
  executions_.fetch_add(1, std::memory_order_relaxed);
  total_execute_ns_.fetch_add(taken, std::memory_order_relaxed);
  last_execute_ns_.store(taken, std::memory_order_relaxed);
  last_on_device_ns_.store(times.on_device, std::memory_order_relaxed);
  last_in_driver_ns_.store(times.in_driver, std::memory_order_relaxed);
  return status;
}

int fail_no_cache(nnapi_shim_error* error) {
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "options: a trial needs cache_directory, where its verdicts are kept");
}

int Model::try_devices(nnapi_shim_error* error) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    options_.is_trial = true;
  }
  if (options_.cache_directory.empty()) return fail_no_cache(error);
  if (!is_checked()) {
    return fail(error, NNAPI_SHIM_BAD_MODEL, "the file has no samples; convert the model with --self-check");
  }
  std::vector<Sample> samples(buffer_->sample_count());
  for (size_t i = 0; i < samples.size(); ++i) {
    const int status = buffer_->read_sample(i, &samples[i], error);
    if (status != NNAPI_SHIM_OK) return status;
  }
  // Runs the samples as often as the journal guards runs in the app, so that a run that would crash there crashes here.
  for (uint32_t run = 0; run < kGuardedRuns; ++run) {
    const int status = run_trial_once(samples[run % samples.size()], error);
    if (status != NNAPI_SHIM_OK) return status;
  }
  return NNAPI_SHIM_OK;
}

// Runs a sample by run(), on one device after the other until one gives the right results. Ends, as each round condemns
// a device.
int Model::run_trial_once(const Sample& sample, nnapi_shim_error* error) {
  const std::vector<nnapi_shim_shape> shapes = sample.shapes();
  for (;;) {
    SampleBuffers buffers(sample);
    if (const int status = run(shapes, buffers.run_buffers(), error)) return status;
    nnapi_shim_error wrong{};
    if (buffers.compare(&wrong) == NNAPI_SHIM_OK) return NNAPI_SHIM_OK;
    const std::shared_ptr<ShapeEntry> entry = shapes_.find(shapes);
    verdicts_.set(entry->choice.key, entry->choice.version, Verdict::kWrong, wrong.message);
    shapes_.drop(entry.get());
  }
}

}  // namespace nnapi_shim
