// SPDX-License-Identifier: BSD-3-Clause
// Tests the kinds of files, also of arbitrary bytes. tests/tools/file_kinds_test.py has files of PyTorch's own.
#include "lib/converter/load/file_kind.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <random>

#include "lib/converter/load/pickle_outline.h"
#include "tests/converter/fixtures.h"
#include "tests/temporary_folder.h"

namespace nnapi_convert {
namespace {

using namespace test;
using namespace std::string_literals;
using Catch::Contains;
using Kind = PickleOutline::Kind;

std::optional<PickleOutline> outline(const std::string& bytes) {
  size_t begin = 0;
  return pickle_outline(bytes, begin);
}

// {"a": Tensor(), "b": Tensor()} in protocol 2; the function is named once and recalled.
const std::string kWeightsFile =
    "\x80\x02}q\x00(X\x01\x00\x00\x00"
    "actorch._utils\n_rebuild_tensor_v2\nq\x01)RX\x01\x00\x00\x00"
    "bh\x01)Ru."s;

}  // namespace

TEST_CASE("a pickle of weights is outlined") {
  const auto found = outline(kWeightsFile);
  REQUIRE(found);
  CHECK(found->kind == Kind::kDict);
  CHECK(found->tensors == 2);
  CHECK(found->keys == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a dict of dicts names the one with weights") {
  const auto found = outline("\x80\x02}(X\x01\x00\x00\x00nK\x05X\x01\x00\x00\x00w"s +
                             kWeightsFile.substr(2, kWeightsFile.size() - 3) + "u.");
  REQUIRE(found);
  CHECK(found->keys == std::vector<std::string>{"n", "w"});
  CHECK(found->tensors == 0);
  CHECK(found->weights_key == "w");
}

TEST_CASE("a pickle that is cut off is outlined as far as it goes") {
  const auto found = outline(kWeightsFile.substr(0, kWeightsFile.size() - 4));
  REQUIRE(found);
  CHECK(found->kind == Kind::kDict);
  CHECK(found->tensors == 1);
}

TEST_CASE("an object is named by its class in every protocol") {
  for (const std::string& bytes :
       {"\x80\x02"
        "cplace\nNet\n)\x81}b."s,
        "\x80\x04\x8c\x05place\x8c\x03Net\x93)\x81."s, "(iplace\nNet\n."s, "(cplace\nNet\no."s}) {
    const auto found = outline(bytes);
    REQUIRE(found);
    CHECK(found->kind == Kind::kObject);
    CHECK(found->class_name == "place.Net");
  }
}

TEST_CASE("bytes that are no pickle have no outline") {
  for (const std::string& bytes : {""s, "."s, "u."s, "\x80\x02t."s, "hello"s, "\x80\x02R."s, "(u."s, "h\x07."s}) {
    CHECK_FALSE(outline(bytes));
  }
}

TEST_CASE("no bytes do harm to the outline") {
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = round % 2 == 0 ? kWeightsFile : std::string(random() % 200, '\0');
    for (int change = 0; change < (round % 2 == 0 ? 3 : static_cast<int>(bytes.size())); ++change) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    size_t begin = 0;
    pickle_outline(bytes, begin);
    CHECK(begin <= bytes.size());
  }
}

TEST_CASE("as many marks or dicts as fit take no long time") {
  for (const std::string& part : {"("s, "}("s, "]2(0"s, "}q\x00h\x00("s}) {
    std::string bytes;
    while (bytes.size() < (size_t{256} << 10)) bytes += part;
    size_t begin = 0;
    pickle_outline(bytes, begin);
  }
}

TEST_CASE("no bytes do harm to the kind of a file") {
  TemporaryFolder folder;
  const std::string path = folder.file("model");
  std::mt19937 random(6);
  const std::string starts[] = {"\x08\x07\x12\x07pytorch:\x05"s,
                                "\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19."s + kWeightsFile,
                                "\x10\x00\x00\x00\x00\x00\x00\x00{\"a\": {}}"s, "\x1c\x00\x00\x00TFL3"s, "PK\x03\x04"s};
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = starts[static_cast<size_t>(round) % std::size(starts)] + std::string(random() % 64, 'x');
    for (int change = 0; change < round % 4; ++change) bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % bytes.size());
    std::ofstream(path, std::ios::binary) << bytes;
    kind_of_file(path);
  }
}

TEST_CASE("TorchScript is left to be read, and a converted file is known") {
  TemporaryFolder folder;
  CHECK(kind_of_file(fixture_path("residual.pt")).format == FileKind::Format::kOpen);
  write_conversion(convert_fixture("residual.pt", options_for({"1,3,16,16"})), folder.file("out.pt"));
  CHECK(kind_of_file(folder.file("out.pt")).format == FileKind::Format::kConverted);
  CHECK_NOTHROW(check_file_kind(folder.file("out.pt"), true));
  const std::string message = error_of(ExitCode::kBadFile, [&] { check_file_kind(folder.file("out.pt"), false); });
  CHECK_THAT(message, Contains("nnapi-convert wrote it") && Contains("nnapi-convert inspect"));
}

}  // namespace nnapi_convert
