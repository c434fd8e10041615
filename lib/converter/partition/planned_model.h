// A model with the plan for it, before anything is written.
#pragma once

#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/options/options.h"
#include "lib/converter/partition/model_graph.h"
#include "lib/converter/partition/partition.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

struct PlannedModel {
  Plan plan;
  NormalisedModel model;      // that the plan's steps are of; none for a plan of the whole model
  ModuleInterface interface;  // of forward
  ModelGraph graph;
  QuantMode quant = QuantMode::kNone;  // the mode taken: never kAuto
};

}  // namespace nnapi_convert
