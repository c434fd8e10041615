// A sample as it is kept between runs: smaller where a tensor has few different numbers, as one of a picture.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/quantise/sample.h"

namespace nnapi_convert::quantise {

// The pixels of a picture are bytes before they become floats, so that each channel has 256 different floats at most.
class KeptSample {
 public:
  explicit KeptSample(const Sample& sample);

  // What it was made of, bit for bit.
  Sample sample() const;
  uint64_t kept_bytes() const;

 private:
  struct Input {
    Bytes bytes;  // the tensor; or the code of each number of 4 bytes
    std::vector<std::vector<uint32_t>>
        palettes;                 // by channel: the numbers that codes mean; empty: `bytes` is the tensor
    bool is_interleaved = false;  // the channels of a pixel lie beside each other
  };

  static Input kept(const Bytes& bytes);
  static bool pack(const Bytes& bytes, size_t channels, Input& input);
  static Bytes unpacked(const Input& input);

  std::vector<std::vector<int64_t>> shapes_;
  std::vector<Input> inputs_;
};

}  // namespace nnapi_convert::quantise
