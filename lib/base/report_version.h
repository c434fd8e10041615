// The version of the JSON report, by schemas/report.schema.json: it grows where what a key holds changes.
#pragma once

namespace nnapi_convert {

constexpr int kReportVersion = 3;

}  // namespace nnapi_convert
