// SPDX-License-Identifier: BSD-3-Clause
// Operators as TorchScript of PyTorch 1.13.1: those that PyTorch got later, and those of its inside that exports name.
// They are taken apart as a file is loaded, as what runs on a phone is 1.13.1.
#pragma once

#include <vector>

namespace torch::jit {
struct Node;
}  // namespace torch::jit

namespace nnapi_convert {

// An operator with a `source` is the TorchScript function of that text, whose parameters are those of the schema. One
// without is refused where the model runs it, and `refusal` says what it needs.
struct ScriptForm {
  const char* schema;
  const char* release;  // of PyTorch, the first that has it as far as known; empty if it isn't known
  const char* source = nullptr;
  const char* refusal = "";
  // Returns false for calls that stay as they are, because PyTorch 1.13.1 runs them, or because they are refused; null:
  // none stays.
  bool (*applies)(torch::jit::Node& node) = nullptr;
};

// The release of operators that PyTorch 1.13.1 has, too.
constexpr const char* kOldRelease = "1.13";

// The families of forms, one for each file.
using ScriptForms = std::vector<ScriptForm>;
ScriptForms attention_and_norm_scripts();   // script_attention_and_norms.cpp
ScriptForms reduction_and_range_scripts();  // script_reductions_and_ranges.cpp
ScriptForms check_and_attribute_scripts();  // script_checks_and_attributes.cpp
ScriptForms core_scripts();                 // script_core.cpp
ScriptForms frame_and_expert_scripts();     // script_frames_and_experts.cpp
ScriptForms fused_attention_scripts();      // script_fused_attention.cpp
ScriptForms newer_refusals();               // newer_refusals.cpp

// All families.
const ScriptForms& all_script_forms();

}  // namespace nnapi_convert
