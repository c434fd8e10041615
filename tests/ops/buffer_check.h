// SPDX-License-Identifier: BSD-3-Clause
// Checks the round trip of a model through the buffer that phones read.
#pragma once

#include <string>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/serialize/buffer_writer.h"

namespace nnapi_convert {

// Returns a sentence for each difference between the model and the result of read_buffer.
std::vector<std::string> round_trip_problems(const nnapi::Model& model, const SerializedModel& serialized);

}  // namespace nnapi_convert
