// SPDX-License-Identifier: BSD-3-Clause
// schemas/nnapi_buffer.md shows a model word by word: what the writer writes, and what the reader reads.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>

#include "lib/format/buffer_format.h"
#include "lib/serialize/buffer_reader.h"
#include "lib/serialize/buffer_writer.h"
#include "tests/serialize/sample_model.h"

using namespace nnapi_convert;

namespace {

struct Page {
  std::vector<int32_t> words;
  std::vector<std::pair<size_t, std::string>> patches;  // word and expression
};

// Lines of version 1's dump: "| word | value | meaning |", where a flexible word's meaning ends in "<- `expression`".
Page read_page() {
  std::ifstream file(std::string(SOURCE_FOLDER) + "/schemas/nnapi_buffer.md");
  REQUIRE(file.good());
  Page page;
  for (std::string line; std::getline(file, line) && line != "# Version 2";) {
    std::istringstream row(line);
    char bar = 0;
    size_t word = 0;
    int32_t value = 0;
    if (!(row >> bar >> word >> bar >> value >> bar)) continue;
    REQUIRE(word == page.words.size());
    page.words.push_back(value);
    const std::string mark = "<- `";
    const size_t expression = line.find(mark);
    if (expression == std::string::npos) continue;
    const size_t first = expression + mark.size();
    page.patches.emplace_back(word, line.substr(first, line.find('`', first) - first));
  }
  return page;
}

}  // namespace

TEST_CASE("format page: its dump is what the writer writes") {
  const Page page = read_page();
  const SerializedModel written = write_buffer(testing::sample_model());
  REQUIRE(page.words.size() == 94);
  CHECK(written.words == page.words);
  std::vector<std::pair<size_t, std::string>> patches;
  for (const WordPatch& patch : written.patches) patches.emplace_back(patch.word, patch.value.text());
  CHECK(patches == page.patches);
}

TEST_CASE("format page: the reader takes its dump") {
  const Page page = read_page();
  const BufferModel model = read_buffer(page.words.data(), page.words.size());
  CHECK(model.operands.size() == 8);
  CHECK(model.values.size() == 4);
  CHECK(model.operations.size() == 3);
}

TEST_CASE("format constants are version 1's for ever") {
  CHECK(buffer_format::kVersion == 1);
  CHECK(buffer_format::kMaxCount == 16777216);
  CHECK(buffer_format::kHeaderWords == 6);
  CHECK(buffer_format::kOperandWords == 4);
  CHECK(buffer_format::kValueWords == 3);
  CHECK(buffer_format::kOperationWords == 3);
  CHECK(buffer_format::kNumberedBufferWords == 3);
  CHECK(static_cast<int32_t>(buffer_format::ValueSource::kImmediate) == 0);
  CHECK(static_cast<int32_t>(buffer_format::ValueSource::kNumberedBuffer) == 2);
}
