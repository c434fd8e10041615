// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/file_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/base/begins_with.h"
#include "lib/base/error.h"
#include "lib/converter/load/archive_file.h"
#include "lib/converter/load/cut_archive.h"
#include "lib/converter/load/pickle_outline.h"
#include "lib/converter/load/save_advice.h"
#include "lib/format/buffer_format_v2.h"
#include "lib/serialize/metadata.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;
using Format = FileKind::Format;

// Limit for the bytes of a pickle that are read: enough for the names of all weights of a large net.
constexpr uint64_t kMostPickleBytes = uint64_t{256} << 10;
constexpr uint64_t kFirstBytes = 4096;

std::string save_original() {
  return "in Python, save the PyTorch model that it was made from with " + how_to_save();
}

std::string save_whole() {
  return "convert the file that the same model gives by " + how_to_save();
}

[[noreturn]] void refuse_file(const std::string& path, const std::string& reason) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, reason));
}

FileKind other(std::string found, std::string advice) {
  return {Format::kOther, std::move(found), std::move(advice)};
}

// Returns up to `most` bytes from `offset` on.
std::string bytes_at(const nnapi_shim::ZipFile& file, uint64_t offset, uint64_t most) {
  if (offset >= file.bytes) return {};
  std::string bytes(static_cast<size_t>(std::min(most, file.bytes - offset)), '\0');
  if (!nnapi_shim::read_at(file, offset, bytes.data(), bytes.size())) return {};
  return bytes;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Returns a name from a file in a form that is fit for a message.
std::string shown(const std::string& name) {
  constexpr size_t kMostShown = 60;
  std::string text = name.substr(0, kMostShown);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return name.size() > kMostShown ? text + "..." : text;
}

std::string shown(const std::vector<std::string>& names, size_t most) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + shown(names[i]);
  return names.size() > most ? text + ", ..." : text;
}

FileKind kind_of_dict(const PickleOutline& dict) {
  if (dict.tensors > 0 && dict.weights_key.empty()) {
    return other(
        fmt::format("a state_dict (weights of a model without its code: {})", shown(dict.keys, 3)),
        "in Python, build the model, call model.load_state_dict(torch.load(file)), then save it with " + how_to_save());
  }
  if (!dict.weights_key.empty()) {
    return other(fmt::format("a training checkpoint (a dict of {})", shown(dict.keys, 6)),
                 fmt::format("in Python, build the model, call model.load_state_dict(torch.load(file)[\"{}\"]), then "
                             "save it with {}",
                             shown(dict.weights_key), how_to_save()));
  }
  return other(fmt::format("a dict of {} that torch.save wrote", shown(dict.keys, 6)), save_original());
}

// Returns the kind of a file by the pickle that torch.save wrote.
FileKind kind_of_saved(const std::optional<PickleOutline>& saved) {
  if (saved && saved->kind == PickleOutline::Kind::kDict && !saved->keys.empty()) return kind_of_dict(*saved);
  if (saved && saved->kind == PickleOutline::Kind::kObject) {
    return other(fmt::format("a pickled object of class {}, as torch.save(model, path) writes it, which only Python "
                             "reads",
                             shown(saved->class_name)),
                 "in Python, model = torch.load(file), then save it with " + how_to_save());
  }
  if (saved && saved->kind == PickleOutline::Kind::kTensor)
    return other("a tensor that torch.save wrote", save_original());
  return other("what torch.save wrote, without code", save_original());
}

// The names of an archive's records, without the root folder that PyTorch gives to all of them.
class Names {
 public:
  explicit Names(const ArchiveFile& archive) : archive_(archive) {
    if (archive.records().empty()) return;
    const std::string& first = archive.records()[0].name;
    const size_t slash = first.find('/');
    if (slash == std::string::npos) return;
    root_ = first.substr(0, slash + 1);
    const auto& records = archive.records();
    const bool is_common = std::all_of(records.begin(), records.end(), [&](const nnapi_shim::ZipRecord& record) {
      return begins_with(record.name, root_);
    });
    if (!is_common) root_.clear();
  }

  const nnapi_shim::ZipRecord* find(const std::string& name) const {
    for (const nnapi_shim::ZipRecord& record : archive_.records()) {
      if (record.name.size() == root_.size() + name.size() && begins_with(record.name, root_) &&
          ends_with(record.name, name)) {
        return &record;
      }
    }
    return nullptr;
  }

  bool has(const std::string& name) const { return find(name) != nullptr; }

  bool has_folder(const std::string& folder) const {
    const std::string path = root_ + folder;
    return std::any_of(archive_.records().begin(), archive_.records().end(),
                       [&](const nnapi_shim::ZipRecord& record) { return begins_with(record.name, path); });
  }

 private:
  const ArchiveFile& archive_;
  std::string root_;
};

FileKind kind_of_torch_save(const ArchiveFile& archive, const nnapi_shim::ZipRecord& pickle) {
  std::optional<PickleOutline> outline;
  if (const auto begin = archive.data_begin(pickle)) {
    const std::string bytes = bytes_at(archive.file(), *begin, std::min(pickle.bytes, kMostPickleBytes));
    size_t position = 0;
    outline = pickle_outline(bytes, position);
  }
  return kind_of_saved(outline);
}

// Describes a zip archive that PyTorch didn't write by its first names, or by those of models in it.
FileKind kind_of_foreign_zip(const ArchiveFile& archive) {
  std::vector<std::string> names, models;
  for (const nnapi_shim::ZipRecord& record : archive.records()) {
    names.push_back(record.name);
    const std::string extension = fs::path(record.name).extension().string();
    const bool is_model = extension == ".pt" || extension == ".pth" || extension == ".ptl" || extension == ".pt2";
    if (is_model) models.push_back(record.name);
  }
  constexpr size_t kMost = 3;
  return other(fmt::format("a zip archive of {}", shown(models.empty() ? names : models, kMost)),
               models.empty() ? save_original() : "unpack it, and give the model in it");
}

FileKind kind_of_archive(const ArchiveFile& archive) {
  const Names names(archive);
  if (names.has("serialized_exported_program.json") || (names.has("archive_format") && names.has_folder("models/"))) {
    return {Format::kExported};
  }
  if (names.has("archive_format") && names.has_folder("data/aotinductor/")) {
    return other("a package of compiled code (AOTInductor)", save_original());
  }
  if (names.has("config.json") && names.has("model.weights.h5")) return other("a Keras model", save_original());
  // A file for the shim alone has no code.
  if (names.has(buffer_format_v2::kIndexRecord) && names.has(std::string("extra/") + kMetadataFile)) {
    return {Format::kConverted};
  }
  if (names.has_folder("code/") || names.has("model.json")) {
    const bool is_converted = names.has(std::string("extra/") + kMetadataFile);
    return {is_converted ? Format::kConverted : Format::kOpen};
  }
  if (names.has("bytecode.pkl")) {
    return other("a file for the lite interpreter with bytecode alone (.ptl)", save_whole());
  }
  const nnapi_shim::ZipRecord* pickle = names.find("data.pkl");
  const bool has_constants = names.has("constants.pkl");
  if (pickle != nullptr && !has_constants) return kind_of_torch_save(archive, *pickle);
  const bool is_foreign = pickle == nullptr && !has_constants && !archive.records().empty();
  return is_foreign ? kind_of_foreign_zip(archive) : FileKind();
}

// torch.save before PyTorch 1.6: pickles of a magic number, a version, facts of the system and what was saved.
constexpr std::string_view kLegacyMagic("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);

FileKind kind_of_legacy(const ArchiveFile& archive) {
  const std::string bytes = bytes_at(archive.file(), 0, kMostPickleBytes);
  size_t position = kLegacyMagic.size();
  std::optional<PickleOutline> outline;
  for (int i = 0; i < 3; ++i) {
    outline = pickle_outline(bytes, position);
    if (!outline) break;
  }
  FileKind kind = kind_of_saved(outline);
  kind.found += ", in the form of PyTorch before 1.6";
  return kind;
}

uint64_t little_endian(std::string_view bytes) {
  uint64_t result = 0;
  for (size_t i = bytes.size(); i-- > 0;) result = result << 8 | static_cast<uint8_t>(bytes[i]);
  return result;
}

std::optional<uint64_t> varint(std::string_view bytes, size_t& at) {
  uint64_t result = 0;
  for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes[at++]);
    result |= uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80) == 0) return result;
  }
  return std::nullopt;
}

// True for an ONNX file, which has no magic number. It is a protobuf message of ir_version (1), names and versions of
// the producer (2 to 6), the graph (7) and the sets of operators (8), in this order.
bool is_onnx(std::string_view bytes) {
  constexpr uint64_t kMostIrVersion = 100, kModelVersion = 5, kGraph = 7, kOperatorSets = 8;
  size_t at = 0;
  for (uint64_t last = 0; at < bytes.size();) {
    const auto tag = varint(bytes, at);
    if (!tag) return false;
    const uint64_t field = *tag >> 3, wire = *tag & 7;
    const bool is_number = field == 1 || field == kModelVersion;
    if (field <= last || wire != (is_number ? 0 : 2) || (last == 0) != (field == 1)) return false;
    const auto number = varint(bytes, at);
    if (!number || (field == 1 && (*number == 0 || *number > kMostIrVersion))) return false;
    if (field == kGraph || field == kOperatorSets) return true;
    last = field;
    if (is_number) continue;
    if (*number > bytes.size() - at) return false;
    at += static_cast<size_t>(*number);
  }
  return false;
}

bool is_safetensors(std::string_view first, uint64_t file_bytes) {
  if (first.size() < 9 || first[8] != '{') return false;
  const uint64_t header = little_endian(first.substr(0, 8));
  return header >= 2 && header <= file_bytes - 8;
}

struct Signature {
  size_t offset;
  std::string_view bytes;
  const char* found;
  const char* advice = "";  // empty: save_original()
};

constexpr const char* kUnpackTar = "unpack it with tar -xf, and give the model in it";
constexpr const char* kDownloadAgain = "download the model itself: this page stands in its place";
constexpr size_t kTarMagic = 257;  // where the magic of a tar archive stands

constexpr Signature kSignatures[] = {
    {4, "TFL3", "a TensorFlow Lite model (.tflite)"},
    {0, std::string_view("\x89HDF\r\n\x1a\n", 8), "an HDF5 file, as Keras writes it"},
    {4, "ET12", "an ExecuTorch program (.pte)"},
    {0, "GGUF", "a GGUF file"},
    {0, "version https://git-lfs.github.com/spec/", "a pointer of Git LFS, which stands for the model",
     "fetch the model with `git lfs pull`"},
    {0, std::string_view("\x1f\x8b\x08", 3), "packed by gzip", "unpack it with gunzip"},
    {0,
     std::string_view("\xfd"
                      "7zXZ\0",
                      6),
     "packed by xz", "unpack it with unxz"},
    {0, "BZh", "packed by bzip2", "unpack it with bunzip2"},
    {0, std::string_view("\x28\xb5\x2f\xfd", 4), "packed by zstd", "unpack it with unzstd"},
    {0, std::string_view("7z\xbc\xaf\x27\x1c", 6), "a 7z archive", "unpack it with 7z x, and give the model in it"},
    {0, "Rar!", "a RAR archive", "unpack it, and give the model in it"},
    {kTarMagic, "ustar", "a tar archive", kUnpackTar},
    {0, "<!DOCTYPE html", "a web page", kDownloadAgain},
    {0, "<!doctype html", "a web page", kDownloadAgain},
    {0, "<html", "a web page", kDownloadAgain},
};

FileKind kind_of_bytes(const ArchiveFile& archive) {
  const std::string first = bytes_at(archive.file(), 0, kFirstBytes);
  const std::string_view bytes(first);
  for (const Signature& signature : kSignatures) {
    if (bytes.size() > signature.offset && begins_with(bytes.substr(signature.offset), signature.bytes)) {
      const std::string advice = signature.advice;
      return other(signature.found, advice.empty() ? save_original() : advice);
    }
  }
  if (bytes.size() > 8 && bytes.substr(4, 4) == "PTMF") {
    return other("a file for the lite interpreter in FlatBuffers' form (.ptl)", save_whole());
  }
  if (begins_with(bytes, kLegacyMagic)) return kind_of_legacy(archive);
  if (is_safetensors(bytes, archive.file().bytes)) {
    return other("a safetensors file (weights of a model without its code)",
                 "in Python, build the model, load these weights, then save it with " + how_to_save());
  }
  if (is_onnx(bytes)) return other("an ONNX model", save_original());
  if (bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5) {
    return other("a pickle, which only Python reads", save_original());
  }
  return {};
}

bool is_zip(const ArchiveFile& archive) {
  return bytes_at(archive.file(), 0, 4) == "PK\x03\x04";
}

void check_can_be_read(const std::string& path, const ArchiveFile& archive) {
  std::error_code error;
  if (!fs::exists(path, error)) refuse_file(path, "no such file");
  if (fs::is_directory(path, error)) refuse_file(path, "it is a folder; a TorchScript file is needed");
  if (!fs::is_regular_file(path, error))
    refuse_file(path, "it is a pipe or a device; a file is needed, whose weights are mapped");
  if (archive.file().fd < 0 || bytes_at(archive.file(), 0, 4).size() < 4) {
    refuse_file(path, "it is shorter than 4 bytes, or not readable");
  }
}

FileKind kind_of(const ArchiveFile& archive) {
  return is_zip(archive) ? kind_of_archive(archive) : kind_of_bytes(archive);
}

}  // namespace

FileKind kind_of_file(const std::string& path) {
  return kind_of(ArchiveFile(path));
}

FileKind::Format check_file_kind(const std::string& path, bool may_be_converted) {
  const ArchiveFile archive(path);
  check_can_be_read(path, archive);
  if (is_zip(archive) && archive.records().empty()) {
    refuse_file(path, fmt::format("{}; copy or download it again", what_is_left(archive.file())));
  }
  const FileKind kind = kind_of(archive);
  if (kind.format == Format::kOther) {
    refuse_file(path, fmt::format("it is {}, not a TorchScript archive; {}", kind.found, kind.advice));
  }
  if (kind.format == Format::kConverted && !may_be_converted) {
    refuse_file(
        path,
        "nnapi-convert wrote it: it runs on NNAPI already; give the model that it was converted from, or see what it "
        "holds with `nnapi-convert inspect`");
  }
  if (!is_zip(archive)) {
    refuse_file(path, "not a zip archive; save the model with " + how_to_save());
  }
  return kind.format;
}

}  // namespace nnapi_convert
