// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/script_forms.h"

namespace nnapi_convert {

const ScriptForms& all_script_forms() {
  static const ScriptForms all = [] {
    ScriptForms joined;
    for (const ScriptForms& family :
         {attention_and_norm_scripts(), reduction_and_range_scripts(), check_and_attribute_scripts(),
          fused_attention_scripts(), frame_and_expert_scripts(), newer_refusals(), core_scripts()}) {
      joined.insert(joined.end(), family.begin(), family.end());
    }
    return joined;
  }();
  return all;
}

}  // namespace nnapi_convert
