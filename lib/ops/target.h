// What a model is lowered for.
#pragma once

namespace nnapi_convert {

struct Target {
  int feature_level = 3;          // the highest NNAPI feature level that may be used
  bool channel_scales = false;    // the loader can carry weights with a scale for each channel
  bool omitted_operands = false;  // the loader can leave out optional operands
};

}  // namespace nnapi_convert
