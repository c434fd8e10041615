// SPDX-License-Identifier: BSD-3-Clause
// Puts the normalisation of pictures before forward (--input-pixels).
#pragma once

#include <optional>
#include <vector>

#include "lib/converter/load/load.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// Changes `loaded`, with its examples, and the specs of its inputs. A spec of dtype uint8 has the sizes of the pixels
// already; another has those that the original takes. Throws ConvertError (kUsage) for an argument that forward lacks
// or that is no tensor of rank 4.
void take_pixels(LoadedModel& loaded, const PixelInput& pixels, std::vector<InputSpec>& specs);

// Throws ConvertError (kUsage) if such pictures can't make the channels that the original takes.
void check_pixel_channels(const std::optional<int64_t>& channels, const PixelInput& pixels);

}  // namespace nnapi_convert
