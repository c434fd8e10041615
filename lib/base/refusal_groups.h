// SPDX-License-Identifier: BSD-3-Clause
// Shows refusals that differ by their source lines alone as one.
#pragma once

#include <string>
#include <vector>

#include "lib/base/diagnostics.h"

namespace nnapi_convert {

struct RefusalGroup {
  const Refusal* first;
  std::vector<size_t> members;      // numbers of the refusals, in their order
  std::vector<std::string> places;  // their source lines, each once

  // Returns one line: "a.py:1, a.py:5, a.py:9 and 2 more: op: found; needed; hint, 9 times".
  std::string message() const;
};

// Returns groups in the order of their first refusals. They point into `refusals`.
std::vector<RefusalGroup> groups_of(const std::vector<Refusal>& refusals);
// Returns the first few places and the number of the others: "a.py:1, a.py:5, a.py:9 and 4 more".
std::string places_text(const std::vector<std::string>& places);

}  // namespace nnapi_convert
