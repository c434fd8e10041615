// SPDX-License-Identifier: BSD-3-Clause
// Operators on tensors: what views share, what is written where, and what is refused.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/program/operator_calls.h"

using namespace nnapi_shim::program_testing;

namespace {

TEST_CASE("views share the elements of their tensor") {
  Context context;
  const Value whole = floats(context, {2, 3}, {0, 1, 2, 3, 4, 5});
  SECTION("slices, with a step") {
    const Value slice = result(context, "aten::slice.Tensor", {whole, number(1), number(0), number(99), number(2)});
    CHECK(elements(context, slice) == Floats{0, 2, 3, 5});
    result(context, "aten::zero_", {slice});
    CHECK(elements(context, whole) == Floats{0, 1, 0, 0, 4, 0});
  }
  SECTION("a row, from behind") {
    const Value row = result(context, "aten::select.int", {whole, number(0), number(-1)});
    result(context, "aten::mul_.Scalar", {row, Value(2.0)});
    CHECK(elements(context, whole) == Floats{0, 1, 2, 6, 8, 10});
  }
  SECTION("the transposed matrix, and a view of it") {
    const Value turned = result(context, "aten::transpose.int", {whole, number(0), number(1)});
    CHECK(elements(context, turned) == Floats{0, 3, 1, 4, 2, 5});
    CHECK(refusal(context, "aten::view", {turned, ints(context, {6})}).find("reshape()") != std::string::npos);
    const Value flat = result(context, "aten::reshape", {turned, ints(context, {-1})});
    result(context, "aten::fill_.Scalar", {flat, number(7)});
    CHECK(elements(context, whole) == Floats{0, 1, 2, 3, 4, 5});
  }
  SECTION("another shape") {
    const Value shaped = result(context, "aten::view", {whole, ints(context, {3, -1})});
    CHECK(sizes_of(shaped) == std::vector<int64_t>{3, 2});
    result(context, "aten::add_.Scalar", {shaped, number(1), number(1)});
    CHECK(elements(context, whole) == Floats{1, 2, 3, 4, 5, 6});
  }
  SECTION("parts") {
    const Value parts = result(context, "aten::split.Tensor", {whole, number(2), number(1)});
    REQUIRE(parts.sequence().count == 2);
    CHECK(sizes_of(parts.sequence().values[1]) == std::vector<int64_t>{2, 1});
    result(context, "aten::zero_", {parts.sequence().values[1]});
    CHECK(elements(context, whole) == Floats{0, 1, 0, 3, 4, 0});
  }
  SECTION("a slice may take another part of the same tensor") {
    const Value from = result(context, "aten::slice.Tensor", {whole, number(1), number(0), number(2), number(1)});
    const Value to = result(context, "aten::slice.Tensor", {whole, number(1), number(1), number(3), number(1)});
    result(context, "aten::copy_", {to, from, kFalse});
    CHECK(elements(context, whole) == Floats{0, 0, 1, 3, 3, 4});
  }
}

TEST_CASE("repeated elements are read and not written") {
  Context context;
  const Value row = floats(context, {1, 2}, {1, 2});
  const Value repeated = result(context, "aten::expand", {row, ints(context, {3, -1}), kFalse});
  CHECK(elements(context, repeated) == Floats{1, 2, 1, 2, 1, 2});
  CHECK(refusal(context, "aten::zero_", {repeated}).find("share memory") != std::string::npos);
}

TEST_CASE("scatter() writes rows where the index is the same along the last axes") {
  Context context;
  const Value target = floats(context, {3, 2, 2}, Floats(12));
  const Value source = floats(context, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Value places =
      result(context, "aten::add.Scalar",
             {result(context, "aten::arange", {number(2), kNone, kNone, kNone, kNone}), number(1), number(1)});
  const Value column = result(context, "aten::view", {places, ints(context, {2, 1, 1})});
  const Value index = result(context, "aten::expand", {column, ints(context, {2, 2, 2}), kFalse});
  SECTION("into whole rows") {
    const Value written = result(context, "aten::scatter.src", {target, number(0), index, source});
    CHECK(elements(context, written) == Floats{0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(elements(context, target) == Floats(12));
  }
  SECTION("into a tensor whose last axes are turned") {
    const Value turned = result(context, "aten::transpose.int", {target, number(1), number(2)});
    result(context, "aten::scatter_.src", {turned, number(0), index, source});
    CHECK(elements(context, target) == Floats{0, 0, 0, 0, 1, 3, 2, 4, 5, 7, 6, 8});
  }
  SECTION("into a part of each row") {
    const Value part = result(context, "aten::slice.Tensor", {index, number(2), number(0), number(1), number(1)});
    const Value written = result(context, "aten::scatter.src", {target, number(0), part, source});
    CHECK(elements(context, written) == Floats{0, 0, 0, 0, 1, 0, 3, 0, 5, 0, 7, 0});
  }
  SECTION("one number") {
    const Value written = result(context, "aten::scatter.value", {target, number(0), index, Value(9.0)});
    CHECK(elements(context, written) == Floats{0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9});
  }
}

TEST_CASE("constants and inputs are not written") {
  Context context;
  const float constant[2] = {1, 2};
  const int64_t size = 2;
  const Value borrowed(make_borrowed(context.pool, ScalarType::kFloat32, 1, &size, constant, sizeof constant));
  const Value view = result(context, "aten::select.int", {borrowed, number(0), number(1)});
  for (const Value& value : {borrowed, view}) {
    CHECK(refusal(context, "aten::zero_", {value}).find("can't write") != std::string::npos);
    CHECK(refusal(context, "aten::add_.Scalar", {value, number(1), number(1)}).find("can't write") !=
          std::string::npos);
  }
  CHECK(constant[1] == 2);
  CHECK(elements(context, result(context, "aten::add.Scalar", {borrowed, number(1), number(1)})) == Floats{2, 3});
}

TEST_CASE("misaligned memory of a caller is copied") {
  Context context;
  alignas(8) uint8_t bytes[12] = {};
  const float value = 3;
  std::memcpy(bytes + 1, &value, sizeof value);
  const int64_t size = 1;
  const Value borrowed(make_borrowed(context.pool, ScalarType::kFloat32, 1, &size, bytes + 1, sizeof value));
  CHECK(elements(context, borrowed) == Floats{3});
  CHECK(make_borrowed(context.pool, ScalarType::kFloat32, 1, &size, bytes, 3) == nullptr);
}

TEST_CASE("sizes that overflow have no tensor") {
  Context context;
  const int64_t huge[2] = {int64_t{1} << 40, int64_t{1} << 40}, negative[1] = {-1}, none[2] = {0, int64_t{1} << 40};
  CHECK(make_tensor(context.pool, ScalarType::kFloat32, 2, huge) == nullptr);
  CHECK(make_tensor(context.pool, ScalarType::kFloat32, 1, negative) == nullptr);
  const Value empty(make_tensor(context.pool, ScalarType::kFloat32, 2, none));
  CHECK(empty.tensor().numel() == 0);
  const Value one = floats(context, {1}, {1});
  CHECK_FALSE(refusal(context, "aten::expand", {one, ints(context, {huge[0], huge[0]}), kFalse}).empty());
  CHECK_FALSE(refusal(context, "aten::repeat", {one, ints(context, {huge[0], huge[0]})}).empty());
}

TEST_CASE("images of NNAPI's order keep it, element by element") {
  Context context;
  const Value image = floats(context, {1, 2, 1, 2}, {1, 2, 3, 4});
  const Value last = result(context, "aten::contiguous", {image, number(2)});
  CHECK(last.tensor().strides[1] == 1);
  const Value sum = result(context, "aten::add.Tensor", {last, image, number(1)});
  CHECK(sum.tensor().is_contiguous_channels_last());
  CHECK(elements(context, sum) == Floats{2, 4, 6, 8});
  SECTION("joined") {
    const Value joined = result(context, "aten::cat", {list(context, {last, last}), number(0)});
    CHECK(joined.tensor().is_contiguous_channels_last());
    CHECK(elements(context, joined) == Floats{1, 2, 3, 4, 1, 2, 3, 4});
    const Value along = result(context, "aten::cat", {list(context, {last, last}), number(1)});
    CHECK(elements(context, along) == Floats{1, 2, 3, 4, 1, 2, 3, 4});
  }
  SECTION("joined with another order") {
    const Value joined = result(context, "aten::cat", {list(context, {last, image}), number(3)});
    CHECK(joined.tensor().is_contiguous());
    CHECK(elements(context, joined) == Floats{1, 2, 1, 2, 3, 4, 3, 4});
  }
}

Value whole_numbers(Context& context, const std::vector<int64_t>& elements) {
  const auto size = static_cast<int64_t>(elements.size());
  Tensor* tensor = make_tensor(context.pool, ScalarType::kInt64, 1, &size);
  REQUIRE(tensor != nullptr);
  std::memcpy(tensor->storage->data, elements.data(), elements.size() * sizeof(int64_t));
  return Value(tensor);
}

// Elements of any dtype as floats.
Floats as_floats(Context& context, const Value& value) {
  REQUIRE(value.is_tensor());
  const Value converted(row_major_copy(context.pool, value.tensor(), ScalarType::kFloat32));
  return elements(context, converted);
}

// As PyTorch 1.13 on the CPU.
TEST_CASE("numbers at the edges give what PyTorch gives") {
  Context context;
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  SECTION("NaN is no step, and shrinks to 0") {
    const Value values = floats(context, {3}, {kNan, -1, 0}), half = floats(context, {1}, {0.5F});
    CHECK(elements(context, result(context, "aten::heaviside", {values, half})) == Floats{0, 0, 0.5F});
    CHECK(elements(context, result(context, "aten::softshrink", {values, Value(0.5)})) == Floats{0, -0.5F, 0});
  }
  SECTION("decimals are rounded in the tensor's class") {
    const Value values = floats(context, {3}, {1.015F, 2.675F, 1.005F});
    CHECK(elements(context, result(context, "aten::round.decimals", {values, number(2)})) ==
          Floats{1.02F, 2.68F, 1.0F});
  }
  SECTION("powers of 0.5 are roots") {
    const Value values = floats(context, {3}, {-kInfinity, -0.0F, 4});
    const Floats roots = elements(context, result(context, "aten::pow.Tensor_Scalar", {values, Value(0.5)}));
    CHECK(std::isnan(roots[0]));
    CHECK(std::signbit(roots[1]));
    CHECK(roots[2] == 2);
    const Floats inverse = elements(context, result(context, "aten::pow.Tensor_Scalar", {values, Value(-0.5)}));
    CHECK(inverse[1] == -kInfinity);
    CHECK(inverse[2] == 0.5F);
    CHECK(as_floats(context, result(context, "aten::pow.Tensor_Scalar",
                                    {whole_numbers(context, {4, 9}), Value(0.5)})) == Floats{2, 3});
  }
  SECTION("float_power() of whole numbers below 0") {
    const Value power =
        result(context, "aten::float_power.Tensor_Scalar", {whole_numbers(context, {2, 4}), number(-1)});
    CHECK(power.tensor().dtype == ScalarType::kFloat64);
    CHECK(as_floats(context, power) == Floats{0.5F, 0.25F});
  }
  SECTION("all finite numbers are close within infinity") {
    const Value a = floats(context, {2}, {1, kInfinity}), b = floats(context, {2}, {2, 1});
    CHECK(as_floats(context, result(context, "aten::isclose", {a, b, Value(0.0), Value(double{kInfinity}), kFalse})) ==
          Floats{1, 0});
  }
  SECTION("alpha of whole numbers is an int, and bools have no difference") {
    const Value wholes = whole_numbers(context, {1, 2});
    CHECK(refusal(context, "aten::add.Tensor", {wholes, wholes, Value(0.5)}).find("alpha") != std::string::npos);
    CHECK(as_floats(context, result(context, "aten::add.Tensor", {wholes, wholes, number(3)})) == Floats{4, 8});
    const Value mask = result(context, "aten::gt.Scalar", {wholes, number(1)});
    CHECK(refusal(context, "aten::sub.Tensor", {wholes, mask, number(1)}).find("bools") != std::string::npos);
    CHECK(refusal(context, "aten::rsub.Scalar", {mask, number(1), number(1)}).find("bools") != std::string::npos);
  }
  SECTION("a float that fills whole numbers is cut, and has to fit") {
    const Value wholes = whole_numbers(context, {1, 2});
    const Value mask = result(context, "aten::gt.Scalar", {wholes, number(1)});
    CHECK(as_floats(context, result(context, "aten::masked_fill.Scalar", {wholes, mask, Value(-7.5)})) ==
          Floats{1, -7});
    CHECK(refusal(context, "aten::masked_fill.Scalar", {wholes, mask, Value(-double{kInfinity})}).find("int64") !=
          std::string::npos);
  }
}

TEST_CASE("one number fills tensors of each dtype") {
  Context context;
  const auto filled = [&](ScalarType dtype, Value value) {
    const Value made = result(context, "aten::full",
                              {ints(context, {3, 2}), value, number(static_cast<int64_t>(dtype)), kNone, kNone, kNone});
    CHECK(made.tensor().dtype == dtype);
    return made;
  };
  const auto all = [](const Value& made, auto expected) {
    for (int i = 0; i < 6; ++i) CHECK(made.tensor().data<decltype(expected)>()[i] == expected);
  };
  all(filled(ScalarType::kUInt8, number(131)), uint8_t{131});
  all(filled(ScalarType::kInt8, number(-77)), int8_t{-77});
  all(filled(ScalarType::kInt16, number(-3277)), int16_t{-3277});
  all(filled(ScalarType::kInt32, number(-123456789)), int32_t{-123456789});
  all(filled(ScalarType::kInt64, number(-12345678901234567)), int64_t{-12345678901234567});
  all(filled(ScalarType::kFloat16, Value(1.5)), uint16_t{0x3e00});
  all(filled(ScalarType::kFloat32, Value(0.1)), 0.1F);
  all(filled(ScalarType::kFloat64, Value(0.1)), 0.1);
  all(filled(ScalarType::kBool, Value(true)), uint8_t{1});
}

TEST_CASE("eye() of other sizes, dtypes and places") {
  Context context;
  const Value wide = result(context, "aten::eye.m", {number(2), number(3), kNone, kNone, kNone, kNone});
  CHECK(sizes_of(wide) == std::vector<int64_t>{2, 3});
  CHECK(elements(context, wide) == Floats{1, 0, 0, 0, 1, 0});
  const Value high = result(context, "aten::eye.m", {number(3), number(1), kNone, kNone, kNone, kNone});
  CHECK(elements(context, high) == Floats{1, 0, 0});
  const Value square = result(context, "aten::eye", {number(2), number(3), kNone, kNone, kNone});  // dtype 3: int32
  CHECK(sizes_of(square) == std::vector<int64_t>{2, 2});
  CHECK(square.tensor().dtype == ScalarType::kInt32);
  const Value bytes = result(context, "aten::eye.m", {number(1), number(7), number(0), kNone, kNone, kNone});
  CHECK(bytes.tensor().dtype == ScalarType::kUInt8);
  CHECK(sizes_of(bytes) == std::vector<int64_t>{1, 7});
}

TEST_CASE("which indices count from the end") {
  Context context;
  const Value whole = floats(context, {2, 2}, {0, 1, 2, 3}), row = floats(context, {1, 2}, {8, 9});
  const Value last = whole_numbers(context, {-1});
  CHECK(elements(context, result(context, "aten::take", {whole, last})) == Floats{3});
  CHECK(elements(context, result(context, "aten::index_fill.int_Scalar", {whole, number(0), last, number(7)})) ==
        Floats{0, 1, 7, 7});
  for (const auto& each : std::vector<std::pair<const char*, std::vector<Value>>>{
           {"aten::index_select", {whole, number(0), last}},
           {"aten::embedding", {whole, last, number(-1), kFalse, kFalse}},
           {"aten::index_copy", {whole, number(0), last, row}},
           {"aten::index_add", {whole, number(0), last, row, number(1)}}}) {
    CHECK(refusal(context, each.first, each.second).find("index -1 is out of range") != std::string::npos);
  }
}

TEST_CASE("take_along_dim() repeats what has one element") {
  Context context;
  const Value row = floats(context, {1, 3}, {5, 6, 7});
  const Value places = result(context, "aten::view", {whole_numbers(context, {2, 0}), ints(context, {2, 1})});
  CHECK(elements(context, result(context, "aten::take_along_dim", {row, places, number(1)})) == Floats{7, 5});
  const Value one = floats(context, {1, 1}, {1});
  const Value index = result(context, "aten::view", {whole_numbers(context, {0}), ints(context, {1, 1})});
  const int64_t huge = int64_t{1} << 50;
  const Value high = result(context, "aten::expand", {one, ints(context, {huge, 1}), kFalse});
  const Value wide = result(context, "aten::expand", {index, ints(context, {1, huge}), kFalse});
  CHECK_FALSE(refusal(context, "aten::take_along_dim", {high, wide, number(1)}).empty());
}

}  // namespace
