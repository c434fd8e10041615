// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/files_apart.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <optional>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/standard_output.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;

using Inode = std::pair<dev_t, ino_t>;

// The identity of a file: its path and its inode. A file that does not exist yet has only a path.
struct Identity {
  std::string path;
  std::optional<Inode> inode;
};

// Returns a file's identity; nothing for devices, pipes and empty names.
std::optional<Identity> identity_of(const fs::path& path) {
  if (path.empty() || is_standard_output(path)) return std::nullopt;
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return Identity{resolved(path).string(), std::nullopt};
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return std::nullopt;
  return Identity{resolved(path).string(), Inode{status.st_dev, status.st_ino}};
}

class KnownFiles {
 public:
  void add(const NamedFile& file) {
    const auto identity = identity_of(file.path);
    if (identity) remember(*identity, file);
  }
  // Throws if the file is already known.
  void add_written(const NamedFile& file) {
    const auto identity = identity_of(file.path);
    if (!identity) return;
    if (const NamedFile* other = find(*identity)) {
      throw ConvertError(ExitCode::kUsage,
                         fmt::format("{} {} is the same file as {} {}, which would be lost; write to another file",
                                     file.name, file.path.string(), other->name, other->path.string()));
    }
    remember(*identity, file);
  }
  // Throws if standard output goes to a known file.
  void check_standard_output() const {
    struct stat status = {};
    if (::fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return;
    const auto found = by_inode_.find({status.st_dev, status.st_ino});
    if (found == by_inode_.end()) return;
    throw ConvertError(ExitCode::kUsage, fmt::format("standard output goes to {} {}, which would be lost",
                                                     found->second.name, found->second.path.string()));
  }

 private:
  void remember(const Identity& identity, const NamedFile& file) {
    by_path_.emplace(identity.path, file);
    if (identity.inode) by_inode_.emplace(*identity.inode, file);
  }
  const NamedFile* find(const Identity& identity) const {
    const auto same_path = by_path_.find(identity.path);
    if (same_path != by_path_.end()) return &same_path->second;
    if (!identity.inode) return nullptr;
    const auto same_inode = by_inode_.find(*identity.inode);
    return same_inode == by_inode_.end() ? nullptr : &same_inode->second;
  }

  std::map<std::string, NamedFile> by_path_;
  std::map<Inode, NamedFile> by_inode_;
};

}  // namespace

void check_files_apart(const FilesInUse& files) {
  KnownFiles known;
  for (const NamedFile& file : files.read) known.add(file);
  for (const NamedFile& file : files.written) known.add_written(file);
  known.check_standard_output();
}

}  // namespace nnapi_convert
