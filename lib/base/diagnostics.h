// What a run has to say besides its result: refusals of single nodes and warnings. Both are data, rendered by the
// caller.
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

// Collected over one run.
struct Diagnostics {
  std::vector<Refusal> refusals;
  std::vector<std::string> warnings;

  void warn(std::string message) { warnings.push_back(std::move(message)); }
};

}  // namespace nnapi_convert
