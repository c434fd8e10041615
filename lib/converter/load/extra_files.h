// SPDX-License-Identifier: BSD-3-Clause
// The extra files of an archive (_extra_files): what PyTorch stored for the app, and this program's own records.
#pragma once

#include <string>
#include <vector>

#include "lib/base/folder.h"
#include "lib/converter/load/model_archive.h"

namespace nnapi_convert {

// Leaves out files that this program wrote: they belong to the conversion that made the archive.
std::vector<FolderFile> without_own_files(std::vector<FolderFile> files);

// Returns the files that this program didn't write, by their names. Throws c10::Error for a damaged one.
std::vector<FolderFile> read_extra_files(ModelArchive& archive);

// The records and files of a converted file that tell about the model.
struct AttachedFiles {
  std::string labels, notes, origin;  // the records' bytes; empty: there is none
  std::vector<FolderFile> extra_files;
};

// Reads them from a file. Throws ConvertError (kBadFile) for a file that can't be read.
AttachedFiles read_attached(const std::string& path);

}  // namespace nnapi_convert
