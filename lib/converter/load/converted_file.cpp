#include "lib/converter/load/converted_file.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/serialization/import.h>

#include "lib/base/error.h"
#include "lib/converter/load/archive_check.h"
#include "lib/converter/load/custom_operators.h"
#include "lib/converter/load/file_kind.h"
#include "lib/converter/load/load.h"
#include "lib/serialize/shim_source.h"
#include "lib/shim/torch_binding.h"

namespace nnapi_convert {
namespace {

bool is_for_shim(const torch::jit::Module& module) {
  const auto attribute = module.type()->findAttribute("comp");
  const auto type = attribute == nullptr ? nullptr : attribute->cast<c10::ClassType>();
  return type != nullptr && type->name() && type->name()->qualifiedName() == kShimCompilationClass;
}

BufferModel buffer_of(const torch::jit::Module& module, Runtime runtime) {
  const at::Tensor words = runtime == Runtime::kShim ? nnapi_shim::tensors_of(module.attr("comp")).words
                                                     : module.attr("ser_model").toTensor().contiguous();
  if (words.scalar_type() != at::kInt) {
    throw ConvertError(ExitCode::kBadFile, "ser_model is not an int32 tensor");
  }
  const auto read = runtime == Runtime::kShim ? read_shim_buffer : read_buffer;
  return read(words.data_ptr<int32_t>(), static_cast<size_t>(words.numel()));
}

// The modules that hold a buffer: the file's own, or the segments of a partitioned model.
std::vector<torch::jit::Module> parts_of(const torch::jit::Module& module) {
  std::vector<torch::jit::Module> parts;
  for (size_t i = 0; module.hasattr(fmt::format("segment_{}", i)); ++i) {
    parts.push_back(module.attr(fmt::format("segment_{}", i)).toModule());
  }
  if (parts.empty()) parts.push_back(module);
  return parts;
}

}  // namespace

ConvertedFile read_converted_file(const std::string& path) {
  if (check_file_kind(path, true) == FileKind::Format::kExported) {
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("can't read {}: nnapi-convert didn't write it: it is an exported program (.pt2) to "
                                   "convert",
                                   path));
  }
  declare_custom_operators();  // those of torchvision that a partitioned model leaves to the CPU
  torch::jit::ExtraFilesMap extra_files{{kMetadataFile, ""}};
  ConvertedFile file;
  try {
    check_archive(path);
    file.module = torch::jit::load(path, at::kCPU, extra_files);
  } catch (const ConvertError&) {
    throw;
  } catch (const std::exception& error) {
    const std::string missing = missing_operator(error.what());
    if (!missing.empty()) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, missing));
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: not a TorchScript archive, or a damaged one: {}",
                                                       path, first_line(error)));
  }
  const std::vector<torch::jit::Module> parts = parts_of(file.module);
  file.runtime = is_for_shim(parts[0]) ? Runtime::kShim : Runtime::kPytorch;
  const bool has_buffer = file.runtime == Runtime::kShim || parts[0].hasattr("ser_model");
  if (extra_files[kMetadataFile].empty() || !has_buffer) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: nnapi-convert didn't write it", path));
  }
  try {
    file.metadata = parse_metadata(extra_files[kMetadataFile]);
    for (const torch::jit::Module& part : parts) file.buffers.push_back(buffer_of(part, file.runtime));
  } catch (const ConvertError& error) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, error.what()));
  }
  return file;
}

}  // namespace nnapi_convert
