// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/device_search.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "lib/format/nnapi_codes.h"
#include "lib/shim/failure.h"
#include "lib/shim/monotonic_clock.h"
#include "lib/shim/nnapi_names.h"

namespace nnapi_shim {
namespace {

using nnapi_convert::ResultCode;

bool is_bad(Verdict verdict) {
  return verdict == Verdict::kWrong || verdict == Verdict::kRefused || verdict == Verdict::kDied ||
         verdict == Verdict::kHung;
}

bool is_good(Verdict verdict) {
  return verdict == Verdict::kGood || verdict == Verdict::kUncached || verdict == Verdict::kCopied ||
         verdict == Verdict::kCopiedUncached;
}

Verdict good_verdict(bool copies, bool is_uncached) {
  if (copies) return is_uncached ? Verdict::kCopiedUncached : Verdict::kCopied;
  return is_uncached ? Verdict::kUncached : Verdict::kGood;
}

// Returns whether no other device can help.
bool is_of_the_caller(int status) {
  return status == NNAPI_SHIM_BAD_MODEL || status == NNAPI_SHIM_BAD_ARGUMENT || status == NNAPI_SHIM_TOO_OLD;
}

bool has_shapes(const Sample& sample, const CallShapes& shapes) {
  if (sample.ranks.size() != shapes.count) return false;
  const int64_t* at = sample.sizes.data();
  for (uint32_t i = 0; i < shapes.count; ++i) {
    const nnapi_shim_shape& shape = shapes.arguments[i];
    if (shape.rank != sample.ranks[i] || !std::equal(shape.sizes, shape.sizes + shape.rank, at)) return false;
    at += shape.rank;
  }
  return true;
}

}  // namespace

Verdict verdict_of(const nnapi_shim_error& failure) {
  switch (static_cast<ResultCode>(failure.nnapi_code)) {
    case ResultCode::DEAD_OBJECT:
      return Verdict::kDied;
    case ResultCode::OUT_OF_MEMORY:
    case ResultCode::UNAVAILABLE_DEVICE:
    case ResultCode::MISSED_DEADLINE_TRANSIENT:
    case ResultCode::RESOURCE_EXHAUSTED_TRANSIENT:
      return Verdict::kUnknown;
    default:
      return failure.status == NNAPI_SHIM_FAILED && failure.nnapi_code == 0 ? Verdict::kWrong : Verdict::kRefused;
  }
}

void note_copies(const std::string& devices, nnapi_shim_error* error) {
  const nnapi_shim_error failure = *error;
  fail_with(error, static_cast<nnapi_shim_status>(failure.status), failure.nnapi_code,
            "%s gets a copy of the weights, as it fails where it has to map their file: %.300s", devices_text(devices),
            failure.message);
}

int DeviceSearch::find(const ModelView& view, const CallShapes& shapes, Trusted* found, nnapi_shim_error* error) {
  std::vector<DeviceChoice> choices;
  int status = list_choices(model_.library, model_.options, &view, &choices, error);
  if (status != NNAPI_SHIM_OK) return status;
  std::vector<Verdict> verdicts;
  std::vector<std::string> reasons(choices.size());
  bool is_fatal = false;
  for (size_t i = 0; i < choices.size(); ++i) {
    verdicts.push_back(model_.verdicts.find(choices[i].key, choices[i].version, &reasons[i]));
    const bool has_died = verdicts[i] == Verdict::kDied || verdicts[i] == Verdict::kHung;
    is_fatal = is_fatal || (has_died && !model_.options.is_trial);
  }
  nnapi_shim_error first{};
  for (size_t i = 0; i < choices.size(); ++i) {
    nnapi_shim_error failure{};
    if (is_allowed(choices[i], verdicts[i], is_fatal, reasons[i], &failure)) {
      status = try_choice({view, shapes}, choices[i], verdicts[i], found, &failure);
      if (status == NNAPI_SHIM_OK || is_of_the_caller(status)) {
        if (first.status == NNAPI_SHIM_OK) first = failure;
        if (error) *error = status == NNAPI_SHIM_OK ? first : failure;
        return status;
      }
      is_fatal = is_fatal || (verdict_of(failure) == Verdict::kDied && !model_.options.is_trial);
    }
    if (first.status == NNAPI_SHIM_OK) first = failure;
  }
  if (error) *error = first;
  return first.status;
}

bool DeviceSearch::is_allowed(const DeviceChoice& choice, Verdict verdict, bool is_fatal, const std::string& reason,
                              nnapi_shim_error* error) const {
  if (is_bad(verdict)) {
    fail(error, NNAPI_SHIM_REFUSED, "%s is not used, as it failed before: %.300s", devices_text(choice.names),
         reason.c_str());
    return false;
  }
  if (!is_fatal || is_good(verdict) || choice.is_reference) return true;
  fail(error, NNAPI_SHIM_REFUSED, "%s is not tried, as another device ended the process before",
       devices_text(choice.names));
  return false;
}

int DeviceSearch::try_choice(const Request& request, const DeviceChoice& choice, Verdict before, Trusted* found,
                             nnapi_shim_error* error) {
  const std::string& path = model_.verdicts.journal_path();
  found->journal = path.empty() ? nullptr : Journal::take(path);
  Verdict verdict = Verdict::kUnknown;
  const bool copies = before == Verdict::kCopied || before == Verdict::kCopiedUncached;
  int status = try_with_cache(request, choice, before, copies, found, &verdict, error);
  const bool may_copy = !copies && model_.weights.copied && !is_of_the_caller(status);
  if (status != NNAPI_SHIM_OK && may_copy && verdict_of(*error) != Verdict::kUnknown) {
    // Runs all samples: earlier ones ran with the weights by file descriptor, not with a copy.
    nnapi_shim_error failure{};
    status = try_with_cache(request, choice, Verdict::kUnknown, true, found, &verdict, &failure);
    if (status == NNAPI_SHIM_OK) note_copies(choice.names, error);
  } else if (status == NNAPI_SHIM_OK) {
    *error = nnapi_shim_error{};
  }
  if (status != NNAPI_SHIM_OK) {
    status = error->status;
    verdict = is_of_the_caller(status) ? Verdict::kUnknown : verdict_of(*error);
    found->journal.reset();
  }
  if (verdict != Verdict::kUnknown) {
    model_.verdicts.set(choice.key, choice.version, verdict, status == NNAPI_SHIM_OK ? "" : error->message);
  }
  return status;
}

// Tries the device in the way in which it was good before: with its cache, unless the cache made it fail.
int DeviceSearch::try_with_cache(const Request& request, const DeviceChoice& choice, Verdict before, bool copies,
                                 Trusted* found, Verdict* verdict, nnapi_shim_error* error) {
  const bool is_uncached = before == Verdict::kUncached || before == Verdict::kCopiedUncached;
  const bool is_cached = model_.weights_digest && !is_uncached;
  *verdict = good_verdict(copies, is_uncached);
  int status = compile_and_check(request, choice, before, {copies, is_cached}, found, error);
  // A device that was good before may fail because its cached compilation is stale: compiles without the cache.
  const bool may_be_stale = is_cached && before == good_verdict(copies, false);
  if (status != NNAPI_SHIM_OK && may_be_stale && verdict_of(*error) != Verdict::kDied) {
    status = compile_and_check(request, choice, before, {copies, false}, found, error);
    *verdict = good_verdict(copies, true);
  }
  return status;
}

int DeviceSearch::compile_and_check(const Request& request, const DeviceChoice& choice, Verdict before, const Way& way,
                                    Trusted* found, nnapi_shim_error* error) {
  if (found->journal) found->journal->begin(choice.key, choice.version, "compiling the model", true);
  int status = NNAPI_SHIM_OK;
  found->choice = choice;
  found->compiled = compile(request.view, choice, way, &status, error);
  if (status == NNAPI_SHIM_OK) {
    const uint64_t start = now_ns();
    found->checked_samples = 0;
    status = check(request, choice, before, way.copies, found, error);
    found->check_ns = now_ns() - start;
  }
  if (status != NNAPI_SHIM_OK) found->compiled.reset();
  if (found->journal) found->journal->leave();
  return status;
}

std::shared_ptr<CompiledModel> DeviceSearch::compile(const ModelView& view, const DeviceChoice& choice, const Way& way,
                                                     int* status, nnapi_shim_error* error) const {
  CacheToken token{};
  if (way.is_cached) token = make_cache_token(view, model_.weights_digest, way.copies);
  return CompiledModel::make(model_.library, model_.options, view, model_.weights.get(way.copies), &choice,
                             way.is_cached ? &token : nullptr, status, error);
}

// Runs all samples on a device that is not known yet, and one on a device that was good at an earlier start. Samples of
// other shapes than the caller's need a compilation of their own: only devices that are not known run them, and samples
// for whose shapes a driver rule forbids another device are left out.
int DeviceSearch::check(const Request& request, const DeviceChoice& choice, Verdict before, bool copies, Trusted* found,
                        nnapi_shim_error* error) {
  const bool is_known = is_good(before);
  const size_t count = is_known && model_.buffer.sample_count() > 1 ? 1 : model_.buffer.sample_count();
  std::shared_ptr<CompiledModel> other;
  std::vector<int64_t> other_sizes;
  for (size_t number = 0; number < count; ++number) {
    Sample sample;
    int status = model_.buffer.read_sample(number, &sample, error);
    if (status != NNAPI_SHIM_OK) return status;
    std::shared_ptr<CompiledModel> compiled = found->compiled;
    if (!has_shapes(sample, request.shapes)) {
      if (is_known) continue;
      if (!other || other_sizes != sample.sizes) {
        ModelView view;
        const std::vector<nnapi_shim_shape> shapes = sample.shapes();
        status = model_.buffer.bind(shapes.data(), static_cast<uint32_t>(shapes.size()), &view, error);
        if (status == NNAPI_SHIM_OK && is_forbidden(view, choice)) continue;
        if (status == NNAPI_SHIM_OK) other = compile(view, choice, {copies, false}, &status, error);
        if (status != NNAPI_SHIM_OK) return status;
        other_sizes = sample.sizes;
      }
      compiled = other;
    }
    nnapi_shim_error failure{};
    status = run_sample(sample, *compiled, &failure);
    if (status != NNAPI_SHIM_OK) {
      fail_with(error, static_cast<nnapi_shim_status>(status), failure.nnapi_code,
                "%s fails with sample %zu of the file: %.300s", devices_text(choice.names), number, failure.message);
      return status;
    }
    ++found->checked_samples;
  }
  return NNAPI_SHIM_OK;
}

// Returns whether a driver rule leaves out another device for the sizes of `view` than for the caller's.
bool DeviceSearch::is_forbidden(const ModelView& view, const DeviceChoice& choice) const {
  AllowedDevices allowed;
  return list_allowed_devices(model_.library, model_.options, &view, &allowed, nullptr) == NNAPI_SHIM_OK &&
         allowed.forbidden != choice.forbidden;
}

int DeviceSearch::run_sample(const Sample& sample, CompiledModel& compiled, nnapi_shim_error* error) const {
  const SampleBuffers buffers(sample);
  DeviceTimes times;
  const int status = compiled.run(buffers.run_buffers(), &times, error);
  return status == NNAPI_SHIM_OK ? buffers.compare(error) : status;
}

}  // namespace nnapi_shim
