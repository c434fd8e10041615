// SPDX-License-Identifier: BSD-3-Clause
// Writes the doctor's findings: a table for people, JSON (schemas/doctor.schema.json), and Chrome's trace format.
#pragma once

#include <string>

#include "tools/nnapi-probe/doctor/findings.h"

namespace nnapi_doctor {

std::string table_text(const Patient& patient, const Report& report);
std::string times_text(const Patient& patient, const Report& report);
std::string report_json(const Patient& patient, const Report& report);
// Returns a trace with an event for each operation, one after the other, in a row for each device:
// https://ui.perfetto.dev reads it.
std::string trace_json(const Patient& patient, const Report& report);

}  // namespace nnapi_doctor
