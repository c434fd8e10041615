// SPDX-License-Identifier: BSD-3-Clause
// Remembers for one model which devices can be trusted. In a folder, the verdicts last for later starts: until the
// driver's version changes.
#pragma once

#include <mutex>
#include <string>
#include <vector>

namespace nnapi_shim {

enum class Verdict : char {
  kUnknown = '?',
  kGood = 'g',
  kUncached = 'u',        // good, but not when it loads what it compiled before
  kCopied = 'c',          // good, but not with weights by file descriptor
  kCopiedUncached = 'n',  // both
  kWrong = 'w',           // its results differ from the samples'
  kRefused = 'r',         // it can't compile or run the model
  kDied = 'd',            // it ended the process, or its own
  kHung = 'h',            // it did not answer
};

// Several threads may call all functions at once.
class Verdicts {
 public:
  // Reads what earlier starts found. An empty `directory`: nothing is read or written. `model` names the model's files.
  void open(const std::string& directory, const std::string& model);

  Verdict find(const std::string& device, const std::string& version, std::string* reason);
  void set(const std::string& device, const std::string& version, Verdict verdict, const std::string& reason);

  // The same for this process only, until another device does what this one failed to do, confirm(), or fails too,
  // acquit(): then it was the input's fault.
  void suspect(const std::string& device, const std::string& version, Verdict verdict, const std::string& reason);
  void confirm();
  void acquit();

  // The start of the names of journal entries; empty without a folder.
  const std::string& journal_path() const { return journal_path_; }

 private:
  struct Entry {
    std::string device, version;
    Verdict verdict = Verdict::kUnknown;
    std::string reason;
    bool is_suspect = false;
  };
  using Entries = std::vector<Entry>;  // one for a device and version

  static Entry* find_entry(Entries* entries, const std::string& device, const std::string& version);  // or null
  // Puts the entry into the place of that of the same device and version.
  static void put(Entries* entries, const Entry& entry);

  void read(Entries* entries) const;
  void write();

  std::mutex mutex_;
  std::string path_, journal_path_;
  Entries entries_;
};

}  // namespace nnapi_shim
