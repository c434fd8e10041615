// SPDX-License-Identifier: BSD-3-Clause
// Damaged files by the hundred, in one process: loading and converting gives a result or a ConvertError, nothing else,
// and leaves the process alive.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "lib/base/error.h"
#include "lib/converter/convert.h"
#include "lib/converter/load/converted_file.h"
#include "tests/temporary_folder.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;

// A file in a folder of its own.
class ScratchFile {
 public:
  std::string path() const { return folder_.file("model.pt"); }
  void write(const std::string& bytes) const {
    std::ofstream stream(path(), std::ios::binary | std::ios::trunc);
    stream << bytes;
    REQUIRE(stream.flush().good());
  }

 private:
  test::TemporaryFolder folder_;
};

std::string read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  REQUIRE(stream.good());
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string fixture(const char* name) {
  return read(std::string(NNAPI_CONVERT_FIXTURES) + "/" + name);
}

ConvertOptions options() {
  ConvertOptions options;
  options.layout.nhwc = true;
  options.layout.is_explicit = true;
  options.inputs = {InputSpec{"", {1, 3, 16, 16}, std::nullopt, std::nullopt}};
  return options;
}

// The exit code that the command would give.
ExitCode convert_file(const std::string& path) {
  Diagnostics diagnostics;
  try {
    const LoadedModel loaded = load_model(path, diagnostics);
    convert(loaded, options(), diagnostics);
    return ExitCode::kDone;
  } catch (const ConvertError& error) {
    CHECK(std::string(error.what()).find('\0') == std::string::npos);
    return error.exit_code();
  }
}

void cut_at_every(const char* name, size_t step) {
  const ScratchFile file;
  const std::string whole = fixture(name);
  file.write(whole);
  REQUIRE(convert_file(file.path()) == ExitCode::kDone);
  for (size_t size = 0; size < whole.size(); size += step) {
    CAPTURE(name, size);
    file.write(whole.substr(0, size));
    CHECK(convert_file(file.path()) == ExitCode::kBadFile);
  }
  file.write(whole.substr(0, whole.size() - 1));
  CHECK(convert_file(file.path()) == ExitCode::kBadFile);
}

TEST_CASE("cut at every 64 bytes") {
  cut_at_every("three_operations.pt", 64);
}

TEST_CASE("cut at every 512 bytes") {
  cut_at_every("residual.pt", 512);
}

TEST_CASE("cut at every 512 bytes, quantised") {
  cut_at_every("quant.pt", 512);
}

TEST_CASE("cut at every 4 KiB, the largest") {
  cut_at_every("quant_per_channel.pt", 4096);
}

// Flips bits of `count` bytes between two places.
std::string flipped(std::string bytes, size_t begin, size_t end, int count, std::mt19937& chosen) {
  for (int i = 0; i < count; ++i) {
    const size_t place = begin + chosen() % (end - begin);
    bytes[place] = static_cast<char>(static_cast<unsigned char>(bytes[place]) ^ (1U << chosen() % 8));
  }
  return bytes;
}

void flip(const char* name, int rounds, int count, unsigned seed) {
  const ScratchFile file;
  const std::string whole = fixture(name);
  std::mt19937 chosen(seed);
  int converted = 0;
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(name, seed, round);
    file.write(flipped(whole, 0, whole.size(), count, chosen));
    const ExitCode code = convert_file(file.path());
    CHECK((code == ExitCode::kDone || code == ExitCode::kNotConvertible || code == ExitCode::kBadFile));
    converted += code == ExitCode::kDone;
    refused += code != ExitCode::kDone;
  }
  // Padding and weights take a flip without notice; names, code and lengths don't.
  CHECK(converted + refused == rounds);
  CHECK(refused > 0);
}

TEST_CASE("flipped bits") {
  flip("three_operations.pt", 100, 1, 1);
}

TEST_CASE("many flipped bits") {
  flip("three_operations.pt", 100, 8, 2);
}

TEST_CASE("flipped bits, quantised") {
  flip("quant.pt", 60, 4, 3);
}

// The archive holds its code deflated, right behind the entry's name.
TEST_CASE("flipped bits in the code") {
  const std::string whole = fixture("three_operations.pt");
  const size_t begin = whole.find(".py", whole.find("/code/"));
  REQUIRE(begin != std::string::npos);
  const ScratchFile file;
  std::mt19937 chosen(4);
  int refused = 0;
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    file.write(flipped(whole, begin, begin + 300, 1, chosen));
    const ExitCode code = convert_file(file.path());
    CHECK((code == ExitCode::kDone || code == ExitCode::kNotConvertible || code == ExitCode::kBadFile));
    refused += code != ExitCode::kDone;
  }
  CHECK(refused > 50);
}

// The other way round: damaged results, as `inspect` and `verify` read them.
TEST_CASE("damaged results") {
  const ScratchFile file;
  file.write(fixture("three_operations.pt"));
  Diagnostics diagnostics;
  const Conversion conversion = convert(load_model(file.path(), diagnostics), options(), diagnostics);
  write_conversion(conversion, file.path());
  const std::string whole = read(file.path());
  CHECK(read_converted_file(file.path()).buffers.at(0).operations.size() == 2);
  const auto is_read = [&](const std::string& bytes) {
    file.write(bytes);
    try {
      read_converted_file(file.path());
      return true;
    } catch (const ConvertError& error) {
      CHECK(error.exit_code() == ExitCode::kBadFile);
      return false;
    }
  };
  for (size_t size = 0; size < whole.size(); size += 128) {
    CAPTURE(size);
    CHECK_FALSE(is_read(whole.substr(0, size)));
  }
  std::mt19937 chosen(5);
  int refused = 0;
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    refused += !is_read(flipped(whole, 0, whole.size(), 3, chosen));
  }
  CHECK(refused > 0);
}

}  // namespace
}  // namespace nnapi_convert
