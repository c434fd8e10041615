// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/batch/outcome.h"

#include <array>
#include <utility>

#include "lib/base/report_version.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<Status, const char*>, 10> kNames = {{
    {Status::kConverted, "converted"},
    {Status::kRefused, "refused"},
    {Status::kWrongOptions, "wrong_options"},
    {Status::kBadFile, "bad_file"},
    {Status::kVerificationFailed, "verification_failed"},
    {Status::kInternalError, "internal_error"},
    {Status::kCrashed, "crashed"},
    {Status::kOutOfMemory, "out_of_memory"},
    {Status::kTimedOut, "timed_out"},
    {Status::kNotRun, "not_run"},
}};

}  // namespace

const char* name_of(Status status) {
  for (const auto& [value, name] : kNames) {
    if (value == status) return name;
  }
  return "";
}

Status status_of(const std::string& name) {
  for (const auto& [value, known] : kNames) {
    if (name == known) return value;
  }
  throw ConvertError(ExitCode::kBadFile, "\"" + name + "\" is no status of a model");
}

Status status_of(ExitCode code) {
  switch (code) {
    case ExitCode::kDone:
      return Status::kConverted;
    case ExitCode::kNotConvertible:
      return Status::kRefused;
    case ExitCode::kUsage:
      return Status::kWrongOptions;
    case ExitCode::kBadFile:
      return Status::kBadFile;
    case ExitCode::kVerificationFailed:
      return Status::kVerificationFailed;
    case ExitCode::kLimit:
      return Status::kOutOfMemory;  // other limits end the worker
    default:
      return Status::kInternalError;
  }
}

json to_json(const Outcome& outcome) {
  return {{"status", name_of(outcome.status)},
          {"error", outcome.error},
          {"key", outcome.key},
          {"report", outcome.report},
          {"outputs", outcome.outputs},
          {"file_bytes", outcome.file_bytes},
          {"seconds", outcome.seconds},
          {"peak_bytes", outcome.peak_bytes},
          {"is_up_to_date", outcome.is_up_to_date}};
}

Outcome outcome_from_json(const json& object) {
  Outcome outcome;
  outcome.status = status_of(object.at("status").get<std::string>());
  object.at("error").get_to(outcome.error);
  object.at("key").get_to(outcome.key);
  outcome.report = object.at("report");
  outcome.outputs = object.at("outputs");
  object.at("file_bytes").get_to(outcome.file_bytes);
  object.at("seconds").get_to(outcome.seconds);
  object.at("peak_bytes").get_to(outcome.peak_bytes);
  object.at("is_up_to_date").get_to(outcome.is_up_to_date);
  return outcome;
}

json failure_report(const std::string& model, const std::string& error) {
  return {{"version", kReportVersion}, {"model", model},           {"converted", false}, {"error", error},
          {"refusals", json::array()}, {"warnings", json::array()}};
}

}  // namespace nnapi_convert
