// The operators that PyTorch got after 1.13.1, with what 1.13.1 computes them of.
#pragma once

#include <vector>

namespace nnapi_convert {

// An operator with a `source` is the TorchScript function of that text, whose parameters are those of the schema. One
// without is refused where the model runs it, and `refusal` says what it needs.
struct NewerOperator {
  const char* schema;
  const char* release;  // of PyTorch, the first that has it as far as known; empty if it isn't known
  const char* source = nullptr;
  const char* refusal = "";
};

// An explicit list of families, a file each.
using NewerOperators = std::vector<NewerOperator>;
NewerOperators newer_attention_and_norms();
NewerOperators newer_reductions_and_ranges();
NewerOperators newer_checks_and_attributes();
NewerOperators newer_refused();
NewerOperators core_operators();  // of 1.13.1, too

}  // namespace nnapi_convert
