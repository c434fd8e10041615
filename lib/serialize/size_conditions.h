// SPDX-License-Identifier: BSD-3-Clause
// The conditions on sizes that a file checks at each call, and its messages for a call that breaks one.
#pragma once

#include <string>
#include <vector>

#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// The words of a message: "input x: size 1:" or "sizes: size 0 of x + size 1 of y:", then the number found, then "64 or
// more".
struct ConditionText {
  std::string subject, needed;

  std::string line() const { return subject + " " + needed; }
};
// Returns the words for a condition; `names` are the inputs' names.
ConditionText text_of(const SizeCondition& condition, const std::vector<std::string>& names);
ConditionText text_of(const SizeCondition& condition, const ModuleInterface& interface);

// Returns false for a condition on an input that nothing reads; the rank of such an input isn't checked either.
bool is_checked(const SizeCondition& condition, const ModuleInterface& interface);

}  // namespace nnapi_convert
