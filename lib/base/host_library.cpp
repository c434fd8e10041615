// Finds the host's NNAPI.
#include "lib/base/host_library.h"

#include <cstdlib>

#include "lib/base/own_library.h"

namespace nnapi_convert {

std::string host_library_path() {
  if (const char* path = std::getenv("NNAPI_HOST_LIBRARY")) return path;
  return own_library_path("libneuralnetworks.so", "host");
}

}  // namespace nnapi_convert
