// Writes inputs from which the fuzzer of the shim's buffers starts: fuzz_buffer_seeds FOLDER SAMPLES, where SAMPLES is
// testdata/buffers.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/shim/buffer_maker.h"
#include "tests/shim/zip_maker.h"

namespace {

using namespace nnapi_shim::testing;
using Bytes = std::vector<uint8_t>;

// The first bytes of inputs, as fuzz_buffer.cpp tells them apart.
constexpr uint8_t kVersion2 = 0, kVersion1 = 1, kArchive = 2;

void write(const std::filesystem::path& folder, const char* name, uint8_t kind, const Bytes& bytes) {
  std::ofstream file(folder / name, std::ios::binary);
  file.put(static_cast<char>(kind));
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

Bytes archive_of(const MadeBuffer& made, bool is_64) {
  const std::string index = "data/1\ndata/0\n";
  std::vector<ZipEntry> entries = {{"n/data/0", made.weights, 64},
                                   {"n/data/1", bytes_of(made.words)},
                                   {"n/extra/nnapi_shim.index", Bytes(index.begin(), index.end())}};
  ZipOptions options;
  options.end_64 = is_64;
  for (ZipEntry& entry : entries) entry.is_64 = is_64;
  return make_zip(entries, options);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "fuzz_buffer_seeds FOLDER SAMPLES\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  Description stripped = full_net();
  stripped.stripped = true;
  write(folder, "add", kVersion2, bytes_of(make_buffer(add_net()).words));
  write(folder, "full", kVersion2, bytes_of(make_buffer(full_net()).words));
  write(folder, "stripped", kVersion2, bytes_of(make_buffer(stripped).words));
  write(folder, "archive", kArchive, archive_of(make_buffer(add_net()), false));
  write(folder, "archive_64", kArchive, archive_of(make_buffer(full_net()), true));
  std::ifstream sample(std::filesystem::path(argv[2]) / "v1_small_net.bin", std::ios::binary);
  write(folder, "version_1", kVersion1, Bytes(std::istreambuf_iterator<char>(sample), {}));
  return 0;
}
