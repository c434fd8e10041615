// Finding the host's NNAPI.
#include "lib/base/host_library.h"

#include <cstdlib>
#include <filesystem>

namespace nnapi_convert {

namespace fs = std::filesystem;

std::string host_library_path() {
  if (const char* path = std::getenv("NNAPI_HOST_LIBRARY")) return path;
  const fs::path bin = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path built = bin.parent_path() / "lib" / "host" / "libneuralnetworks.so";
  return fs::exists(built) ? built.string() : (bin.parent_path() / NNAPI_CONVERT_HOST_LIBRARY).string();
}

}  // namespace nnapi_convert
