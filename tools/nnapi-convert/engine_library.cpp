// Finds and loads the library that needs LibTorch.
#include <dlfcn.h>
#include <fmt/format.h>

#include "lib/base/error.h"
#include "lib/base/own_library.h"
#include "tools/nnapi-convert/engine.h"

namespace nnapi_convert {
namespace {

const Engine* load_engine() {
  const std::string path = engine_path();
  // RTLD_GLOBAL: libraries of --torch-library may use LibTorch's symbols without linking it.
  void* library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  if (library == nullptr) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't load what converts: {}; install nnapi-convert again, "
                                                       "and LibTorch",
                                                       ::dlerror()));
  }
  const auto entry = reinterpret_cast<decltype(&::nnapi_convert_engine)>(::dlsym(library, "nnapi_convert_engine"));
  const Engine* engine = entry == nullptr ? nullptr : entry(NNAPI_CONVERT_VERSION);
  if (engine == nullptr) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("{} is not of version {}, as this program is; install "
                                                       "nnapi-convert again",
                                                       path, NNAPI_CONVERT_VERSION));
  }
  return engine;
}

}  // namespace

std::string engine_path() {
  return own_library_path("libnnapi_convert_engine.so", "");
}

const Engine& engine() {
  static const Engine* loaded = load_engine();
  return *loaded;
}

}  // namespace nnapi_convert
