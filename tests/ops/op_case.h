// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes cases: a small model in TorchScript, options for its conversion, and the expected NNAPI model.
//
// A file holds any number of cases; testdata/ops/README.md has the format. "#" begins a comment line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/types/options.h"

namespace nnapi_convert {

// Random float values are from N(0, 1), or evenly distributed over a range.
struct ValueRange {
  double low = 0;
  double high = 1;
};

// The line `input NAME SPEC [LOW..HIGH]` or `weight NAME SPEC [LOW..HIGH]`.
struct CaseTensor {
  std::string name;
  TensorType type;
  std::optional<ValueRange> range;
};

// `packed NAME conv|conv_transpose|linear SIZES scale=S [bias=S] [per_channel[=SPREAD]] [stride=..] [padding=..]
// [dilation=..] [groups=N] [output_padding=..]`: weights packed for quantised operators.
struct PackedWeights {
  std::string name, kind;
  std::vector<int64_t> sizes;
  double scale = 0;
  double bias = 0;  // standard deviation; 0: no bias
  bool per_channel = false;
  double spread = 0;  // largest over smallest scale of per-channel weights, in equal ratios; 0: 2, in equal steps
  std::vector<int64_t> stride{1, 1}, padding{0, 0}, dilation{1, 1}, output_padding{0, 0};
  int64_t groups = 1;
};

struct OpCase {
  std::string file, name;
  std::vector<std::string> lines;  // the case's text without the golden section
  std::vector<CaseTensor> inputs, weights;
  std::vector<PackedWeights> packed;
  int level = 1;            // the lowest feature level at which the NHWC form is valid
  double tolerance = 1e-4;  // of the range of float results
  double quanta = 1;        // of quantised results
  QuantMode quant = QuantMode::kAuto;
  std::optional<Runtime> runtime;  // if set, the only runtime for the case
  ControlFlow control_flow = ControlFlow::kRefuse;
  std::string engine = "qnnpack";              // runs the original's quantised operators: qnnpack or onednn
  std::vector<std::vector<int64_t>> flexible;  // other sizes of each input; a size that differs is flexible
  std::vector<std::string> warnings;           // parts of warnings that must come
  std::vector<std::string> refusals;           // parts of the message, for a case that must be refused
  std::vector<std::string> layouts{"nhwc", "nchw"};
  bool is_of_1_13 = false;  // later releases of LibTorch lack the operator, or compute something else
  std::string source;
  std::string golden;
  std::string shim_golden;                        // the shim's model, if it differs
  std::optional<std::string> litert_golden = {};  // the LiteRT file, of cases that have a section for it
};

// Throws std::runtime_error with file and line.
std::vector<OpCase> read_cases(const std::string& path);
// Writes the file again, with the golden sections that the cases have now.
void write_cases(const std::string& path, const std::vector<OpCase>& cases);

}  // namespace nnapi_convert
