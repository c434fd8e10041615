// SPDX-License-Identifier: BSD-3-Clause
// The JSON report of a run, by schemas/report.schema.json.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/report_version.h"
#include "lib/converter/emit/conversion.h"
#include "lib/converter/emit/emit_methods.h"
#include "lib/converter/verify/verify.h"

namespace nnapi_convert {

namespace litert {
struct File;
}

nlohmann::json make_report(const std::string& model, const std::string& output, const Conversion& conversion,
                           const Diagnostics& diagnostics, const std::optional<Verification>& verification);

// A method of a file of several methods, in a report.
struct MethodFindings {
  const MethodConversion& method;
  std::optional<Verification> verification = {};
  nlohmann::json target = {};  // null, or what the target costs
};

// Returns the report of a file of several methods.
nlohmann::json make_report(const std::string& model, const std::string& output, const Diagnostics& diagnostics,
                           const std::vector<MethodFindings>& methods);

// Returns the report's part about a LiteRT file that was written to `path`.
nlohmann::json litert_json(const litert::File& file, const std::string& path, uint64_t bytes);

// Returns a text for the terminal: the segments of a partitioned model and the operations on the CPU.
std::string partition_text(const Conversion& conversion);

// Returns the report's part about the Android that the result needs: the lowest API level and its version, both null
// for feature levels that no API level promises.
nlohmann::json android_json(int feature_level, Runtime runtime);

// Returns the JSON of an argument of forward.
nlohmann::json input_json(const std::string& name, const TensorType& type);

// Returns the report's part about a verification; `verify --format json` prints it.
nlohmann::json to_json(const Verification& verification);

// Returns the report of a model that can't be converted, with its graph if the error is a RefusedModel.
nlohmann::json make_failure_report(const std::string& model, const ConvertError& error, const Diagnostics& diagnostics);

}  // namespace nnapi_convert
