// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/own_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>

#include <climits>

#include "lib/base/error.h"

namespace nnapi_convert {

namespace fs = std::filesystem;

namespace {

// Returns true if the user started the system's loader with the program as its argument; /proc/self/exe is the loader
// then. The kernel reports a loader's address (AT_BASE) only if it started the loader itself.
bool is_started_by_loader() {
  return ::getauxval(AT_BASE) == 0;
}

// Returns the program's path in the folder from which the loader loaded it; the loader's option --argv0 gives its name.
fs::path path_by_loader() {
  char folder[PATH_MAX] = "";
  void* program = ::dlopen(nullptr, RTLD_LAZY);
  if (program == nullptr || ::dlinfo(program, RTLD_DI_ORIGIN, folder) != 0) return {};
  ::dlclose(program);
  std::error_code problem;
  return fs::weakly_canonical(fs::path(folder) / program_invocation_short_name, problem);
}

fs::path path_by_kernel() {
  std::error_code problem;
  fs::path path = fs::read_symlink("/proc/self/exe", problem);
  if (!problem) return path;
  const char* started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  if (started == nullptr) return {};
  path = fs::canonical(started, problem);
  return problem ? fs::path() : path;
}

}  // namespace

fs::path own_program_path() {
  fs::path path = is_started_by_loader() ? path_by_loader() : path_by_kernel();
  if (path.empty()) {
    throw ConvertError(ExitCode::kBadFile,
                       "can't find the program's own folder, which has its libraries: /proc is not mounted; start the "
                       "program by its whole path");
  }
  return path;
}

std::string own_library_path(const std::string& name, const std::string& built) {
  const fs::path root = own_program_path().parent_path().parent_path();
  const fs::path in_build = root / "lib" / built / name;
  return fs::exists(in_build) ? in_build.string() : (root / NNAPI_CONVERT_LIBRARY_FOLDER / name).string();
}

}  // namespace nnapi_convert
