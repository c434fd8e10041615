// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/auto_select.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace nnapi_shim {
namespace {

constexpr const char* kNnapiText = "nnapi\n";
constexpr const char* kCpuText = "cpu\n";

// Returns the first 16 bytes of a file; an empty text if the file can't be read.
std::string read_text(const std::string& path) {
  char text[16];
  FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return "";
  const size_t size = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  return std::string(text, size);
}

// Replaces the file in one step, so that another process never reads half of it. If that fails, a later start measures
// again.
void write_text(const std::string& path, const char* text) {
  const std::string pending = path + ".new";
  FILE* file = std::fopen(pending.c_str(), "wb");
  if (file == nullptr) return;
  const size_t size = std::strlen(text);
  bool is_written = std::fwrite(text, 1, size, file) == size;
  is_written = std::fclose(file) == 0 && is_written;
  if (!is_written || std::rename(pending.c_str(), path.c_str()) != 0) std::remove(pending.c_str());
}

// Returns the median of the times after the first `warm_ups` calls.
uint64_t median(const std::vector<uint64_t>& times, size_t warm_ups) {
  std::vector<uint64_t> measured(times.begin() + static_cast<std::ptrdiff_t>(warm_ups), times.end());
  const auto middle = measured.begin() + static_cast<std::ptrdiff_t>(measured.size() / 2);
  std::nth_element(measured.begin(), middle, measured.end());
  return *middle;
}

}  // namespace

void AutoSelect::measure(const std::string& file) {
  const std::lock_guard<std::mutex> lock(mutex_);
  file_ = file;
  nnapi_.clear();
  cpu_.clear();
  is_measuring_ = true;
  side_ = Side::kNnapi;
  const std::string known = file.empty() ? "" : read_text(file);
  if (known == kNnapiText || known == kCpuText) {
    is_measuring_ = false;
    side_ = known == kCpuText ? Side::kCpu : Side::kNnapi;
  }
}

AutoSelect::Side AutoSelect::next() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!is_measuring_) return side_;
  return nnapi_.size() < kWarmUps + kMeasured ? Side::kNnapi : Side::kCpu;
}

void AutoSelect::ran(Side side, uint64_t nanoseconds) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (side == Side::kNnapi) failures_ = 0;
  if (!is_measuring_) return;
  (side == Side::kNnapi ? nnapi_ : cpu_).push_back(nanoseconds);
  if (nnapi_.size() >= kWarmUps + kMeasured && cpu_.size() >= kWarmUps + kMeasured) decide();
}

void AutoSelect::failed(bool for_good) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++failures_;
  if (!for_good && failures_ < kMostFailures) return;
  is_measuring_ = false;
  side_ = Side::kCpu;  // not written to the file: NNAPI may work at another start
}

const char* AutoSelect::choice() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_measuring_) return "measuring";
  return side_ == Side::kCpu ? "cpu" : "nnapi";
}

void AutoSelect::decide() {
  is_measuring_ = false;
  side_ = median(cpu_, kWarmUps) < median(nnapi_, kWarmUps) ? Side::kCpu : Side::kNnapi;
  if (!file_.empty()) write_text(file_, side_ == Side::kCpu ? kCpuText : kNnapiText);
}

}  // namespace nnapi_shim
