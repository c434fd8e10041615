// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/engine/progress.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "lib/base/watched_run.h"
#include "tools/nnapi-convert/requests.h"

namespace nnapi_convert {

bool is_quiet() {
  return !spdlog::should_log(spdlog::level::warn);
}

Progress::Progress() : is_shown_(isatty(STDERR_FILENO) != 0 && !is_quiet()), shows_lines_(!is_shown_ && !is_quiet()) {}

void Progress::show(const std::string& stage) {
  tell_step(stage);
  static const size_t total = conversion_stages().size() + 2;  // also the stages load and write
  if (!is_shown_) return;
  ++done_;
  std::cerr << fmt::format("\r\033[K[{:<{}}] {}", std::string(std::min(done_, total), '#'), total, stage) << std::flush;
}

void Progress::begin_part(const std::string& what, size_t done) {
  part_ = what;
  begin_ = Clock::now();
  first_done_ = done;
  percent_ = 0;
  is_time_told_ = false;
}

void Progress::show_part(const std::string& what, size_t done, size_t all) {
  constexpr std::chrono::seconds kBetweenLines(10), kUntilTold(1);
  constexpr double kLong = 10;  // in seconds; so long a wait is announced
  tell_sign_of_life();
  if (!is_shown_ && !shows_lines_) return;
  if (what != part_ || done < last_done_) begin_part(what, done);
  last_done_ = done;
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const std::string text = part_text(done, all, seconds);
  if (is_shown_) {
    std::cerr << "\r\033[K" << text << std::flush;
    ++done_;
    return;
  }
  const bool tells_time = !is_time_told_ && now - begin_ >= kUntilTold && seconds_left(done, all, seconds) > kLong;
  if (!tells_time && now - last_line_ < kBetweenLines) return;
  std::cerr << "nnapi-convert: " << text << std::endl;
  last_line_ = now;
  is_time_told_ = true;
}

void Progress::clear() {
  if (is_shown_ && done_ > 0) std::cerr << "\r\033[K" << std::flush;
  done_ = 0;
}

double Progress::seconds_left(size_t done, size_t all, double seconds) const {
  if (done <= first_done_ || done >= all) return 0;
  return seconds / static_cast<double>(done - first_done_) * static_cast<double>(all - done);
}

std::string Progress::part_text(size_t done, size_t all, double seconds) {
  constexpr double kMinute = 60;
  percent_ = std::max(percent_, all == 0 ? 100 : 100 * std::min(done, all) / all);
  const std::string text = fmt::format("{} {} %", part_, percent_);
  const double left = seconds_left(done, all, seconds);
  if (left == 0) return text;
  return text + (left < 2 * kMinute ? fmt::format(", about {:.0f} s left", left)
                                    : fmt::format(", about {:.0f} min left", left / kMinute));
}

}  // namespace nnapi_convert
