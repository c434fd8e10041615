// The whole conversion, from a loaded TorchScript module to the module that runs on NNAPI.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/load.h"
#include "lib/converter/options.h"
#include "lib/serialize/buffer_writer.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

struct Conversion {
  torch::jit::Module module;
  nnapi::Model model;
  SerializedModel serialized;
  ModuleInterface interface;
  QuantMode quant = QuantMode::kNone;  // the mode taken: never kAuto
  std::vector<InputTuple> bundled_inputs;
};

// Throws ConvertError. Where nodes are refused, all of them are in `diagnostics.refusals` and in the message. A model
// that is moved here is freed weight by weight as it is converted, so that both are never in memory whole.
Conversion convert(LoadedModel loaded, const ConvertOptions& options, Diagnostics& diagnostics);

}  // namespace nnapi_convert
