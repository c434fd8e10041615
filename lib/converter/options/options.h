// What a conversion is asked for, with the meaning that the command line documents.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/format/nnapi_codes.h"
#include "lib/nnapi/device_profile.h"
#include "lib/types/tensor_type.h"

namespace nnapi_convert {

// One argument of forward, as --input gives it.
struct InputSpec {
  std::string name;                           // empty: by position
  std::vector<std::optional<int64_t>> sizes;  // nullopt: flexible, written "?"; none: rank 0, "scalar"
  std::optional<at::ScalarType> dtype;
  std::optional<Quantization> quantization;
  std::string text = {};     // what is given behind the name, which may be the value of an argument that is no tensor
  std::string problem = {};  // what is wrong with it for a tensor; empty: nothing
};

// An argument of forward that is no tensor, and the value that --input binds it to.
struct BoundArgument {
  std::string name, text;
};

// Empty for those that are given by position.
inline std::vector<std::string> names_of(const std::vector<InputSpec>& specs) {
  std::vector<std::string> names;
  for (const InputSpec& spec : specs) names.push_back(spec.name);
  return names;
}

enum class QuantMode { kAuto, kNone, kCore, kFull, kNnapi };
const char* name_of(QuantMode mode);

struct LayoutChoice {
  bool nhwc = false;          // inputs of rank 4 are handed to NNAPI as NHWC
  std::set<int> nhwc_inputs;  // only these; empty: all
  bool is_explicit = false;   // asked for by --nhwc or --nchw
};

// What runs the result on the device.
enum class Runtime {
  kPytorch,  // the loader in stock PyTorch Mobile
  kShim,     // lib/shim
};

// What becomes of what NNAPI can't run.
enum class Fallback {
  kNone,       // the model is refused
  kPartition,  // such operations stay TorchScript in the converted module, between segments for NNAPI
  kCpu,        // the shim's: the module holds the original for devices without NNAPI, optimised for mobile
  kCpuPlain,   // the same with the original as it is
};

// When a segment of a partitioned model is worth a call of NNAPI.
struct SegmentLimits {
  static constexpr int64_t kMinMacs = 100'000;
  // Multiply-adds, less one for each element that crosses the boundary; 0: any segment. Not given: kMinMacs, and if all
  // segments are worth less, the most valuable one stays if it multiplies.
  std::optional<int64_t> min_macs;
  int max_segments = 0;  // the largest are kept; 0: no limit
  // Of rows whose number depends on values: as many go in one call as make this many multiply-adds, which is also what
  // a call with few rows may waste.
  static constexpr int64_t kMacsPerCall = int64_t{1} << 31;
  int64_t rows_per_call = 0;  // 0: by kMacsPerCall
  static constexpr int64_t kMostRowsPerCall = 1'000'000;
};

// What becomes of branches and loops that depend on the input.
enum class ControlFlow {
  kRefuse,
  kNnapi,  // IF and WHILE
};

struct ConvertOptions {
  std::vector<InputSpec> inputs;
  std::vector<BoundArgument> bound = {};  // by bind_arguments()
  LayoutChoice layout;
  QuantMode quant = QuantMode::kAuto;
  PreferenceCode preference = PreferenceCode::SUSTAINED_SPEED;
  bool relax_fp16 = false;
  bool bundle_inputs = false;
  std::string emit_cpu;  // path of the CPU counterpart; empty: none
  int feature_level = 3;
  std::shared_ptr<const nnapi::DeviceProfile> device;  // what the device takes; null: all of the feature level
  Runtime runtime = Runtime::kPytorch;
  Fallback fallback = Fallback::kNone;
  ControlFlow control_flow = ControlFlow::kRefuse;
  SegmentLimits segments;
  bool strip_names = false;                                // leave out what only the shim's messages show
  bool embed_shim_source = false;                          // store the shim's sources in the output
  std::set<std::string> disabled_passes;                   // of the stage optimise, to find faults
  std::function<void(const std::string& stage)> on_stage;  // called as each stage begins
  std::function<void(const std::string& stage, const std::string& text)> on_dump;  // text form after a stage or pass

  // The highest feature level that may be used.
  int target_level() const { return device ? std::min(feature_level, device->feature_level()) : feature_level; }
};

}  // namespace nnapi_convert
