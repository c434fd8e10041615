// SPDX-License-Identifier: BSD-3-Clause
// Holds the arguments of the subcommands that need LibTorch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/verify/verify.h"
#include "lib/types/calibration_options.h"
#include "lib/types/options.h"
#include "lib/types/package_options.h"

namespace nnapi_convert {

struct ConvertArguments {
  std::string model, output, litert, dump_after;
  std::vector<std::string> inputs, methods, torch_libraries, reports;
  std::string nhwc, device_profile, package_text, pixels_text;
  std::string python_code, kotlin_code;  // files to begin with; empty: none
  std::string labels;                    // file with the names of classes; empty: none
  std::vector<std::string> notes;        // each KEY=VALUE
  std::vector<std::string> given;        // the options that decide the result, as they were given; paths by their names
  std::vector<std::string> told;         // the options that reports show
  std::string verify_inputs;             // the inputs of --verify; empty: made-up inputs, or the calibration's
  std::vector<PackageRequest> package;   // from package_text; empty: one model
  int64_t min_api = 0;
  bool nchw = false, verify = false, no_self_check = false;
  bool has_output = true;     // false: only `litert` is written
  bool litert_uint8 = false;  // the LiteRT file keeps uint8 tensors
  std::optional<int> check_samples;
  bool has_target = false;  // the command line gives a feature level, an API level or a device
  ConvertOptions options;
  CalibrationOptions calibration;

  // Returns the file that messages and reports name.
  const std::string& shown_output() const { return output.empty() ? litert : output; }
};

struct CheckArguments {
  ConvertArguments conversion;
  bool explain_speed = false;
  bool litert = false;  // whether LiteRT runs the model, too
  std::string format = "text";
};

struct VerifyArguments {
  VerifyRequest request;
  std::vector<std::string> methods;  // empty: all methods of the file
  std::vector<std::string> torch_libraries;
  std::string results;  // the .npz file for inputs and results; empty: none
  bool per_op = false;
  std::string format = "text";
};

// The stages of a conversion that --dump-after takes.
inline const std::vector<std::string>& conversion_stages() {
  static const std::vector<std::string> stages = {"normalise", "infer",    "lower",     "optimise",
                                                  "partition", "quantise", "serialize", "emit"};
  return stages;
}

}  // namespace nnapi_convert
