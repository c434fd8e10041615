// SPDX-License-Identifier: BSD-3-Clause
// Writes modules as archives.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/base/folder.h"
#include "lib/serialize/deferred_tensors.h"
#include "lib/serialize/program_writer.h"
#include "lib/serialize/shim_index.h"

namespace nnapi_convert {

// The folder for the shim's sources within an archive's root folder. PyTorch reads the files of `extra/` by name
// (_extra_files); unzip extracts all of them.
constexpr const char* kShimSourceFolder = "extra/nnapi_shim_source/";

struct ArchiveExtras {
  std::string metadata;  // the text of kMetadataFile; empty: no such file
  // The records of the shim's compilations with which the module's state begins. Their weights are aligned, so that
  // they can be mapped.
  std::vector<ShimRecords> shim_records = {};
  std::string shim_index;                       // of these compilations, by shim_index.h; empty: no such file
  std::shared_ptr<const Program> program = {};  // what runs around these compilations; may be null
  std::vector<FolderFile> attached = {};        // other records, by their names in the root folder
  std::vector<FolderFile> shim_source;          // the files of kShimSourceFolder
  bool keeps_source_lines = true;               // keeps the tables that lead from the code to the model's own lines
  bool has_module = true;  // false: without code and without the state behind the compilations, for the shim alone
};

// Writes the archive with the module's late tensors; if the path ends in ".ptl", for the lite interpreter. The
// archive's root folder is the file's stem. Overwrites the path, so pass a temporary one. Throws ConvertError
// (kBadFile).
void write_module(const torch::jit::Module& module, DeferredTensors& late, const std::string& path,
                  const ArchiveExtras& extras);
// Writes the archive, and frees each late tensor's constant after writing it: the module can't be written or run again.
void write_and_release_module(const torch::jit::Module& module, DeferredTensors& late, const std::string& path,
                              const ArchiveExtras& extras);

}  // namespace nnapi_convert
