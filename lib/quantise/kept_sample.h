// SPDX-License-Identifier: BSD-3-Clause
// A sample as it is kept between runs: in a temporary file, and smaller where a tensor has few different numbers, as
// one of a picture.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/base/spilled_bytes.h"
#include "lib/quantise/sample.h"

namespace nnapi_convert::quantise {

// A sample in less memory. The pixels of a picture are bytes before they become floats, so that each channel has at
// most 256 different floats.
class KeptSample {
 public:
  explicit KeptSample(const Sample& sample);

  // Returns the sample from which it was made, bit for bit.
  Sample sample() const;
  // Returns its bytes in memory and in the file.
  uint64_t kept_bytes() const;

 private:
  struct Input {
    std::shared_ptr<const SpilledBytes> stored;  // the tensor, or the code of each of its numbers of 4 bytes
    std::vector<std::vector<uint32_t>>
        palettes;                 // by channel: the numbers that codes stand for; empty: the tensor is stored
    bool is_interleaved = false;  // the channels of a pixel lie beside each other
  };

  static Input kept(const Bytes& bytes);
  static bool pack(const Bytes& bytes, size_t channels, Input& input);
  static Bytes unpacked(const Input& input, const Bytes& codes);

  std::vector<std::vector<int64_t>> shapes_;
  std::vector<Input> inputs_;
};

}  // namespace nnapi_convert::quantise
