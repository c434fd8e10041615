// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/segments.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace nnapi_shim {

uint32_t highest_level(const Segments& segments) {
  uint32_t level = 0;
  for (const auto& segment : segments) level = std::max(level, segment->feature_level());
  return level;
}

int configure_all(const Segments& segments, const Options& options, nnapi_shim_error* error) {
  for (const auto& segment : segments) {
    if (const int status = segment->configure(options, error)) return status;
  }
  return NNAPI_SHIM_OK;
}

int warm_up_if_fixed(OpenModel& segment, nnapi_shim_error* error) {
  std::vector<std::vector<int64_t>> sizes(segment.argument_count());
  std::vector<nnapi_shim_shape> shapes;
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = segment.argument_sizes(i);
    if (std::count(sizes[i].begin(), sizes[i].end(), 0) > 0) return NNAPI_SHIM_OK;
    shapes.push_back({static_cast<uint32_t>(sizes[i].size()), sizes[i].data()});
  }
  return segment.warm_up(shapes, error);
}

int try_devices_of_all(const Segments& segments, nnapi_shim_error* error) {
  for (const auto& segment : segments) {
    if (const int status = segment->try_devices(error)) return status;
  }
  return NNAPI_SHIM_OK;
}

void sum_profiles(const Segments& segments, nnapi_shim_profile* profile) {
  *profile = nnapi_shim_profile{};
  if (!segments.empty()) segments[0]->get_profile(profile);
  for (size_t i = 1; i < segments.size(); ++i) {
    nnapi_shim_profile next;
    segments[i]->get_profile(&next);
    uint64_t nnapi_shim_profile::*const sums[] = {
        &nnapi_shim_profile::build_ns,          &nnapi_shim_profile::compile_ns,
        &nnapi_shim_profile::last_execute_ns,   &nnapi_shim_profile::total_execute_ns,
        &nnapi_shim_profile::last_on_device_ns, &nnapi_shim_profile::last_in_driver_ns,
        &nnapi_shim_profile::weight_bytes,      &nnapi_shim_profile::check_ns};
    for (const auto sum : sums) profile->*sum += next.*sum;
    profile->executions = std::min(profile->executions, next.executions);
    profile->compiled = std::min(profile->compiled, next.compiled);
    profile->checked_samples += next.checked_samples;
    profile->weights_are_mapped = std::min(profile->weights_are_mapped, next.weights_are_mapped);
    if (std::strcmp(profile->devices, next.devices) == 0) continue;
    const size_t length = std::strlen(profile->devices);
    std::snprintf(profile->devices + length, sizeof profile->devices - length, "%s%s", length > 0 ? "; " : "",
                  next.devices);
  }
}

void first_failure(const Segments& segments, nnapi_shim_error* error) {
  for (const auto& segment : segments) {
    segment->last_failure(error);
    if (error->status != NNAPI_SHIM_OK) return;
  }
}

}  // namespace nnapi_shim
