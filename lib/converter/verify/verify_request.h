// SPDX-License-Identifier: BSD-3-Clause
// The request of a verification: the files to compare, the inputs, and the tolerances.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/held_back.h"
#include "lib/types/options.h"

namespace nnapi_convert {

struct VerifyDefaults {
  static constexpr int kSamples = 4;
  static constexpr int kReferenceSamples = 32;     // with a float reference
  static constexpr double kFloatTolerance = 1e-4;  // max error over the range of the original's output
  // Limit for a net with n exact GELUs: n^0.5 times this number, if that is more than kFloatTolerance.
  static constexpr double kGeluTolerance = 4e-5;
  // Limit in half precision for a net of n operations: n^0.5 times this number, but at least kFewestHalf.
  static constexpr double kHalfTolerance = 4.0 / 2048;
  static constexpr double kFewestHalf = 1e-3;
  static constexpr double kApproximateTolerance = 1e-2;  // kFloatTolerance of a file for which is_approximate() holds
  static constexpr double kQuantizedSnr = 20;            // dB, of a quantised net without a reference
  static constexpr double kSameIntegers = 0.5;           // share of a quantised net's integers, such as argmax's
  // A model quantised by data may lose so many dB on other samples of the kind that it was measured on, which were held
  // back.
  static constexpr double kCalibratedMargin = 6;
  static constexpr double kMostCalibratedSnr = 40;  // dB: no more is asked for
  // dB of a model quantised by data on made-up inputs within the ranges of the data. Noise isn't like data: a sound net
  // that had 27 dB on its data has 4 on noise. Results of zeros have 0, those of another input fewer.
  static constexpr double kMadeUpSnr = 1;
  static constexpr double kUnlikeSnr = 0;             // dB on N(0, 1), for a file that doesn't tell the data's ranges
  static constexpr double kMaxDistanceRatio = 1.1;    // ratio of RMS distances from the float reference
  static constexpr double kMaxPerChannelRatio = 1.5;  // for per-channel weights that had to be requantised
  // Rounding is chance: the converted model may be so many times as far from the results in float64 as the original.
  static constexpr double kMostRoundings = 4;
  static constexpr double kMostOwnRounding = 0.5;  // share of the range: beyond it, any results are as near as noise is
  static constexpr double kPartnersTolerance = 10;  // tolerances that rows of tied scores differ by at most
  static constexpr double kVaryingShare = 1e-3;     // share of the range by which live outputs differ between samples
};

struct ComparedSample;

struct VerifyRequest {
  std::string original;
  std::string converted;
  std::string reference;  // the float twin of a quantised model; may be empty
  // A file of torch.save, with a tuple of tensors or a tuple of such; for a file quantised by data, what --calibrate
  // takes. May be empty.
  std::string inputs_file;
  std::optional<HoldBack> hold_back;  // compares only on the samples of a calibration's data that it held back
  std::vector<InputSpec> inputs;      // sizes for flexible inputs
  std::optional<double> tolerance;    // instead of kFloatTolerance
  std::optional<int> samples;
  uint64_t seed = 0;
  bool fp16 = false;        // the host's NNAPI rounds each result to half precision, as drivers may with --relax-fp16
  std::string method = {};  // the method of a file of several
  bool without_torch = false;     // runs the file as an app without PyTorch does, by the shim's C interface
  bool is_of_conversion = false;  // convert's --verify: the options are those of convert
  std::function<void(size_t done, size_t all)> on_progress = {};  // called with the numbers of samples
  std::function<void(const ComparedSample& sample)> on_sample = {};
};

// Returns the option that gives inputs, with its command: "`nnapi-convert verify --inputs FILE`".
std::string inputs_option(const VerifyRequest& request);

// Returns the request for one of a file's methods; the names of its inputs may begin with a method and a point.
VerifyRequest request_of_method(const VerifyRequest& request, const std::string& method,
                                const std::vector<std::string>& methods);

}  // namespace nnapi_convert
