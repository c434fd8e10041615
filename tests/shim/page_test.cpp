// SPDX-License-Identifier: BSD-3-Clause
// schemas/nnapi_buffer.md shows a model of version 2 word by word: what the buffer maker writes and the shim reads.
#include <sstream>

#include "tests/shim/buffer_checks.h"

using namespace nnapi_shim;
using namespace nnapi_shim::testing;

namespace {

// Rows of version 2's dump: "| word | value | meaning |".
std::vector<int32_t> read_page() {
  std::ifstream file(source_folder(SOURCE_FOLDER) + "/schemas/nnapi_buffer.md");
  REQUIRE(file.good());
  std::vector<int32_t> words;
  bool is_version_2 = false;
  for (std::string line; std::getline(file, line);) {
    is_version_2 = is_version_2 || line == "# Version 2";
    std::istringstream row(line);
    char bar = 0;
    size_t word = 0;
    int32_t value = 0;
    if (!is_version_2 || !(row >> bar >> word >> bar >> value >> bar)) continue;
    REQUIRE(word == words.size());
    words.push_back(value);
  }
  return words;
}

}  // namespace

TEST_CASE("format page: the dump of version 2 is what the buffer maker writes") {
  const std::vector<int32_t> words = read_page();
  REQUIRE(words.size() == 148);
  CHECK(make_buffer(page_net()).words == words);
}

TEST_CASE("format page: the shim reads the dump of version 2") {
  MadeBuffer made;
  made.words = read_page();
  made.weights = {1, 2, 3, 4, 5, 6};
  const auto buffer = parse_good(made);
  CHECK(buffer->weights_match(made.weights.data()));
  const ModelView view = bind_good(*buffer, Shapes({{9, 2, 1, 1}}));
  CHECK(view.models[0].operands[5].dims[0] == 9);
  CHECK(view.models[0].operations[0].source == std::string("net.py:4"));
}

TEST_CASE("format constants are version 2's for ever") {
  CHECK(format::kVersion == 2);
  CHECK(format::kFloat16Version == 3);
  CHECK(format::kSamplesVersion == 4);
  CHECK(format::kInt8Version == 6);
  CHECK(format::kConditionsVersion == 7);
  CHECK(format::kConditionWords == 4);
  CHECK(format::kMaxConditions == 1024);
  CHECK(format::kMaxConditionText == 4096);
  CHECK(static_cast<int32_t>(format::ConditionKind::kAtMost) == 2);
  CHECK(format::kMaxCount == 16777216);
  CHECK(format::kMaxRank == 8);
  CHECK(format::kWeightAlignment == 64);
  CHECK(format::kPageAlignment == 16384);
  CHECK(format::kHeaderWords == 14);
  CHECK(format::kTextBytes == 13);
  CHECK(format::kModelCount == 12);
  CHECK(format::kRelaxFp16 == 1);
  CHECK(format::kExpressionWords == 3);
  CHECK(format::kPatchWords == 2);
  CHECK(format::kModelWords == 5);
  CHECK(format::kOperandWords == 6);
  CHECK(format::kValueWords == 6);
  CHECK(format::kOperationWords == 3);
  CHECK(format::kInputWords == 3);
  CHECK(format::kOutputWords == 2);
  CHECK(static_cast<int32_t>(format::ExpressionKind::kFloorDiv) == 4);
  CHECK(static_cast<int32_t>(format::ValueSource::kModel) == 3);
  CHECK(static_cast<int32_t>(format::ValueSource::kFloat16Weight) == 4);
  CHECK(static_cast<int32_t>(format::ValueSource::kInt8Weight) == 5);
  CHECK(static_cast<int32_t>(format::Layout::kNhwc) == 1);
  CHECK(format::kIndexRecord == std::string("extra/nnapi_shim.index"));
}
