// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/compilation.h"

#include <algorithm>

#include "lib/host_runtime/failure.h"
#include "lib/host_runtime/log.h"

namespace nnapi_convert::host {
namespace {

constexpr int32_t kPriorities[] = {90, 100, 110};  // low, medium, high
constexpr uint32_t kPreferredAlignment = 64;       // a cache line, and the widest vector registers
constexpr uint32_t kPreferredPadding = 1;

}  // namespace

std::chrono::nanoseconds to_duration(uint64_t nanoseconds) {
  constexpr auto kLongest = static_cast<uint64_t>(std::chrono::nanoseconds::max().count());
  return std::chrono::nanoseconds(static_cast<int64_t>(std::min(nanoseconds, kLongest)));
}

Compilation::Compilation(std::shared_ptr<const Model> model, std::vector<const Device*> devices)
    : model_(std::move(model)), devices_(std::move(devices)) {
  if (!model_->finished()) fail(ResultCode::BAD_STATE, "compilation: the model is not finished");
}

void Compilation::require_unfinished(const char* what) const {
  if (finished_) fail(ResultCode::BAD_STATE, "{}: the compilation is finished already", what);
}

void Compilation::set_preference(int32_t preference) {
  require_unfinished("setPreference");
  if (preference < 0 || preference > static_cast<int32_t>(PreferenceCode::SUSTAINED_SPEED)) {
    bad_data("setPreference: {} found, 0 to 2 needed", preference);
  }
}

void Compilation::set_priority(int32_t priority) {
  require_unfinished("setPriority");
  if (std::find(std::begin(kPriorities), std::end(kPriorities), priority) == std::end(kPriorities)) {
    bad_data("setPriority: {} found, {} needed", priority, fmt::join(kPriorities, " or "));
  }
}

void Compilation::set_timeout(uint64_t nanoseconds) {
  if (!on_one_chosen_device()) bad_data("setTimeout: a compilation for exactly one chosen device is needed");
  require_unfinished("setTimeout");
  timeout_ = nanoseconds == 0 ? std::chrono::nanoseconds::max() : to_duration(nanoseconds);
}

void Compilation::set_caching(const std::string& directory, const uint8_t* token) {
  require_unfinished("setCaching");
  CacheToken copy;
  std::copy_n(token, copy.size(), copy.begin());
  cache_.emplace(directory, copy);
}

void Compilation::check_devices() const {
  if (devices_.empty()) return;
  for (const Operation& operation : model_->operations()) {
    std::string refusals;
    const bool taken = std::any_of(devices_.begin(), devices_.end(), [&](const Device* device) {
      const std::string refusal = device->refusal(*model_, operation);
      if (!refusal.empty()) refusals += fmt::format("; {}: {}", device->name(), refusal);
      return refusal.empty();
    });
    if (!taken) bad_data("{}: no chosen device takes it{}", subject_of(operation), refusals);
  }
}

void Compilation::finish() {
  require_unfinished("finish");
  const RunSettings::Clock::time_point start = RunSettings::Clock::now();
  check_devices();
  if (cache_) cache_->check(*model_);
  program_ = std::make_unique<const Program>(*model_);
  const auto taken = RunSettings::Clock::now() - start;
  if (taken > timeout_) {
    program_.reset();
    fail(ResultCode::MISSED_DEADLINE_TRANSIENT, "finish: {} ns taken, at most {} needed",
         std::chrono::nanoseconds(taken).count(), timeout_.count());
  }
  finished_ = true;
  log(LogLevel::kInfo, "compilation finished: {} operations, {} ns", model_->operations().size(),
      std::chrono::nanoseconds(taken).count());
}

void Compilation::check_index(const char* what, Direction direction, uint32_t index) const {
  if (!finished_) fail(ResultCode::BAD_STATE, "{}: the compilation is not finished", what);
  const std::size_t count = direction == Direction::kInput ? model_->inputs().size() : model_->outputs().size();
  if (index >= count) bad_data("{}: {} {} found, below {} needed", what, name_of(direction), index, count);
}

uint32_t Compilation::preferred_alignment(Direction direction, uint32_t index) const {
  check_index("preferred memory alignment", direction, index);
  return kPreferredAlignment;
}

uint32_t Compilation::preferred_padding(Direction direction, uint32_t index) const {
  check_index("preferred memory padding", direction, index);
  return kPreferredPadding;
}

}  // namespace nnapi_convert::host
