#include "lib/converter/float_meaning.h"

#include "lib/converter/dynamic_quantisation.h"
#include "lib/converter/float_width.h"
#include "lib/converter/freeze.h"

namespace nnapi_convert {

std::optional<torch::jit::Module> float_meaning(const LoadedModel& original) {
  if (!is_dynamically_quantised(original.module) && !float_width(original.module)) return std::nullopt;
  return frozen_module(original).deepcopy();  // a run may change buffers, which the original has, too
}

}  // namespace nnapi_convert
