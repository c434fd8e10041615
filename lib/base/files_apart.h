// SPDX-License-Identifier: BSD-3-Clause
// Checks the files of one command line: a written file must not replace a file that is read, or another written file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nnapi_convert {

// The kinds of things that a path may name besides a file: a folder to read, a pipe or device to write, a library that
// the system's loader looks for.
enum class AlsoFits { kNothing, kFolder, kPipe, kLibraryName };

// One file, and its name on the command line: "MODEL", "--report".
struct NamedFile {
  std::string name;
  std::filesystem::path path;
  AlsoFits also = AlsoFits::kNothing;
};

struct FilesInUse {
  std::vector<NamedFile> read, written;
};

// Throws ConvertError (kUsage) if a written file is also read, or is written twice. Call it before writing anything.
// Two files are the same if their paths, with links followed, are equal or lead to the same file on disk. Standard
// output counts as written if it goes to a file. Devices and pipes may be named more than once.
void check_files_apart(const FilesInUse& files);

}  // namespace nnapi_convert
