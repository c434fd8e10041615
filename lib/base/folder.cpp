// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/folder.h"

#include <fmt/format.h>

#include <utility>

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/output_file.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;

// Returns the folder's absolute path without a slash at its end.
fs::path resolve(const fs::path& folder) {
  std::error_code error;
  fs::path resolved = fs::weakly_canonical(folder, error);
  if (error) resolved = fs::absolute(folder);
  return resolved.has_filename() ? resolved : resolved.parent_path();
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_to_write(folder, error.message());
}

void write_new_file(const fs::path& path, const std::string& text) {
  make_folder(path.parent_path());
  OutputFile output(path);
  output.append(text.data(), text.size());
  const std::string reason = output.finish();
  if (!reason.empty()) fail_to_write(path.filename(), reason);
}

// Puts the made files into an existing folder; the destructor undoes all of it unless finish() was called.
class Placing {
 public:
  // The files are made in `staging`/new; what they replace is kept in `staging`/old meanwhile.
  Placing(fs::path folder, const fs::path& staging)
      : folder_(std::move(folder)), made_(staging / "new"), kept_(staging / "old") {}
  ~Placing() {
    std::error_code ignored;
    for (auto name = placed_.rbegin(); name != placed_.rend(); ++name) {
      fs::remove(folder_ / *name, ignored);
      if (fs::exists(kept_ / *name, ignored)) {
        fs::rename(kept_ / *name, folder_ / *name, ignored);
      }
    }
    for (auto made = folders_.rbegin(); made != folders_.rend(); ++made) fs::remove(*made, ignored);
  }
  Placing(const Placing&) = delete;
  Placing& operator=(const Placing&) = delete;

  void place(const std::string& name) {
    const fs::path destination = folder_ / name;
    make_parents(destination.parent_path());
    std::error_code error;
    const fs::file_status found = fs::symlink_status(destination, error);
    if (fs::is_directory(found)) fail_to_write(destination, "it is a folder");
    if (fs::exists(found)) {
      make_folder((kept_ / name).parent_path());
      move(destination, kept_ / name);
    }
    placed_.push_back(name);
    move(made_ / name, destination);
  }
  void finish() {
    placed_.clear();
    folders_.clear();
  }

 private:
  static void move(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::rename(from, to, error);
    if (error) fail_to_write(to, error.message());
  }
  void make_parents(const fs::path& parent) {
    std::error_code error;
    if (fs::is_directory(parent, error)) return;
    make_parents(parent.parent_path());
    if (!fs::create_directory(parent, error)) fail_to_write(parent, error ? error.message() : "it is no folder");
    folders_.push_back(parent);
  }

  fs::path folder_;
  fs::path made_, kept_;
  std::vector<std::string> placed_;
  std::vector<fs::path> folders_;
};

}  // namespace

bool is_plain_name(const std::string& name) {
  size_t begin = 0;
  while (true) {
    const size_t end = name.find('/', begin);
    const std::string part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.find('\\') != std::string::npos) return false;
    if (part.find('\0') != std::string::npos) return false;
    if (end == std::string::npos) return true;
    begin = end + 1;
  }
}

void write_folder(const fs::path& folder, const std::vector<FolderFile>& files, bool may_replace) {
  std::error_code error;
  const fs::path destination = resolve(folder);
  const bool exists = fs::exists(destination, error);
  if (exists && !fs::is_directory(destination, error)) fail_to_write(folder, "it exists and is not a folder");
  if (exists && !may_replace && !fs::is_empty(destination, error)) {
    fail_to_write(folder, "the folder is not empty; choose another one, or --force to replace files in it");
  }
  const StagingFolder staging(destination, destination);
  const fs::path made = staging.path() / "new";
  for (const FolderFile& file : files) {
    if (!is_plain_name(file.name))
      fail_to_write(folder, fmt::format("'{}' is not the name of a file within it", file.name));
    write_new_file(made / file.name, file.text);
  }
  if (!exists) {
    fs::rename(made, destination, error);
    if (error) fail_to_write(folder, error.message());
    return;
  }
  Placing placing(destination, staging.path());
  for (const FolderFile& file : files) placing.place(file.name);
  placing.finish();
}

}  // namespace nnapi_convert
