// SPDX-License-Identifier: BSD-3-Clause
// Decides which nodes of a graph go to NNAPI and which stay on the CPU.
//
// A node goes to NNAPI if the rules lower it alone to a valid model. To make few segments, a node joins the earliest
// segment before which all its inputs are computed. Nodes with effects (printing, raising, random numbers, in-place
// changes) keep their order and stay on the CPU. Branches and loops stay on the CPU, too; each of their blocks is
// partitioned separately, and has its own segments.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/converter/frontend/infer.h"
#include "lib/converter/frontend/memory_order.h"
#include "lib/converter/graph/block_place.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/plan/nnapi_part.h"
#include "lib/converter/plan/node_cost.h"
#include "lib/converter/plan/segment.h"

namespace nnapi_convert {

// A step of the partitioned model: nodes that the CPU runs in this order, or a segment.
struct PlanStep {
  std::vector<torch::jit::Node*> nodes;
  int segment = -1;  // number in Plan::segments, or -1: the CPU
};

struct PlannedSegment {
  Segment segment;
  NnapiPart part;
  int64_t macs = 0;                          // known multiply-adds; in a loop, those of one round
  std::optional<RuntimeSize> expected_rows;  // the estimated number of rows that `macs` is for, if it depends on values
  size_t products = 0;                       // operations with multiply-adds
  size_t uncounted = 0;                      // operations among `products` whose multiply-adds are unknown
  std::vector<BlockPlace> places = {};       // the branches and loops around the segment, the outermost first
};

struct CpuNode {
  Refusal reason;
  std::optional<int64_t> macs;                      // nothing if its sizes or its cost are unknown
  std::vector<const torch::jit::Node*> nodes = {};  // nodes of the plan's graph; the reason is that of the first
  bool is_estimated = false;                        // `macs` is computed from estimated sizes
  std::string since = {};                           // source line of another operator in the reason; may be empty
  CostKind cost = CostKind::kNone;                  // the operator's kind of cost
  bool is_in_loop = false;                          // `macs` counts one round of the loop
};

struct Plan {
  std::vector<PlanStep> steps;
  std::unordered_map<const torch::jit::Block*, std::vector<PlanStep>> blocks;  // steps of branches and loops
  std::vector<PlannedSegment> segments;
  std::vector<CpuNode> cpu_nodes;
  bool any_lowered = false;               // some nodes can run on NNAPI, though perhaps too few for a segment
  std::optional<SegmentRefusal> refusal;  // why the whole graph is not one segment

  // True if one segment is all of forward: the segment has forward's interface, and its step lists no nodes.
  bool is_whole() const { return !refusal; }
};

// Returns the steps of all segments, including those in branches and loops.
std::vector<const PlanStep*> segment_steps(const Plan& plan);

// Returns the steps as text, in their order; the steps of a block follow the block's branch or loop.
std::string to_text(const Plan& plan);

// Names of values whose operations get segments of their own, in which drivers have to compute in float32.
using Float32Values = std::set<std::string>;

// Makes the plan, which refers to the model's nodes. Sizes of the model's inputs have to be fixed. The plan may have no
// segments. The nodes of `kept` stay on the CPU.
Plan partition(const NormalisedModel& model, const InferredTypes& inferred, const PlanOptions& options,
               const Float32Values& float32, const NodesKeptForOrder& kept, Diagnostics& diagnostics);

}  // namespace nnapi_convert
