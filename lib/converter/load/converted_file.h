// SPDX-License-Identifier: BSD-3-Clause
// Reads a file that nnapi-convert wrote.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

#include "lib/serialize/buffer_reader.h"
#include "lib/serialize/metadata.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// A model of a package: its part of the weights, which other models may share, and its buffer.
struct ConvertedVariant {
  uint64_t weight_begin = 0, weight_bytes = 0;
  BufferModel buffer;
};

struct ConvertedFile {
  torch::jit::Module module;  // nothing to run without has_module
  bool has_module = true;     // false: written with --no-torchscript, for the shim alone
  Metadata metadata;
  std::vector<BufferModel> buffers;        // one for each segment; of a package, that of the first model
  std::vector<ConvertedVariant> variants;  // of a package, in the order of Metadata::variants
  uint64_t weight_bytes = 0;               // of a package
  Runtime runtime = Runtime::kPytorch;
  bool is_partitioned = false;  // NNAPI runs segments, and not forward as a whole
};

// Returns the names of a file's methods; none for other files, and for files that can't be read. Loads no module.
std::vector<std::string> converted_method_names(const std::string& path);

// Returns the methods of a file of several methods, each with the module that is its forward; of other files one
// without a name. Throws ConvertError (kBadFile) for a file that can't be read, that nnapi-convert didn't write, or
// whose buffer is damaged.
std::vector<ConvertedFile> read_converted_methods(const std::string& path);

// Returns the method of this name, or a file of one method if the name is empty. Throws ConvertError as
// read_converted_methods(), and kUsage for a method that the file lacks.
ConvertedFile read_converted_file(const std::string& path, const std::string& method = "");

// Returns the attribute of a file's module that holds a method's module.
std::string method_attribute(const std::string& method);

// Gives a file that was read the metadata and the buffer of one model of its package.
void select_variant(ConvertedFile& file, size_t number);
// Lets a package's module, which must not have run, run no other model. `number` counts from 1 on.
void use_variant(torch::jit::Module& module, size_t number);

}  // namespace nnapi_convert
