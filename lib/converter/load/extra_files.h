// SPDX-License-Identifier: BSD-3-Clause
// The extra files of an archive (_extra_files): what PyTorch stored for the app, and this program's own records.
#pragma once

#include <string>
#include <vector>

#include "lib/base/folder.h"
#include "lib/converter/load/model_archive.h"

namespace nnapi_convert {

// Leaves out what this program wrote: it belongs to the conversion that made the archive.
std::vector<FolderFile> without_own_files(std::vector<FolderFile> files);

// Those that this program didn't write, by their names. Throws c10::Error for a damaged one.
std::vector<FolderFile> read_extra_files(ModelArchive& archive);

// What a converted file tells about the model.
struct AttachedFiles {
  std::string labels, notes, origin;  // the records' bytes; empty: there is none
  std::vector<FolderFile> extra_files;
};

// Throws ConvertError (kBadFile) for a file that can't be read.
AttachedFiles read_attached(const std::string& path);

}  // namespace nnapi_convert
