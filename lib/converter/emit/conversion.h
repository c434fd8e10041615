// SPDX-License-Identifier: BSD-3-Clause
// The result of a conversion: the module, the NNAPI models that it calls, and numbers about them.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/frontend/split_results.h"
#include "lib/converter/load/load.h"
#include "lib/converter/plan/model_graph.h"
#include "lib/converter/plan/partition.h"
#include "lib/quantise/quantised_parts.h"
#include "lib/serialize/buffer_writer.h"
#include "lib/serialize/deferred_tensors.h"
#include "lib/serialize/int8_weights.h"
#include "lib/serialize/metadata.h"
#include "lib/serialize/module_interface.h"
#include "lib/serialize/program_writer.h"
#include "lib/serialize/shim_buffer_writer.h"
#include "lib/serialize/shim_index.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// The rows of a segment that runs rows whose number depends on values.
struct RowSummary {
  int64_t per_call = 0;
  RuntimeSize expected;  // the estimated number of rows, for the count of multiply-adds
};

// A segment in numbers. NNAPI runs it in one call, or in several if it has rows.
struct SegmentSummary {
  nnapi::Model model;
  int64_t macs = 0;  // known multiply-adds
  size_t inputs = 0, outputs = 0;
  Count input_bytes = 0, output_bytes = 0;    // bytes that each call copies in and out
  std::vector<std::string> input_names = {};  // names of the values that the segment's module takes
  std::optional<RowSummary> rows = {};
  std::vector<std::string> value_names = {};  // names of the results of the original's nodes that the segment runs
  size_t products = 0;                        // the original's operations with multiply-adds, such as convolutions
  size_t uncounted = 0;                       // operations among `products` whose multiply-adds are unknown
  std::vector<BlockPlace> places = {};        // the branches and loops around the segment, the outermost first
  SerializedModel serialized = {};            // filled for PyTorch's runtime only
  std::shared_ptr<ShimBuffer> shim = {};      // filled for the shim only
};

// A model of a package in numbers.
struct VariantSummary {
  std::string name;
  QuantMode quant = QuantMode::kNone;
  int feature_level = 1;
  size_t operations = 0, buffer_bytes = 0;
  uint64_t weight_bytes = 0;  // that it reads
  uint64_t own_bytes = 0;     // of them, those that no earlier model of the package has
  std::vector<Dims> sizes;    // of the arguments
  std::string recorded_options;
  std::optional<quantise::QuantisedParts> quantised;  // by data
  std::optional<StoredWeights> stored_weights = {};   // with --int8-weights
};

struct Conversion {
  torch::jit::Module module;  // its large weights are zeros until runnable_module()
  std::shared_ptr<DeferredTensors> late = std::make_shared<DeferredTensors>();  // weights of `module`
  std::vector<SegmentSummary> segments;
  std::vector<CpuNode> cpu_nodes;  // CpuNode::nodes is empty
  bool is_whole = false;           // the one segment is all of forward
  ModelGraph graph;
  Runtime runtime = Runtime::kPytorch;
  size_t buffer_bytes = 0;
  uint64_t weight_bytes = 0;
  ModuleInterface interface;
  QuantMode quant = QuantMode::kNone;  // the mode taken: never kAuto
  Composites kept = {};                // PlannedModel::kept
  std::vector<InputTuple> bundled_inputs;
  bool embeds_shim_source = false;
  bool keeps_source_lines = true;          // of the model that was converted
  bool has_module = true;                  // the file holds `module` for PyTorch
  std::optional<ShimWiring> wiring;        // of several segments that the shim runs without PyTorch
  std::shared_ptr<const Program> program;  // runs other models in parts without PyTorch; null: PyTorch is needed
  std::string recorded_options;            // by recorded_options.h
  std::optional<quantise::QuantisedParts> quantised;  // by data
  std::optional<StoredWeights> stored_weights;        // with --int8-weights
  std::string calibration_table;                      // where the options ask for one
  std::vector<ResultSplit> splits;                    // of the original's results, with --split-output
  std::optional<PictureChoice> pictures;              // how pictures become the input, for the file's record
  std::vector<FolderFile> attached;      // further records of the archive, such as the original's extra files
  std::vector<VariantSummary> variants;  // of a package; the other numbers are those of member_that_callers_see()

  // Returns the lowest feature level that has all operations of the segments.
  int feature_level() const;
  // Returns the module with all its weights; this takes the memory for them.
  torch::jit::Module runnable_module() const;
};

// Returns what the file tells of the conversion.
Metadata metadata_of(const Conversion& conversion);

// Frees the weights of the NNAPI models that are written late: they can't be used any more.
void release_constants(Conversion& conversion);

// Writes the archive to `path` and overwrites any file there: give a temporary path. Throws ConvertError (kBadFile).
void write_conversion(const Conversion& conversion, const std::string& path);
// Writes the archive as write_conversion() does, and frees each weight once it is written. Afterwards neither the
// weights of the module nor the constants of the NNAPI models can be used.
void write_and_release(Conversion& conversion, const std::string& path);

}  // namespace nnapi_convert
