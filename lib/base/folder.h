// Folders of files that appear whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nnapi_convert {

struct FolderFile {
  std::string name;  // relative to the folder, parts separated by '/'
  std::string text;
};

// Whether the name stays within the folder: relative, no part empty, "." or "..", no backslash.
bool is_plain_name(const std::string& name);

// Writes the files below `folder`, which is made where it does not exist; its parent has to. A folder that has
// something in it is refused, or, if `may_replace`, kept with what is in it, files of the same names replaced. After a
// failure all is as it was. Throws ConvertError (kBadFile), also for names that are not plain.
void write_folder(const std::filesystem::path& folder, const std::vector<FolderFile>& files, bool may_replace);

}  // namespace nnapi_convert
