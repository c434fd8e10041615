// SPDX-License-Identifier: BSD-3-Clause
// Constants: each step of a recipe against a plain computation, sequences of steps, equality.
#include "lib/nnapi/constant.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "lib/format/float16.h"
#include "tests/nnapi/interpreter.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert::nnapi;
using testing::random_constant;
using testing::Tensor;

namespace {

template <typename T>
Constant constant_of(DataType type, std::vector<int64_t> shape, std::vector<T> values) {
  auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  const T* data = owner->data();
  return Constant(type, std::move(shape), data, std::move(owner));
}

template <typename T>
std::vector<T> values_of(const Constant& constant) {
  const std::vector<uint8_t> bytes = constant.bytes();
  REQUIRE(bytes.size() == constant.byte_count());
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::shared_ptr<const std::vector<float>> shared(std::vector<float> values) {
  return std::make_shared<const std::vector<float>>(std::move(values));
}

Tensor tensor_of(const Constant& constant) {
  return Tensor(constant.shape(), constant.floats());
}

}  // namespace

TEST_CASE("Constant: without steps it is its source") {
  const Constant constant = Constant::of_floats({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(constant.type() == DataType::kFloat32);
  CHECK(constant.shape() == std::vector<int64_t>{2, 3});
  CHECK(constant.element_count() == 6);
  CHECK(constant.byte_count() == 24);
  CHECK(constant.is_source());
  CHECK(std::memcmp(constant.source(), constant.bytes().data(), 24) == 0);
  CHECK(constant.floats() == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(constant.recipe_text().empty());
  CHECK(Constant::of_floats({1, 2}).shape() == std::vector<int64_t>{2});
}

TEST_CASE("Constant: sizes of types") {
  CHECK(size_of(DataType::kFloat32) == 4);
  CHECK(size_of(DataType::kInt32) == 4);
  CHECK(size_of(DataType::kInt8) == 1);
  CHECK(size_of(DataType::kUInt8) == 1);
  CHECK(size_of(DataType::kBool) == 1);
}

TEST_CASE("Constant: the owner lives as long as a constant made from it") {
  auto owner = std::make_shared<const std::vector<float>>(4, 1.5f);
  const std::weak_ptr<const std::vector<float>> watch = owner;
  std::vector<Constant> kept;
  {
    const Constant source(DataType::kFloat32, {4}, owner->data(), owner);
    kept.push_back(source.then(Reshape{{2, 2}}));
  }
  owner.reset();
  CHECK_FALSE(watch.expired());
  CHECK(kept[0].floats() == std::vector<float>(4, 1.5f));
  kept.clear();
  CHECK(watch.expired());
}

TEST_CASE("Constant: permute, ranks 1 to 4, random shapes and orders") {
  std::mt19937 random(4);
  for (int i = 0; i < 400; ++i) {
    const auto rank = static_cast<size_t>(1 + i % 4);
    std::vector<int64_t> shape(rank);
    const int64_t most = i < 300 ? 5 : 40;  // the larger ones are copied in several blocks
    for (int64_t& size : shape) size = std::uniform_int_distribution<int64_t>(1, most)(random);
    if (i >= 300 && rank == 4) shape[0] = 3;
    std::vector<int64_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const Constant source = random_constant(random, shape);
    const Tensor expected = testing::permuted(tensor_of(source), order);
    // As the first step, which reads the source itself, and as a later one.
    const Constant first = source.then(Permute{order});
    const Constant second = source.then(Reshape{shape}).then(Permute{order});
    REQUIRE(first.shape() == expected.shape);
    REQUIRE(first.floats() == expected.values);
    REQUIRE(second.floats() == expected.values);
    REQUIRE_FALSE(first.is_source());
  }
}

TEST_CASE("Constant: what stays where it is is not copied") {
  std::mt19937 random(5);
  const Constant source = random_constant(random, {3, 1, 4, 1});
  const Constant moved = source.then(Permute{{1, 0, 3, 2}}).then(Reshape{{12}}).evaluated();
  CHECK(moved.source() == source.source());
  CHECK(moved.owner() == source.owner());
  CHECK(moved.shape() == std::vector<int64_t>{12});
  CHECK(moved.floats() == source.floats());
  CHECK(source.then(Permute{{2, 1, 0, 3}}).evaluated().source() != source.source());
}

TEST_CASE("Constant: permute moves elements of one byte") {
  const Constant source = constant_of<int8_t>(DataType::kInt8, {2, 3}, {1, 2, 3, -4, 5, 6});
  CHECK(values_of<int8_t>(source.then(Permute{{1, 0}})) == std::vector<int8_t>{1, -4, 2, 5, 3, 6});
}

TEST_CASE("Constant: reshape keeps the elements, and their number") {
  const Constant source = Constant::of_floats({1, 2, 3, 4, 5, 6}, {2, 3});
  const Constant reshaped = source.then(Reshape{{3, 1, 2}});
  CHECK(reshaped.shape() == std::vector<int64_t>{3, 1, 2});
  CHECK(reshaped.floats() == source.floats());
  CHECK_THROWS_AS(source.then(Reshape{{4}}), std::logic_error);
}

TEST_CASE("Constant: scale_axis multiplies along any axis") {
  std::mt19937 random(5);
  const Constant source = random_constant(random, {2, 3, 4, 5});
  for (int64_t axis = 0; axis < 4; ++axis) {
    const std::vector<float> factors = testing::random_values(random, static_cast<size_t>(axis + 2));
    Tensor expected = tensor_of(source);
    std::vector<int64_t> index(4, 0);
    do {
      expected.at(index) *= factors[static_cast<size_t>(index[static_cast<size_t>(axis)])];
    } while (testing::advance(index, expected.shape));
    CHECK(source.then(ScaleAxis{axis, shared(factors)}).floats() == expected.values);
  }
}

TEST_CASE("Constant: add_vector") {
  const Constant source = Constant::of_floats({1, 2, 3});
  CHECK(source.then(AddVector{shared({0.5f, -2, 10})}).floats() == std::vector<float>{1.5f, 0, 13});
}

TEST_CASE("Constant: add_vector along the last axis, in pieces, too") {
  constexpr int64_t kRows = 1200, kColumns = 300;  // more than one piece
  const std::vector<float> added(kColumns, 0.5f);
  const std::vector<float> values(kRows * kColumns, 2);
  const Constant sum = Constant::of_floats(values, {kRows, kColumns}).then(AddVector{shared(added)});
  CHECK(sum.floats() == std::vector<float>(kRows * kColumns, 2.5f));
  std::vector<uint8_t> written;
  size_t pieces = 0;
  sum.write_to([&](const void* bytes, size_t size) {
    const auto* first = static_cast<const uint8_t*>(bytes);
    written.insert(written.end(), first, first + size);
    ++pieces;
  });
  CHECK(pieces > 1);
  CHECK(written == sum.bytes());
  CHECK(Constant::of_floats({1, 2, 3, 4}, {2, 2}).then(AddVector{shared({10, 20})}).floats() ==
        std::vector<float>{11, 22, 13, 24});
}

TEST_CASE("Constant: shift_to_uint8 adds 128 to every int8") {
  std::vector<int8_t> all(256);
  std::iota(all.begin(), all.end(), static_cast<int8_t>(-128));
  const Constant shifted = constant_of<int8_t>(DataType::kInt8, {256}, all).then(ShiftToUInt8{});
  CHECK(shifted.type() == DataType::kUInt8);
  const auto values = values_of<uint8_t>(shifted);
  for (size_t i = 0; i < 256; ++i) REQUIRE(values[i] == all[i] + 128);
}

TEST_CASE("Constant: requantise rounds half away from zero and saturates") {
  const Constant source = constant_of<int8_t>(DataType::kInt8, {2, 4}, {1, 3, -3, 127, -128, 100, 5, -5});
  const Constant result = source.then(Requantize{0, shared({0.5f, 2}), 1});
  CHECK(result.type() == DataType::kInt8);
  CHECK(values_of<int8_t>(result) == std::vector<int8_t>{1, 2, -2, 64, -128, 127, 10, -10});
  const Constant columns = source.then(Requantize{1, shared({1, 2, 3, 4}), 4});
  CHECK(values_of<int8_t>(columns) == std::vector<int8_t>{0, 2, -2, 127, -32, 50, 4, -5});
}

TEST_CASE("Constant: quantize_bias rounds half away from zero and saturates") {
  const Constant source = Constant::of_floats({0, 1, 0.75f, -0.75f, 0.74f, 1e30f, -1e30f, 0.1f});
  const Constant result = source.then(QuantizeBias{0.5});
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  CHECK(result.type() == DataType::kInt32);
  CHECK(values_of<int32_t>(result) == std::vector<int32_t>{0, 2, 2, -2, 1, kMax, kMin, 0});
}

TEST_CASE("Constant: quantize_bias divides in double precision") {
  const double scale = static_cast<double>(0.0187f) * 0.0031f;
  const auto result = values_of<int32_t>(Constant::of_floats({1234.567f}).then(QuantizeBias{scale}));
  CHECK(result[0] == static_cast<int32_t>(std::round(static_cast<double>(1234.567f) / scale)));
}

TEST_CASE("Constant: steps apply in order") {
  const Constant source = Constant::of_floats({1, 2, 3, 4, 5, 6}, {2, 3});
  const Constant transposed_first = source.then(Permute{{1, 0}}).then(ScaleAxis{0, shared({1, 10, 100})});
  CHECK(transposed_first.floats() == std::vector<float>{1, 4, 20, 50, 300, 600});
  CHECK(transposed_first.recipe_text() == "permute(1,0) scale_axis(0)");
  const Constant scaled_first = source.then(ScaleAxis{0, shared({1, 10})}).then(Permute{{1, 0}});
  CHECK(scaled_first.floats() == std::vector<float>{1, 40, 2, 50, 3, 60});
  const Constant vector = Constant::of_floats({1, 2});
  CHECK(vector.then(AddVector{shared({1, 1})}).then(ScaleAxis{0, shared({2, 3})}).floats() == std::vector<float>{4, 9});
  CHECK(vector.then(ScaleAxis{0, shared({2, 3})}).then(AddVector{shared({1, 1})}).floats() == std::vector<float>{3, 7});
}

TEST_CASE("Constant: append_zeros lengthens the last axis") {
  const Constant rows = Constant::of_floats({1, 2, 3, 4, 5, 6}, {2, 3}).then(AppendZeros{2});
  CHECK(rows.shape() == std::vector<int64_t>{2, 5});
  CHECK(rows.floats() == std::vector<float>{1, 2, 3, 0, 0, 4, 5, 6, 0, 0});
  CHECK(rows.recipe_text() == "append_zeros(2)");
  CHECK(rows.then(ScaleAxis{0, shared({1, 10})}).floats() == std::vector<float>{1, 2, 3, 0, 0, 40, 50, 60, 0, 0});
  CHECK(Constant::of_floats({1, 2}).then(AppendZeros{1}).floats() == std::vector<float>{1, 2, 0});
  CHECK(values_of<int8_t>(constant_of<int8_t>(DataType::kInt8, {2, 1}, {7, 8}).then(AppendZeros{1})) ==
        std::vector<int8_t>{7, 0, 8, 0});
}

TEST_CASE("Constant: text of every step") {
  const Constant bytes = constant_of<int8_t>(DataType::kInt8, {1, 2}, {1, 2});
  CHECK(bytes.then(Requantize{0, shared({1}), 0.5f}).then(ShiftToUInt8{}).then(Reshape{{2}}).recipe_text() ==
        "requantize(0, 0.5) shift_to_uint8 reshape(2)");
  CHECK(Constant::of_floats({1}).then(AddVector{shared({1})}).then(QuantizeBias{0.25}).recipe_text() ==
        "add_vector quantize_bias(0.25)");
}

TEST_CASE("Constant: the hash tells apart most constants that differ, and no equal ones") {
  std::vector<float> numbers(1000, 1.5f);
  const size_t hash = Constant::of_floats(numbers).sample_hash();
  CHECK(Constant::of_floats(numbers).sample_hash() == hash);
  CHECK(Constant::of_floats(numbers, {10, 100}).sample_hash() != hash);
  CHECK(Constant::of_floats({}).sample_hash() == Constant::of_floats({}).sample_hash());
  CHECK(Constant::of_floats({1}).sample_hash() != Constant::of_floats({2}).sample_hash());
  for (const size_t i : {0, 31, 63}) {
    std::vector<float> changed = numbers;
    changed[i] = 2;
    CHECK(Constant::of_floats(changed).sample_hash() != hash);
  }
}

TEST_CASE("Constant: a step leaves the constant that it started from alone") {
  const Constant source = Constant::of_floats({1, 2});
  const Constant scaled = source.then(ScaleAxis{0, shared({5, 5})});
  CHECK(scaled.floats() == std::vector<float>{5, 10});
  CHECK(source.floats() == std::vector<float>{1, 2});
  CHECK(source.is_source());
}

TEST_CASE("Constant: empty ones") {
  const Constant empty = Constant::of_floats({}, {0, 3});
  CHECK(empty.byte_count() == 0);
  CHECK(empty.bytes().empty());
  CHECK(empty.floats().empty());
  CHECK(empty.then(Permute{{1, 0}}).shape() == std::vector<int64_t>{3, 0});
  CHECK(empty.then(Permute{{1, 0}}).then(Permute{{1, 0}}).bytes().empty());
  CHECK(empty == Constant::of_floats({}, {0, 3}));
}

TEST_CASE("Constant: equal bytes with equal recipes are equal, wherever they lie") {
  const Constant a = Constant::of_floats({1, 2});
  CHECK(a == a);
  CHECK(a == Constant::of_floats({1, 2}));
  CHECK_FALSE(a == Constant::of_floats({1, 3}));
  CHECK_FALSE(a == Constant::of_floats({1, 2}, {1, 2}));
  CHECK_FALSE(a == a.then(Reshape{{2}}));
  CHECK(a.then(ScaleAxis{0, shared({1, 2})}) == a.then(ScaleAxis{0, shared({1, 2})}));
  CHECK_FALSE(a.then(ScaleAxis{0, shared({1, 2})}) == a.then(ScaleAxis{0, shared({1, 3})}));
  CHECK_FALSE(a.then(AddVector{shared({1, 2})}) == a.then(AddVector{shared({1, 3})}));
  CHECK_FALSE(a.then(QuantizeBias{0.5}) == a.then(QuantizeBias{0.50000001}));
  const Constant bytes = constant_of<int8_t>(DataType::kInt8, {2}, {1, 2});
  CHECK_FALSE(bytes == constant_of<uint8_t>(DataType::kUInt8, {2}, {1, 2}));
  CHECK_FALSE(bytes.then(Requantize{0, shared({1, 2}), 1}) == bytes.then(Requantize{0, shared({1, 3}), 1}));
  CHECK_FALSE(bytes.then(Requantize{0, shared({1, 2}), 1}) == bytes.then(Requantize{0, shared({1, 2}), 2}));
}

TEST_CASE("Constant: pieces are the bytes, and small where rows of axis 0 don't need each other") {
  std::mt19937 random(5);
  const std::vector<int64_t> shape = {60, 48, 9, 20};
  const auto of = [&](int64_t size) { return shared(testing::random_values(random, static_cast<size_t>(size))); };
  struct Recipe {
    std::vector<RecipeStep> steps;
    bool has_rows;
  };
  const Recipe recipes[] = {
      {{}, true},
      {{Permute{{0, 2, 3, 1}}}, true},
      {{Permute{{0, 3, 1, 2}}, ScaleAxis{0, of(60)}, Reshape{{60, 8640}}, ScaleAxis{1, of(8640)}}, true},
      {{Reshape{{60, 432, 20}}, Permute{{0, 2, 1}}, Reshape{{60, 20, 48, 9}}, ScaleAxis{3, of(9)}}, true},
      {{ScaleAxis{0, of(60)}, QuantizeBias{0.01}}, true},
      {{Reshape{{60, 8640}}, ScaleAxis{1, of(8640)}, AppendZeros{4}}, true},
      {{Permute{{1, 2, 3, 0}}}, false},
      {{Reshape{{2880, 180}}, ScaleAxis{0, of(2880)}}, false},
      {{Permute{{1, 0, 2, 3}}, Permute{{1, 0, 2, 3}}}, false}};
  for (const Recipe& recipe : recipes) {
    Constant constant = random_constant(random, shape);
    for (const RecipeStep& step : recipe.steps) constant = constant.then(step);
    INFO(constant.recipe_text());
    std::vector<uint8_t> found;
    size_t largest = 0;
    constant.write_to([&](const void* bytes, size_t size) {
      const auto* begin = static_cast<const uint8_t*>(bytes);
      found.insert(found.end(), begin, begin + size);
      largest = std::max(largest, size);
    });
    CHECK(found == constant.bytes());
    CHECK((largest < found.size()) == recipe.has_rows);
  }
}

TEST_CASE("Constant: pieces of vectors and of bytes") {
  std::mt19937 random(6);
  constexpr int64_t kSize = 300'000;
  const auto factors = shared(testing::random_values(random, kSize));
  const Constant vector = Constant::of_floats(testing::random_values(random, kSize));
  std::vector<int8_t> numbers(kSize * 4);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int8_t>(i * 31 + i / 256);
  const Constant bytes = constant_of<int8_t>(DataType::kInt8, {kSize, 4}, numbers);
  for (const Constant& constant :
       {vector.then(AddVector{factors}).then(ScaleAxis{0, factors}).then(QuantizeBias{0.001}),
        bytes.then(Requantize{0, factors, 0.5f}).then(ShiftToUInt8{}), bytes.then(Permute{{1, 0}})}) {
    INFO(constant.recipe_text());
    std::vector<uint8_t> found;
    constant.write_to([&](const void* piece, size_t size) {
      const auto* begin = static_cast<const uint8_t*>(piece);
      found.insert(found.end(), begin, begin + size);
    });
    CHECK(found == constant.bytes());
  }
}

TEST_CASE("Constant: a released one keeps its type and shape, and lets its owner go") {
  auto owner = std::make_shared<const std::vector<float>>(std::vector<float>{1, 2, 3, 4, 5, 6});
  const std::weak_ptr<const std::vector<float>> watch = owner;
  Constant constant = Constant(DataType::kFloat32, {2, 3}, owner->data(), owner).then(Permute{{1, 0}});
  owner.reset();
  CHECK_FALSE(watch.expired());
  constant.release();
  CHECK(watch.expired());
  CHECK(constant.shape() == std::vector<int64_t>{3, 2});
  CHECK(constant.byte_count() == 24);
  CHECK_THROWS_AS(constant.bytes(), std::logic_error);
}

TEST_CASE("Constant: evaluated gives the same value without a recipe, and lets the source go") {
  auto owner = std::make_shared<const std::vector<float>>(std::vector<float>{1, 2, 3, 4, 5, 6});
  const std::weak_ptr<const std::vector<float>> watch = owner;
  std::vector<Constant> kept;
  kept.push_back(
      Constant(DataType::kFloat32, {2, 3}, owner->data(), owner).then(Permute{{1, 0}}).then(QuantizeBias{0.5}));
  owner.reset();
  const std::vector<uint8_t> bytes = kept[0].bytes();
  kept[0] = kept[0].evaluated();
  CHECK(watch.expired());
  CHECK(kept[0].is_source());
  CHECK(kept[0].type() == DataType::kInt32);
  CHECK(kept[0].shape() == std::vector<int64_t>{3, 2});
  CHECK(kept[0].bytes() == bytes);
  const Constant plain = Constant::of_floats({1, 2});
  CHECK(plain.evaluated().source() == plain.source());  // no copy without need
}

TEST_CASE("Constant: float16 by the last step, in rows, too") {
  std::vector<float> numbers(600'000);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.25F + static_cast<float>(i % 1000) / 512;
  const Constant constant = Constant::of_floats(numbers, {1000, 600}).then(Permute{{0, 1}}).then(RoundToFloat16{});
  CHECK(constant.type() == DataType::kFloat16);
  CHECK(constant.byte_count() == 1'200'000);
  CHECK(constant.recipe_text() == "permute(0,1) round_to_float16");
  const auto halves = values_of<uint16_t>(constant);
  std::vector<uint8_t> in_pieces;
  int pieces = 0;
  constant.write_to([&](const void* bytes, size_t size) {
    in_pieces.insert(in_pieces.end(), static_cast<const uint8_t*>(bytes), static_cast<const uint8_t*>(bytes) + size);
    ++pieces;
  });
  CHECK(pieces > 1);
  CHECK(in_pieces == constant.bytes());
  for (size_t i = 0; i < numbers.size(); ++i) {
    REQUIRE(std::abs(nnapi_convert::float_of_float16(halves[i]) - numbers[i]) <= numbers[i] / 2048);
  }
}
