// SPDX-License-Identifier: BSD-3-Clause
// Finds and loads the library that needs LibTorch.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <new>

#include "lib/base/error.h"
#include "lib/base/file_pages.h"
#include "lib/base/out_of_memory.h"
#include "lib/base/own_library.h"
#include "tools/nnapi-convert/engine.h"

namespace nnapi_convert {
namespace {

// Loads the stand-ins: LibTorch then gets them in place of libraries with the same names.
std::vector<void*> load_stand_ins() {
  std::vector<void*> loaded;
  std::error_code no_stand_ins;
  for (const auto& file : std::filesystem::directory_iterator(own_library_path("stand_ins", ""), no_stand_ins)) {
    if (void* library = ::dlopen(file.path().c_str(), RTLD_LAZY)) loaded.push_back(library);
  }
  return loaded;
}

// Loads the library with stand-ins. Returns null if that fails, or if there are no stand-ins.
void* load_with_stand_ins(const std::string& path) {
  const std::vector<void*> stand_ins = load_stand_ins();
  if (stand_ins.empty()) return nullptr;
  // RTLD_NOW: a LibTorch that uses one of the replaced libraries fails here, not in a later call.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library != nullptr) return library;
  for (void* stand_in : stand_ins) ::dlclose(stand_in);
  return nullptr;
}

// Returns true if the user brings libraries, which may need those that the stand-ins replace.
bool brings_libraries(const std::vector<std::string>& torch_libraries) {
  return !torch_libraries.empty() || std::getenv("NNAPI_HOST_LIBRARY") != nullptr;
}

const Engine* load_engine(const std::vector<std::string>& torch_libraries) {
  // LibTorch logs by glog, whose lines are for LibTorch's authors; a user who sets the level himself gets them.
  ::setenv("GLOG_minloglevel", "3", 0);
  const std::string path = engine_path();
  void* library = brings_libraries(torch_libraries) ? nullptr : load_with_stand_ins(path);
  // RTLD_GLOBAL: libraries of --torch-library may use LibTorch's symbols without linking it.
  if (library == nullptr) library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  if (library == nullptr) {
    const std::string problem = ::dlerror();
    if (tells_of_full_memory(problem)) throw std::bad_alloc();
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't load what converts: {}; install nnapi-convert again, "
                                                       "and LibTorch",
                                                       problem));
  }
  const auto entry = reinterpret_cast<decltype(&::nnapi_convert_engine)>(::dlsym(library, "nnapi_convert_engine"));
  const Engine* engine = entry == nullptr ? nullptr : entry(NNAPI_CONVERT_VERSION);
  if (engine == nullptr) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("{} is not of version {}, as this program is; install "
                                                       "nnapi-convert again",
                                                       path, NNAPI_CONVERT_VERSION));
  }
  // LibTorch's start reads 30 MB of code and tables that nothing reads again.
  drop_library_pages();
  return engine;
}

}  // namespace

std::string engine_path() {
  return own_library_path("libnnapi_convert_engine.so", "");
}

const Engine& engine(const std::vector<std::string>& torch_libraries) {
  static const Engine* loaded = load_engine(torch_libraries);
  loaded->set_watched_run(watched_run());
  return *loaded;
}

}  // namespace nnapi_convert
