// SPDX-License-Identifier: BSD-3-Clause
// Writes folders of files that appear whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nnapi_convert {

struct FolderFile {
  std::string name;  // relative to the folder, parts separated by '/'
  std::string text;
};

// Returns whether the name stays within the folder: relative, no part empty, "." or "..", no backslash.
bool is_plain_name(const std::string& name);

// Writes the files below `folder`, and makes the folder if it does not exist; its parent has to exist. Refuses a folder
// that is not empty, unless `may_replace` is true: then replaces files of the same names and keeps the others. After a
// failure everything is as before. Throws ConvertError (kBadFile), also for names that are not plain.
void write_folder(const std::filesystem::path& folder, const std::vector<FolderFile>& files, bool may_replace);

}  // namespace nnapi_convert
