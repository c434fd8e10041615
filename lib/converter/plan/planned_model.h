// SPDX-License-Identifier: BSD-3-Clause
// A model with its plan, before buffers and modules are made.
#pragma once

#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/plan/model_graph.h"
#include "lib/converter/plan/partition.h"
#include "lib/ops/lineage.h"
#include "lib/serialize/module_interface.h"
#include "lib/types/options.h"

namespace nnapi_convert {

struct PlannedModel {
  Plan plan;
  NormalisedModel model;      // the model of the plan's steps; if one segment is the whole plan, only its arguments
  ModuleInterface interface;  // forward's interface
  ModelGraph graph;
  QuantMode quant = QuantMode::kNone;  // the mode taken: never kAuto
  Composites kept = {};                // operators that stay whole, as the CPU runs all their nodes
};

}  // namespace nnapi_convert
