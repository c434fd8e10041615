// SPDX-License-Identifier: BSD-3-Clause
// Finds and loads the library of the host's NNAPI.
#pragma once

#include <string>

namespace nnapi_convert {

// Returns the path of the host's libneuralnetworks.so: $NNAPI_HOST_LIBRARY, or a path beside the program, in the build
// folder or the installation. The file need not exist. PyTorch's loader and the shim open NNAPI by its name, so they
// get this library if it was loaded before.
std::string host_library_path();

// Loads the host's NNAPI for the rest of the process: PyTorch's loader opens the library by name and gets this one.
// Throws ConvertError (kBadFile).
void load_host_library();

// While an object of this class lives, the host's NNAPI rounds products of integers twice, as Android's own CPU does:
// to 31 bits, then to quantised values. Otherwise it rounds them once, to the nearest quantised value.
class HostRoundsTwice {
 public:
  HostRoundsTwice();
  ~HostRoundsTwice();
  HostRoundsTwice(const HostRoundsTwice&) = delete;
  HostRoundsTwice& operator=(const HostRoundsTwice&) = delete;
};

}  // namespace nnapi_convert
