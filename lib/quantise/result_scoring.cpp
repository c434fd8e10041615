// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/result_scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/judging_program.h"
#include "lib/quantise/detection_score.h"
#include "lib/serialize/numpy_array.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;

constexpr int kMostSeconds = 600;

void write_numpy(const fs::path& path, const at::Tensor& tensor) {
  const NumpyArray array = numpy_array(tensor);
  std::ofstream file(path, std::ios::binary);
  file << array.head;
  file.write(static_cast<const char*>(array.values.data_ptr()), static_cast<std::streamsize>(array.values.nbytes()));
  file.close();
  if (!file) fail_to_write(path, "the disk may be full");
}

// Returns a name that a folder can have.
std::string folder_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name.empty() || name[0] == '.' ? "_" + name : name;
}

double judged_by(const std::string& command, const std::vector<SampleName>& names,
                 const std::vector<ForwardResult>& results, const std::string& form) {
  const StagingFolder staging(fs::temp_directory_path() / "results", fs::temp_directory_path());
  const fs::path folder = staging.path() / form;
  fs::create_directories(folder);
  std::ofstream list(folder / "samples.txt");
  for (size_t i = 0; i < results.size(); ++i) {
    list << (names[i].name.empty() ? fmt::format("{}", names[i].number) : names[i].name) << "\n";
    for (const NamedResult& result : results[i]) {
      const fs::path own = folder / folder_name(result.name);
      fs::create_directories(own);
      write_numpy(own / fmt::format("sample_{}.npy", i), result.tensor);
    }
  }
  list.close();
  return judged_by_program("--metric", command, folder.string(), kMostSeconds);
}

}  // namespace

std::optional<ResultScoring> scoring_of(const CalibrationOptions& calibration, const std::vector<SampleName>& names,
                                        const CalibrationSamples& inputs, const std::vector<std::string>& class_names) {
  if (!calibration.sample_boxes.empty()) {
    const auto boxes = std::make_shared<const DetectionScore>(calibration, names, inputs, class_names);
    return ResultScoring{"mAP@0.5", true, [boxes](const std::vector<ForwardResult>& results, const std::string&) {
                           return boxes->of(results);
                         }};
  }
  if (calibration.metric_command.empty()) return std::nullopt;
  return ResultScoring{"metric", false,
                       [command = calibration.metric_command, names](const std::vector<ForwardResult>& results,
                                                                     const std::string& form) {
                         return judged_by(command, names, results, form);
                       }};
}

}  // namespace nnapi_convert
