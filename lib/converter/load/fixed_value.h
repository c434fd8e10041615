// SPDX-License-Identifier: BSD-3-Clause
// Numbers, texts and None among forward's arguments that torch.export took as fixed values, not as inputs.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

namespace nnapi_convert {

// An argument of forward, or a part of one, that has the same value in all calls.
struct FixedValue {
  std::string path;  // "scale", "state[2]"
  c10::IValue value;
  std::string text;  // as --input takes it: 2, True, "fast", None
};

FixedValue fixed_value(const std::string& path, const c10::IValue& value);

}  // namespace nnapi_convert
