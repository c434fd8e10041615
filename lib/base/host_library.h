// Where the host's NNAPI lies.
#pragma once

#include <string>

namespace nnapi_convert {

// The path of the host's libneuralnetworks.so: $NNAPI_HOST_LIBRARY, or beside the program, in the build folder or the
// installation. The file need not exist. PyTorch's loader and the shim open NNAPI by its name, and get this library if
// it was loaded before.
std::string host_library_path();

}  // namespace nnapi_convert
