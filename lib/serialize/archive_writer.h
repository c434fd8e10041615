// Writes modules as archives.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

#include "lib/base/folder.h"
#include "lib/serialize/late_tensors.h"

namespace nnapi_convert {

// Where a module carries sources of the shim, within its archive's root folder. PyTorch gives the files of `extra/` by
// name (_extra_files), unzip all of them.
constexpr const char* kShimSourceFolder = "extra/nnapi_shim_source/";

struct ArchiveExtras {
  std::string metadata;         // for kMetadataFile; empty: none
  bool has_shim_index = false;  // for a module of shim_emitter.h: names the records of the buffer and the weights, and
                                // aligns the weights so that they can be mapped
  std::vector<FolderFile> shim_source;  // for kShimSourceFolder
};

// Writes the archive, with the module's late tensors, for the lite interpreter if the path ends in ".ptl". The
// archive's root folder is the file's stem. Throws ConvertError (kBadFile). The path is overwritten: give a temporary
// one.
void write_module(const torch::jit::Module& module, LateTensors& late, const std::string& path,
                  const ArchiveExtras& extras);
// The same, and lets go of each late tensor's constant once it is written: the module can't be written again, nor run.
void write_and_release_module(const torch::jit::Module& module, LateTensors& late, const std::string& path,
                              const ArchiveExtras& extras);

}  // namespace nnapi_convert
