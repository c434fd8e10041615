// SPDX-License-Identifier: BSD-3-Clause
// Operators of layers at their edges: pads as wide as the input, windows that hang over, equal elements, parts that
// don't divide. The expected numbers are PyTorch's.
#include <string>
#include <vector>

#include "tests/program/operator_calls.h"

using namespace nnapi_shim::program_testing;

namespace {

const Value kTrue(true);

std::vector<Value> results(Context& context, const char* name, const std::vector<Value>& inputs) {
  std::vector<Value> outputs;
  const bool done = run(context, name, inputs, outputs);
  INFO(context.failure);
  REQUIRE(done);
  return outputs;
}

std::vector<int64_t> whole(Context& context, const Value& value) {
  REQUIRE(value.tensor().dtype == ScalarType::kInt64);
  const Value row_major(contiguous(context.pool, value.tensor()));
  const auto* first = row_major.tensor().data<int64_t>();
  return {first, first + row_major.tensor().numel()};
}

// What floats() makes, as int64.
Value indices(Context& context, const std::vector<float>& numbers) {
  const Value made = floats(context, {static_cast<int64_t>(numbers.size())}, numbers);
  return result(context, "aten::to.dtype", {made, number(4), kFalse, kFalse, kNone});
}

Floats padded(Context& context, const std::vector<int64_t>& pads, const char* mode) {
  const Value row = floats(context, {1, 4}, {0, 1, 2, 3});
  return elements(context, result(context, "aten::pad", {row, ints(context, pads), text(context, mode), kNone}));
}

}  // namespace

TEST_CASE("pads that mirror, repeat and go round") {
  Context context;
  CHECK(padded(context, {3, 2}, "reflect") == Floats{3, 2, 1, 0, 1, 2, 3, 2, 1});
  CHECK(padded(context, {1, 2}, "replicate") == Floats{0, 0, 1, 2, 3, 3, 3});
  CHECK(padded(context, {1, 3}, "circular") == Floats{3, 0, 1, 2, 3, 0, 1, 2});
  CHECK(padded(context, {4, 4}, "circular") == Floats{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
  const Value row = floats(context, {1, 4}, {0, 1, 2, 3});
  for (const auto& [mode, most] : {std::pair{"reflect", 4}, std::pair{"circular", 5}}) {
    CHECK(refusal(context, "aten::pad", {row, ints(context, {most, 0}), text(context, mode), kNone})
              .find("don't fit to the size 4") != std::string::npos);
  }
}

TEST_CASE("pools: windows that hang over, divisors, equal elements") {
  Context context;
  const Value image = floats(context, {1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Value two = ints(context, {2, 2}), one = ints(context, {1, 1});
  const Value hanging = result(context, "aten::max_pool2d", {image, two, two, one, one, kTrue});
  CHECK(sizes_of(hanging) == std::vector<int64_t>{1, 2, 2});
  CHECK(elements(context, hanging) == Floats{1, 3, 7, 9});
  const Value none = ints(context, {0, 0});
  const Value over = result(context, "aten::max_pool2d", {image, two, two, none, one, kTrue});
  CHECK(elements(context, over) == Floats{5, 6, 8, 9});
  const Value mean =
      result(context, "aten::avg_pool2d", {image, ints(context, {3, 2}), one, none, kFalse, kTrue, kNone});
  CHECK(elements(context, mean) == Floats{4.5F, 5.5F});
  const Value with_padding = result(context, "aten::avg_pool2d", {image, two, two, one, kFalse, kTrue, kNone});
  CHECK(elements(context, with_padding) == Floats{0.25F, 1.25F, 2.75F, 7});
  const Value without = result(context, "aten::avg_pool2d", {image, two, two, one, kFalse, kFalse, kNone});
  CHECK(elements(context, without) == Floats{1, 2.5F, 5.5F, 7});
  const Value flat = floats(context, {1, 2, 2}, {3, 3, 3, 3});
  CHECK(whole(context, results(context, "aten::max_pool2d_with_indices", {flat, two, two, none, one, kFalse})[1]) ==
        std::vector<int64_t>{0});
}

TEST_CASE("of equal elements, cummax() and cummin() name the last one") {
  Context context;
  const Value row = floats(context, {4}, {2, 2, 1, 2});
  CHECK(whole(context, results(context, "aten::cummax", {row, number(0)})[1]) == std::vector<int64_t>{0, 1, 1, 3});
  CHECK(whole(context, results(context, "aten::cummin", {row, number(0)})[1]) == std::vector<int64_t>{0, 1, 2, 2});
}

TEST_CASE("nms() keeps what overlaps by the threshold, and with a negative one a single box") {
  Context context;
  const Value boxes = floats(context, {3, 4}, {0, 0, 2, 1, 0, 0, 1, 1, 5, 5, 6, 6});
  const Value scores = floats(context, {3}, {0.9F, 0.8F, 0.7F});
  const auto kept = [&](double threshold) {
    return whole(context, result(context, "torchvision::nms", {boxes, scores, Value(threshold)}));
  };
  CHECK(kept(0.5) == std::vector<int64_t>{0, 1, 2});
  CHECK(kept(0.49) == std::vector<int64_t>{0, 2});
  const Value apart = floats(context, {2, 4}, {0, 0, 1, 1, 5, 5, 6, 6});
  const Value equal = floats(context, {2}, {0.5F, 0.5F});
  CHECK(whole(context, result(context, "torchvision::nms", {apart, equal, Value(-0.5)})) == std::vector<int64_t>{0});
  CHECK(whole(context, result(context, "torchvision::nms", {apart, equal, Value(0.0)})) == std::vector<int64_t>{0, 1});
}

TEST_CASE("parts of a tensor that doesn't divide, and of one that does") {
  Context context;
  const auto lengths = [&](const char* name, int64_t count, int64_t parts) {
    const Value row = floats(context, {count}, Floats(static_cast<size_t>(count)));
    const Value list = result(context, name, {row, number(parts), number(0)});
    std::vector<int64_t> found;
    for (uint32_t i = 0; i < list.sequence().count; ++i) found.push_back(sizes_of(list.sequence().values[i])[0]);
    return found;
  };
  CHECK(lengths("aten::tensor_split.sections", 5, 3) == std::vector<int64_t>{2, 2, 1});
  CHECK(lengths("aten::tensor_split.sections", 2, 3) == std::vector<int64_t>{1, 1, 0});
  CHECK(lengths("aten::chunk", 4, 2) == std::vector<int64_t>{2, 2});
  CHECK(lengths("aten::chunk", 5, 3) == std::vector<int64_t>{2, 2, 1});
  CHECK(lengths("aten::chunk", 5, 4) == std::vector<int64_t>{2, 2, 1});
}

TEST_CASE("elements by number: out of a view, from behind, with a step") {
  Context context;
  const Value rows = floats(context, {3, 2}, {0, 1, 2, 3, 4, 5});
  const Value tail = result(context, "aten::slice.Tensor", {rows, number(0), number(1), number(3), number(1)});
  const Value turned = result(context, "aten::index_select", {tail, number(0), indices(context, {1, 0})});
  CHECK(elements(context, turned) == Floats{4, 5, 2, 3});
  CHECK(elements(context, result(context, "aten::take", {tail, indices(context, {-4, -1, 0})})) == Floats{2, 5, 2});
  CHECK(refusal(context, "aten::take", {tail, indices(context, {-5})}).find("-5") != std::string::npos);
  const Value four = floats(context, {4}, {0, 1, 2, 3});
  const Value even = result(context, "aten::slice.Tensor", {four, number(0), number(0), number(4), number(2)});
  CHECK(elements(context, even) == Floats{0, 2});
}

TEST_CASE("resizing to the corners, and to the size that is there") {
  Context context;
  const Value image = floats(context, {1, 1, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  const auto resized = [&](const char* name, int64_t side, bool corners) {
    return elements(context, result(context, name, {image, ints(context, {side, side}), Value(corners), kNone, kNone}));
  };
  CHECK(resized("aten::upsample_bicubic2d", 3, false) == Floats{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(resized("aten::upsample_bilinear2d", 2, true) == Floats{0, 2, 6, 8});
  CHECK(resized("aten::upsample_bilinear2d", 1, true) == Floats{0});
}

TEST_CASE("activations and orders at their limits") {
  Context context;
  const Value row = floats(context, {5}, {-1, 0, 5.5F, 6, 7});
  CHECK(elements(context, result(context, "aten::relu6", {row})) == Floats{0, 0, 5.5F, 6, 6});
  const Value table = floats(context, {2, 3}, {3, 1, 2, 6, 5, 4});
  const std::vector<Value> second = results(context, "aten::kthvalue", {table, number(2), number(1), kFalse});
  CHECK(sizes_of(second[0]) == std::vector<int64_t>{2});
  CHECK(elements(context, second[0]) == Floats{2, 5});
  CHECK(whole(context, second[1]) == std::vector<int64_t>{2, 1});
  const std::vector<Value> kept = results(context, "aten::kthvalue", {table, number(3), number(1), kTrue});
  CHECK(sizes_of(kept[0]) == std::vector<int64_t>{2, 1});
}
