// SPDX-License-Identifier: BSD-3-Clause
// Renders measurements.
#include "tools/nnapi-bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace nnapi_bench {
namespace {

using Json = nlohmann::ordered_json;

struct Percentile {
  const char* name;
  double share;
};
constexpr Percentile kPercentiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}};

double lowest(const Measurement& measurement) {
  return *std::min_element(measurement.latencies.begin(), measurement.latencies.end());
}

double highest(const Measurement& measurement) {
  return *std::max_element(measurement.latencies.begin(), measurement.latencies.end());
}

double median(const Measurement& measurement) {
  return percentile(measurement.latencies, 0.5);
}

// Returns the share of the first row's CPU time per inference that this row saves.
double cpu_freed(const Measurement& measurement, const Measurement& first) {
  return 1 - measurement.cpu_per_iteration() / first.cpu_per_iteration();
}

std::string device_text(const std::vector<Device>& devices) {
  std::string text;
  for (const Device& device : devices)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", device.name, device.type);
  return text;
}

std::string megabytes(const std::optional<MemoryUse>& use) {
  return use ? fmt::format("{:.1f} MB", 1e-6 * static_cast<double>(use->proportional)) : "unknown";
}

std::string runtime_text(Runtime runtime) {
  if (runtime == Runtime::kShim) return "NNAPI by the shim";
  return runtime == Runtime::kPytorch ? "NNAPI by PyTorch's loader" : "CPU";
}

Json cost_json(const Cost& cost) {
  return {{"wall_us", cost.wall}, {"cpu_us", cost.cpu}};
}

Json memory_json(const MemoryUse& use) {
  return {
      {"resident", use.resident}, {"proportional", use.proportional}, {"owned", use.owned}, {"written", use.written}};
}

Json latency_json(const Measurement& measurement) {
  Json json = {{"mean", measurement.per_iteration()}, {"min", lowest(measurement)}, {"max", highest(measurement)}};
  for (const auto& [name, share] : kPercentiles) json[name] = percentile(measurement.latencies, share);
  return json;
}

}  // namespace

std::string observer_lines(const Measurement& measurement) {
  std::string text;
  for (const double latency : measurement.latencies) {
    text += fmt::format(
        "PyTorchObserver {{\"type\": \"NET\", \"unit\": \"us\", \"metric\": \"latency\", \"value\": \"{:.0f}\"}}\n",
        latency);
  }
  return text;
}

std::string details(const Request& request, const Measurement& measurement, const std::vector<Device>& devices) {
  std::string text = fmt::format("Model: {}, runs on {}; {} CPU threads\n", request.model,
                                 runtime_text(measurement.runtime), measurement.threads);
  if (measurement.runtime != Runtime::kCpu) {
    text += fmt::format("NNAPI devices: {}\n", devices.empty() ? "none that can be asked" : device_text(devices));
  }
  if (measurement.shim) {
    const ShimState& shim = *measurement.shim;
    text += fmt::format("Ran on: {}; devices: {}; build {:.1f} ms, compile {:.1f} ms\n", shim.state,
                        shim.devices.empty() ? "NNAPI's choice" : shim.devices, 1e-6 * shim.profile.at("build_ns"),
                        1e-6 * shim.profile.at("compile_ns"));
  }
  text += fmt::format("Load: {:.1f} ms. First inference: {:.1f} ms\n", 1e-3 * measurement.load.wall,
                      1e-3 * measurement.first->wall);
  text +=
      fmt::format("Memory (PSS): {} at start, {} after load, {} after the first inference\n",
                  megabytes(measurement.at_start), megabytes(measurement.loaded), megabytes(measurement.after_first));
  text += fmt::format("Microseconds: min {:.1f}", lowest(measurement));
  for (const auto& [name, share] : kPercentiles) {
    text += fmt::format(", {} {:.1f}", name, percentile(measurement.latencies, share));
  }
  return text +
         fmt::format(", max {:.1f}; CPU time per iter {:.1f}\n", highest(measurement), measurement.cpu_per_iteration());
}

std::string closing_line(const Measurement& measurement) {
  return fmt::format("Main run finished. Microseconds per iter: {:.6g}. Iters per second: {:.6g}\n",
                     measurement.per_iteration(), 1e6 / measurement.per_iteration());
}

std::string comparison_table(const std::vector<ComparisonRow>& rows) {
  std::string text = fmt::format("{:<16} {:>14} {:>12} {:>24} {:>10}\n", "", "latency, us", "normalised",
                                 "CPU us per inference", "CPU freed");
  const Measurement& first = rows.front().measurement;
  for (const auto& [name, measurement] : rows) {
    text += fmt::format("{:<16} {:>14.1f} {:>12.3f} {:>24.1f} {:>9.1f}%\n", name, median(measurement),
                        median(measurement) / median(first), measurement.cpu_per_iteration(),
                        100 * cpu_freed(measurement, first));
  }
  return text;
}

Json to_json(const Request& request, const Measurement& measurement, const std::vector<Device>& devices) {
  Json json = {{"version", 1},
               {"model", request.model},
               {"runtime", name_of(measurement.runtime)},
               {"threads", measurement.threads},
               {"warmup", request.warmup},
               {"iterations", measurement.latencies.size()},
               {"load", cost_json(measurement.load)},
               {"first_inference", cost_json(*measurement.first)},
               {"latency_us", latency_json(measurement)},
               {"cpu_us_per_iteration", measurement.cpu_per_iteration()}};
  if (measurement.at_start && measurement.loaded && measurement.after_first) {
    json["memory_bytes"] = {{"at_start", memory_json(*measurement.at_start)},
                            {"loaded", memory_json(*measurement.loaded)},
                            {"after_first_inference", memory_json(*measurement.after_first)}};
  }
  json["devices"] = Json::array();
  for (const auto& [name, version, type, feature_level] : devices) {
    json["devices"].push_back({{"name", name}, {"version", version}, {"type", type}, {"feature_level", feature_level}});
  }
  if (measurement.shim) {
    const ShimState& shim = *measurement.shim;
    json["shim"] = {{"state", shim.state}, {"devices", shim.devices}, {"profile", shim.profile}};
  }
  return json;
}

Json to_json(const std::vector<ComparisonRow>& rows) {
  Json json = Json::array();
  const Measurement& first = rows.front().measurement;
  for (const auto& [name, measurement] : rows) {
    json.push_back({{"name", name},
                    {"threads", measurement.threads},
                    {"latency_us", median(measurement)},
                    {"normalised", median(measurement) / median(first)},
                    {"cpu_us", measurement.cpu_per_iteration()},
                    {"cpu_freed", cpu_freed(measurement, first)}});
  }
  return json;
}

}  // namespace nnapi_bench
