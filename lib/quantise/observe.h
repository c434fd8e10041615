// SPDX-License-Identifier: BSD-3-Clause
// Runs a float model on samples and keeps what its tensors hold.
#pragma once

#include <functional>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/histogram.h"
#include "lib/quantise/kept_sample.h"

namespace nnapi_convert::quantise {

// Statistics of each channel of a tensor that a convolution or a fully connected layer reads or writes.
struct ChannelStatistics {
  std::vector<double> sums;
  std::vector<float> lowest, highest;
  double count = 0;  // the number of values of each channel

  double mean(size_t channel) const { return count > 0 ? sums[channel] / count : 0; }
};

struct Observations {
  std::vector<Histogram> histograms;        // by operand; empty unless it is a float variable
  std::vector<ChannelStatistics> channels;  // by operand; empty for tensors without such statistics
};

struct ObserveRequest {
  const nnapi::Model& model;
  const std::vector<Dims>& arguments;  // sizes of forward's tensors
  int feature_level = 3;
  std::function<void(size_t done)> on_sample = {};
};

// Runs the model on the samples and returns the values of its tensors. Throws ConvertError (kVerificationFailed) if the
// host's NNAPI doesn't run the model.
Observations observe(const ObserveRequest& request, const std::vector<KeptSample>& samples);

// Returns the axis of the channels in the input and result of an operation with weights.
size_t activation_axis(const nnapi::Model& model, const nnapi::Operation& operation);

}  // namespace nnapi_convert::quantise
