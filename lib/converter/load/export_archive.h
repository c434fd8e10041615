// SPDX-License-Identifier: BSD-3-Clause
// Reads the archive of an exported program, in each of its three layouts: up to PyTorch 2.7, of 2.8, and since.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/folder.h"
#include "lib/base/source_check.h"

namespace nnapi_convert {

struct ExportArchive {
  nlohmann::json program;
  std::map<std::string, at::Tensor> weights;    // parameters and buffers, by name
  std::map<std::string, at::Tensor> constants;  // other tensors, by name
  std::optional<c10::IValue> samples;           // a tuple: the arguments of forward, and those by keyword
  std::string problem_of_samples;               // why the file's samples can't be read; else empty
  std::vector<FolderFile> extra_files;          // of torch.export.save(extra_files=...), by their names
  std::shared_ptr<SourceChecks> checks;         // of the mapped weights
};

// Reads the archive. Large weights are mapped: while they live the file's content has to stay as it is. Throws
// DamagedFile for what is damaged, and ConvertError: kBadFile for what is not read, kNotConvertible for what the
// program doesn't convert.
ExportArchive read_export_archive(const std::string& path);

}  // namespace nnapi_convert
