// SPDX-License-Identifier: BSD-3-Clause
// Operators that order many elements or take rows by masks: their ways for large and for small shares against the
// definition.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "tests/program/operator_calls.h"

using namespace nnapi_shim::program_testing;

namespace {

std::vector<float> random_floats(std::mt19937& random, size_t count, float least, float most) {
  std::vector<float> values(count);
  std::uniform_real_distribution<float> distribution(least, most);
  std::generate(values.begin(), values.end(), [&] { return distribution(random); });
  return values;
}

template <typename T>
std::vector<T> elements(const Value& value) {
  const T* data = value.tensor().data<T>();
  return {data, data + value.tensor().numel()};
}

// torchvision's definition: the best box is kept, and those that overlap it by more than the threshold are not.
std::vector<int64_t> kept_boxes(const std::vector<float>& boxes, const std::vector<float>& scores, float threshold) {
  std::vector<int64_t> order, kept;
  for (size_t i = 0; i < scores.size(); ++i) order.push_back(static_cast<int64_t>(i));
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)];
  });
  const auto overlap = [&](int64_t first, int64_t second) {
    const float *a = &boxes[static_cast<size_t>(4 * first)], *b = &boxes[static_cast<size_t>(4 * second)];
    const float width = std::max(0.0F, std::min(a[2], b[2]) - std::max(a[0], b[0]));
    const float height = std::max(0.0F, std::min(a[3], b[3]) - std::max(a[1], b[1]));
    return width * height / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - width * height);
  };
  for (const int64_t box : order) {
    const auto covers = [&](int64_t other) { return overlap(other, box) > threshold; };
    if (std::none_of(kept.begin(), kept.end(), covers)) kept.push_back(box);
  }
  return kept;
}

}  // namespace

TEST_CASE("nms() of many boxes") {
  std::mt19937 random(1);
  for (const size_t count : {1, 2, 127, 128, 129, 400}) {
    // Spread over places that do not touch, as boxes of several classes are, or all in one place.
    for (const float spread : {0.0F, 1000.0F}) {
      std::vector<float> boxes;
      for (size_t i = 0; i < count; ++i) {
        const std::vector<float> corner = random_floats(random, 2, 0, 50), size = random_floats(random, 2, 5, 40);
        const float place = spread * static_cast<float>(random() % 7);
        boxes.insert(boxes.end(),
                     {corner[0] + place, corner[1] + place, corner[0] + size[0] + place, corner[1] + size[1] + place});
      }
      const std::vector<float> scores = random_floats(random, count, 0, 1);
      for (const float threshold : {0.25F, 0.5F}) {
        Context context;
        const auto rows = static_cast<int64_t>(count);
        const Value found = result(context, "torchvision::nms",
                                   {floats(context, {rows, 4}, boxes), floats(context, {rows}, scores),
                                    Value(static_cast<double>(threshold))});
        INFO(count << " boxes, " << spread << ", " << threshold);
        CHECK(elements<int64_t>(found) == kept_boxes(boxes, scores, threshold));
      }
    }
  }
}

// NaN is above all others.
bool is_below(float a, float b) {
  return std::isnan(b) ? !std::isnan(a) : a < b;
}

TEST_CASE("topk() of few and of many elements, in any order") {
  constexpr int64_t kCount = 1000;
  std::mt19937 random(2);
  const std::vector<float> mixed = random_floats(random, kCount, -1, 1);
  std::vector<float> many_same = mixed, rising = mixed, odd = mixed;
  for (size_t i = 0; i < many_same.size(); i += 3) many_same[i] = 0.5F;
  std::sort(rising.begin(), rising.end());
  const std::vector<float> falling(rising.rbegin(), rising.rend());
  const float odd_ones[] = {NAN, INFINITY, -INFINITY, 0.0F, -0.0F};
  for (size_t i = 0; i < odd.size(); i += 2) odd[i] = odd_ones[random() % 5];
  for (const std::vector<float>& values : {mixed, many_same, rising, falling, odd}) {
    for (const int64_t k : {0, 1, 15, 127, 128, 129, 256, 257, 500, 501, 999, 1000}) {
      for (const bool largest : {false, true}) {
        Context context;
        std::vector<Value> outputs;
        REQUIRE(run(context, "aten::topk",
                    {floats(context, {kCount}, values), Value(k), Value(int64_t{0}), Value(largest), Value(true)},
                    outputs));
        std::vector<int64_t> order(kCount);
        std::iota(order.begin(), order.end(), int64_t{0});
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
          const float one = values[static_cast<size_t>(a)], other = values[static_cast<size_t>(b)];
          return largest ? is_below(other, one) : is_below(one, other);
        });
        order.resize(static_cast<size_t>(k));
        INFO(k << (largest ? " largest" : " smallest"));
        CHECK(elements<int64_t>(outputs[1]) == order);
        const auto found = elements<float>(outputs[0]);
        for (size_t i = 0; i < order.size(); ++i) {
          const float expected = values[static_cast<size_t>(order[i])];
          CHECK(std::memcmp(&found[i], &expected, sizeof expected) == 0);
        }
      }
    }
  }
}

TEST_CASE("topk() of few and of many whole numbers") {
  constexpr int64_t kCount = 1000;
  std::mt19937_64 random(5);
  std::vector<int64_t> values(kCount);
  for (int64_t& value : values) value = static_cast<int64_t>(random()) >> (random() % 64);
  values[7] = std::numeric_limits<int64_t>::max();
  values[900] = std::numeric_limits<int64_t>::min();
  for (const int64_t k : {1, 100, 128, 129, 300, 1000}) {
    for (const bool largest : {false, true}) {
      Context context;
      const Value tensor(make_tensor(context.pool, ScalarType::kInt64, 1, &kCount));
      std::copy(values.begin(), values.end(), tensor.tensor().data<int64_t>());
      std::vector<Value> outputs;
      REQUIRE(run(context, "aten::topk", {tensor, Value(k), Value(int64_t{0}), Value(largest), Value(true)}, outputs));
      std::vector<int64_t> order(kCount), expected;
      std::iota(order.begin(), order.end(), int64_t{0});
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const int64_t one = values[static_cast<size_t>(a)], other = values[static_cast<size_t>(b)];
        return largest ? one > other : one < other;
      });
      order.resize(static_cast<size_t>(k));
      for (const int64_t number : order) expected.push_back(values[static_cast<size_t>(number)]);
      INFO(k << (largest ? " largest" : " smallest"));
      CHECK(elements<int64_t>(outputs[1]) == order);
      CHECK(elements<int64_t>(outputs[0]) == expected);
    }
  }
}

TEST_CASE("bytes that aren't zero, of any value and number") {
  std::mt19937 random(4);
  for (int64_t count = 0; count < 70; ++count) {
    Context context;
    const Value bytes(make_tensor(context.pool, ScalarType::kUInt8, 1, &count));
    std::vector<int64_t> expected;
    for (int64_t i = 0; i < count; ++i) {
      const uint8_t byte = random() % 2 == 0 ? 0 : static_cast<uint8_t>(random());
      bytes.tensor().data<uint8_t>()[i] = byte;
      if (byte != 0) expected.push_back(i);
    }
    CHECK(elements<int64_t>(result(context, "aten::nonzero", {bytes})) == expected);
  }
}

TEST_CASE("rows by a mask") {
  std::mt19937 random(3);
  for (const int64_t columns : {1, 2, 4, 5}) {
    for (const int64_t share : {0, 1, 2}) {  // none, some, all
      Context context;
      const std::vector<float> values = random_floats(random, static_cast<size_t>(300 * columns), -1, 1);
      const int64_t rows = 300;
      Value mask(make_tensor(context.pool, ScalarType::kBool, 1, &rows));
      std::vector<float> expected;
      for (int64_t row = 0; row < rows; ++row) {
        const bool is_taken = share == 2 || (share == 1 && random() % 3 == 0);
        mask.tensor().data<uint8_t>()[row] = is_taken ? 1 : 0;
        const auto begin = values.begin() + row * columns;
        if (is_taken) expected.insert(expected.end(), begin, begin + columns);
      }
      Sequence* list = make_sequence(context.pool, Tag::kList, 1);
      list->values[0] = mask;
      const Value found =
          result(context, "aten::index.Tensor", {floats(context, {rows, columns}, values), Value(list)});
      CHECK(found.tensor().sizes[0] * columns == static_cast<int64_t>(expected.size()));
      CHECK(elements<float>(found) == expected);
    }
  }
}
