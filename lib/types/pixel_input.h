// SPDX-License-Identifier: BSD-3-Clause
// The content of --input-pixels: forward takes the bytes of pictures instead of normalised floats.
#pragma once

#include <string>
#include <vector>

namespace nnapi_convert {

// An input float32[N, C, H, W] becomes uint8[N, H, W, C]: rows of pixels, each red, green and blue, or gray alone. The
// model takes (pixel / 255 * pixel_max - mean) / std for each channel.
struct PixelInput {
  std::string name;        // the name of forward's argument; empty: its first tensor
  bool has_alpha = false;  // each pixel has a fourth byte, which the model ignores
  double pixel_max = 1;
  std::vector<double> mean, std;  // one for each channel, or one for all
  bool is_bgr = false;            // the model takes blue first
};

}  // namespace nnapi_convert
