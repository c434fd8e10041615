#include "lib/converter/load/quantised_engine.h"

#include <ATen/Context.h>

#include <algorithm>

namespace nnapi_convert {

bool has_quantised_engine(at::QEngine engine) {
  const std::vector<at::QEngine>& engines = at::globalContext().supportedQEngines();
  return std::find(engines.begin(), engines.end(), engine) != engines.end();
}

void choose_quantised_engine() {
  if (has_quantised_engine(at::QEngine::QNNPACK)) at::globalContext().setQEngine(at::QEngine::QNNPACK);
}

}  // namespace nnapi_convert
