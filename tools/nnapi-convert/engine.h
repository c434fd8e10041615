// What needs LibTorch: libnnapi_convert_engine.so, which the program loads once it has read its command line. Help and
// wrong command lines are answered without it.
#pragma once

#include <string>
#include <vector>

#include "lib/base/folder.h"
#include "tools/nnapi-convert/requests.h"

namespace nnapi_convert {

// The functions throw ConvertError. Those that give a number print, and the number is the exit code.
struct Engine {
  int (*convert)(const ConvertArguments& arguments);
  int (*check)(const CheckArguments& arguments);
  int (*verify)(const VerifyArguments& arguments);
  // What a converted file holds, in one of the formats of `inspect`.
  std::string (*inspect)(const std::string& path, const std::string& format);
  // The operations that can be lowered, in one of the formats of `ops`.
  std::string (*list_operations)(const std::string& format);
  // The shim's sources that a converted file carries.
  std::vector<FolderFile> (*read_shim_source)(const std::string& path);
  // LibTorch then computes on the calling thread alone, in this process and in those forked from it.
  void (*use_one_thread)();
};

// Where the library lies: in the build folder, or in the installation of the running program.
std::string engine_path();

// Loads the library at the first call. Throws ConvertError (kBadFile) where it or LibTorch is missing, or where it is
// of another version.
const Engine& engine();

}  // namespace nnapi_convert

// The library's one exported function; null for another version than its own.
extern "C" const nnapi_convert::Engine* nnapi_convert_engine(const char* version);
