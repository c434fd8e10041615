// SPDX-License-Identifier: BSD-3-Clause
// The version of the JSON report (schemas/report.schema.json). Increase it when the meaning of a key changes.
#pragma once

namespace nnapi_convert {

constexpr int kReportVersion = 3;

}  // namespace nnapi_convert
