#include "lib/serialize/archive_writer.h"

#include <fmt/format.h>
#include <torch/csrc/jit/serialization/export.h>

#include <exception>
#include <filesystem>

#include "lib/base/error.h"
#include "lib/base/output_file.h"
#include "lib/format/buffer_format_v2.h"
#include "lib/serialize/archive_stream.h"
#include "lib/serialize/metadata.h"

namespace nnapi_convert {
namespace {

using Writer = caffe2::serialize::PyTorchStreamWriter;

// Lets PyTorch's writer use a function and another root folder than "archive". Without this, a writer with a function
// always uses "archive"; a writer with a path ignores errors of the last bytes.
std::string& root_of(Writer& writer);
template <std::string Writer::*kRoot>
struct RootOf {
  friend std::string& root_of(Writer& writer) { return writer.*kRoot; }
};
template struct RootOf<&Writer::archive_name_plus_slash_>;

// Computes the positions of records that PyTorch's writer puts one after the other.
class RecordPositions {
 public:
  explicit RecordPositions(const std::string& root) : root_bytes_(root.size() + 1) {}

  void add(const std::string& name, size_t size) { end_ = data_begin(name) + size + kDescriptorBytes; }
  // Returns the offset of the next record's content.
  uint64_t data_begin(const std::string& name) const { return aligned(header_end(name), kRecordAlignment); }
  // Returns the size that a record `padding` needs so that the content of the next record is at a multiple of
  // `alignment`.
  size_t padding_size(const std::string& padding, const std::string& next, uint64_t alignment) const {
    RecordPositions with_empty = *this;
    with_empty.add(padding, 0);
    const uint64_t least = with_empty.header_end(next);
    return aligned(least, alignment) - least;
  }

 private:
  static constexpr uint64_t kHeaderBytes = 30, kExtraFieldBytes = 4, kDescriptorBytes = 16, kRecordAlignment = 64;

  static uint64_t aligned(uint64_t position, uint64_t alignment) {
    return (position + alignment - 1) / alignment * alignment;
  }
  uint64_t header_end(const std::string& name) const {
    return end_ + kHeaderBytes + root_bytes_ + name.size() + kExtraFieldBytes;
  }

  size_t root_bytes_;
  uint64_t end_ = 0;
};

// A module's state begins with the compilation, whose state begins with the weights.
constexpr const char* kWeightsRecord = "data/0";
constexpr const char* kWordsRecord = "data/1";
constexpr const char* kPaddingRecord = "extra/nnapi_shim.padding";

// Writes the extra records before all other records, so that only they decide the positions of the next records.
void write_extras(Writer& writer, const std::string& root, const ArchiveExtras& extras) {
  RecordPositions positions(root);
  const auto write = [&](const std::string& name, const std::string& content) {
    writer.writeRecord(name, content.data(), content.size());
    positions.add(name, content.size());
  };
  if (!extras.metadata.empty()) write(std::string("extra/") + kMetadataFile, extras.metadata);
  if (!extras.has_shim_index) return;
  write(buffer_format_v2::kIndexRecord, fmt::format("{}\n{}\n", kWordsRecord, kWeightsRecord));
  write(kPaddingRecord,
        std::string(positions.padding_size(kPaddingRecord, kWeightsRecord, buffer_format_v2::kPageAlignment), '\0'));
}

// Writes the shim's sources compressed, after all other records, so that mapped records do not move.
void write_shim_source(Writer& writer, const ArchiveExtras& extras) {
  for (const FolderFile& file : extras.shim_source) {
    writer.writeRecord(kShimSourceFolder + file.name, file.text.data(), file.text.size(), true);
  }
}

void write(const torch::jit::Module& module, DeferredTensors& late, bool releases, const std::string& path,
           const ArchiveExtras& extras) {
  const bool is_lite = std::filesystem::path(path).extension() == ".ptl";
  const std::string root = std::filesystem::path(path).stem().string();
  OutputFile file(path);
  ArchiveStream stream(file, late, releases);
  // The function hides errors from PyTorch's writer, which would end the process.
  std::exception_ptr failure;
  Writer writer([&](const void* data, size_t size) {
    try {
      if (!failure) stream.append(data, size);
    } catch (...) {
      failure = std::current_exception();
    }
    return size;
  });
  root_of(writer) = root + '/';
  write_extras(writer, root, extras);
  torch::jit::ScriptModuleSerializer(writer).serialize(module, {}, is_lite, false);
  write_shim_source(writer, extras);
  stream.begin_end();
  writer.writeEndOfFile();
  if (failure) std::rethrow_exception(failure);
  NNC_ASSERT(stream.late_records() >= late.size(), "the module has copies of late tensors, which are zeros");
  const std::string reason = file.finish();
  if (reason.empty()) return;
  // The path is temporary: callers know only the file name.
  const std::string name = std::filesystem::path(path).filename().string();
  throw ConvertError(ExitCode::kBadFile, fmt::format("can't write {}: {}", name, reason));
}

}  // namespace

void write_module(const torch::jit::Module& module, DeferredTensors& late, const std::string& path,
                  const ArchiveExtras& extras) {
  write(module, late, false, path, extras);
}

void write_and_release_module(const torch::jit::Module& module, DeferredTensors& late, const std::string& path,
                              const ArchiveExtras& extras) {
  write(module, late, true, path, extras);
}

}  // namespace nnapi_convert
