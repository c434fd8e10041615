// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/batch/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <numeric>

namespace nnapi_convert {
namespace {

constexpr double kWorkOfModel = 20e6;  // the work for a model without weights, in bytes of weights

std::string time_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  constexpr int kMinute = 60, kHour = 3600;
  if (whole < kMinute) return fmt::format("{} s", whole);
  if (whole < kHour) return fmt::format("{}:{:02} min", whole / kMinute, whole % kMinute);
  return fmt::format("{}:{:02} h", whole / kHour, whole % kHour / kMinute);
}

size_t terminal_width() {
  constexpr size_t kUsual = 80;
  winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

// Returns the model's warnings, one on each line; only the first ones if there are many.
std::string warnings_text(const nlohmann::json& report) {
  constexpr size_t kMostShown = 5;
  const nlohmann::json warnings = report.is_object() ? report.value("warnings", nlohmann::json()) : nlohmann::json();
  std::string text;
  for (size_t i = 0; i < std::min(kMostShown, warnings.size()); ++i) {
    text += fmt::format("  warning: {}\n", warnings[i].get<std::string>());
  }
  if (warnings.size() <= kMostShown) return text;
  return text + fmt::format("  and {} more warnings, in its report\n", warnings.size() - kMostShown);
}

}  // namespace

BatchProgress::BatchProgress(std::vector<uint64_t> sizes, bool is_quiet)
    : sizes_(std::move(sizes)), is_quiet_(is_quiet), is_terminal_(::isatty(STDERR_FILENO) != 0) {
  for (const uint64_t size : sizes_) work_ += static_cast<double>(size) + kWorkOfModel;
}

double BatchProgress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::string BatchProgress::time_left() const {
  const double own = work_done_ - work_up_to_date_;
  return own <= 0 ? "-" : time_text(seconds() * (work_ - work_done_) / own);
}

std::string BatchProgress::bar() const {
  constexpr size_t kWidth = 24;
  const auto filled = static_cast<size_t>(kWidth * (work_ > 0 ? work_done_ / work_ : 1));
  return fmt::format("[{:<{}}] {}/{}, {:.1f}/s, {} left, {} failed", std::string(filled, '#'), kWidth, done_,
                     sizes_.size(), static_cast<double>(done_) / std::max(seconds(), 1e-3), time_left(), failed_);
}

void BatchProgress::done(size_t number, const std::string& name, const Outcome& outcome) {
  const double work = static_cast<double>(sizes_[number]) + kWorkOfModel;
  work_done_ += work;
  work_up_to_date_ += outcome.is_up_to_date ? work : 0;
  ++done_;
  failed_ += outcome.status == Status::kConverted ? 0 : 1;
  if (is_quiet_) return;
  if (is_terminal_) {
    tick();
    return;
  }
  std::string line = fmt::format("[{}/{}] {}: {}", done_, sizes_.size(), name, name_of(outcome.status));
  if (outcome.is_up_to_date) {
    line += ", up to date";
  } else {
    line += fmt::format(", {:.2f} s, {:.0f} MB", outcome.seconds, static_cast<double>(outcome.peak_bytes) / kMegabyte);
  }
  line += "\n";
  if (!outcome.is_up_to_date) line += warnings_text(outcome.report);
  std::cerr << line << std::flush;
}

void BatchProgress::tick() {
  if (is_quiet_ || !is_terminal_) return;
  std::cerr << "\r\033[K" + bar().substr(0, terminal_width() - 1) << std::flush;
  is_drawn_ = true;
}

void BatchProgress::clear() {
  if (is_drawn_) std::cerr << "\r\033[K" << std::flush;
  is_drawn_ = false;
}

}  // namespace nnapi_convert
