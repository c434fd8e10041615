// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/doctor/doctor.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "lib/shim/failure.h"
#include "tools/nnapi-probe/doctor/doctor_report.h"
#include "tools/nnapi-probe/doctor/remedy.h"

namespace nnapi_doctor {
namespace {

// Returns the name of a device's profile file; names of drivers may have slashes.
std::string file_name(const DeviceReport& device) {
  std::string name = device.name.empty() ? "nnapi" : device.name;
  for (char& character : name) {
    if (character == '/' || character == '\\') character = '_';
  }
  return name + ".profile.json";
}

using File = std::pair<std::string, std::string>;  // path, text

std::vector<File> files_of(const DoctorRequest& request, const Patient& patient, const Report& report) {
  std::vector<File> files;
  const std::string& folder = request.options.folder;
  if (!request.json.empty()) files.emplace_back(request.json, report_json(patient, report));
  if (!request.trace.empty()) files.emplace_back(request.trace, trace_json(patient, report));
  if (folder.empty() || request.options.only_times) return files;
  files.emplace_back(folder + "/doctor.json", report_json(patient, report));
  std::vector<std::string> rules;
  for (const DeviceReport& device : report.devices) {
    const std::vector<Remedy> remedies = find_remedies(patient, device);
    for (std::string& rule : driver_rules(device, remedies)) rules.push_back(std::move(rule));
    files.emplace_back(folder + "/" + file_name(device), profile_json(patient, device, remedies));
  }
  files.emplace_back(folder + "/driver_rules.json", driver_rules_json(rules));
  return files;
}

}  // namespace

std::string write_text(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  std::FILE* file = std::fopen(beside.c_str(), "wb");
  bool is_good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr && std::fclose(file) != 0) is_good = false;
  if (is_good && std::rename(beside.c_str(), path.c_str()) == 0) return "";
  const std::string reason = std::strerror(errno);
  if (file != nullptr) std::remove(beside.c_str());
  return "can't write " + path + ": " + reason;
}

int run_doctor(const DoctorRequest& request, nnapi_shim_error* error) {
  Patient patient;
  if (const int status = patient.open(request.path, request.variant, request.options.folder, error)) return status;
  Report report;
  Examination examination(request.options, patient);
  const std::string problem = examination.examine(&report);
  if (!problem.empty()) return nnapi_shim::fail(error, NNAPI_SHIM_UNAVAILABLE, "%.450s", problem.c_str());
  const std::string text = request.options.only_times ? times_text(patient, report) : table_text(patient, report);
  std::fputs(text.c_str(), stdout);
  for (const File& file : files_of(request, patient, report)) {
    const std::string failure = write_text(file.first, file.second);
    if (!failure.empty()) return nnapi_shim::fail(error, NNAPI_SHIM_FAILED, "%.450s", failure.c_str());
  }
  return NNAPI_SHIM_OK;
}

}  // namespace nnapi_doctor
