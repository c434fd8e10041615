// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/doctor/trial_journal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace nnapi_doctor {
namespace {

constexpr size_t kMostBytes = size_t{1} << 24;
constexpr const char* kHeader = "nnapi-doctor journal 2 ";
constexpr char kStopped[] = "stopped\n";

int stopping_fd = -1;

// Handles a signal to end; calls only functions that are safe in a signal handler.
void note_stop(int signal_number) {
  if (stopping_fd >= 0 && ::write(stopping_fd, kStopped, sizeof kStopped - 1) < 0) ::_exit(1);
  ::_exit(128 + signal_number);
}

std::string read_all(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || status.st_size <= 0 || static_cast<uint64_t>(status.st_size) > kMostBytes) return "";
  std::string text(static_cast<size_t>(status.st_size), '\0');
  const ssize_t bytes = ::pread(fd, &text[0], text.size(), 0);
  text.resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
  return text;
}

std::string one_field(std::string text) {
  for (char& letter : text) {
    if (letter == '\t' || letter == '\n' || letter == '\r' || letter == '\0') letter = ' ';
  }
  return text;
}

std::string text_of(const TrialResult& result) {
  const Comparison& worst = result.worst;
  char text[512];
  std::snprintf(text, sizeof text,
                "%d %d %" PRIu64 " %u %u %u %.9g %.9g %.9g %.9g %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %d %d",
                static_cast<int>(result.finding), result.nnapi_code, result.median_ns, result.runs, result.wrong_runs,
                result.worst_operand, worst.worst, worst.mean, worst.range, worst.worst_share, worst.elements,
                worst.wrong_elements, worst.not_a_number, worst.channels, worst.wrong_channels,
                worst.is_quantised ? 1 : 0, worst.is_wrong ? 1 : 0);
  std::string line = text;
  for (const uint32_t channel : worst.first_wrong) line += " " + std::to_string(channel);
  return line + "\t" + one_field(result.message);
}

// Reads a text of text_of(). Returns whether it is one, with possible numbers.
bool parse(const std::string& text, TrialResult* result) {
  Comparison& worst = result->worst;
  int finding = 0, is_quantised = 0, is_wrong = 0, taken = 0;
  const int fields = std::sscanf(
      text.c_str(), "%d %d %" SCNu64 " %u %u %u %lf %lf %lf %lf %" SCNu64 " %" SCNu64 " %" SCNu64 " %u %u %d %d%n",
      &finding, &result->nnapi_code, &result->median_ns, &result->runs, &result->wrong_runs, &result->worst_operand,
      &worst.worst, &worst.mean, &worst.range, &worst.worst_share, &worst.elements, &worst.wrong_elements,
      &worst.not_a_number, &worst.channels, &worst.wrong_channels, &is_quantised, &is_wrong, &taken);
  if (fields != 17 || finding <= 0 || finding >= kFindings) return false;
  const char* at = text.c_str() + taken;
  for (uint32_t& channel : worst.first_wrong) {
    int length = 0;
    if (std::sscanf(at, " %u%n", &channel, &length) != 1) return false;
    at += length;
  }
  result->finding = static_cast<Finding>(finding);
  worst.is_quantised = is_quantised != 0;
  worst.is_wrong = is_wrong != 0;
  if (*at == '\t') result->message = at + 1;
  return true;
}

}  // namespace

TrialJournal::~TrialJournal() {
  if (fd_ < 0) return;
  stopping_fd = -1;
  ::close(fd_);
}

std::string TrialJournal::open(const std::string& folder, const std::string& subject) {
  if (folder.empty()) return "";
  path_ = folder + "/doctor.journal";
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd_ < 0) return "can't write " + path_ + ": " + std::strerror(errno);
  const std::string header = kHeader + one_field(subject) + "\n";
  read(read_all(fd_), header);
  if (known_.empty()) {
    const bool is_empty = ::ftruncate(fd_, 0) == 0;
    if (!is_empty || ::write(fd_, header.data(), header.size()) != static_cast<ssize_t>(header.size())) {
      return "can't write " + path_ + ": " + std::strerror(errno);
    }
  }
  stopping_fd = fd_;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, note_stop);
  return "";
}

void TrialJournal::read(const std::string& text, const std::string& header) {
  if (text.compare(0, header.size(), header) != 0) return;
  std::string begun;
  size_t at = header.size();
  for (size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = text.substr(at, end - at);
    const size_t tab = line.find('\t');
    const std::string what = line.substr(0, tab);
    if (what == "stopped") begun.clear();
    if (tab == std::string::npos) continue;
    if (what == "begin") begun = line.substr(tab + 1);
    if (what != "end") continue;
    const size_t next = line.find('\t', tab + 1);
    if (next == std::string::npos) continue;
    TrialResult result;
    const std::string key = line.substr(tab + 1, next - tab - 1);
    if (parse(line.substr(next + 1), &result)) known_[key] = result;
    begun.clear();
  }
  if (begun.empty()) return;
  TrialResult ended;
  ended.finding = Finding::kCrash;
  ended.message = "the doctor itself was ended, or the whole device, while this trial was at work";
  known_[begun] = ended;
  end(begun, ended);
}

bool TrialJournal::find(const std::string& key, TrialResult* result) const {
  const auto found = known_.find(key);
  if (found == known_.end()) return false;
  *result = found->second;
  return true;
}

// Writes that the trial begins. Waits until the storage has the line, as drivers can bring down the whole phone.
void TrialJournal::begin(const std::string& key) const {
  if (fd_ < 0) return;
  const std::string line = "begin\t" + key + "\n";
  if (::write(fd_, line.data(), line.size()) > 0) ::fdatasync(fd_);
}

void TrialJournal::end(const std::string& key, const TrialResult& result) const {
  if (fd_ < 0) return;
  const std::string line = "end\t" + key + "\t" + text_of(result) + "\n";
  if (::write(fd_, line.data(), line.size()) < 0) return;  // a later doctor then makes the trial again
}

void TrialJournal::finish() {
  if (fd_ < 0) return;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
  stopping_fd = -1;
  ::unlink(path_.c_str());
  ::close(fd_);
  fd_ = -1;
}

}  // namespace nnapi_doctor
