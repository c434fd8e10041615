// SPDX-License-Identifier: BSD-3-Clause
// Collects the refusals of single nodes and the warnings of a run. Both are data that the caller renders.
#pragma once

#include <string>
#include <vector>

namespace nnapi_convert {

// Why one node can't be lowered.
struct Refusal {
  std::string where;   // source line of the model, or the node's scope when it has none
  std::string op;      // for example "aten::fft_fft"
  std::string found;   // the value found
  std::string needed;  // the value needed
  std::string hint;    // what to do about it; may be empty

  // One line: "where: op: found; needed; hint".
  std::string message() const {
    std::string text = where.empty() ? op : where + ": " + op;
    text += ": " + found;
    if (!needed.empty()) text += "; needed: " + needed;
    if (!hint.empty()) text += "; hint: " + hint;
    return text;
  }
};

// Tells the user about a property of the result that may surprise.
struct Warning {
  std::string kind;    // the sentence; warnings with the same sentence are shown together
  std::string where;   // source line of the model; may be empty
  std::string op;      // may be empty
  std::string detail;  // text behind the sentence, for this warning; may be empty
  double magnitude;    // how bad the warning is, compared with warnings of the same sentence: the largest is the worst

  // One line: "where: kind: detail".
  std::string message() const;
};

// Collected over one run.
struct Diagnostics {
  std::vector<Refusal> refusals;
  std::vector<Warning> warnings;

  void warn(Warning warning) { warnings.push_back(std::move(warning)); }
  void warn(std::string message) { warn(Warning{std::move(message), "", "", "", 0}); }
};

// Returns one line for each warning, for reports.
std::vector<std::string> messages_of(const std::vector<Warning>& warnings);
// Returns one line for each kind of warning, for people, with their number and the place of the worst one.
std::vector<std::string> summary_of(const std::vector<Warning>& warnings);

}  // namespace nnapi_convert
