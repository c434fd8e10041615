// SPDX-License-Identifier: BSD-3-Clause
// Loads libnnapi_convert_engine.so, the part of the program that needs LibTorch, after the command line is read. So the
// program prints help and usage errors without LibTorch.
#pragma once

#include <string>
#include <vector>

#include "lib/base/folder.h"
#include "lib/base/watched_run.h"
#include "tools/nnapi-convert/requests.h"

namespace nnapi_convert {

// The engine's functions. They throw ConvertError. A function that returns int prints its output and returns the exit
// code.
struct Engine {
  int (*convert)(const ConvertArguments& arguments);
  int (*check)(const CheckArguments& arguments);
  int (*verify)(const VerifyArguments& arguments);
  // Returns the content of a converted file in one of the formats of `inspect`.
  std::string (*inspect)(const std::string& path, const std::string& format);
  // Returns a page that shows the graph of a converted file with the findings of nnapi-probe's doctor for a device; an
  // empty name stands for the first device that is wrong.
  std::string (*doctor_page)(const std::string& path, const std::string& doctor, const std::string& device);
  // Returns the operations that can be lowered, in one of the formats of `ops`; with names of operators, how each of
  // them is handled, as text. Throws kUsage for a name that no operator has.
  std::string (*list_operations)(const std::string& format, const std::vector<std::string>& names);
  // Returns the shim's sources that a converted file carries.
  std::vector<FolderFile> (*read_shim_source)(const std::string& path);
  // Returns the operators that the program of a file for the shim calls; none for a file without a program.
  std::vector<std::string> (*called_operators)(const std::string& path);
  // Makes LibTorch compute only on the calling thread, in this process and in processes forked from it.
  void (*use_one_thread)();
  // Sets the engine's watched run (lib/base/watched_run.h).
  void (*set_watched_run)(WatchedRun* run);
};

// Returns the library's path in the build folder or in the installation of the running program.
std::string engine_path();

// Loads the library at the first call. `torch_libraries` are the user's libraries that the engine is to load: they get
// LibTorch with all libraries that it names; without them, the stand-ins (cmake/TorchStandIns.cmake) keep out those
// that LibTorch doesn't use. Throws ConvertError (kBadFile) if the library or LibTorch is missing, or if the library
// has another version.
const Engine& engine(const std::vector<std::string>& torch_libraries = {});

}  // namespace nnapi_convert

// The library's one exported function. Returns null if `version` is not the library's own.
extern "C" const nnapi_convert::Engine* nnapi_convert_engine(const char* version);
