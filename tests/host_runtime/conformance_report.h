// SPDX-License-Identifier: BSD-3-Clause
// Reports the results of the test cases on standard output and as a table for the documentation.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/host_runtime/vectors.h"

namespace conformance {

// The outcome of one case. Each complaint belongs to one run.
struct Outcome {
  std::string spec, name;
  std::set<vectors::OperationCode> operations;
  int runs = 0;
  std::vector<std::string> complaints;
};

// Returns the operations that a case tests: all operations of its models, without fillers that pass inputs on.
std::set<vectors::OperationCode> operations_of(const vectors::Case& test);

class Report {
 public:
  void add(const Outcome& outcome);
  // Counts a case that the data do not contain for the operations that all other cases of its spec have.
  void add_left_out(const std::vector<vectors::LeftOut>& left_out);

  bool good() const { return cases_.failed == 0 && cases_.passed > 0; }
  std::string text() const;
  std::string markdown() const;

 private:
  struct Tally {
    int passed = 0, failed = 0, skipped = 0;
  };

  std::string totals() const;

  Tally cases_, runs_;
  std::map<std::string, Tally> operations_;                        // by name
  std::map<std::string, std::set<vectors::OperationCode>> specs_;  // the operations that all cases of a spec have
  std::vector<std::string> complaints_;
  std::map<std::string, Tally> left_out_;  // by spec and reason
};

}  // namespace conformance
