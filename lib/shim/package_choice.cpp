// SPDX-License-Identifier: BSD-3-Clause
// Chooses the model of a package for the shapes of a call.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "lib/shim/failure.h"
#include "lib/shim/monotonic_clock.h"
#include "lib/shim/package.h"

namespace nnapi_shim {
namespace {

constexpr size_t kMostPicks = 64;

// Appends to the text, as far as there is room.
[[gnu::format(printf, 3, 4)]] void append(char* text, size_t bytes, const char* format, ...) {
  const size_t length = std::strlen(text);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text + length, bytes - length, format, arguments);
  va_end(arguments);
}

bool same_tensors(const std::vector<nnapi_shim_tensor>& a, const std::vector<nnapi_shim_tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const nnapi_shim_tensor& x, const nnapi_shim_tensor& y) {
    return has_same_form(x, y) && x.argument == y.argument;
  });
}

}  // namespace

void Package::list_candidates(Search& search) {
  for (size_t i = 0; i < models_.size(); ++i) {
    if ((search.left_out >> i & 1) != 0 || !takes(i, search.shapes)) continue;
    nnapi_shim_error failure{};
    double share = 0;
    if (models_[i].model->supported_share(search.shapes, &share, &failure) == NNAPI_SHIM_OK) {
      auto place = search.candidates.begin();
      while (place != search.candidates.end() && place->share >= share) ++place;
      search.candidates.insert(place, {i, share});
    } else {
      note(search, i, failure);
      models_[i].model->stop();
    }
  }
}

// Chooses the model for the search's shapes. The caller holds `choosing_`.
int Package::choose(Search& search, size_t* number, nnapi_shim_error* error) {
  list_candidates(search);
  size_t on_reference = kNoModel;
  std::vector<Measured> measured;
  for (const Candidate& candidate : search.candidates) {
    nnapi_shim_error failure{};
    bool is_found = false;
    const int status = try_candidate(search, candidate, &is_found, &failure);
    if (status == NNAPI_SHIM_BAD_MODEL || status == NNAPI_SHIM_BAD_ARGUMENT) {
      if (error) *error = failure;
      return status;
    }
    if (is_found) {
      measured.push_back({candidate.number, 0});
      if (!measures_) break;
      if (search.candidates.size() > 1) measured.back().nanoseconds = measure(search, candidate.number);
    } else if (status == NNAPI_SHIM_OK && on_reference == kNoModel) {
      on_reference = candidate.number;
    } else {
      models_[candidate.number].model->stop();
    }
  }
  if (!measured.empty()) {
    if (on_reference != kNoModel) models_[on_reference].model->stop();
    keep(search, *number = fastest(search, measured));
    return NNAPI_SHIM_OK;
  }
  if (on_reference != kNoModel) {
    keep(search, *number = on_reference);
    return NNAPI_SHIM_OK;
  }
  if (error) *error = search.first;
  if (error && search.reasons[0] != '\0') {
    std::snprintf(error->message, sizeof error->message, "no model of the package can run: %s", search.reasons + 2);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  choice_[0] = '\0';
  append(choice_, sizeof choice_, "no model%s", search.reasons);
  return search.first.status;
}

// Returns the median time of a run, with zeros as inputs; UINT64_MAX if a run fails.
uint64_t Package::measure(const Search& search, size_t number) {
  constexpr size_t kWarmUps = 1, kMeasured = 5;
  std::shared_ptr<const CallTensors> tensors;
  if (describe(search.shapes, &tensors, nullptr) != NNAPI_SHIM_OK) return UINT64_MAX;
  std::vector<std::vector<uint8_t>> memory;
  std::vector<nnapi_shim_buffer> places;
  for (const std::vector<nnapi_shim_tensor>* each : {&tensors->inputs, &tensors->outputs}) {
    for (const nnapi_shim_tensor& tensor : *each) {
      memory.emplace_back(tensor.bytes);
      places.push_back({memory.back().data(), tensor.bytes});
    }
  }
  const auto inputs = static_cast<uint32_t>(tensors->inputs.size()),
             outputs = static_cast<uint32_t>(tensors->outputs.size());
  const RunBuffers buffers = {places.data(), inputs, places.data() + inputs, outputs};
  std::vector<uint64_t> times;
  for (size_t run = 0; run < kWarmUps + kMeasured; ++run) {
    const uint64_t start = now_ns();
    if (run_on(number, search.shapes, buffers, nullptr) != NNAPI_SHIM_OK) return UINT64_MAX;
    const uint64_t taken = now_ns() - start;
    if (run >= kWarmUps) times.insert(std::upper_bound(times.begin(), times.end(), taken), taken);
  }
  return times[kMeasured / 2];
}

bool Package::is_picked(size_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::any_of(picks_.begin(), picks_.end(), [number](const Pick& pick) { return pick.number == number; });
}

// Returns the fastest model. Stops the slower ones, unless calls with other shapes use them, and notes why they are not
// taken.
size_t Package::fastest(Search& search, const std::vector<Measured>& measured) {
  const auto best = std::min_element(measured.begin(), measured.end(), [](const Measured& a, const Measured& b) {
    return a.nanoseconds < b.nanoseconds;
  });
  for (const Measured& each : measured) {
    if (each.number == best->number) continue;
    if (!is_picked(each.number)) models_[each.number].model->stop();
    const char* name = models_[each.number].name.c_str();
    if (each.nanoseconds == UINT64_MAX) {
      append(search.reasons, sizeof search.reasons, "; not model %zu of %zu (%s): a run with zeros fails",
             each.number + 1, models_.size(), name);
      continue;
    }
    append(search.reasons, sizeof search.reasons, "; not model %zu of %zu (%s): a run takes %.3f ms, not %.3f ms",
           each.number + 1, models_.size(), name, static_cast<double>(each.nanoseconds) / 1e6,
           static_cast<double>(best->nanoseconds) / 1e6);
  }
  return best->number;
}

// Compiles and checks a model. Sets `is_found` if it runs on another device than NNAPI's own CPU.
int Package::try_candidate(Search& search, const Candidate& candidate, bool* is_found, nnapi_shim_error* failure) {
  Model& model = *models_[candidate.number].model;
  int status = check_interface(search, candidate.number, failure);
  if (status == NNAPI_SHIM_OK) status = model.warm_up(search.shapes, failure);
  if (status == NNAPI_SHIM_OK && !model.is_on_reference(search.shapes)) {
    *is_found = true;
    return status;
  }
  if (status == NNAPI_SHIM_OK) {
    nnapi_shim_error last{};
    model.last_failure(&last);
    fail(failure, NNAPI_SHIM_OK, "only NNAPI's own CPU can be trusted with it: %.300s", last.message);
  }
  note(search, candidate.number, *failure);
  return status;
}

// Checks that a model has the tensors that callers have: those of the first model that takes the shapes.
int Package::check_interface(const Search& search, size_t number, nnapi_shim_error* error) {
  std::shared_ptr<const CallTensors> first, other;
  int status = describe(search.shapes, &first, error);
  if (status == NNAPI_SHIM_OK) {
    status = models_[number].model->describe(search.shapes, &other, error);
  }
  if (status != NNAPI_SHIM_OK) return status;
  if (same_tensors(first->inputs, as_floats(other->inputs, boundary_.inputs)) &&
      same_tensors(first->outputs, as_floats(other->outputs, boundary_.outputs))) {
    return status;
  }
  return fail(error, NNAPI_SHIM_BAD_MODEL,
              "model %zu of %zu (%s) has other inputs or outputs than model %zu; convert the package again", number + 1,
              models_.size(), models_[number].name.c_str(), first_fit(search.shapes) + 1);
}

void Package::note(Search& search, size_t number, const nnapi_shim_error& failure) const {
  if (search.first.status == NNAPI_SHIM_OK) search.first = failure;
  append(search.reasons, sizeof search.reasons, "; not model %zu of %zu (%s): %s", number + 1, models_.size(),
         models_[number].name.c_str(), failure.message);
}

void Package::keep(Search& search, size_t number) {
  double share = 0;
  for (const Candidate& candidate : search.candidates) {
    if (candidate.number == number) share = candidate.share;
  }
  for (const Candidate& candidate : search.candidates) {
    if (measures_ || candidate.number >= number || candidate.share >= share) continue;
    append(search.reasons, sizeof search.reasons,
           "; later model %zu of %zu (%s): one device takes at most %.0f %% of its operations", candidate.number + 1,
           models_.size(), models_[candidate.number].name.c_str(), 100 * candidate.share);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (picks_.size() >= kMostPicks) picks_.clear();
  picks_.push_back({search.shape, number});
  newest_ = number;
  choice_[0] = '\0';
  append(choice_, sizeof choice_, "model %zu of %zu (%s)%s", number + 1, models_.size(), models_[number].name.c_str(),
         search.reasons);
}

}  // namespace nnapi_shim
