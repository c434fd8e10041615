#include "lib/converter/graph/quantised_engine.h"

#include <ATen/Context.h>
#include <ATen/native/quantized/PackedParams.h>
#include <torch/custom_class.h>

#include <algorithm>

namespace nnapi_convert {

bool has_quantised_engine(at::QEngine engine) {
  const std::vector<at::QEngine>& engines = at::globalContext().supportedQEngines();
  return std::find(engines.begin(), engines.end(), engine) != engines.end();
}

void choose_quantised_engine() {
  if (has_quantised_engine(at::QEngine::QNNPACK)) at::globalContext().setQEngine(at::QEngine::QNNPACK);
}

void choose_quantised_engine_for(const c10::ClassType& type) {
  if (!has_quantised_engine(at::QEngine::ONEDNN)) return;
  const c10::TypePtr packed = c10::getCustomClassType<c10::intrusive_ptr<ConvPackedParamsBase<3>>>();
  for (const c10::ClassAttribute& attribute : type.getAttributes()) {
    if (*attribute.getType() == *packed) at::globalContext().setQEngine(at::QEngine::ONEDNN);
  }
}

}  // namespace nnapi_convert
