// SPDX-License-Identifier: BSD-3-Clause
// The options for quantising a float model by data.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nnapi_convert {

// The conversion of pictures to inputs, like torchvision's usual transform: the shorter side is resized, the middle cut
// out, and each channel becomes (pixel / 255 * pixel_max - mean) / std. Mean and std have a number for each channel, or
// one for all; empty ones stand for 0 and 1.
struct PictureChoice {
  int64_t resize = 0, crop = 0;
  double pixel_max = 1;
  std::vector<double> mean, std;
  bool is_bgr = false;
  bool normalises() const { return pixel_max != 1 || !mean.empty() || !std.empty() || is_bgr; }
  bool is_given() const { return resize != 0 || crop != 0 || normalises(); }
};

// Techniques that can be switched off.
namespace techniques {
constexpr const char* kEqualise = "equalise";           // equalises layers
constexpr const char* kCorrectBias = "correct-bias";    // corrects biases by the error of rounding weights
constexpr const char* kSearchRanges = "search-ranges";  // else all ranges are from the smallest to the largest value
constexpr const char* kRefineRanges = "refine-ranges";  // refines ranges of single tensors
constexpr const char* kPoolLayers = "pool-layers";      // puts layers in place of average pools
}  // namespace techniques

// Sources of samples that are no files.
constexpr const char* kBundledSource = "bundled";
constexpr const char* kRandomSource = "random:";  // followed by the number of samples

inline bool is_file_of_samples(const std::string& source) {
  return !source.empty() && source != kBundledSource && source.rfind(kRandomSource, 0) != 0;
}

struct CalibrationOptions {
  std::string source;         // of samples: files, a folder, "random:N" or "bundled"; empty: no samples
  bool is_of_verify = false;  // verify's --inputs give the source, and the converted file the options for pictures
  PictureChoice pictures;
  std::string sample_labels;            // file with the class of each sample
  std::string sample_boxes;             // file with the boxes of each sample, in COCO's JSON
  std::string metric_command;           // program that judges the results of all samples
  std::vector<std::string> keep_float;  // operations that stay float
  std::vector<std::string> without;     // techniques that are not tried, by their names
  bool tries_all = false;               // tries every other range of every tensor, however long that takes
  std::optional<double> max_drop;  // of top-1 agreement with float, as a share; operations stay float until it holds
  std::optional<double> min_snr;   // of the results, in dB; operations stay float until it holds
  std::function<void(const std::string& what, size_t done, size_t all)> on_progress;

  // File of the scales: written if there is a source, else read.
  std::string table = {};

  bool is_asked_for() const { return !source.empty() || !table.empty(); }
  bool reads_table() const { return source.empty() && !table.empty(); }
};

}  // namespace nnapi_convert
