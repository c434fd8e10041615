// SPDX-License-Identifier: BSD-3-Clause
// The results of verify().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/fed_range.h"

namespace nnapi_convert {

// Counts of an output's values in bins of equal width, for the original and the converted model. The bins cover the
// range of the first sample's results; values outside count in the first or the last bin. Empty without finite values.
struct Histogram {
  static constexpr int kBins = 40;
  double lowest = 0, highest = 0;
  std::vector<uint64_t> original, converted;
};

// The comparison of one output over all samples.
struct OutputComparison {
  std::string shape, dtype;
  double range = 0;  // max - min of the original
  double max_error = 0;
  double relative_error = 0;     // max error over the range
  double rounding = 0;           // one step of float16 or bfloat16 at the largest value, over the range; 0 for others
  double snr_db = 0;             // power of the original over power of the error
  double top1 = 0;               // share of rows with the same largest element; of integers, of the same elements
  bool is_integral = false;      // integers or bools: their SNR tells nothing of a quantised model
  std::optional<double> quanta;  // max error in steps of the output's scale
  bool is_constant = false;      // the original gives the same value everywhere: nothing is tested
  bool ignores_input = false;  // the original's results differ by less than kVaryingShare of the range between samples
  Histogram histogram;
};

struct ReferenceDistance {
  double original = 0;   // RMS distance of TorchScript's results from the float model's, all outputs pooled
  double converted = 0;  // RMS distance of NNAPI's results from the float model's
  double ratio() const { return converted / original; }
};

// The distance of the original's own results from its float model (freeze.h). The converted model is compared
// with the float model.
struct OriginalDistance {
  double relative_error = 0;     // the largest of all outputs
  double snr_db = 0;             // the lowest of all outputs
  bool has_other_sizes = false;  // some results, such as boxes, are fewer or more, and have no distance
};

// Rows of results that a score orders (tied_rows.h).
struct TiedRows {
  size_t rows = 0;             // of the original's
  size_t moved = 0;            // rows that have their partner at another place
  size_t at_the_cut = 0;       // rows without a partner, as low as the last score: another one may be chosen there
  size_t without_partner = 0;  // all other rows without a partner

  void add(const TiedRows& other);
  // True if order and choice among ties explain the differences: nearly all rows have a partner.
  bool are_matched() const;
};

// The largest distances of an output from the original's results in float64, as shares of its range.
struct OwnRounding {
  double original = 0, converted = 0;
  bool is_explained = false;  // each output of the converted model is about as near as the original's
};

// A difference at the borders of the inputs' dtypes (border_check.h).
struct BorderFinding {
  std::string sample;  // "sample 5 (whole numbers near 2^31)"
  std::string problem;
  bool is_fault = false;
};

struct VariantVerification;

struct Verification {
  std::vector<OutputComparison> outputs;
  bool is_of_meaning = false;                // the converted model is compared with the original's float model
  std::optional<OriginalDistance> original;  // nothing if this machine can't run the original
  std::optional<ReferenceDistance> reference;
  bool is_without_torch = false;  // the file ran as in an app without PyTorch
  int samples = 0;
  int border_samples = 0;  // not counted in `samples`
  std::vector<BorderFinding> borders;
  bool is_quantized = false;
  bool is_calibrated = false;            // quantised by data
  bool is_approximate = false;           // rounded on purpose: weights, functions, or results by half precision
  std::optional<double> calibrated_snr;  // of a model quantised by data: dB that its calibration measured
  bool is_within_ranges = false;         // made-up inputs are within the ranges of its data
  double tolerance = 0;                  // for float outputs: max error over the range
  bool is_per_channel = false;           // the original has per-channel weights
  std::vector<FedRange> fed;             // ranges of float inputs that a file gave
  bool are_floats_shares = false;        // made-up floats are from 0 to 1: others make infinite numbers
  std::optional<TiedRows> ties;          // set where rows had to be matched
  std::optional<OwnRounding> rounding;   // set for a float model that is beyond the tolerance
  std::optional<TiedRows> rounded_rows;  // of PyTorch's own results with products of floats, where these explain `ties`
  bool rounds_twice = false;             // NNAPI rounded products twice, as Android's own CPU does; once is farther off
  bool is_as_defined = false;  // `original` tells how far PyTorch's kernels are from the quantised layers as defined
  std::string inputs_option;   // the option that gives inputs, with its command
  std::string criterion;       // what had to hold
  bool passed = false;
  std::vector<VariantVerification> variants;  // of a package: each model's; then all else is the first model's
};

struct VariantVerification {
  std::string name;
  Verification result;
};

}  // namespace nnapi_convert
