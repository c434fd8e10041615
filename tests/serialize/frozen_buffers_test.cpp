// SPDX-License-Identifier: BSD-3-Clause
// Samples of every version of the format, written once: they have to be read for ever.
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <iterator>

#include "lib/serialize/buffer_reader.h"

using namespace nnapi_convert;

namespace {

BufferModel read_sample(const std::string& name) {
  std::ifstream file(std::string(SOURCE_FOLDER) + "/testdata/buffers/" + name, std::ios::binary);
  REQUIRE(file.good());
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(bytes.size() % 4 == 0);
  std::vector<int32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return read_buffer(words.data(), words.size());
}

}  // namespace

TEST_CASE("frozen buffers: v1_small_net.bin") {
  const BufferModel model = read_sample("v1_small_net.bin");
  using Ids = std::vector<int32_t>;
  using Bytes = std::vector<uint8_t>;
  REQUIRE(model.operands.size() == 9);
  const Ids types = {5, 5, 5, 4, 1, 6, 0, 5, 3};
  const std::vector<std::vector<uint32_t>> dims = {{1, 0, 0, 3}, {7, 2, 2, 3}, {1, 1, 1, 5}, {7},   {},
                                                   {},           {},           {1, 8, 0, 7}, {1, 7}};
  const std::vector<float> scales = {0.5f, 0.25f, 1, 0.125f, 0, 0, 0, 0.75f, 0};
  const Ids zero_points = {128, 3, 0, 0, 0, 0, 0, -1, 0};
  for (size_t i = 0; i < 9; ++i) {
    CHECK(model.operands[i].type == types[i]);
    CHECK(model.operands[i].dims == dims[i]);
    CHECK(model.operands[i].scale == scales[i]);
    CHECK(model.operands[i].zero_point == zero_points[i]);
  }
  REQUIRE(model.values.size() == 6);
  const std::vector<Bytes> bytes = {{}, {1, 2, 3, 4, 255}, {}, {2, 0, 0, 0}, {1}, {0, 0, 0x20, 0xc0}};
  for (size_t i = 0; i < 6; ++i) {
    CHECK(model.values[i].operand == static_cast<int32_t>(i + 1));
    CHECK(model.values[i].bytes == bytes[i]);
  }
  CHECK(model.values[0].source == 2);
  CHECK(model.values[0].buffer == 1);
  CHECK(model.values[0].offset == 16);
  CHECK(model.values[0].length == 84);
  CHECK(model.values[2].buffer == 0);
  CHECK(model.values[2].length == 28);
  REQUIRE(model.operations.size() == 2);
  CHECK(model.operations[0].code == 3);
  CHECK(model.operations[0].inputs == Ids{0, 1, 3, 4, 4, 4, 4, 5});
  CHECK(model.operations[0].outputs == Ids{7});
  CHECK(model.operations[1].code == 31);
  CHECK(model.operations[1].inputs == Ids{7, 2, 6});
  CHECK(model.operations[1].outputs == Ids{8});
  CHECK(model.inputs == Ids{0});
  CHECK(model.outputs == Ids{8, 7});
}
