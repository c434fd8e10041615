// Reads a file that nnapi-convert wrote.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>

#include "lib/converter/options/options.h"
#include "lib/serialize/buffer_reader.h"
#include "lib/serialize/metadata.h"

namespace nnapi_convert {

struct ConvertedFile {
  torch::jit::Module module;
  Metadata metadata;
  std::vector<BufferModel> buffers;  // one for each segment
  Runtime runtime = Runtime::kPytorch;
  bool is_partitioned() const { return module.hasattr("segment_0"); }
};

// Throws ConvertError (kBadFile) for a file that can't be read, that nnapi-convert didn't write, or whose buffer is
// damaged.
ConvertedFile read_converted_file(const std::string& path);

}  // namespace nnapi_convert
