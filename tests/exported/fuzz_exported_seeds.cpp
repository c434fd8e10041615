// SPDX-License-Identifier: BSD-3-Clause
// Writes inputs from which the fuzzer of exported programs starts, from archives: fuzz_exported_seeds FOLDER ARCHIVE...
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "lib/converter/load/archive_file.h"

namespace {

using nnapi_convert::ArchiveFile;

// The first bytes of inputs, as fuzz_exported.cpp tells them apart.
constexpr char kArchive = 0, kJson = 1, kPickle = 2;
constexpr size_t kLongest = 40000;  // a longer input takes more time than it finds

class Seeds {
 public:
  explicit Seeds(const std::filesystem::path& folder) : folder_(folder) {}

  void add(char kind, const std::string& bytes) {
    if (bytes.size() >= kLongest) return;
    std::ofstream file(folder_ / std::to_string(count_++), std::ios::binary);
    file.put(kind);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  void add_records(const ArchiveFile& archive, const std::string& path) {
    for (const nnapi_shim::ZipRecord& record : archive.records()) {
      const auto begin = archive.data_begin(record);
      if (!begin) continue;
      std::string bytes(static_cast<size_t>(record.bytes), '\0');
      if (!nnapi_shim::read_at(archive.file(), *begin, bytes.data(), bytes.size())) continue;
      if (record.name.find(".json") != std::string::npos) add(kJson, bytes);
      if (record.name.find(".pkl") != std::string::npos) add(kPickle, bytes);
      const ArchiveFile inner(path, archive.file().begin + *begin, record.bytes);
      if (!inner.records().empty()) add_records(inner, path);
    }
  }

 private:
  std::filesystem::path folder_;
  size_t count_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "fuzz_exported_seeds FOLDER ARCHIVE...\n");
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  Seeds seeds(argv[1]);
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    seeds.add(kArchive, {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
    seeds.add_records(ArchiveFile(argv[i]), argv[i]);
  }
  return 0;
}
