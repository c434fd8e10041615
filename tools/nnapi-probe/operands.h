// SPDX-License-Identifier: BSD-3-Clause
// Makes the operands of a point's operation, with types, shapes and values that fit together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/nnapi-probe/grid.h"

namespace nnapi_probe {

struct ProbeOperand {
  OperandCode type = OperandCode::INT32;
  std::vector<uint32_t> dims;  // empty: a scalar
  float scale = 0;
  int32_t zero_point = 0;
  bool is_constant = false;
  std::vector<uint8_t> value;  // the value of a constant
  std::vector<float> channel_scales;
  uint32_t channel_axis = 0;
};

struct ProbeOperands {
  std::vector<ProbeOperand> inputs, outputs;
};

ProbeOperands make_operands(const OperationGrid& grid, const Point& point);

}  // namespace nnapi_probe
