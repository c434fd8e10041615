// SPDX-License-Identifier: BSD-3-Clause
// The fuzzer of what reads exported programs: libFuzzer's entry points. The first byte of an input chooses what the
// others are: an archive, the JSON of a program, or a pickle. A refusal is one sentence, and nothing that is read lies
// outside.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "lib/base/error.h"
#include "lib/converter/load/archive_file.h"
#include "lib/converter/load/export_json.h"
#include "lib/converter/load/pickle.h"

namespace {

using namespace nnapi_convert;

enum Kind : uint8_t { kArchive, kJson, kPickle, kKinds };

volatile uint64_t g_read;  // so that reading is not left out

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

template <typename Read>
void refusing(const Read& read) {
  try {
    read();
  } catch (const ConvertError& error) {
    const std::string message = error.what();
    require(error.exit_code() == ExitCode::kBadFile && !message.empty() && message.find('\n') == std::string::npos,
            "one sentence for a damaged file");
  }
}

// Reads a value as programs have it in its place.
void read_value(const nlohmann::json& value) {
  refusing([&] {
    if (value.is_object()) g_read = g_read + tagged(value).kind.size() + text_member(value, "name").size();
    if (value.is_string()) g_read = g_read + text_of(value).size() + (real_of(value) > 0 ? 1 : 0);
    if (value.is_number()) g_read = g_read + static_cast<uint64_t>(integer_of(value)) + (real_of(value) > 0 ? 1 : 0);
  });
  if (!value.is_structured()) return;
  for (const auto& each : value) read_value(each);
}

void fuzz_json(std::string_view text) {
  refusing([&] { read_value(parse_export(text)); });
}

bool is_within(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

void fuzz_pickle(std::string_view bytes) {
  for (const PickledBy by : {PickledBy::kTorchScript, PickledBy::kTorchSave}) {
    refusing([&] {
      const Pickle pickle = read_pickle(bytes, by);
      require(pickle.root < pickle.values.size(), "the root is a value");
      for (const PickleValue& value : pickle.values) {
        for (const PickleId id : value.elements) require(id < pickle.values.size(), "elements are values");
        const bool is_inside = value.text.empty() || is_within(value.text, bytes) ||
                               std::any_of(pickle.joined_texts.begin(), pickle.joined_texts.end(),
                                           [&](const auto& joined) { return is_within(value.text, *joined); });
        require(is_inside, "texts are in the bytes, or joined of them");
      }
    });
  }
}

void read_records(const ArchiveFile& archive, const std::string& path, int levels) {
  refusing([&] { archive.check_records(); });
  for (const nnapi_shim::ZipRecord& record : archive.records()) {
    const auto begin = archive.data_begin(record);
    if (!begin) continue;
    require(*begin <= archive.file().bytes && record.bytes <= archive.file().bytes - *begin, "records are in the file");
    std::string bytes(static_cast<size_t>(record.bytes), '\0');
    require(nnapi_shim::read_at(archive.file(), *begin, bytes.data(), bytes.size()), "records can be read");
    if (record.name.find(".json") != std::string::npos) fuzz_json(bytes);
    if (record.name.find(".pkl") != std::string::npos) fuzz_pickle(bytes);
    if (levels > 0) {
      read_records(ArchiveFile(path, archive.file().begin + *begin, record.bytes), path, levels - 1);
    }
  }
}

void fuzz_archive(const uint8_t* data, size_t size) {
  static const int fd = ::memfd_create("archive", 0);
  require(fd >= 0 && ::ftruncate(fd, 0) == 0, "a file in memory");
  require(::pwrite(fd, data, size, 0) == static_cast<ssize_t>(size), "a file in memory");
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  read_records(ArchiveFile(path), path, 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto kind = static_cast<Kind>(data[0] % kKinds);
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (kind == kArchive) fuzz_archive(data + 1, size - 1);
  if (kind == kJson) fuzz_json(rest);
  if (kind == kPickle) fuzz_pickle(rest);
  return 0;
}
