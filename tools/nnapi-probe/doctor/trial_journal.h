// SPDX-License-Identifier: BSD-3-Clause
// Keeps in a file which trial is running and what earlier trials found, so that a doctor that was ended continues where
// it was, and knows which trial ended it.
#pragma once

#include <map>
#include <string>

#include "tools/nnapi-probe/doctor/findings.h"

namespace nnapi_doctor {

// The journal; without a folder, it does nothing. The file is an input: ignores parts that it can't read.
class TrialJournal {
 public:
  TrialJournal() = default;
  ~TrialJournal();
  TrialJournal(const TrialJournal&) = delete;
  TrialJournal& operator=(const TrialJournal&) = delete;

  // Reads the notes of an earlier doctor on the same `subject`, a text without line ends. Returns an empty text, or why
  // the file can't be written. From then on a signal to end (SIGINT, SIGTERM, SIGHUP) is no fault of the trial at work.
  std::string open(const std::string& folder, const std::string& subject);

  // Returns whether an earlier doctor made the trial, or was ended by it.
  bool find(const std::string& key, TrialResult* result) const;
  void begin(const std::string& key) const;
  void end(const std::string& key, const TrialResult& result) const;
  // Deletes the file after a complete examination, so that the next one begins anew.
  void finish();

 private:
  void read(const std::string& text, const std::string& header);

  std::string path_;
  int fd_ = -1;
  std::map<std::string, TrialResult> known_;
};

}  // namespace nnapi_doctor
