// A model with its plan, before buffers and modules are made.
#pragma once

#include "lib/converter/graph/lineage.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/options/options.h"
#include "lib/converter/partition/model_graph.h"
#include "lib/converter/partition/partition.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

struct PlannedModel {
  Plan plan;
  NormalisedModel model;      // the model that the plan's steps refer to; of a plan of one whole segment its arguments
  ModuleInterface interface;  // forward's interface
  ModelGraph graph;
  QuantMode quant = QuantMode::kNone;  // the mode taken: never kAuto
  Composites kept = {};                // operators that stay whole, as all of them stays on the CPU
};

}  // namespace nnapi_convert
