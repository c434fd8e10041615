// SPDX-License-Identifier: BSD-3-Clause
// Parts of outputs that lose their values beside larger ones, and concatenations that one scale doesn't fit.
#include "lib/quantise/slices.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "lib/quantise/uneven_joints.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::quantise;
using nnapi::OperandId;
using nnapi::testing::Net;

namespace {

Bytes as_bytes(const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Rounded to a step.
std::vector<float> stepped(std::vector<float> values, float step) {
  for (float& value : values) value = std::round(value / step) * step;
  return values;
}

// Boxes [1, 4, n] and scores [1, 4, n], joined along axis 1.
std::vector<float> head(size_t places) {
  std::vector<float> values;
  for (size_t i = 0; i < 8 * places; ++i) {
    const auto even = static_cast<float>(i * 37 % 101) / 100;
    values.push_back(i < 4 * places ? 640 * even : even);
  }
  return values;
}

struct Joined {
  Net net;
  OperandId boxes = net.input({1, 4, 5}), scores = net.input({1, 4, 5});
  OperandId joined = net.concatenation({boxes, scores}, 1);
};

}  // namespace

TEST_CASE("slices: the parts of a concatenation are judged apart") {
  Joined joined;
  joined.net.output(joined.joined);
  const std::vector<Cut> cuts = cuts_of(joined.net.model, true);
  REQUIRE(cuts.size() == 1);
  CHECK(cuts[0].is_of_concatenation);
  CHECK(cuts[0].ends == std::vector<size_t>{4, 8});
  const std::vector<float> values = head(5);
  const std::vector<LostSlice> lost = lost_slices(cuts[0], {{as_bytes(values)}}, {{as_bytes(stepped(values, 2.5))}});
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].first == 4);
  CHECK(lost[0].last == 7);
  CHECK(lost[0].values == 1);
  CHECK(lost_slices(cuts[0], {{as_bytes(values)}}, {{as_bytes(stepped(values, 0.004f))}}).empty());
}

TEST_CASE("slices: parts are followed through operations that keep them apart") {
  Joined joined;
  const OperandId moved = joined.net.transpose(joined.joined, {0, 2, 1});
  const OperandId flat = joined.net.reshape(moved, {5, 8});
  joined.net.output(flat);
  const std::vector<Cut> cuts = cuts_of(joined.net.model, true);
  REQUIRE(cuts.size() == 1);
  CHECK(cuts[0].ends == std::vector<size_t>{4, 8});
  CHECK(cuts[0].inner == 1);
}

TEST_CASE("slices: a few steps over values far from 0 are few") {
  const Cut cut{0, 2, 100, {1, 2}, 0, false};
  std::vector<float> values;
  for (int i = 0; i < 200; ++i) values.push_back(i < 100 ? 100 + static_cast<float>(i) / 100 : static_cast<float>(i));
  const std::vector<LostSlice> lost = lost_slices(cut, {{as_bytes(values)}}, {{as_bytes(stepped(values, 0.8f))}});
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].first == 0);
  CHECK(lost[0].snr_db > 30);
}

TEST_CASE("slices: values near 0 and 1 need no steps between") {
  const Cut cut{0, 2, 100, {1, 2}, 0, false};
  std::vector<float> values;
  for (int i = 0; i < 200; ++i) values.push_back((i % 3 == 0 ? 1.0f : 0.0f) + static_cast<float>(i % 7) * 1e-5f);
  CHECK(lost_slices(cut, {{as_bytes(values)}}, {{as_bytes(stepped(values, 1.0f / 256))}}).empty());
}

TEST_CASE("uneven joints: ranges that differ 16 times, before an output") {
  const auto times = [](float boxes, float scores, bool has_weights) {
    Joined joined;
    OperandId last = joined.joined;
    if (has_weights) last = joined.net.fully_connected(joined.net.reshape(last, {1, 40}), 3);
    joined.net.output(last);
    Observations observations;
    observations.histograms.resize(joined.net.model.operands.size());
    observations.histograms[static_cast<size_t>(joined.boxes)].add(&boxes, 1);
    observations.histograms[static_cast<size_t>(joined.scores)].add(&scores, 1);
    return uneven_joints(joined.net.model, observations)[0];
  };
  CHECK(times(640, 1, false) == Approx(640));
  CHECK(times(-1, 16, false) == Approx(16));
  CHECK(times(15, 1, false) == 0);
  CHECK(times(640, 0, false) == 0);
  CHECK(times(640, 1, true) == 0);
}
