// SPDX-License-Identifier: BSD-3-Clause
// Functions for all segments of a file together, whether a chain or a program runs them.
#pragma once

#include <memory>
#include <vector>

#include "lib/shim/open_model.h"

namespace nnapi_shim {

using Segments = std::vector<std::shared_ptr<OpenModel>>;

uint32_t highest_level(const Segments& segments);
int configure_all(const Segments& segments, const Options& options, nnapi_shim_error* error);
// Compiles the segment if the sizes of its arguments are fixed; others are compiled at calls.
int warm_up_if_fixed(OpenModel& segment, nnapi_shim_error* error);
int try_devices_of_all(const Segments& segments, nnapi_shim_error* error);
// Adds up times and bytes. Numbers that are counted for each run, such as executions, are the least of the segments.
void sum_profiles(const Segments& segments, nnapi_shim_profile* profile);
void first_failure(const Segments& segments, nnapi_shim_error* error);

}  // namespace nnapi_shim
