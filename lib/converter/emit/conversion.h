// What a conversion gives: the module, and the NNAPI models that it calls.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/load/load.h"
#include "lib/converter/options/options.h"
#include "lib/converter/partition/model_graph.h"
#include "lib/converter/partition/partition.h"
#include "lib/quantise/quantise.h"
#include "lib/serialize/buffer_writer.h"
#include "lib/serialize/late_tensors.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// Of a segment for rows whose number depends on values.
struct RowSummary {
  int64_t per_call = 0;
  RuntimeSize expected;  // how many there are, for the count of multiply-adds
};

// One call of NNAPI, or several for the rows.
struct SegmentSummary {
  nnapi::Model model;
  int64_t macs = 0;  // that are known
  size_t inputs = 0, outputs = 0;
  Count input_bytes = 0, output_bytes = 0;    // handed over and back in each call
  std::vector<std::string> input_names = {};  // of the values that the segment's module takes
  std::optional<RowSummary> rows = {};
  std::vector<std::string> value_names = {};  // of what the nodes of the original's give that it runs
  size_t products = 0;                        // operations of the original's that multiply: convolutions and their like
  size_t uncounted = 0;                       // of these, those whose multiply-adds aren't known
  std::vector<BlockPlace> places = {};        // the branches and loops that it is called in, the outermost first
  SerializedModel serialized = {};            // of PyTorch's runtime
};

struct Conversion {
  torch::jit::Module module;  // its large weights are zeros until runnable_module()
  std::shared_ptr<LateTensors> late = std::make_shared<LateTensors>();  // weights of `module`
  std::vector<SegmentSummary> segments;
  std::vector<CpuNode> cpu_nodes;  // without their nodes
  bool is_whole = false;           // the one segment is all of forward
  ModelGraph graph;
  Runtime runtime = Runtime::kPytorch;
  size_t buffer_bytes = 0;
  uint64_t weight_bytes = 0;
  ModuleInterface interface;
  QuantMode quant = QuantMode::kNone;  // the mode taken: never kAuto
  std::vector<InputTuple> bundled_inputs;
  bool embeds_shim_source = false;
  std::string recorded_options;               // by recorded_options.h
  std::optional<quantise::Report> quantised;  // by data

  // The lowest that all of it needs.
  int feature_level() const;
  // The module with all its weights, which takes the memory for them.
  torch::jit::Module runnable_module() const;
};

// Writes the archive to `path`, which is overwritten: give a temporary one. Throws ConvertError (kBadFile).
void write_conversion(const Conversion& conversion, const std::string& path);
// The same, and lets go of each weight once it is written: neither the weights of the module nor the constants of the
// models can be used again.
void write_and_release(Conversion& conversion, const std::string& path);

}  // namespace nnapi_convert
