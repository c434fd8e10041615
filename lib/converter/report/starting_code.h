// SPDX-License-Identifier: BSD-3-Clause
// Writes code that a user begins with: it runs one converted file, with the file's names, sizes and pictures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/serialize/metadata.h"
#include "lib/types/calibration_options.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// The kind of a method's result, as far as the file tells.
enum class GivenResult { kOther, kTensor, kFloatTensor };

struct CodedMethod {
  std::string name;  // "forward"
  std::vector<MetadataInput> inputs;
  bool takes_tensors_only = true;  // no lists, dicts, numbers, and nothing optional
  GivenResult result = GivenResult::kOther;
};

// The facts about a converted file that the code uses.
struct CodedFile {
  Runtime runtime = Runtime::kPytorch;
  std::vector<CodedMethod> methods;  // at least one
  bool knows_pictures = false;       // the shim prepares them
  std::string pictures;              // how the pictures are prepared, in words; empty where it isn't known
  size_t labels = 0;
};

// Reads a file that nnapi-convert wrote for NNAPI. Throws ConvertError (kBadFile) for other files.
CodedFile coded_file(const std::string& path);

// The paths by which a script finds the files, relative to its own folder. A library without a slash in its name is one
// that the system's loader looks for.
struct CodedPaths {
  std::string original, converted;
  std::vector<std::string> torch_libraries;
};

// Returns a script that compares the file with its original on this machine, by the Python module nnapi_convert, and
// prints what both give. `file` is nothing for a LiteRT file.
std::string python_code(const std::optional<CodedFile>& file, const CodedPaths& paths, const std::string& version);

// Returns a class that runs the file in an app; `name` is that of the file among the app's assets.
std::string kotlin_code(const CodedFile& file, const std::string& name, const std::string& version);

}  // namespace nnapi_convert
