// SPDX-License-Identifier: BSD-3-Clause
// Writes operators as TorchScript of PyTorch 1.13.1: operators that PyTorch got later, and internal ones that exports
// name. They are replaced when a file is loaded, as phones run PyTorch 1.13.1.
#pragma once

#include <vector>

namespace torch::jit {
struct Node;
}  // namespace torch::jit

namespace nnapi_convert {

// The form of one operator. `source` is the text of a TorchScript function with the schema's parameters that replaces
// the operator. An operator without a source is refused if the model runs it; `refusal` says what it needs.
struct ScriptForm {
  const char* schema;
  const char* release;  // the first release of PyTorch known to have it; empty if none is known
  const char* source = nullptr;
  const char* refusal = "";
  // Returns false for calls that stay as they are, because PyTorch 1.13.1 runs them, or because they are refused; null:
  // none stays.
  bool (*applies)(torch::jit::Node& node) = nullptr;
};

// The release of operators that PyTorch 1.13.1 has, too.
constexpr const char* kOldRelease = "1.13";

// Each family of forms has one file.
using ScriptForms = std::vector<ScriptForm>;
ScriptForms attention_and_norm_scripts();   // script_attention_and_norms.cpp
ScriptForms reduction_and_range_scripts();  // script_reductions_and_ranges.cpp
ScriptForms check_and_attribute_scripts();  // script_checks_and_attributes.cpp
ScriptForms core_scripts();                 // script_core.cpp
ScriptForms frame_and_expert_scripts();     // script_frames_and_experts.cpp
ScriptForms fused_attention_scripts();      // script_fused_attention.cpp
ScriptForms newer_refusals();               // newer_refusals.cpp

// Returns the forms of all families.
const ScriptForms& all_script_forms();

}  // namespace nnapi_convert
