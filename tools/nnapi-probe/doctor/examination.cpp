// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/doctor/examination.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "lib/format/crc32.h"
#include "lib/format/nnapi_codes.h"
#include "lib/shim/devices.h"
#include "tools/nnapi-probe/doctor/facts.h"

namespace nnapi_doctor {
namespace {

constexpr int32_t kCpuType = 2;  // ANEURALNETWORKS_DEVICE_CPU
// The runs of a trial whose results are checked. A fault in 40 % of the runs hides in 1 of 60 trials of 8 runs.
constexpr uint32_t kChecks = 8, kChecksOfRareFaults = 40;

size_t count_most_operations(const Patient& patient) {
  size_t most = 0;
  for (const Part& part : patient.parts) most = std::max(most, part.main().operations.size());
  return most;
}

bool is_dead(int32_t nnapi_code) {
  return nnapi_code == static_cast<int32_t>(nnapi_convert::ResultCode::DEAD_OBJECT);
}

TrialResult result_of(TaskEnd end, const std::string& how, const Request& request, const Answer& answer) {
  TrialResult result;
  if (end != TaskEnd::kDone) {
    result.finding = end == TaskEnd::kHung ? Finding::kHang : Finding::kCrash;
    result.message = end == TaskEnd::kHung ? "no answer within the limit" : "the process ended with " + how;
    return result;
  }
  result.nnapi_code = answer.nnapi_code;
  result.message.assign(answer.message, ::strnlen(answer.message, sizeof answer.message));
  result.worst = answer.worst;
  result.worst_operand = answer.worst_operand;
  result.median_ns = answer.median_ns;
  if (answer.status == NNAPI_SHIM_OK) {
    const bool is_known = request.task == Task::kWhole || answer.worst.elements > 0;
    result.runs = answer.checked_runs;
    result.wrong_runs = answer.wrong_runs;
    result.finding = !is_known ? Finding::kUnknown : answer.wrong_runs > 0 ? Finding::kWrong : Finding::kRight;
  } else if (answer.status == NNAPI_SHIM_BAD_ARGUMENT) {
    result.finding = Finding::kUnknown;
  } else if (answer.status == NNAPI_SHIM_REFUSED && answer.nnapi_code == 0) {
    result.finding = Finding::kNotTaken;
  } else {
    result.finding = is_dead(answer.nnapi_code) ? Finding::kCrash : Finding::kError;
  }
  return result;
}

// Returns whether half precision may have made the differences of one operation; smaller ones come from the order of
// sums.
bool may_be_half(const TrialResult& result) {
  constexpr double kLeastHalfShare = 1e-4;
  const Comparison& worst = result.worst;
  const bool is_tried = result.finding == Finding::kWrong || result.finding == Finding::kRight;
  return is_tried && !worst.is_quantised && worst.not_a_number == 0 && worst.worst > kLeastHalfShare * worst.range;
}

// Returns a request to one device.
Request request_of(Task task, size_t part, int32_t device, bool copies) {
  Request request{};
  request.task = task;
  request.part = static_cast<uint32_t>(part);
  request.device = device;
  request.other = kNnapisChoice;
  request.runs = 1;
  request.checks = 1;
  request.copies = copies;
  return request;
}

const char* task_name(Task task) {
  static const char* const kNames[] = {"devices", "support", "whole", "cut", "reference", "rounded"};
  return kNames[static_cast<size_t>(task)];
}

}  // namespace

Examination::Examination(const DoctorOptions& options, Patient& patient)
    : options_(options), patient_(patient), most_operations_(count_most_operations(patient)) {
  const auto make = [&](const LibraryChoice& library, std::unique_ptr<Laboratory>* laboratory) {
    *laboratory = std::make_unique<Laboratory>(patient_, library);
    Laboratory* const works = laboratory->get();
    const size_t most = most_operations_;
    const std::string log = options_.folder.empty() ? "" : options_.folder + "/doctor.log";
    return std::make_unique<Worker>([works, most](uint8_t* shared) { works->work(TaskBytes(shared, most)); },
                                    TaskBytes::size(most), options_.limit_ns, log);
  };
  worker_ = make(options_.library, &laboratory_);
  if (!options_.reference_library.empty()) {
    reference_worker_ = make({options_.reference_library, false}, &reference_laboratory_);
  }
}

TaskEnd Examination::run_on(Worker& worker, const Request& request, const Operations& operations) {
  if (worker.shared() == nullptr) return TaskEnd::kNotStarted;
  const TaskBytes bytes(worker.shared(), most_operations_);
  const auto fill = [&] {
    bytes.request() = request;
    bytes.request().operation_count = static_cast<uint32_t>(operations.size());
    std::copy(operations.begin(), operations.end(), bytes.operations());
  };
  fill();
  TaskEnd end = worker.run();
  if (end != TaskEnd::kCrashed || worker.tasks_before() == 0) return end;
  // An earlier task may have caused the crash: this one is tried alone, several times, as a crash may come and go.
  constexpr int kCleanTrials = 3;
  for (int i = 0; i < kCleanTrials && (i == 0 || end == TaskEnd::kDone); ++i) {
    fill();
    end = worker.run();
  }
  return end;
}

std::string Examination::key_of(const Subject& subject, Task task, size_t part, uint32_t sample,
                                const Operations& operations) const {
  char text[180];
  std::snprintf(text, sizeof text, " part %zu sample %u %s %zu operations %u to %u (%08x)%s%s%s", part, sample,
                task_name(task), operations.size(), operations.empty() ? 0 : operations.front(),
                operations.empty() ? 0 : operations.back(),
                nnapi_convert::crc32(operations.data(), operations.size() * sizeof(uint32_t)), copies_ ? " copied" : "",
                is_half_ ? " half" : "", is_again_ ? " again" : "");
  return subject.key + text;
}

TrialResult Examination::run(const Subject& subject, Task task, size_t part, uint32_t sample,
                             const Operations& operations) {
  TrialResult result;
  const std::string key = key_of(subject, task, part, sample, operations);
  ++trials_;
  if (journal_.find(key, &result)) return result;
  Request request{};
  request.task = task;
  request.part = static_cast<uint32_t>(part);
  request.sample = sample;
  request.device = subject.number;
  // Only operations that are examined together may run in part on another device.
  request.other = task == Task::kCut && operations.size() == 1 ? kNnapisChoice : subject.other;
  const bool is_timed = operations.size() == 1 || task == Task::kWhole || options_.only_times;
  request.runs = is_timed ? options_.runs : 1;
  request.checks = options_.only_times ? 1 : checks_;
  request.checks_ns = options_.limit_ns / 4;
  request.copies = copies_;
  request.is_half = is_half_;
  journal_.begin(key);
  const TaskEnd end = run_on(*worker_, request, operations);
  result = result_of(end, worker_->how(), request, TaskBytes(worker_->shared(), most_operations_).answer());
  if (operations.size() == 1 && may_be_half(result) && is_half(part, operations[0])) result.finding = Finding::kHalf;
  journal_.end(key, result);
  return result;
}

// Lets the reference compute the operation from rounded numbers, and returns whether these results explain the worst
// run. The device does not run again, as another run may be right.
bool Examination::is_half(size_t number, uint32_t operation) {
  const Request request = request_of(Task::kRounded, number, reference_, reference_copies_);
  const TaskEnd rounded = run_on(reference_worker(), request, {operation});
  if (rounded != TaskEnd::kDone) return false;
  if (TaskBytes(reference_worker().shared(), most_operations_).answer().status != NNAPI_SHIM_OK) return false;
  return half_explains_worst_run(patient_, patient_.parts[number], operation);
}

TrialResult Examination::cut(const Subject& subject, size_t part, const Operations& operations) {
  return run(subject, Task::kCut, part, static_cast<uint32_t>(patient_.parts[part].chosen), operations);
}

std::string Examination::list_devices(Report* report) {
  Request request{};
  request.task = Task::kDevices;
  const TaskEnd end = run_on(*worker_, request, {});
  if (end == TaskEnd::kHung) return "NNAPI does not answer when it is asked for its devices";
  if (end != TaskEnd::kDone) return "the process ended when NNAPI was loaded: " + worker_->how();
  const Answer& answer = TaskBytes(worker_->shared(), most_operations_).answer();
  if (answer.status != NNAPI_SHIM_OK) return answer.message;
  report->feature_level = answer.feature_level;
  devices_.assign(answer.devices, answer.devices + std::min(answer.device_count, kMostDevices));
  for (const Part& part : patient_.parts) {
    const uint32_t needed = part.views[0].feature_level;
    if (needed <= answer.feature_level) continue;
    return "the file needs NNAPI feature level " + std::to_string(needed) + ", this device has level " +
           std::to_string(answer.feature_level) + "; convert it with --feature-level " +
           std::to_string(answer.feature_level);
  }
  return "";
}

// Chooses the reference: the device of the options, NNAPI's own CPU, or another device of the kind CPU.
std::string Examination::choose_reference(Report* report) {
  std::vector<DeviceNote> devices = devices_;
  if (!options_.reference_library.empty()) {
    Request request{};
    request.task = Task::kDevices;
    if (run_on(reference_worker(), request, {}) != TaskEnd::kDone) return "the reference's library can't be loaded";
    const Answer& answer = TaskBytes(reference_worker().shared(), most_operations_).answer();
    if (answer.status != NNAPI_SHIM_OK) return answer.message;
    devices.assign(answer.devices, answer.devices + std::min(answer.device_count, kMostDevices));
  }
  const auto choose = [&](const std::string& name, bool any_cpu) {
    for (size_t i = 0; i < devices.size() && reference_ == kNnapisChoice; ++i) {
      if (name == devices[i].name || (any_cpu && devices[i].type == kCpuType)) reference_ = static_cast<int32_t>(i);
    }
  };
  if (!options_.reference.empty()) {
    choose(options_.reference, false);
    if (reference_ == kNnapisChoice) return "there is no device " + options_.reference + " for the expected values";
  }
  choose(nnapi_shim::kReferenceDevice, false);
  choose("", true);
  if (reference_ == kNnapisChoice) return "";
  report->reference = devices[static_cast<size_t>(reference_)].name;
  reference_copies_ = report->reference != nnapi_shim::kReferenceDevice;
  return "";
}

void Examination::compute_reference(size_t number, Report* report) {
  const Part& part = patient_.parts[number];
  const Request request = request_of(Task::kReference, number, reference_, reference_copies_);
  std::string& unknown = report->unknown[number];
  unknown = part.is_made ? "it has no samples: its inputs are made up" : "";
  size_t failed = 0;
  for (uint32_t i = 0; i < part.main().operations.size(); ++i) {
    const TaskEnd end = run_on(reference_worker(), request, {i});
    const Answer& answer = TaskBytes(reference_worker().shared(), most_operations_).answer();
    if (end == TaskEnd::kDone && answer.status == NNAPI_SHIM_OK) continue;
    if (++failed > 1) continue;
    const std::string how = end == TaskEnd::kDone   ? std::string(answer.message)
                            : end == TaskEnd::kHung ? "it does not answer"
                                                    : "its process ended with " + reference_worker().how();
    unknown += (unknown.empty() ? "operation " : "; operation ") + std::to_string(i) + " has no expected value: " + how;
  }
  std::string& disagrees = report->disagree[number];
  disagrees.clear();
  const nnapi_shim::Sample& sample = part.samples[part.chosen];
  const std::vector<uint32_t>& outputs = part.main().output_operands;
  for (uint32_t i = 0; i < outputs.size() && disagrees.empty() && !part.is_made; ++i) {
    if (part.places[outputs[i]] == kNoPlace || !patient_.store.is_known(part, outputs[i])) continue;
    nnapi_shim_error error{};
    const int status = nnapi_shim::compare_output(sample.outputs[i], sample.output_tensors[i], i,
                                                  patient_.store.at(part, outputs[i]), &error);
    if (status != NNAPI_SHIM_OK) disagrees = error.message;
  }
}

// Continues with the values of another sample. Returns false if that sample has other sizes.
bool Examination::select_sample(size_t number, size_t sample, Report* report) {
  Part& part = patient_.parts[number];
  if (part.chosen == sample) return true;
  if (part.samples[sample].sizes != part.samples[0].sizes) return false;
  patient_.store.choose_sample(&part, sample);
  compute_reference(number, report);
  return true;
}

void Examination::ask_support(const Subject& subject, size_t number, PartReport* report) {
  const Request request = request_of(Task::kSupport, number, subject.number, copies_);
  const TaskEnd end = run_on(*worker_, request, {});
  const TaskBytes bytes(worker_->shared(), most_operations_);
  if (end != TaskEnd::kDone || bytes.answer().status != NNAPI_SHIM_OK) return;
  report->any_taken = false;
  for (size_t i = 0; i < report->operations.size(); ++i) {
    report->operations[i].is_taken = bytes.flags()[i] != 0;
    report->any_taken = report->any_taken || bytes.flags()[i] != 0;
  }
}

void Examination::run_whole(const Subject& subject, size_t number, PartReport* report) {
  const Part& part = patient_.parts[number];
  const auto run_samples = [&] {
    std::vector<TrialResult> results;
    for (uint32_t i = 0; i < part.samples.size(); ++i) {
      results.push_back(run(subject, Task::kWhole, number, i, {}));
      if (is_fault(results.back().finding)) break;
    }
    return results;
  };
  report->whole = run_samples();
  const TrialResult failed = report->whole.back();
  if (report->is_right() || copies_ || part.weights.fd < 0 || failed.comes_and_goes()) return;
  // Drivers may not be able to map the weights' file: the shim then gives them a copy.
  copies_ = true;
  std::vector<TrialResult> copied = run_samples();
  report->copies_weights = !is_fault(copied.back().finding) && is_steady(failed, [&] {
    copies_ = false;
    const auto sample = static_cast<uint32_t>(report->whole.size() - 1);
    const TrialResult again = run(subject, Task::kWhole, number, sample, {});
    copies_ = true;
    return again;
  });
  // If the model ends worse with a copy, copies are at fault, and models of some operations get the file.
  copies_ = report->copies_weights || (is_fault(copied.back().finding) && copied.back().finding <= failed.finding);
  if (report->copies_weights) report->whole = std::move(copied);
}

// Returns whether a trial fails in the same way once more: only then is the other way the reason for a right result.
template <typename Trial>
bool Examination::is_steady(const TrialResult& failed, const Trial& trial) {
  is_again_ = true;
  const TrialResult again = trial();
  is_again_ = false;
  return again.finding == failed.finding && !failed.comes_and_goes() && !again.comes_and_goes();
}

// Runs the operations. If a copy of the weights ends in an error or a crash, runs them with the file, too; if that is
// right, the copy is at fault, and models get the file from then on.
TrialResult Examination::run_alone(const Subject& subject, size_t number, const Operations& operations) {
  TrialResult result = cut(subject, number, operations);
  const bool may_be_copies = result.finding == Finding::kError || result.finding == Finding::kCrash;
  if (!copies_ || !may_be_copies || patient_.parts[number].weights.fd < 0) return result;
  copies_ = false;
  TrialResult mapped = cut(subject, number, operations);
  copies_ = true;
  if (is_fault(mapped.finding)) return result;
  if (!is_steady(result, [&] { return cut(subject, number, operations); })) return result;
  copies_ = false;
  return mapped;
}

void Examination::try_alone(const Subject& subject, size_t number, PartReport* report) {
  for (uint32_t i = 0; i < report->operations.size(); ++i) {
    OperationReport& operation = report->operations[i];
    if (!operation.is_taken) {
      operation.alone.finding = Finding::kNotTaken;
      continue;
    }
    operation.alone = run_alone(subject, number, {i});
    if (operation.alone.finding == Finding::kNotTaken) operation.is_taken = false;
  }
}

// Runs the first operation, the first two, and so on: drivers join operations with their neighbours. Ends when these
// can't run together.
void Examination::time_prefixes(const Subject& subject, size_t number, PartReport* report) {
  Operations prefix;
  uint64_t before = 0;
  for (uint32_t i = 0; i < report->operations.size(); ++i) {
    prefix.push_back(i);
    const uint64_t time = cut(subject, number, prefix).median_ns;
    if (time == 0) return;
    report->operations[i].added_ns = time > before ? time - before : 0;
    before = time;
  }
}

void Examination::examine_part(const Subject& device, size_t number, Report* report) {
  Subject subject = device;
  const Part& part = patient_.parts[number];
  PartReport& found = subject.report->parts[number];
  found.operations.resize(part.main().operations.size());
  copies_ = false;
  is_half_ = false;
  checks_ = kChecks;
  trials_ = 0;
  ask_support(subject, number, &found);
  const bool are_all_taken = std::all_of(found.operations.begin(), found.operations.end(),
                                         [](const OperationReport& each) { return each.is_taken; });
  if (are_all_taken) subject.other = kNnapisChoice;
  if (!found.any_taken) return;
  run_whole(subject, number, &found);
  const bool is_right = found.is_right();
  // A fault that comes and goes needs more runs to show in the operation that has it.
  if (!found.whole.empty() && found.whole.back().comes_and_goes()) checks_ = kChecksOfRareFaults;
  if (is_right && !options_.examines_all && !options_.only_times) return;
  if (!is_right && !options_.only_times) {
    const size_t failed = found.whole.size() - 1;
    if (select_sample(number, failed, report)) found.sample = static_cast<uint32_t>(failed);
  }
  found.was_examined = true;
  try_alone(subject, number, &found);
  if (options_.times_prefixes) time_prefixes(subject, number, &found);
  is_half_ = std::any_of(found.operations.begin(), found.operations.end(),
                         [](const OperationReport& each) { return each.alone.finding == Finding::kHalf; });
  if (!is_right && !options_.only_times) try_in_place(subject, number, &found);
  patient_.store.release();
}

std::string Examination::examine(Report* report) {
  std::string problem = list_devices(report);
  if (problem.empty()) problem = choose_reference(report);
  if (!problem.empty()) return problem;
  report->disagree.resize(patient_.parts.size());
  report->unknown.resize(patient_.parts.size());

  const bool is_here = options_.reference_library.empty();
  std::vector<int32_t> numbers;
  for (size_t i = 0; i < devices_.size(); ++i) {
    const bool is_reference = is_here && static_cast<int32_t>(i) == reference_;
    const bool is_asked = options_.device.empty() ? !is_reference : options_.device == devices_[i].name;
    if (is_asked) numbers.push_back(static_cast<int32_t>(i));
  }
  if (numbers.empty() && !options_.device.empty()) {
    std::string names;
    for (const DeviceNote& device : devices_) names += (names.empty() ? "" : ", ") + std::string(device.name);
    return "there is no device " + options_.device + ", but " + (names.empty() ? "none that can be named" : names);
  }
  // If devices can't be chosen, NNAPI's choice is examined; if only the reference is there, the reference itself.
  if (numbers.empty()) numbers.push_back(devices_.empty() ? kNnapisChoice : reference_);

  std::string subject_text = patient_.id + " " + options_.library.path + " " + options_.reference_library;
  for (const DeviceNote& device : devices_) subject_text += std::string(" ") + device.name + " " + device.version;
  problem = journal_.open(options_.folder, subject_text);
  if (!problem.empty()) return problem;
  for (size_t i = 0; i < patient_.parts.size(); ++i) compute_reference(i, report);

  report->devices.resize(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    DeviceReport& device = report->devices[i];
    if (numbers[i] != kNnapisChoice) {
      const DeviceNote& note = devices_[static_cast<size_t>(numbers[i])];
      device = {note.name, note.version, note.type, note.feature_level, {}};
    } else {
      device.feature_level = report->feature_level;
    }
    device.parts.resize(patient_.parts.size());
    const int32_t other =
        is_here && numbers[i] != reference_ && numbers[i] != kNnapisChoice ? reference_ : kNnapisChoice;
    const Subject subject = {numbers[i], other, device.name + " " + device.version, &device};
    for (size_t part = 0; part < patient_.parts.size(); ++part) {
      select_sample(part, 0, report);
      examine_part(subject, part, report);
    }
  }
  worker_->stop();
  reference_worker().stop();
  journal_.finish();
  return "";
}

}  // namespace nnapi_doctor
