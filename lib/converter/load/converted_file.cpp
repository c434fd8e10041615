// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/converted_file.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <optional>

#include "lib/base/error.h"
#include "lib/converter/graph/read_problem.h"
#include "lib/converter/graph/silenced_warnings.h"
#include "lib/converter/load/archive_check.h"
#include "lib/converter/load/custom_operators.h"
#include "lib/converter/load/file_kind.h"
#include "lib/converter/load/load.h"
#include "lib/converter/load/module_reader.h"
#include "lib/format/buffer_format_v2.h"
#include "lib/serialize/shim_source.h"
#include "lib/shim/archive.h"
#include "lib/shim/package_index.h"
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

// Reads the models of a package from its words. Words of anything else give none.
void read_variants(ConvertedFile& file, const std::vector<int32_t>& words, uint64_t weight_bytes) {
  if (!nnapi_shim::is_package(words.data(), words.size())) return;
  std::vector<nnapi_shim::PackageEntry> entries;
  nnapi_shim_error error{};
  if (!nnapi_shim::read_package(words, weight_bytes, &entries, &error)) {
    throw ConvertError(ExitCode::kBadFile, error.message);
  }
  if (entries.size() != file.metadata.variants.size()) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("the package has {} models, {} are described", entries.size(),
                                                       file.metadata.variants.size()));
  }
  file.weight_bytes = weight_bytes;
  for (const nnapi_shim::PackageEntry& entry : entries) {
    file.variants.push_back(
        {entry.weight_begin, entry.weight_bytes, read_shim_buffer(words.data() + entry.first_word, entry.word_count)});
  }
  file.buffers.push_back(file.variants[0].buffer);
}

void read_variants_of_module(ConvertedFile& file) {
  if (file.runtime != Runtime::kShim || file.is_partitioned) return;
  const nnapi_shim::CompilationTensors tensors = nnapi_shim::tensors_of(file.module.attr("comp"));
  const int32_t* first = tensors.words.data_ptr<int32_t>();
  if (!nnapi_shim::is_package(first, static_cast<size_t>(tensors.words.numel()))) return;
  read_variants(file, {first, first + tensors.words.numel()}, tensors.weights.nbytes());
}

// Returns the modules that hold a buffer: the file's own, or the segments of a partitioned model.
std::vector<torch::jit::Module> parts_of(const torch::jit::Module& module) {
  std::vector<torch::jit::Module> parts;
  for (size_t i = 0; module.hasattr(fmt::format("segment_{}", i)); ++i) {
    parts.push_back(module.attr(fmt::format("segment_{}", i)).toModule());
  }
  if (parts.empty()) parts.push_back(module);
  return parts;
}

// A file's module and its metadata.
struct Archive {
  std::optional<torch::jit::Module> module;  // nothing if the file is for the shim alone
  std::string metadata;
};

// Returns the metadata's text; empty if the archive has none.
std::string metadata_of(ModelArchive& archive) {
  const std::string record = std::string("extra/") + kMetadataFile;
  return archive.has(record) ? *archive.content(record) : "";
}

Archive read_archive(const std::string& path) {
  try {
    ModelArchive archive(path);
    check_archive(archive, WeightReading::kChecked);
    if (!archive.has("data.pkl") && archive.has(buffer_format_v2::kIndexRecord)) {
      return {std::nullopt, metadata_of(archive)};
    }
    return {read_module(archive), metadata_of(archive)};
  } catch (const ConvertError&) {
    throw;
  } catch (const std::exception& error) {
    const std::string missing = missing_operator(error.what());
    if (!missing.empty()) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, missing));
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, read_problem(error)));
  }
}

[[noreturn]] void fail_not_ours(const std::string& path) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {0}: nnapi-convert didn't write it; of an "
                                                     "original, nnapi-convert check {0} says whether it converts",
                                                     path));
}

torch::jit::Module module_of(const torch::jit::Module& module, const Metadata& metadata, const std::string& path) {
  if (metadata.method.empty()) return module;
  const std::string attribute = method_attribute(metadata.method);
  if (!module.hasattr(attribute) || !module.attr(attribute).isModule()) fail_not_ours(path);
  return module.attr(attribute).toModule();
}

// Reads a file without a module by the shim's records, which tell all of it.
ConvertedFile file_of_shim(Metadata metadata, const std::string& path) {
  nnapi_shim::Archive archive;
  nnapi_shim_error error{};
  if (archive.open(path.c_str(), &error) != NNAPI_SHIM_OK) throw ConvertError(ExitCode::kBadFile, error.message);
  ConvertedFile file;
  file.has_module = false;
  file.metadata = std::move(metadata);
  file.runtime = Runtime::kShim;
  file.is_partitioned = archive.has_steps() || archive.parts().size() > 1;
  const std::vector<nnapi_shim::ArchivePart>& parts = archive.parts();
  if (!file.is_partitioned) read_variants(file, parts[0].words, parts[0].weights.bytes);
  if (!file.variants.empty()) return file;
  for (const nnapi_shim::ArchivePart& part : parts) {
    file.buffers.push_back(read_shim_buffer(part.words.data(), part.words.size()));
  }
  return file;
}

ConvertedFile converted_file(const torch::jit::Module& module, Metadata metadata, const std::string& path) {
  ConvertedFile file;
  file.module = module_of(module, metadata, path);
  file.metadata = std::move(metadata);
  const std::vector<torch::jit::Module> parts = parts_of(file.module);
  file.runtime = is_for_shim(parts[0]) ? Runtime::kShim : Runtime::kPytorch;
  const bool has_buffer = file.runtime == Runtime::kShim || parts[0].hasattr("ser_model");
  if (!has_buffer) fail_not_ours(path);
  file.is_partitioned = file.module.hasattr("segment_0");
  read_variants_of_module(file);
  if (!file.variants.empty()) return file;
  for (const torch::jit::Module& part : parts) file.buffers.push_back(buffer_of(part, file.runtime));
  return file;
}

}  // namespace

std::string method_attribute(const std::string& method) {
  return "nnapi_method_" + method;
}

std::vector<std::string> converted_method_names(const std::string& path) {
  std::vector<std::string> names;
  try {
    ModelArchive archive(path);
    check_archive(archive, WeightReading::kIgnored);
    const std::string metadata = metadata_of(archive);
    if (metadata.empty()) return names;
    for (const Metadata& method : parse_methods_metadata(metadata)) {
      if (!method.method.empty()) names.push_back(method.method);
    }
  } catch (const std::exception&) {  // the caller that reads the file says what is wrong with it
    return {};
  }
  return names;
}

std::vector<ConvertedFile> read_converted_methods(const std::string& path) {
  if (check_file_kind(path, true) == FileKind::Format::kExported) {
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("can't read {}: nnapi-convert didn't write it: it is an exported program (.pt2) to "
                                   "convert",
                                   path));
  }
  declare_custom_operators();  // those of torchvision that a partitioned model leaves to the CPU
  const Archive archive = read_archive(path);
  if (archive.metadata.empty()) fail_not_ours(path);
  std::vector<ConvertedFile> files;
  try {
    for (Metadata& method : parse_methods_metadata(archive.metadata)) {
      files.push_back(archive.module ? converted_file(*archive.module, std::move(method), path)
                                     : file_of_shim(std::move(method), path));
    }
  } catch (const ConvertError& error) {
    const std::string message = error.what(), prefix = "can't read " + path;
    if (message.rfind(prefix, 0) == 0) throw;
    throw ConvertError(ExitCode::kBadFile, fmt::format("{}: {}", prefix, message));
  }
  return files;
}

ConvertedFile read_converted_file(const std::string& path, const std::string& method) {
  silence_warnings();
  std::string methods;
  for (ConvertedFile& file : read_converted_methods(path)) {
    if (file.metadata.method == method) return std::move(file);
    if (!file.metadata.method.empty()) methods += (methods.empty() ? "" : ", ") + file.metadata.method;
  }
  if (methods.empty()) {
    throw ConvertError(ExitCode::kUsage, fmt::format("--method {}: {} was converted without --method", method, path));
  }
  throw ConvertError(ExitCode::kUsage,
                     method.empty()
                         ? fmt::format("{} has several methods; give --method with one of: {}", path, methods)
                         : fmt::format("--method {}: {} has the methods {}", method, path, methods));
}

void select_variant(ConvertedFile& file, size_t number) {
  const MetadataVariant& variant = file.metadata.variants.at(number);
  file.metadata.quant = variant.quant;
  file.metadata.feature_level = variant.feature_level;
  file.metadata.options = variant.options;
  for (size_t i = 0; i < file.metadata.inputs.size() && i < variant.sizes.size(); ++i) {
    file.metadata.inputs[i].type.dims = variant.sizes[i];
  }
  file.buffers = {file.variants.at(number).buffer};
}

void use_variant(torch::jit::Module& module, size_t number) {
  c10::Dict<std::string, std::string> options;
  options.insert("variant", std::to_string(number));
  module.run_method("nnapi_configure", options);
}

}  // namespace nnapi_convert
