// SPDX-License-Identifier: BSD-3-Clause
// The options of a conversion. Each field means the same as its option on the command line.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/format/nnapi_codes.h"
#include "lib/nnapi/device_profile.h"
#include "lib/types/calibration_options.h"
#include "lib/types/pixel_input.h"
#include "lib/types/size_condition.h"
#include "lib/types/tensor_type.h"
#include "lib/types/type_source.h"

namespace nnapi_convert {

// The user's or a file's description of an open size.
struct OpenSizeSpec {
  std::string expression = {};       // "n" or "32*n"; sizes with one name are equal to it or multiples of it
  SizeRange range = {};              // "64..512"
  std::optional<Dim> relation = {};  // the relation to other sizes that a converted file records
};

// One argument of forward, as --input or an exported program gives it.
struct InputSpec {
  std::string name;                           // empty: the argument is given by position
  std::vector<std::optional<int64_t>> sizes;  // nullopt: flexible, written "?"; none: rank 0, "scalar"
  std::optional<at::ScalarType> dtype;
  std::optional<Quantization> quantization;
  std::string text = {};     // the text behind the name; it may be the value of an argument that is no tensor
  std::string problem = {};  // the reason why `text` can't describe a tensor; empty: it can
  TypeSource source = TypeSource::kOption;
  std::map<size_t, OpenSizeSpec> open = {};  // by axis: flexible sizes that are more closely described than by "?"
};

// An argument of forward that is no tensor, and the value that --input binds it to.
struct BoundArgument {
  std::string name, text;
};

// Returns the names of the specs; a spec given by position has an empty name.
inline std::vector<std::string> names_of(const std::vector<InputSpec>& specs) {
  std::vector<std::string> names;
  for (const InputSpec& spec : specs) names.push_back(spec.name);
  return names;
}

enum class QuantMode { kAuto, kNone, kCore, kFull, kNnapi };
const char* name_of(QuantMode mode);

struct LayoutChoice {
  bool nhwc = false;          // NNAPI takes inputs of rank 4 as NHWC
  std::set<int> nhwc_inputs;  // numbers of the inputs that are NHWC; empty: all
  bool is_explicit = false;   // the user gave --nhwc or --nchw
  bool images_only = false;   // nhwc is for models with operations that have a layout, such as convolutions
};

// The runtime that runs the converted model on the device.
enum class Runtime {
  kPytorch,  // the loader in stock PyTorch Mobile
  kShim,     // lib/shim
};

// The treatment of operations that NNAPI can't run.
enum class Fallback {
  kNone,          // the model is refused
  kPartition,     // such operations stay TorchScript in the converted module, between segments for NNAPI
  kPartitionCpu,  // shim only: like kPartition; the program for runtimes without PyTorch also has segments for the CPU
  kCpu,           // shim only: the module also holds the original, optimised for mobile, for devices without NNAPI
  kCpuPlain,      // shim only: the module also holds the unchanged original for devices without NNAPI
};

inline bool embeds_cpu_model(Fallback fallback) {
  return fallback == Fallback::kCpu || fallback == Fallback::kCpuPlain;
}

// Returns whether the shim can compute on the CPU if NNAPI fails.
inline bool has_cpu_form(Fallback fallback) {
  return embeds_cpu_model(fallback) || fallback == Fallback::kPartitionCpu;
}

inline bool may_part(Fallback fallback) {
  return fallback == Fallback::kPartition || fallback == Fallback::kPartitionCpu;
}

// The limits that decide which segments of a partitioned model run on NNAPI.
struct SegmentLimits {
  static constexpr int64_t kMinMacs = 100'000;
  // The least value of a segment: its multiply-adds minus one for each element that crosses its boundary. 0: any
  // segment. Not given: kMinMacs; if all segments are worth less, the most valuable one stays if it multiplies.
  std::optional<int64_t> min_macs;
  int max_segments = 0;  // keeps the largest segments; 0: no limit
  // For a segment of rows whose number depends on values: the multiply-adds of one call, which decide how many rows it
  // takes. A call with few rows wastes up to this many.
  static constexpr int64_t kMacsPerCall = int64_t{1} << 31;
  int64_t rows_per_call = 0;  // 0: computed from kMacsPerCall
  static constexpr int64_t kMostRowsPerCall = 1'000'000;
};

// The treatment of branches and loops that depend on the input.
enum class ControlFlow {
  kRefuse,
  kNnapi,  // they become NNAPI's IF and WHILE
};

// The functions that a conversion calls as it goes on.
struct StageCallbacks {
  std::function<void(const std::string& stage)> on_stage;                          // as each stage begins
  std::function<void(const std::string& stage, const std::string& text)> on_dump;  // text form after a stage or pass
};

// The options for making a model's typed graph.
struct FrontendOptions : StageCallbacks {
  std::vector<InputSpec> inputs;
  std::vector<BoundArgument> bound = {};  // filled by bind_arguments()
  std::optional<PixelInput> pixels = {};
  QuantMode quant = QuantMode::kAuto;
  Fallback fallback = Fallback::kNone;
  ControlFlow control_flow = ControlFlow::kRefuse;
  std::set<std::string> disabled_passes;  // passes of infer and optimise to skip, to find faults
  bool takes_any_rows = true;  // a call may bring any number of rows of features whose width the weights tell
};

// The options for making a plan of the typed graph for a target.
struct PlanOptions : FrontendOptions {
  LayoutChoice layout;
  int feature_level = 3;
  std::shared_ptr<const nnapi::DeviceProfile> device;  // the target device; null: any device of the feature level
  Runtime runtime = Runtime::kPytorch;
  SegmentLimits segments;
  bool relax_fp16 = false;
  bool tanh_gelu = false;           // gelu() by the formula of approximate="tanh", at most 4.8e-4 from the exact one
  bool is_quantised_later = false;  // data will quantise the plan: a device that takes no floats may get it
  bool symmetric_weights = false;   // filters that data quantise by one scale get a symmetric one, for LiteRT's int8

  // Returns the highest feature level that the conversion may use.
  int target_level() const { return device ? std::min(feature_level, device->feature_level()) : feature_level; }
};

// All options, with those for making the file of the plan. Each stage takes the part that it needs.
struct ConvertOptions : PlanOptions {
  std::optional<PictureChoice> pictures = {};  // how the app's pictures become the input, for the file's record
  PreferenceCode preference = PreferenceCode::SUSTAINED_SPEED;
  bool fp16_weights = false;  // store float32 weights as float16
  bool int8_weights = false;  // store float32 weights as int8 with a scale for each channel, where that is exact enough
  bool split_outputs = false;  // a result that concatenates parts of unlike ranges becomes one result for each part
  bool bundle_inputs = false;
  std::string emit_cpu;  // path of the CPU counterpart; empty: none
  // The number of samples in a file for the shim, by which it checks a device before it trusts it; 0: none.
  static constexpr int kDefaultCheckSamples = 2;
  int check_samples = 0;
  bool strip_names = false;        // leave out names that only the shim's messages show
  bool embed_shim_source = false;  // store the shim's sources in the output
  bool no_torchscript = false;     // store only the parts that the shim reads, no module for PyTorch
  bool may_need_pytorch = false;   // for the shim: a step that its programs lack doesn't refuse the model
};

}  // namespace nnapi_convert
