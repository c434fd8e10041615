// SPDX-License-Identifier: BSD-3-Clause
// Writes measurements as text and as JSON (schemas/bench.schema.json).
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

// Returns the main loop's times as lines of `PyTorchObserver {...}`, as speed_benchmark_torch prints with --report_pep.
std::string observer_lines(const Measurement& measurement);

// Returns the lines on load, first inference, percentiles, memory and the shim's state.
std::string details(const Request& request, const Measurement& measurement, const std::vector<Device>& devices);

// Returns the line "Main run finished. Microseconds per iter: ...", as speed_benchmark_torch prints it.
std::string closing_line(const Measurement& measurement);

// Returns a table that compares all rows with the first row.
std::string comparison_table(const std::vector<ComparisonRow>& rows);

nlohmann::ordered_json to_json(const Request& request, const Measurement& measurement,
                               const std::vector<Device>& devices);
nlohmann::ordered_json to_json(const std::vector<ComparisonRow>& rows);

}  // namespace nnapi_bench
