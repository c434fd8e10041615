// SPDX-License-Identifier: BSD-3-Clause
// Examines devices: makes the trials, one after the other, and draws conclusions from each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/nnapi-probe/doctor/findings.h"
#include "tools/nnapi-probe/doctor/trial_journal.h"
#include "tools/nnapi-probe/doctor/worker.h"

namespace nnapi_doctor {

struct DoctorOptions {
  LibraryChoice library;
  std::string reference_library;  // the library that computes the expected values; empty: `library`
  std::string device, reference;  // names; empty: all devices, and a reference that the examination chooses
  std::string folder;             // for the journal and drivers' messages; empty: none
  bool examines_all = false;      // also the operations of devices that are right
  bool only_times = false;
  bool times_prefixes = false;      // also the time that each operation adds to those before it; with only_times
  uint64_t limit_ns = 30000000000;  // for one trial
  uint32_t runs = 5;                // runs for the times
};

class Examination {
 public:
  // Both have to outlive this object.
  Examination(const DoctorOptions& options, Patient& patient);

  // Returns an empty text, or why devices can't be examined.
  std::string examine(Report* report);

 private:
  struct Subject {  // a device
    int32_t number;
    int32_t other;    // a device that may run operations that this one doesn't take; kNnapisChoice: none
    std::string key;  // begins the keys in the journal
    DeviceReport* report;
  };
  using Operations = std::vector<uint32_t>;

  std::string list_devices(Report* report);
  std::string choose_reference(Report* report);
  void compute_reference(size_t part, Report* report);
  bool select_sample(size_t part, size_t sample, Report* report);
  void examine_part(const Subject& device, size_t part, Report* report);
  void ask_support(const Subject& subject, size_t part, PartReport* report);
  void run_whole(const Subject& subject, size_t part, PartReport* report);
  void try_alone(const Subject& subject, size_t part, PartReport* report);
  TrialResult run_alone(const Subject& subject, size_t part, const Operations& operations);
  void time_prefixes(const Subject& subject, size_t part, PartReport* report);
  void try_in_place(const Subject& subject, size_t part, PartReport* report);
  uint32_t bisect(const Subject& subject, size_t part, const Operations& operations, TrialResult* found);
  Operations right_producers(const PartReport& report, size_t number, uint32_t operation) const;
  void find_neighbours(const Subject& subject, size_t part, uint32_t operation, PartReport* report);
  uint32_t find_cause(const Subject& subject, size_t part, const Operations& operations, uint32_t last,
                      PartReport* report);
  void try_alike(const Subject& subject, size_t part, uint32_t operation, PartReport* report);
  std::string name_neighbours(size_t part, const Operations& producers) const;
  Operations not_faulty(const PartReport& report, bool with_not_taken) const;

  TrialResult run(const Subject& subject, Task task, size_t part, uint32_t sample, const Operations& operations);
  bool is_half(size_t part, uint32_t operation);
  template <typename Trial>
  bool is_steady(const TrialResult& failed, const Trial& trial);
  TrialResult cut(const Subject& subject, size_t part, const Operations& operations);
  Worker& reference_worker() { return reference_worker_ ? *reference_worker_ : *worker_; }
  TaskEnd run_on(Worker& worker, const Request& request, const Operations& operations);
  std::string key_of(const Subject& subject, Task task, size_t part, uint32_t sample,
                     const Operations& operations) const;

  const DoctorOptions& options_;
  Patient& patient_;
  size_t most_operations_ = 0;
  std::unique_ptr<Laboratory> laboratory_, reference_laboratory_;  // they work in the children
  std::unique_ptr<Worker> worker_, reference_worker_;              // the latter is null without a library of its own
  TrialJournal journal_;
  int32_t reference_ = kNnapisChoice;
  bool reference_copies_ = true;  // it gets a copy of the weights: only NNAPI's own CPU can always map the file
  std::vector<DeviceNote> devices_;
  bool copies_ = false, is_half_ = false;  // for the examined device
  bool is_again_ = false;                  // trials are made a second time, even if the journal has their results
  uint32_t checks_ = 1;                    // the runs of a trial whose results are checked
  uint32_t trials_ = 0;                    // the trials of the examined device, each with a compilation
};

}  // namespace nnapi_doctor
