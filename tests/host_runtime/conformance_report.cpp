// SPDX-License-Identifier: BSD-3-Clause
#include "tests/host_runtime/conformance_report.h"

#include <fmt/format.h>

#include "lib/format/operation_table.h"

namespace conformance {
namespace {

constexpr const char* kIntroduction = R"(# Conformance of the host's NNAPI library

Android's own NNAPI test cases, run through the library's C interface by `host_conformance --table`, which wrote this
page. A case passes when all of its runs pass:

- with the caller's buffers, with memory objects at offsets, through a burst, and twice in one reusable execution;
- with undeclared extents of its outputs, with signed instead of unsigned codes, and with both, as its data allow;
- built at the lowest feature level that has to take it, and refused at the one below;
- for a case that has to fail: refused or ended with an error each time, endless loops by their timeout.

A case counts for each operation of its models. Skipped are the cases that the test data leave out; they count for the
operations that all other cases of their specification have.

| operation | passed | failed | skipped |
|---|---:|---:|---:|
)";

}  // namespace

using vectors::OperationCode;

std::set<OperationCode> operations_of(const vectors::Case& test) {
  std::set<OperationCode> codes;
  const auto collect = [&](const vectors::Graph& graph) {
    for (const vectors::Operation& operation : graph.operations) codes.insert(operation.code);
  };
  collect(test.main);
  for (const vectors::Graph& graph : test.referenced) collect(graph);
  if (codes.size() > 1 && test.name.find("internal") != std::string::npos) codes.erase(OperationCode::ADD);
  return codes;
}

void Report::add(const Outcome& outcome) {
  const auto failed = static_cast<int>(outcome.complaints.size());
  runs_.passed += outcome.runs - failed;
  runs_.failed += failed;
  int Tally::*counter = failed == 0 ? &Tally::passed : &Tally::failed;
  ++(cases_.*counter);
  for (const OperationCode code : outcome.operations) ++(operations_[nnapi_convert::name_of(code)].*counter);
  const auto spec = specs_.emplace(outcome.spec, outcome.operations).first;
  for (auto code = spec->second.begin(); code != spec->second.end();) {
    code = outcome.operations.count(*code) ? std::next(code) : spec->second.erase(code);
  }
  for (const std::string& complaint : outcome.complaints) {
    complaints_.push_back(fmt::format("FAILED {} {}: {}", outcome.spec, outcome.name, complaint));
  }
}

void Report::add_left_out(const std::vector<vectors::LeftOut>& left_out) {
  for (const vectors::LeftOut& one : left_out) {
    ++cases_.skipped;
    ++left_out_[fmt::format("{}: {}", one.spec, one.reason)].skipped;
    for (const OperationCode code : specs_[one.spec]) ++operations_[nnapi_convert::name_of(code)].skipped;
  }
}

std::string Report::totals() const {
  return fmt::format("{} cases passed, {} failed, {} skipped; {} runs passed, {} failed", cases_.passed, cases_.failed,
                     cases_.skipped, runs_.passed, runs_.failed);
}

std::string Report::text() const {
  std::string text;
  for (const std::string& complaint : complaints_) text += complaint + "\n";
  text += fmt::format("{:<32} {:>7} {:>7} {:>7}\n", "operation", "passed", "failed", "skipped");
  for (const auto& [name, tally] : operations_) {
    text += fmt::format("{:<32} {:>7} {:>7} {:>7}\n", name, tally.passed, tally.failed, tally.skipped);
  }
  return text + "conformance: " + totals() + "\n";
}

std::string Report::markdown() const {
  std::string text = kIntroduction;
  for (const auto& [name, tally] : operations_) {
    text += fmt::format("| {} | {} | {} | {} |\n", name, tally.passed, tally.failed, tally.skipped);
  }
  text += fmt::format("\nIn all: {}.\n\nLeft out of the data:\n\n", totals());
  for (const auto& [what, tally] : left_out_) text += fmt::format("- {} ({} cases)\n", what, tally.skipped);
  return text;
}

}  // namespace conformance
