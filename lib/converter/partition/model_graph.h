// The graph of a conversion, or of a converted file, as reports and pages show it: NNAPI's operations segment by
// segment, and what the CPU runs between them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/graph/block_place.h"
#include "lib/ops/op_context.h"
#include "lib/serialize/buffer_reader.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

struct NormalisedModel;
struct Plan;

constexpr size_t kShortList = 16;  // numbers of a constant that are shown

// A tensor, or what an operation takes besides.
struct GraphValue {
  std::string name;  // of the original's value; empty where it has none, as what passes made
  std::string type;  // NNAPI's ("TENSOR_FLOAT32"), PyTorch's of what the CPU computes ("float32"), or empty
  std::optional<Dims> shape = {};  // in physical order; nothing where it isn't known
  bool is_nhwc = false;
  double scale = 0;  // 0: not quantised
  int64_t zero_point = 0;
  size_t channel_scales = 0;  // number of scales, one for each index of channel_axis
  size_t channel_axis = 0;
  bool is_constant = false;
  std::string constant = {};       // a constant's value, where it is short
  std::optional<int32_t> id = {};  // number of the operand in its NNAPI model
};

struct GraphNode {
  std::string op;                           // "CONV_2D", "aten::topk"
  std::string where;                        // source line; may be empty
  std::vector<size_t> inputs, outputs;      // numbers of values
  std::vector<std::string> arguments = {};  // names of the inputs, where they have any
  std::optional<int64_t> macs = {};         // multiply-adds
  std::optional<size_t> reason = {};        // number of the entry of the report's partition.cpu
  size_t inside = 0;                        // operations of the CPU in its branches or rounds, where these aren't shown
};

// A value as the step before has it, and as the operand of the segment.
struct GraphLink {
  size_t outer, inner;
};

// A branch, or the round of a loop, with segments in it or in the other branch.
struct GraphBlock {
  BlockPlace place;
  size_t step = 0;                      // whose last node is the branch or loop
  int parent = -1;                      // number of the block that it is in, -1: forward's own
  std::vector<GraphLink> inputs = {};   // what a loop begins with, and what its first round takes it as
  std::vector<GraphLink> outputs = {};  // what the branch or loop gives, and what that may be
};

// What runs in one go. Steps come in the order in which they run, each before its subgraphs, a branch or loop before
// the steps in it.
struct GraphStep {
  int segment = -1;  // -1: the CPU
  int subgraph = 0;  // of the segment, from 1 on; it runs within an IF or WHILE
  std::vector<GraphNode> nodes;
  std::vector<GraphLink> inputs = {}, outputs = {};  // of a segment
  int block = -1;                                    // number of the block that it is in, -1: forward's own
};

struct ModelGraph {
  std::vector<GraphValue> values;
  std::vector<GraphStep> steps;
  std::vector<GraphBlock> blocks;       // each before those in it
  std::vector<size_t> inputs, outputs;  // of forward
};

// Of a model that NNAPI runs whole.
ModelGraph graph_of(const nnapi::Model& model, const ModuleInterface& interface);

// Of a partitioned model, before the plan gives its models away.
struct PlannedGraph {
  const NormalisedModel& model;
  const Plan& plan;
  const TypeMap& types;
};
ModelGraph graph_of(const PlannedGraph& planned);

// Appends the values and the step of an NNAPI model, and those of its subgraphs: where an operand lies among the
// graph's values, for links.
std::vector<size_t> append(ModelGraph& graph, const nnapi::Model& model, int segment);
std::vector<size_t> append(ModelGraph& graph, const BufferModel& model, int segment);
// The same of a tensor that callers or the CPU have.
size_t append(ModelGraph& graph, const std::string& name, const TensorType& type);

// The branches and loops that a segment is called in, the outermost first.
std::vector<BlockPlace> places_of_segment(const ModelGraph& graph, size_t segment);

// By `graph` of schemas/report.schema.json.
nlohmann::json to_json(const ModelGraph& graph);

}  // namespace nnapi_convert
