// The files of one command line: nothing that is written may take the place of what is read, or of what is written
// besides.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nnapi_convert {

// One file, and what the command line calls it: "MODEL", "--report".
struct NamedFile {
  std::string name;
  std::filesystem::path path;
};

struct FilesInUse {
  std::vector<NamedFile> read, written;
};

// Call it before anything is written. Throws ConvertError (kUsage) where a written file is also read, or is written
// twice. Files are the same if their paths are, once links are followed, or if they are one file of the disk. Standard
// output counts as written if it goes to a file. Devices and pipes may be named more than once.
void check_files_apart(const FilesInUse& files);

}  // namespace nnapi_convert
