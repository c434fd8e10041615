// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/pointwise_convolution.h"

namespace nnapi_convert::nnapi {

std::vector<OperandId> pointwise_arguments(Builder& builder, OperandId input, OperandId filter, OperandId bias,
                                           OperandId activation) {
  std::vector<OperandId> arguments{input, filter, bias};
  for (int side = 0; side < 4; ++side) arguments.push_back(builder.int32(0));
  for (int stride = 0; stride < 2; ++stride) arguments.push_back(builder.int32(1));
  arguments.push_back(activation);
  return arguments;
}

}  // namespace nnapi_convert::nnapi
