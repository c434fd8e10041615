// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/module_records.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <torch/csrc/jit/serialization/export.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "lib/base/error.h"
#include "lib/base/output_file.h"
#include "lib/base/unnamed_file.h"

namespace nnapi_convert {
namespace {

[[noreturn]] void fail(const std::string& reason) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("can't write a temporary file: {}", reason));
}

}  // namespace

ModuleRecords::ModuleRecords(const torch::jit::Module& module, bool is_lite, const std::vector<FolderFile>& files,
                             const std::filesystem::path& folder) {
  file_.fd = open_unnamed(folder);
  if (file_.fd < 0) fail(std::strerror(errno));
  OutputFile output(::dup(file_.fd));
  caffe2::serialize::PyTorchStreamWriter writer([&](const void* data, size_t size) {
    output.append(data, size);
    file_.bytes += size;
    return size;
  });
  torch::jit::ScriptModuleSerializer(writer).serialize(module, {}, is_lite, false);
  for (const FolderFile& file : files) writer.writeRecord(file.name, file.text.data(), file.text.size(), true);
  writer.writeEndOfFile();
  const std::string reason = output.finish();
  if (!reason.empty()) fail(reason);
  read_directory();
}

ModuleRecords::OwnFile::~OwnFile() {
  if (fd >= 0) ::close(fd);
}

void ModuleRecords::read_directory() {
  std::vector<nnapi_shim::ZipRecord> directory;
  nnapi_shim_error error;
  if (nnapi_shim::read_zip_directory(file_, &directory, &error) != NNAPI_SHIM_OK) fail(error.message);
  for (const nnapi_shim::ZipRecord& record : directory) {
    constexpr uint64_t kHeaderBytes = 30, kLengths = 26;  // the lengths of the name and of the extra fields
    uint8_t lengths[4];
    if (!nnapi_shim::read_at(file_, record.offset + kLengths, lengths, sizeof lengths)) fail(std::strerror(errno));
    const uint64_t begin =
        record.offset + kHeaderBytes + (lengths[0] | lengths[1] << 8) + (lengths[2] | lengths[3] << 8);
    records_.push_back({record.name.substr(record.name.find('/') + 1),
                        {record.bytes, record.stored_bytes, record.checksum, record.method},
                        begin});
  }
}

std::string ModuleRecords::content(const Record& record) const {
  std::string stored;
  write(record, [&](const void* data, size_t size) { stored.append(static_cast<const char*>(data), size); });
  if (record.content.method == 0) return stored;
  std::string bytes(record.content.bytes, '\0');
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  const auto status = libdeflate_deflate_decompress(decompressor.get(), stored.data(), stored.size(), bytes.data(),
                                                    bytes.size(), nullptr);
  NNC_ASSERT(status == LIBDEFLATE_SUCCESS, "a record that PyTorch wrote can't be inflated");
  return bytes;
}

void ModuleRecords::write(const Record& record, const nnapi::ByteSink& sink) const {
  constexpr uint64_t kPieceBytes = uint64_t{1} << 18;
  std::vector<uint8_t> piece(std::min(record.content.stored_bytes, kPieceBytes));
  for (uint64_t done = 0; done < record.content.stored_bytes; done += piece.size()) {
    piece.resize(std::min(record.content.stored_bytes - done, kPieceBytes));
    if (!nnapi_shim::read_at(file_, record.begin + done, piece.data(), piece.size())) fail(std::strerror(errno));
    sink(piece.data(), piece.size());
  }
}

}  // namespace nnapi_convert
