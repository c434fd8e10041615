// Decides which nodes of a graph go to NNAPI and which stay on the CPU.
//
// A node goes to NNAPI if the rules lower it by itself to a valid model. Segments are as few as the order of the rest
// allows: a node joins the earliest segment that all it reads is ready for. Nodes with effects (printing, raising,
// random numbers, changes in place) keep their order and stay on the CPU. So do branches and loops; each of their
// blocks is partitioned for itself, and has segments of its own.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/converter/graph/block_place.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/infer/infer.h"
#include "lib/converter/lower/nnapi_part.h"
#include "lib/converter/partition/node_cost.h"
#include "lib/converter/partition/segment.h"

namespace nnapi_convert {

// A step of the partitioned model: nodes that the CPU runs in their order, or a segment.
struct PlanStep {
  std::vector<torch::jit::Node*> nodes;
  int segment = -1;  // number in Plan::segments, or -1: the CPU
};

struct PlannedSegment {
  Segment segment;
  NnapiPart part;
  int64_t macs = 0;                          // multiply-adds that are known, in a loop those of one round
  std::optional<RuntimeSize> expected_rows;  // for which they were counted, where they depend on values
  size_t products = 0;                       // operations that multiply
  size_t uncounted = 0;                      // of these, those whose multiply-adds aren't known
  std::vector<BlockPlace> places = {};       // the branches and loops around it, the outermost first
};

struct CpuNode {
  Refusal reason;
  std::optional<int64_t> macs;                      // nothing where its sizes or its cost aren't known
  std::vector<const torch::jit::Node*> nodes = {};  // of the plan's graph; the first is the one with the reason
  bool is_estimated = false;                        // they are for an estimate of sizes
  std::string since = {};                           // source line of what the reason names besides; may be empty
  CostKind cost = CostKind::kNone;                  // of the operator
  bool is_in_loop = false;                          // its multiply-adds are those of one round
};

struct Plan {
  std::vector<PlanStep> steps;
  std::unordered_map<const torch::jit::Block*, std::vector<PlanStep>> blocks;  // steps of branches and loops
  std::vector<PlannedSegment> segments;
  std::vector<CpuNode> cpu_nodes;
  bool any_lowered = false;               // there were nodes for NNAPI, though perhaps too few for a segment
  std::optional<SegmentRefusal> refusal;  // why the whole graph is not one segment

  // One segment is all of forward: it has its interface, and its step doesn't tell nodes.
  bool is_whole() const { return !refusal; }
};

// The steps of segments, those in branches and loops too.
std::vector<const PlanStep*> segment_steps(const Plan& plan);

// Steps in their order; those of a block behind the node that it is of.
std::string to_text(const Plan& plan);

// Sizes of the model's inputs have to be fixed. A plan without segments is possible.
Plan partition(NormalisedModel& model, const InferredTypes& inferred, const ConvertOptions& options,
               Diagnostics& diagnostics);

}  // namespace nnapi_convert
