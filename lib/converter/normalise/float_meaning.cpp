#include "lib/converter/normalise/float_meaning.h"

#include "lib/converter/graph/float_width.h"
#include "lib/converter/load/dynamic_quantisation.h"
#include "lib/converter/normalise/freeze.h"

namespace nnapi_convert {

std::optional<torch::jit::Module> float_meaning(const LoadedModel& original) {
  if (!is_dynamically_quantised(original.module) && !float_width(original.module)) return std::nullopt;
  return frozen_module(original).deepcopy();  // a run may change buffers, which the original has, too
}

}  // namespace nnapi_convert
