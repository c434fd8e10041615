// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/nearest_name.h"

#include <algorithm>
#include <cstddef>

namespace nnapi_convert {
namespace {

// Returns the number of changes between two words, computed row by row over all pairs of their beginnings.
size_t changes_between(const std::string& a, const std::string& b) {
  std::vector<size_t> before_last, last, row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last = last;
    last = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool is_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_exchanged) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// Returns the most changes allowed: one in three letters, without dashes.
size_t most_changes(const std::string& name) {
  const auto dashes = static_cast<size_t>(std::count(name.begin(), name.end(), '-'));
  return (name.size() - dashes + 1) / 3;
}

}  // namespace

std::string nearest_name(const std::string& word, const std::vector<std::string>& names) {
  std::string nearest;
  size_t fewest = word.size();
  for (const std::string& name : names) {
    constexpr size_t kTelling = 4;  // letters: only few names begin with the same four
    const bool begins = word.size() >= kTelling && name.compare(0, word.size(), word) == 0;
    const size_t changes = begins ? 1 : changes_between(word, name);
    if (changes >= fewest || changes > std::min(most_changes(name), std::max<size_t>(1, most_changes(word)))) continue;
    nearest = name;
    fewest = changes;
  }
  return nearest;
}

}  // namespace nnapi_convert
