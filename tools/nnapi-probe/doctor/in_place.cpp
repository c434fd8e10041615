// SPDX-License-Identifier: BSD-3-Clause
// The part of an examination that looks for operations that are wrong only together with others.
#include <algorithm>

#include "lib/format/nnapi_codes.h"
#include "lib/format/operation_table.h"
#include "tools/nnapi-probe/doctor/examination.h"
#include "tools/nnapi-probe/doctor/json_text.h"

namespace nnapi_doctor {

Examination::Operations Examination::not_faulty(const PartReport& report, bool with_not_taken) const {
  Operations operations;
  for (uint32_t i = 0; i < report.operations.size(); ++i) {
    const OperationReport& operation = report.operations[i];
    if (!operation.is_faulty() && (with_not_taken || operation.is_taken)) operations.push_back(i);
  }
  return operations;
}

// Returns the number of the operation with which the results become wrong. All `operations` together are wrong; none of
// them is right.
uint32_t Examination::bisect(const Subject& subject, size_t number, const Operations& operations, TrialResult* found) {
  size_t right = 0, wrong = operations.size();
  while (wrong - right > 1) {
    const size_t middle = right + (wrong - right) / 2;
    const TrialResult result =
        cut(subject, number, {operations.begin(), operations.begin() + static_cast<std::ptrdiff_t>(middle)});
    if (is_fault(result.finding)) {
      wrong = middle;
      *found = result;
    } else {
      right = middle;
    }
  }
  return operations[wrong - 1];
}

std::string Examination::name_neighbours(size_t number, const Operations& producers) const {
  std::vector<std::string> names;
  for (const uint32_t producer : producers) {
    const int32_t code = patient_.parts[number].main().operations[producer].code;
    const std::string name = quoted(nnapi_convert::name_of(static_cast<nnapi_convert::OperationCode>(code)));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return "[" + joined(names) + "]";
}

// Returns the operations from which the operation reads, without those that are wrong themselves.
Examination::Operations Examination::right_producers(const PartReport& report, size_t number,
                                                     uint32_t operation) const {
  Operations producers;
  for (const uint32_t producer : patient_.parts[number].cutter->producers_of(operation)) {
    if (!report.operations[producer].is_faulty()) producers.push_back(producer);
  }
  return producers;
}

// Finds which operations have to stand before this one to make it wrong: one, or all, of those whose results it reads.
void Examination::find_neighbours(const Subject& subject, size_t number, uint32_t operation, PartReport* report) {
  OperationReport& wrong = report->operations[operation];
  const auto is_wrong_after = [&](Operations producers) {
    producers.push_back(operation);
    std::sort(producers.begin(), producers.end());
    const TrialResult result = cut(subject, number, producers);
    if (!is_fault(result.finding)) return false;
    wrong.in_place = result;
    return true;
  };
  Operations producers = right_producers(*report, number, operation);
  if (producers.empty() || !is_wrong_after(producers)) return;
  if (producers.size() > 1) {
    for (const uint32_t producer : producers) {
      if (!is_wrong_after({producer})) continue;
      producers = {producer};
      break;
    }
  }
  wrong.after = name_neighbours(number, producers);
}

// Finds the cause of a fault. The bisection ends at the operation where the difference exceeds the tolerance. If no
// operation directly before it is needed, the cause is further ahead: an operation that is wrong after one without
// which all are right. Returns that operation, and reports its finding and its neighbour; or returns `last`.
uint32_t Examination::find_cause(const Subject& subject, size_t number, const Operations& operations, uint32_t last,
                                 PartReport* report) {
  const auto end = std::find(operations.begin(), operations.end(), last) + 1;
  auto wrong = operations.begin(), right = end - 1;  // the beginnings of cuts
  while (right - wrong > 1) {
    const auto middle = wrong + (right - wrong) / 2;
    (is_fault(cut(subject, number, {middle, end}).finding) ? wrong : right) = middle;
  }
  constexpr size_t kMostReaders = 4;
  size_t readers = 0;
  for (auto reader = wrong + 1; reader != end && readers < kMostReaders; ++reader) {
    const Operations producers = right_producers(*report, number, *reader);
    if (std::find(producers.begin(), producers.end(), *wrong) == producers.end()) continue;
    ++readers;
    const TrialResult result = cut(subject, number, {*wrong, *reader});
    if (!is_fault(result.finding)) continue;
    report->operations[*reader].in_place = result;
    report->operations[*reader].after = name_neighbours(number, {*wrong});
    return *reader;
  }
  return last;
}

// Tries the other operations of the same kind, each after those from which it reads.
void Examination::try_alike(const Subject& subject, size_t number, uint32_t operation, PartReport* report) {
  const Part& part = patient_.parts[number];
  const int32_t code = part.main().operations[operation].code;
  for (uint32_t i = 0; i < report->operations.size(); ++i) {
    OperationReport& other = report->operations[i];
    if (i == operation || part.main().operations[i].code != code || other.is_faulty() || !other.is_taken) continue;
    Operations together = right_producers(*report, number, i);
    if (together.empty()) continue;
    together.push_back(i);
    const TrialResult result = cut(subject, number, together);
    if (!is_fault(result.finding)) {
      other.is_right_after = result.finding == Finding::kRight;
      continue;
    }
    other.in_place = result;
    find_neighbours(subject, number, i, report);
  }
}

void Examination::try_in_place(const Subject& subject, size_t number, PartReport* report) {
  // Operations that the device does not take run on the other device, if there is one.
  const bool with_not_taken = subject.other != kNnapisChoice || subject.number == kNnapisChoice;
  for (;;) {
    const Operations operations = not_faulty(*report, with_not_taken);
    if (operations.empty()) return;
    const uint32_t before = trials_;
    report->rest = cut(subject, number, operations);
    if (!is_fault(report->rest.finding)) return;
    TrialResult found = report->rest;
    uint32_t operation = bisect(subject, number, operations, &found);
    uint32_t trials = trials_ - before;
    report->operations[operation].in_place = found;
    find_neighbours(subject, number, operation, report);
    if (report->operations[operation].after.empty()) {
      const uint32_t until_cause = trials_;
      const uint32_t cause = find_cause(subject, number, operations, operation, report);
      if (cause != operation) report->operations[operation].in_place = {};
      operation = cause;
      trials += trials_ - until_cause;
    }
    if (report->bisection_trials == 0) report->bisection_trials = trials;
    if (!report->operations[operation].after.empty()) try_alike(subject, number, operation, report);
  }
}

}  // namespace nnapi_doctor
