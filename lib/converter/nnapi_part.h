// One NNAPI model and what calls it: a whole network, or a segment of one. The stages after lowering.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <optional>

#include "lib/base/diagnostics.h"
#include "lib/base/error.h"
#include "lib/converter/options.h"
#include "lib/converter/stages.h"
#include "lib/ops/target.h"
#include "lib/serialize/buffer_writer.h"
#include "lib/serialize/emitted_class.h"
#include "lib/serialize/late_tensors.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

struct NnapiPart {
  nnapi::Model model;
  ModuleInterface interface;
};

// What rules may make use of.
Target target_of(const ConvertOptions& options);

// Chooses layouts and runs the passes. Throws ConvertError (kUsage) for layouts of inputs that aren't there.
void optimise_part(NnapiPart& part, const ConvertOptions& options, Diagnostics& diagnostics);
// Operations that the device's profile refuses.
class RefusedByDevice : public ConvertError {
 public:
  RefusedByDevice(const nnapi::DeviceProfile& device, std::vector<nnapi::DeviceRefusal> refusals);
  const std::vector<nnapi::DeviceRefusal>& refusals() const { return refusals_; }
  // what() without source lines, of a node whose own is known.
  const std::string& reasons() const { return reasons_; }

 private:
  std::vector<nnapi::DeviceRefusal> refusals_;
  std::string reasons_;
};

// Throws ConvertError (kNotConvertible) for a model without operations, or one that NNAPI wouldn't take at the feature
// level, and RefusedByDevice for one that the device of the options doesn't take.
void check_part(const NnapiPart& part, const ConvertOptions& options);

struct EmittedPart {
  torch::jit::Module module;
  SerializedModel serialized;  // of PyTorch's runtime
  size_t buffer_bytes = 0;
  uint64_t weight_bytes = 0;
};

struct EmitRequest {
  const BundledInputs& bundled_inputs;
  std::optional<torch::jit::Module> cpu = {};  // the shim's, for where NNAPI can't run
  ClassPlace place = {};
};

// Writes the buffer and makes the module, for the runtime that the options name. Its large weights are late.
EmittedPart emit_part(NnapiPart& part, const ConvertOptions& options, const EmitRequest& request, LateTensors& late,
                      Stages& stages);

}  // namespace nnapi_convert
