// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/verdicts.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "lib/shim/journal.h"

namespace nnapi_shim {
namespace {

constexpr const char* kHeader = "nnapi_shim verdicts 1\n";
constexpr size_t kMostBytes = 1 << 16;

// Returns the whole text; an empty one if the file can't be read or is larger than any that was written.
std::string read_text(const std::string& path) {
  FILE* file = std::fopen(path.c_str(), "rbe");
  if (!file) return "";
  std::string text(kMostBytes, '\0');
  text.resize(std::fread(&text[0], 1, text.size(), file));
  std::fclose(file);
  return text.size() < kMostBytes ? text : "";
}

// Replaces the file in one step. If that fails, a later start tries the devices again.
void replace_text(const std::string& path, const std::string& text) {
  const std::string pending = path + "." + std::to_string(::getpid());
  const int fd = ::open(pending.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return;
  bool is_written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  is_written = ::fsync(fd) == 0 && is_written;
  is_written = ::close(fd) == 0 && is_written;
  if (!is_written || std::rename(pending.c_str(), path.c_str()) != 0) std::remove(pending.c_str());
}

// Replaces tabs and line ends, which separate fields and lines, by spaces.
std::string one_field(std::string text) {
  for (char& letter : text) {
    if (letter == '\t' || letter == '\n' || letter == '\r' || letter == '\0') letter = ' ';
  }
  return text;
}

bool take_until(char end, const std::string& text, size_t* at, std::string* field) {
  const size_t found = text.find(end, *at);
  if (found == std::string::npos) return false;
  *field = text.substr(*at, found - *at);
  *at = found + 1;
  return true;
}

bool is_known(char letter) {
  return letter != '\0' && std::strchr("gucnwrdh", letter) != nullptr;
}

}  // namespace

void Verdicts::open(const std::string& directory, const std::string& model) {
  if (directory.empty()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  path_ = directory + "/nnapi_shim_" + model + ".verdicts";
  journal_path_ = directory + "/nnapi_shim_" + model + ".journal";
  read(&entries_);
  bool is_changed = false;
  for (const JournalNote& note : take_notes(journal_path_)) {
    put(&entries_, {note.device, note.version, Verdict::kDied, "the process ended while it was " + note.step, false});
    is_changed = true;
  }
  if (is_changed) write();
}

Verdicts::Entry* Verdicts::find_entry(Entries* entries, const std::string& device, const std::string& version) {
  for (Entry& entry : *entries) {
    if (entry.device == device && entry.version == version) return &entry;
  }
  return nullptr;
}

void Verdicts::put(Entries* entries, const Entry& entry) {
  if (Entry* found = find_entry(entries, entry.device, entry.version)) {
    *found = entry;
  } else {
    entries->push_back(entry);
  }
}

// Reads the file; its lines are: verdict, device, version, reason.
void Verdicts::read(Entries* entries) const {
  const std::string text = read_text(path_);
  if (text.compare(0, std::strlen(kHeader), kHeader) != 0) return;
  size_t at = std::strlen(kHeader);
  std::string verdict, device, version, reason;
  while (take_until('\t', text, &at, &verdict) && take_until('\t', text, &at, &device) &&
         take_until('\t', text, &at, &version) && take_until('\n', text, &at, &reason)) {
    if (verdict.size() == 1 && is_known(verdict[0])) {
      put(entries, {device, version, static_cast<Verdict>(verdict[0]), reason, false});
    }
  }
}

// Writes the file. Keeps the lines that other processes have written meanwhile about other devices.
void Verdicts::write() {
  if (path_.empty()) return;
  Entries all;
  read(&all);
  for (const Entry& entry : entries_) {
    if (!entry.is_suspect) put(&all, entry);
  }
  std::string text = kHeader;
  for (const Entry& entry : all) {
    text += static_cast<char>(entry.verdict);
    for (const std::string* field : {&entry.device, &entry.version, &entry.reason}) text.append("\t").append(*field);
    text += '\n';
  }
  if (text.size() < kMostBytes) replace_text(path_, text);
}

Verdict Verdicts::find(const std::string& device, const std::string& version, std::string* reason) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Entry* found = find_entry(&entries_, one_field(device), one_field(version));
  if (found == nullptr) return Verdict::kUnknown;
  *reason = found->reason;
  return found->verdict;
}

void Verdicts::set(const std::string& device, const std::string& version, Verdict verdict, const std::string& reason) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Entry entry = {one_field(device), one_field(version), verdict, one_field(reason), false};
  const Entry* found = find_entry(&entries_, entry.device, entry.version);
  if (found != nullptr && found->verdict == verdict && !found->is_suspect) return;
  put(&entries_, entry);
  write();
}

void Verdicts::suspect(const std::string& device, const std::string& version, Verdict verdict,
                       const std::string& reason) {
  const std::lock_guard<std::mutex> lock(mutex_);
  put(&entries_, {one_field(device), one_field(version), verdict, one_field(reason), true});
}

void Verdicts::confirm() {
  const std::lock_guard<std::mutex> lock(mutex_);
  bool is_changed = false;
  for (Entry& entry : entries_) {
    is_changed = is_changed || entry.is_suspect;
    entry.is_suspect = false;
  }
  if (is_changed) write();
}

void Verdicts::acquit() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto is_suspect = [](const Entry& entry) { return entry.is_suspect; };
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(), is_suspect), entries_.end());
  read(&entries_);
}

}  // namespace nnapi_shim
