// SPDX-License-Identifier: BSD-3-Clause
// The graph of a conversion, or of a converted file, as reports and pages show it: the NNAPI operations of each
// segment, and the CPU's operations between segments.
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

constexpr size_t kShortList = 16;  // a constant of more numbers is shown without its value

// A tensor or another argument of an operation.
struct GraphValue {
  std::string name;  // the original value's name; empty for operands that passes made
  std::string type;  // NNAPI's type ("TENSOR_FLOAT32"), PyTorch's dtype of a value on the CPU ("float32"), or empty
  std::optional<Dims> shape = {};  // in physical order; nothing if it is unknown
  bool is_nhwc = false;
  double scale = 0;  // 0: not quantised
  int64_t zero_point = 0;
  size_t channel_scales = 0;  // number of scales, one for each index of channel_axis
  size_t channel_axis = 0;
  bool is_constant = false;
  std::string constant = {};       // a short constant's value; else empty
  std::optional<int32_t> id = {};  // number of the operand in its NNAPI model
};

struct GraphNode {
  std::string op;                           // "CONV_2D", "aten::topk"
  std::string where;                        // source line; may be empty
  std::vector<size_t> inputs, outputs;      // numbers of values
  std::vector<std::string> arguments = {};  // names of the inputs by the schema; empty without a schema
  std::optional<int64_t> macs = {};         // multiply-adds
  std::optional<size_t> reason = {};        // number of the entry of the report's partition.cpu
  size_t inside = 0;                        // number of CPU operations in its blocks, if these are not shown
};

// Links a value outside a segment or block to the value inside that stands for it.
struct GraphLink {
  size_t outer, inner;
};

// A block of a prim::If or prim::Loop with a segment in one of its blocks.
struct GraphBlock {
  BlockPlace place;
  size_t step = 0;                      // number of the step whose last node is the branch or loop
  int parent = -1;                      // number of the block around it; -1: forward's own
  std::vector<GraphLink> inputs = {};   // a loop's first values (outer) and its body's inputs (inner)
  std::vector<GraphLink> outputs = {};  // the node's results (outer) and the values that they may be (inner)
};

// The operations of one NNAPI model, or of the CPU between segments. Steps come in the order in which they run: each
// before its subgraphs, a branch or loop before the steps in it.
struct GraphStep {
  int segment = -1;  // -1: the CPU
  int subgraph = 0;  // number of the segment's subgraph, for an IF or WHILE; 0: the segment's main model
  std::vector<GraphNode> nodes;
  std::vector<GraphLink> inputs = {}, outputs = {};  // for segments only
  int block = -1;                                    // number of the block around it; -1: forward's own
};

struct ModelGraph {
  std::vector<GraphValue> values;
  std::vector<GraphStep> steps;
  std::vector<GraphBlock> blocks;       // outer blocks before inner ones
  std::vector<size_t> inputs, outputs;  // forward's inputs and outputs
};

// Returns the graph of a model that NNAPI runs whole.
ModelGraph graph_of(const nnapi::Model& model, const ModuleInterface& interface);

// A partitioned model whose graph is made. Its plan must still have its NNAPI models.
struct PlannedGraph {
  const NormalisedModel& model;
  const Plan& plan;
  const TypeMap& types;
};
ModelGraph graph_of(const PlannedGraph& planned);

// Appends the values and the step of an NNAPI model and of its subgraphs. Returns for each operand its number among the
// graph's values, for links.
std::vector<size_t> append(ModelGraph& graph, const nnapi::Model& model, int segment);
std::vector<size_t> append(ModelGraph& graph, const BufferModel& model, int segment);
// Appends a tensor of the caller or the CPU, and returns its number.
size_t append(ModelGraph& graph, const std::string& name, const TensorType& type);

// Returns the branches and loops around a segment's call, the outermost first.
std::vector<BlockPlace> places_of_segment(const ModelGraph& graph, size_t segment);

// Returns the graph in the form of `graph` in schemas/report.schema.json.
nlohmann::json to_json(const ModelGraph& graph);

}  // namespace nnapi_convert
