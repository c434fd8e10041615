// What was measured, as text and as JSON (schemas/bench.schema.json).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/nnapi-bench/measure.h"

namespace nnapi_bench {

// A line of the comparison: the CPU model with a number of threads, or the model on NNAPI.
struct ComparisonRow {
  std::string name;
  Measurement measurement;
};

// The main loop's times, lines of `PyTorchObserver {...}` as speed_benchmark_torch prints with --report_pep.
std::string observer_lines(const Measurement& measurement);

// Load, first inference, percentiles, memory, what the shim tells.
std::string details(const Request& request, const Measurement& measurement, const std::vector<Device>& devices);

// "Main run finished. Microseconds per iter: ...", as speed_benchmark_torch.
std::string closing_line(const Measurement& measurement);

// The first row is what the others are compared with.
std::string comparison_table(const std::vector<ComparisonRow>& rows);

nlohmann::ordered_json to_json(const Request& request, const Measurement& measurement,
                               const std::vector<Device>& devices);
nlohmann::ordered_json to_json(const std::vector<ComparisonRow>& rows);

}  // namespace nnapi_bench
