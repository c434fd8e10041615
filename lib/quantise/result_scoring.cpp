// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/result_scoring.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/judging_program.h"
#include "lib/quantise/detection_score.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;

constexpr int kMostSeconds = 600;

// NumPy's name of a dtype, and the tensor as it has it.
std::pair<const char*, at::Tensor> for_numpy(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kBool) return {"|b1", tensor};
  if (tensor.scalar_type() == at::kByte) return {"|u1", tensor};
  if (tensor.is_floating_point()) {
    const bool is_double = tensor.scalar_type() == at::kDouble;
    return {is_double ? "<f8" : "<f4", is_double ? tensor : tensor.to(at::kFloat)};
  }
  return {"<i8", tensor.to(at::kLong)};
}

// Format version 1.0: the length of the header as two bytes, and the header to a multiple of 64 bytes.
void write_numpy(const fs::path& path, const at::Tensor& tensor) {
  constexpr size_t kPrefix = 10, kAlign = 64;
  const auto [type, values] = for_numpy(tensor);
  std::string shape;
  for (const int64_t size : values.sizes()) shape += fmt::format("{},", size);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  header.resize((kPrefix + header.size() + 1 + kAlign - 1) / kAlign * kAlign - kPrefix - 1, ' ');
  header += '\n';
  const auto size = static_cast<uint16_t>(header.size());
  const at::Tensor contiguous = values.contiguous();
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY" << '\x01' << '\0' << static_cast<char>(size & 0xff) << static_cast<char>(size >> 8) << header;
  file.write(static_cast<const char*>(contiguous.data_ptr()), static_cast<std::streamsize>(contiguous.nbytes()));
  file.close();
  if (!file) fail_to_write(path, "the disk may be full");
}

// A name as a folder's.
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
