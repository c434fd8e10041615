// SPDX-License-Identifier: BSD-3-Clause
// Makes the graph that computes a segment on the CPU, for the program of a file: what the shim runs where NNAPI fails.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <memory>
#include <string>

#include "lib/converter/emit/program.h"
#include "lib/converter/load/load.h"
#include "lib/converter/plan/partition.h"

namespace nnapi_convert {

// Larger segments would take too long on a phone's CPU, or too much of the file.
constexpr int64_t kMostMacsOnCpu = 20'000'000;
constexpr uint64_t kMostBytesOnCpu = uint64_t{32} << 20;  // of weights, which the file holds once more

// Returns the form for the CPU of a segment of a model in parts.
SegmentOnCpu segment_on_cpu(const PlannedSegment& planned);
// Returns the form for the CPU of the one segment of a model that NNAPI runs whole: it computes what the original does.
SegmentOnCpu whole_on_cpu(const PlannedSegment& planned, const LoadedModel& loaded);

}  // namespace nnapi_convert
