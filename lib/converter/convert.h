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
  Runtime runtime = Runtime::kPytorch;
  SerializedModel serialized;  // of PyTorch's runtime
  size_t buffer_bytes = 0;
  uint64_t weight_bytes = 0;
  ModuleInterface interface;
  QuantMode quant = QuantMode::kNone;  // the mode taken: never kAuto
  std::vector<InputTuple> bundled_inputs;
  bool embeds_shim_source = false;
};

// Throws ConvertError. Where nodes are refused, all of them are in `diagnostics.refusals` and in the message. A model
// that is moved here is freed weight by weight as it is converted, so that both are never in memory whole.
Conversion convert(LoadedModel loaded, const ConvertOptions& options, Diagnostics& diagnostics);

// Writes the archive to `path`, which is overwritten: give a temporary one. Throws ConvertError (kBadFile).
void write_conversion(const Conversion& conversion, const std::string& path);

}  // namespace nnapi_convert
