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
  kUncached = 'u',        // good, but not when it loads an earlier compilation
  kCopied = 'c',          // good, but not with weights by file descriptor
  kCopiedUncached = 'n',  // good, but neither with an earlier compilation nor with weights by file descriptor
  kWrong = 'w',           // its results differ from the samples'
  kRefused = 'r',         // it can't compile or run the model
  kDied = 'd',            // it ended this process, or its driver's
  kHung = 'h',            // it did not answer
};

// Several threads may call all functions at once.
class Verdicts {
 public:
  // Reads the verdicts of earlier starts. With an empty `directory`, nothing is read or written. `model` names the
  // model's files.
  void open(const std::string& directory, const std::string& model);

  Verdict find(const std::string& device, const std::string& version, std::string* reason);
  void set(const std::string& device, const std::string& version, Verdict verdict, const std::string& reason);

  // Sets a verdict for this process only. confirm() makes it lasting, after another device did what this one failed to
  // do; acquit() drops it, after all others failed, too: then it was the input's fault.
  void suspect(const std::string& device, const std::string& version, Verdict verdict, const std::string& reason);
  void confirm();
  void acquit();

  // Returns the start of the names of journal entries; empty without a folder.
  const std::string& journal_path() const { return journal_path_; }

 private:
  struct Entry {
    std::string device, version;
    Verdict verdict = Verdict::kUnknown;
    std::string reason;
    bool is_suspect = false;
  };
  using Entries = std::vector<Entry>;  // one entry for each device and version

  static Entry* find_entry(Entries* entries, const std::string& device, const std::string& version);  // null: none
  // Replaces the entry of the same device and version, or adds the entry.
  static void put(Entries* entries, const Entry& entry);

  void read(Entries* entries) const;
  void write();

  std::mutex mutex_;
  std::string path_, journal_path_;
  Entries entries_;
};

}  // namespace nnapi_shim
