// SPDX-License-Identifier: BSD-3-Clause
// Stores weights of float32 operands in a quarter of their size: as int8 with a scale for each channel. The module or
// the shim turns them into float32 at load, so that NNAPI sees float32 weights at every feature level.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert {

// The int8 form of a float32 weight: number = integer * scale of its channel. No zero point; integers are -127 to 127.
struct Int8Weight {
  nnapi::Constant value;  // kInt8, of the weight's shape
  std::shared_ptr<const nnapi::ChannelScales> channels;
  double noise = 0;  // the power of the rounding errors over that of the weight
};

// Rounds a float32 weight to int8 with a scale for each index of `axis`. A channel whose numbers are multiples of a
// step keeps them exactly, if it has at most 127 steps on either side of 0; others have the scale (largest number) /
// 127. The errors of a channel add up to at most half a step, so that they cancel if all inputs of a layer are alike.
// Returns nothing for a weight with numbers that are not finite. Holds the whole weight and its integers in memory.
std::optional<Int8Weight> round_to_int8(const nnapi::Constant& weight, size_t axis);

// A weight that has an int8 form.
struct Int8Candidate {
  nnapi::Model* model;  // the model or one of its subgraphs
  nnapi::OperandId operand;
  Int8Weight weight;
  std::string name;  // the operation that reads it: "CONV_2D at net.py:3"

  size_t element_count() const { return model->at(operand).constant()->element_count(); }
};

// Returns the float32 weights that are smaller as int8, together with their scales, than as float16, of the model and
// its subgraphs. The channels are the output channels of layers, and rows of other weights.
std::vector<Int8Candidate> int8_candidates(nnapi::Model& model);

// Changes the model so that the operand is stored as int8.
void store_as_int8(const Int8Candidate& candidate);

// The outcome of --int8-weights, in one model or several.
struct StoredWeights {
  struct Weight {
    std::string name;
    size_t elements = 0;
    bool is_int8 = false;
  };
  std::vector<Weight> weights;     // the weights that have an int8 form
  double error = 0;                // the largest error, as a share of an output's range; of several parts, the worst
  size_t samples = 0;              // the number of samples that measured `error`; 0: none
  bool has_given_samples = false;  // the samples come from the user
  bool keeps_float16 = false;      // the other weights are stored as float16

  size_t int8_count() const;
};

// Returns one line: how many weights are stored as int8, and which are not.
std::string to_text(const StoredWeights& stored);

}  // namespace nnapi_convert
