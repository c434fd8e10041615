#include "lib/serialize/archive_writer.h"

#include <fmt/format.h>
#include <torch/csrc/jit/serialization/export.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "lib/base/error.h"
#include "lib/format/buffer_format_v2.h"
#include "lib/serialize/metadata.h"

namespace nnapi_convert {
namespace {

using Writer = caffe2::serialize::PyTorchStreamWriter;

// `path` is a temporary one, of which callers know the file name only. The system's reason says more than LibTorch's.
[[noreturn]] void fail_to_write(const std::string& path, const std::string& reason) {
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string text = errno != 0 ? std::strerror(errno) : reason.substr(0, reason.find('\n'));
  throw ConvertError(ExitCode::kBadFile, fmt::format("can't write {}: {}", name, text));
}

// True if the file ends in a zip archive's end record (22 bytes, beginning with "PK\5\6").
bool ends_like_archive(const std::string& path) {
  constexpr std::streamoff kEndRecordBytes = 22;
  std::ifstream stream(path, std::ios::binary);
  std::array<char, 4> signature{};
  stream.seekg(-kEndRecordBytes, std::ios::end);
  return stream.read(signature.data(), signature.size()) && std::string_view(signature.data(), 4) == "PK\x05\x06";
}

// Where records lie in an archive, as PyTorch's writer puts them one after the other.
class RecordPositions {
 public:
  explicit RecordPositions(const std::string& root) : root_bytes_(root.size() + 1) {}

  void add(const std::string& name, size_t size) { end_ = data_begin(name) + size + kDescriptorBytes; }
  // Of the next record's content.
  uint64_t data_begin(const std::string& name) const { return aligned(header_end(name), kRecordAlignment); }
  // The size of a record `padding` that puts the content of `next`, right after it, on a multiple of `alignment`.
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

// The compilation comes first in a module's state, and in the compilation's state its weights.
constexpr const char* kWeightsRecord = "data/0";
constexpr const char* kWordsRecord = "data/1";
constexpr const char* kPaddingRecord = "extra/nnapi_shim.padding";

// Written before all others: the positions of the records that follow depend on them alone.
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

// Compressed, and after all others, so that nothing that is mapped moves.
void write_shim_source(Writer& writer, const ArchiveExtras& extras) {
  for (const FolderFile& file : extras.shim_source) {
    writer.writeRecord(kShimSourceFolder + file.name, file.text.data(), file.text.size(), true);
  }
}

}  // namespace

void write_module(const torch::jit::Module& module, const std::string& path, const ArchiveExtras& extras) {
  const bool is_lite = std::filesystem::path(path).extension() == ".ptl";
  errno = 0;
  auto writer = std::make_unique<Writer>(path);
  try {
    write_extras(*writer, std::filesystem::path(path).stem().string(), extras);
    torch::jit::ScriptModuleSerializer(*writer).serialize(module, {}, is_lite, false);
    write_shim_source(*writer, extras);
    writer->writeEndOfFile();
  } catch (const std::exception& error) {
    // The writer's destructor would try to finish the archive, fail again, and end the process: leave it.
    static_cast<void>(writer.release());
    fail_to_write(path, error.what());
  }
  writer.reset();
  // LibTorch writes the last bytes without checking.
  if (!ends_like_archive(path)) fail_to_write(path, "it ends early; is the disk full?");
}

}  // namespace nnapi_convert
