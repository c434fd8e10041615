// One NNAPI model and what calls it: a whole network, or a segment of one. The stages after lowering.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <optional>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/options/options.h"
#include "lib/converter/options/stages.h"
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
// Why a part of a graph, or all of it, can't be one model of NNAPI.
struct SegmentRefusal {
  std::string reason;                             // for people
  std::vector<Refusal> nodes = {};                // that rules refuse
  std::vector<nnapi::DeviceRefusal> device = {};  // operations that the device doesn't take
  std::string since = {};                         // source line of the operator after which nothing is known
};

// A part that was offered to NNAPI: without a refusal it is complete.
struct Offer {
  NnapiPart part;
  std::optional<SegmentRefusal> refusal = {};
};

// Of a model without operations, of one that NNAPI wouldn't take at the feature level, and of one that the device of
// the options doesn't take.
std::optional<SegmentRefusal> refusal_of(const NnapiPart& part, const ConvertOptions& options);
// Its reason without source lines, for nodes whose own are known.
std::string reason_of(const SegmentRefusal& refusal, const ConvertOptions& options);

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
