// SPDX-License-Identifier: BSD-3-Clause
// One NNAPI model with its interface, of a whole network or a segment, and the stages after lowering: optimise and
// validate.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/ops/target.h"
#include "lib/serialize/module_interface.h"
#include "lib/types/options.h"

namespace nnapi_convert {

struct NnapiPart {
  nnapi::Model model;
  ModuleInterface interface;
  std::vector<Dims> model_sizes = {};  // of a segment's inputs, in open sizes of the whole model
  bool keeps_float32 = false;          // whatever --relax-fp16 allows

  bool is_relaxed(const PlanOptions& options) const { return options.relax_fp16 && !keeps_float32; }
};

// Returns the features that rules may use.
Target target_of(const PlanOptions& options);

// Chooses layouts and runs the passes. Throws ConvertError (kUsage) for a layout of an input that doesn't exist.
void optimise_part(NnapiPart& part, const PlanOptions& options, const LayoutChoice& layout, Diagnostics& diagnostics);

// The reason why a part of a graph, or the whole graph, can't be one NNAPI model.
struct SegmentRefusal {
  std::string reason;                             // one message for the user
  std::vector<Refusal> nodes = {};                // nodes that rules refuse
  std::vector<nnapi::DeviceRefusal> device = {};  // operations that the device refuses
  std::string since = {};                         // source line of the operator after which types are unknown
  std::set<std::string> refused_sources = {};     // source lines of operations that NNAPI or the device refuses
  const torch::jit::Node* node = nullptr;         // the one node that keeps the part from being a model of its own
  bool is_empty = false;                          // no operation of NNAPI is left
};

// A part that was offered to NNAPI; it is complete if there is no refusal.
struct Offer {
  NnapiPart part;
  std::optional<SegmentRefusal> refusal = {};
};

// Refuses a model without operations, a model that is not valid at the feature level, and a model that the device of
// the options doesn't take. Returns nothing for other models.
std::optional<SegmentRefusal> refusal_of(const NnapiPart& part, const PlanOptions& options);
// Returns the refusal's reason without source lines, for reports that show the line of each node.
std::string reason_of(const SegmentRefusal& refusal, const PlanOptions& options);

}  // namespace nnapi_convert
