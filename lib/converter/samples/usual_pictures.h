// SPDX-License-Identifier: BSD-3-Clause
// Lists the usual ways in which pictures become a network's input, for a model that was trained with another one than
// the command line gives.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "lib/types/calibration_options.h"

namespace nnapi_convert {

// Returns ImageNet's mean and standard deviation, pixels from 0 to 1, from -1 to 1 and from 0 to 255, each with red and
// with blue first; and `given` with its colours swapped. Leaves out `given` itself. For one channel, leaves out
// ImageNet's and swapped colours.
std::vector<PictureChoice> other_usual_pictures(const PictureChoice& given, int64_t channels);

// Returns the options of the normalisation, "--mean 0.485,0.456,0.406 --std 0.229,0.224,0.225", without --resize and
// --crop.
std::string normalisation_text(const PictureChoice& choice);

// Warns of a mean or standard deviation that was made for other pixels than 0 to `pixel_max`: no pixel lies above the
// mean, or the model gets numbers much farther apart, or much nearer, than networks take. Empty for others.
std::string other_pixels_warning(const PictureChoice& choice);

// Returns `picture`, [1, channels, H, W], as if it had been normalised as `wanted` in place of `given`.
at::Tensor renormalised(const at::Tensor& picture, const PictureChoice& given, const PictureChoice& wanted);

}  // namespace nnapi_convert
