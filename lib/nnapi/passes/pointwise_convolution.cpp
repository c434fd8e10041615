#include "lib/nnapi/passes/pointwise_convolution.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr int kLayoutLevel = 3;  // below it convolutions are in NHWC and have no flag

}  // namespace

std::vector<OperandId> pointwise_arguments(Builder& builder, OperandId input, OperandId filter, OperandId bias,
                                           OperandId activation, int feature_level) {
  std::vector<OperandId> arguments{input, filter, bias};
  for (int side = 0; side < 4; ++side) arguments.push_back(builder.int32(0));
  for (int stride = 0; stride < 2; ++stride) arguments.push_back(builder.int32(1));
  arguments.push_back(activation);
  if (feature_level >= kLayoutLevel) arguments.push_back(builder.boolean(false));  // NHWC
  return arguments;
}

}  // namespace nnapi_convert::nnapi
