// SPDX-License-Identifier: BSD-3-Clause
// What an archive tells an app about its model.
#include "lib/shim/attachments.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "lib/format/nnapi_codes.h"

using namespace nnapi_shim;
using nnapi_convert::OperandCode;

TEST_CASE("records of an archive are read, and damaged ones refused") {
  PictureRecord record;
  record.resize = 256;
  const std::string good(reinterpret_cast<const char*>(&record), sizeof record);
  const auto status = [](const AttachedRecords& records) { return Attachments().read(records, nullptr); };
  CHECK(status({good, "cat\ndog\n", "{\"author\":\"me\"}"}) == NNAPI_SHIM_OK);
  CHECK(status({}) == NNAPI_SHIM_OK);
  CHECK(status({good.substr(1), "", ""}) == NNAPI_SHIM_BAD_MODEL);
  CHECK(status({good + std::string("a\0b", 3), "", ""}) == NNAPI_SHIM_BAD_MODEL);
  CHECK(status({good + std::string(1025, 'x'), "", ""}) == NNAPI_SHIM_BAD_MODEL);
  CHECK(status({"", "cat\ndog", ""}) == NNAPI_SHIM_BAD_MODEL);
  CHECK(status({"", std::string("c\0t\n", 4), ""}) == NNAPI_SHIM_BAD_MODEL);
  CHECK(status({"", "", "{\"author\":1}"}) == NNAPI_SHIM_BAD_MODEL);
  CHECK(status({"", "", "[]"}) == NNAPI_SHIM_BAD_MODEL);
  const auto changed = [&](const auto& edit) {
    PictureRecord other = record;
    edit(other);
    return status({{reinterpret_cast<const char*>(&other), sizeof other}, "", ""});
  };
  CHECK(changed([](auto&) {}) == NNAPI_SHIM_OK);
  CHECK(changed([](auto& other) { other.version = 2; }) == NNAPI_SHIM_BAD_MODEL);
  CHECK(changed([](auto& other) { other.channels = 4; }) == NNAPI_SHIM_BAD_MODEL);
  CHECK(changed([](auto& other) { other.rank = 2; }) == NNAPI_SHIM_BAD_MODEL);
  CHECK(changed([](auto& other) { other.resize = UINT32_MAX; }) == NNAPI_SHIM_BAD_MODEL);
  CHECK(changed([](auto& other) { other.std[1] = 0; }) == NNAPI_SHIM_BAD_MODEL);
  CHECK(changed([](auto& other) { other.mean[2] = NAN; }) == NNAPI_SHIM_BAD_MODEL);
}

TEST_CASE("the record of pictures names their argument") {
  const PictureRecord record;
  const std::string bytes(reinterpret_cast<const char*>(&record), sizeof record);
  Attachments named, unnamed;
  REQUIRE(named.read({bytes + "images[0]", "", ""}, nullptr) == NNAPI_SHIM_OK);
  CHECK(named.picture_path == "images[0]");
  REQUIRE(unnamed.read({bytes, "", ""}, nullptr) == NNAPI_SHIM_OK);
  CHECK(unnamed.picture_path.empty());
}

TEST_CASE("the largest elements, with the first of equal ones first") {
  const float values[] = {1, 7, -3, 7, 2};
  nnapi_shim_tensor tensor = {};
  tensor.type = static_cast<int32_t>(OperandCode::TENSOR_FLOAT32);
  tensor.bytes = sizeof values;
  nnapi_shim_score best[8];
  REQUIRE(find_best(tensor, values, best, 3) == 3);
  CHECK(best[0].index == 1);
  CHECK(best[1].index == 3);
  CHECK(best[2].index == 4);
  CHECK(find_best(tensor, values, best, 8) == 5);
  CHECK(find_best(tensor, values, best, 0) == 0);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float holes[] = {nan, 1, nan, 7, 3};
  tensor.bytes = sizeof holes;
  REQUIRE(find_best(tensor, holes, best, 4) == 4);
  CHECK(best[0].index == 3);
  CHECK(best[1].index == 4);
  CHECK(best[2].index == 1);
  CHECK(std::isnan(best[3].score));
  REQUIRE(find_best(tensor, holes, best, 2) == 2);
  CHECK(best[0].index == 3);
  CHECK(best[1].index == 4);
  const uint8_t bytes[] = {0x80, 0x7f, 0};
  tensor.type = static_cast<int32_t>(OperandCode::TENSOR_QUANT8_ASYMM_SIGNED);
  tensor.bytes = sizeof bytes;
  tensor.scale = 0.5f;
  tensor.zero_point = 7;
  REQUIRE(find_best(tensor, bytes, best, 8) == 3);
  CHECK(best[0].index == 1);
  CHECK(best[0].score == 60);
  CHECK(best[2].score == -67.5f);
}
