// SPDX-License-Identifier: BSD-3-Clause
// Checksums of weights: found while the weights are read in order, else by reading the file.
#include "lib/base/source_check.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <string>

#include "lib/base/error.h"
#include "tests/temporary_folder.h"

using namespace nnapi_convert;
using Catch::Contains;

namespace {

uint32_t checksum_of(const std::string& bytes) {
  return libdeflate_crc32(0, bytes.data(), bytes.size());
}

// A file of a head that no weight has, and of one weight.
struct WeightFile {
  explicit WeightFile(const std::string& weight) {
    std::ofstream(folder.file("model"), std::ios::binary) << head << weight;
    descriptor = ::open(folder.file("model").c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(descriptor >= 0);
  }
  ~WeightFile() { ::close(descriptor); }

  std::string head = "head";
  test::TemporaryFolder folder;
  int descriptor = -1;
};

std::string weight_of(size_t size) {
  std::string weight(size, '\0');
  for (size_t i = 0; i < size; ++i) weight[i] = static_cast<char>(i * 7 + i / 251);
  return weight;
}

}  // namespace

TEST_CASE("a weight that is read in order needs no second reading") {
  const std::string weight = weight_of(1000);
  WeightFile file("the file has other bytes, which are not read");
  SourceChecks checks(file.descriptor);
  const auto check = std::make_shared<SourceCheck>(weight.data(), weight.size(), checksum_of(weight), "changed");
  checks.add(check, file.head.size());
  for (size_t at = 0; at < weight.size(); at += 300) {
    check->add(weight.data() + at, std::min<size_t>(300, weight.size() - at));
    check->add(weight.data(), 10);  // another reader of its beginning
  }
  CHECK_NOTHROW(checks.finish());
}

TEST_CASE("a checksum that somebody computed is taken") {
  const std::string weight = weight_of(64);
  WeightFile file("");
  SourceChecks checks(file.descriptor);
  const auto check = std::make_shared<SourceCheck>(weight.data(), weight.size(), checksum_of(weight), "changed");
  checks.add(check, file.head.size());
  CHECK(check->covers(weight.data(), weight.size()));
  CHECK_FALSE(check->covers(weight.data(), weight.size() - 1));
  CHECK_FALSE(check->covers(weight.data() + 1, weight.size()));
  check->compare(checksum_of(weight));
  CHECK_NOTHROW(checks.finish());
}

TEST_CASE("the file decides where memory was changed") {
  const std::string weight = weight_of(600'000);
  std::string changed = weight;
  changed[500'000] ^= 1;
  for (const bool file_is_right : {true, false}) {
    WeightFile file(file_is_right ? weight : changed);
    SourceChecks checks(file.descriptor);
    const auto check = std::make_shared<SourceCheck>(changed.data(), weight.size(), checksum_of(weight), "changed");
    checks.add(check, file.head.size());
    check->add(changed.data(), changed.size());
    if (file_is_right) {
      CHECK_NOTHROW(checks.finish());
    } else {
      CHECK_THROWS_WITH(checks.finish(), "changed");
    }
  }
}

TEST_CASE("a weight that nobody read, or a part of it, is read from the file") {
  const std::string weight = weight_of(300'000);
  for (const size_t read : {size_t{0}, size_t{1000}}) {
    WeightFile file(weight);
    SourceChecks checks(file.descriptor);
    const auto check = std::make_shared<SourceCheck>(weight.data(), weight.size(), checksum_of(weight), "changed");
    const auto other = std::make_shared<SourceCheck>(nullptr, weight.size(), checksum_of(weight) ^ 1, "other");
    checks.add(check, file.head.size());
    check->add(weight.data(), read);
    CHECK_NOTHROW(checks.finish());
    checks.add(other, file.head.size());
    CHECK_THROWS_WITH(checks.finish(), "other");
  }
}

TEST_CASE("a file that became shorter is told") {
  WeightFile file("ab");
  SourceChecks checks(file.descriptor);
  checks.add(std::make_shared<SourceCheck>(nullptr, 100, 1, "changed"), file.head.size());
  CHECK_THROWS_WITH(checks.finish(), Contains("shorter"));
}
