// Operators on tensors: what views share, what is refused, and that no argument whatever makes them read or write
// outside of their tensors (with the sanitizers' builds).
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "lib/program/operators.h"

// Catch's header defines macros that other headers must not see.
#include <catch2/catch.hpp>

// Arguments ask for more memory than there is.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=64";
}

using namespace nnapi_shim::program;

namespace {

Value floats(Context& context, std::vector<int64_t> sizes, const std::vector<float>& elements) {
  Tensor* tensor = make_tensor(context.pool, ScalarType::kFloat32, static_cast<uint32_t>(sizes.size()), sizes.data());
  REQUIRE(tensor != nullptr);
  REQUIRE(tensor->numel() == static_cast<int64_t>(elements.size()));
  std::memcpy(tensor->storage->data, elements.data(), elements.size() * sizeof(float));
  return Value(tensor);
}

Value ints(Context& context, const std::vector<int64_t>& numbers) {
  Sequence* list = make_sequence(context.pool, Tag::kList, static_cast<uint32_t>(numbers.size()));
  for (size_t i = 0; i < numbers.size(); ++i) list->values[i] = Value(numbers[i]);
  return Value(list);
}

Value text(Context& context, const char* characters) {
  return Value(make_string(context.pool, characters, std::strlen(characters)));
}

bool run(Context& context, const char* name, const std::vector<Value>& inputs, std::vector<Value>& outputs) {
  INFO(name);
  const OperatorRow* row = find_operator(name, std::strlen(name));
  REQUIRE(row != nullptr);
  REQUIRE(row->inputs == inputs.size());
  std::vector<const Value*> pointers;
  for (const Value& input : inputs) pointers.push_back(&input);
  outputs.assign(row->outputs, Value());
  Call call{context, pointers.data(), static_cast<uint32_t>(inputs.size()), outputs.data(), row->outputs};
  return row->run(call);
}

Value result(Context& context, const char* name, const std::vector<Value>& inputs) {
  std::vector<Value> outputs;
  const bool done = run(context, name, inputs, outputs);
  INFO(context.failure);
  REQUIRE(done);
  return outputs[0];
}

std::string refusal(Context& context, const char* name, const std::vector<Value>& inputs) {
  std::vector<Value> outputs;
  REQUIRE_FALSE(run(context, name, inputs, outputs));
  std::string failure = context.failure;
  context.failure[0] = '\0';
  return failure;
}

std::vector<float> elements(Context& context, const Value& value) {
  REQUIRE(value.is_tensor());
  const Value row_major(contiguous(context.pool, value.tensor()));
  const float* first = row_major.tensor().data<float>();
  return {first, first + row_major.tensor().numel()};
}

std::vector<int64_t> sizes_of(const Value& value) {
  return {value.tensor().sizes, value.tensor().sizes + value.tensor().rank};
}

const Value kNone;
const Value kFalse(false);

Value number(int64_t value) {
  return Value(value);
}

using Floats = std::vector<float>;

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

// Random arguments, of which most are of the kinds that operators need.
class Arguments {
 public:
  Arguments(Context& context, uint32_t seed) : context_(context), random_(seed) {}

  Value any(uint32_t number) {
    const int64_t kind = below(number == 0 ? 10 : 16);
    if (kind < (number == 0 ? 8 : 4)) return tensor();
    if (number == 0) return kind == 8 ? list(0) : simple();
    if (kind < 6) return list(0);
    return simple();
  }

 private:
  int64_t below(int64_t count) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(count)); }

  int64_t whole() {
    constexpr int64_t kHuge[] = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min(),
                                 int64_t{1} << 55, -(int64_t{1} << 55), int64_t{1} << 62};
    return below(12) == 0 ? kHuge[below(5)] : below(9) - 3;
  }

  double real() {
    constexpr double kReals[] = {0,
                                 1,
                                 -1,
                                 0.5,
                                 2,
                                 1e300,
                                 -1e300,
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN(),
                                 1e-3,
                                 3.7};
    return kReals[below(12)];
  }

  Value simple() {
    switch (below(9)) {
      case 0:
        return Value();
      case 1:
        return Value(below(2) == 1);
      case 2:
        return Value(real());
      case 3: {
        constexpr const char* kTexts[] = {"",   "reflect", "constant", "circular", "replicate", "floor", "trunc",
                                          "xy", "sum",     "amax",     "same",     "valid",     "tanh",  "right"};
        return text(context_, kTexts[below(14)]);
      }
      case 4:
        return Value::device();
      default:
        return Value(whole());
    }
  }

  Value list(int depth) {
    const auto count = static_cast<uint32_t>(below(5));
    const int64_t kind = below(6);
    constexpr Tag kTags[] = {Tag::kList, Tag::kList, Tag::kList, Tag::kTuple};
    const Tag tag = kTags[below(4)];
    Sequence* sequence = make_sequence(context_.pool, tag, count);
    for (uint32_t i = 0; i < count; ++i) {
      Value& value = sequence->values[i];
      if (kind < 3) {
        value = Value(whole());
      } else if (kind == 3) {
        value = below(5) == 0 ? Value() : tensor();
      } else if (kind == 4) {
        value = Value(real());
      } else {
        value = depth < 3 ? list(depth + 1) : simple();
      }
    }
    return Value(sequence);
  }

  Value tensor() {
    constexpr ScalarType kTypes[] = {ScalarType::kFloat32, ScalarType::kFloat32, ScalarType::kFloat32,
                                     ScalarType::kInt64,   ScalarType::kInt64,   ScalarType::kBool,
                                     ScalarType::kFloat16, ScalarType::kFloat64, ScalarType::kUInt8,
                                     ScalarType::kInt32,   ScalarType::kInt8,    ScalarType::kInt16};
    constexpr int64_t kSizes[] = {0, 1, 2, 3, 4, 5, 1, 2, 3, 4};
    const auto rank = static_cast<uint32_t>(below(below(8) == 0 ? 9 : 5));
    int64_t sizes[kMostAxes];
    for (uint32_t i = 0; i < rank; ++i) sizes[i] = rank > 5 ? 1 + below(2) : kSizes[below(10)];
    Tensor* made = make_tensor(context_.pool, kTypes[below(12)], rank, sizes);
    REQUIRE(made != nullptr);
    const bool is_bytes = below(6) == 0;
    for (size_t i = 0; i < made->storage->bytes; ++i) {
      made->storage->data[i] = static_cast<uint8_t>(is_bytes ? below(256) : 0);
    }
    const auto count = made->storage->bytes / element_bytes(made->dtype);
    for (size_t i = 0; !is_bytes && i < count; ++i) {
      const int64_t value = below(7) - 1;
      switch (made->dtype) {
        case ScalarType::kFloat32:
          made->data<float>()[i] = static_cast<float>(value) * 0.75F;
          break;
        case ScalarType::kFloat64:
          made->data<double>()[i] = static_cast<double>(value) * 1.25;
          break;
        case ScalarType::kInt64:
          made->data<int64_t>()[i] = value;
          break;
        case ScalarType::kInt32:
          made->data<int32_t>()[i] = static_cast<int32_t>(value);
          break;
        default:
          made->storage->data[i] = static_cast<uint8_t>(below(2));
          break;
      }
    }
    // Views: other orders of axes, fewer elements, repeated elements.
    for (uint32_t i = 0; i < rank; ++i) {
      const auto other = static_cast<uint32_t>(below(rank));
      if (below(4) == 0) {
        std::swap(made->sizes[i], made->sizes[other]);
        std::swap(made->strides[i], made->strides[other]);
      }
      if (below(8) == 0 && made->sizes[i] > 1) {
        made->offset += made->strides[i];
        --made->sizes[i];
      }
      if (below(16) == 0 && made->sizes[i] > 0) made->strides[i] = 0;
    }
    if (below(12) == 0) made->storage->is_writable = false;
    return Value(made);
  }

  Context& context_;
  std::mt19937_64 random_;
};

constexpr const OperatorTable* kTables[] = {
#define PROGRAM_OPERATOR_TABLE(name) &name,
#include "lib/program/tables.inc"
#undef PROGRAM_OPERATOR_TABLE
};

bool is_inside(const Value& value) {
  if (value.tag() == Tag::kList || value.tag() == Tag::kTuple) {
    for (uint32_t i = 0; i < value.sequence().count; ++i) {
      if (!is_inside(value.sequence().values[i])) return false;
    }
    return true;
  }
  if (!value.is_tensor()) return true;
  const Tensor& tensor = value.tensor();
  if (tensor.rank > kMostAxes || tensor.offset < 0) return false;
  int64_t last = tensor.offset;
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.sizes[i] < 0 || tensor.strides[i] < 0) return false;
    last += (tensor.sizes[i] - 1) * tensor.strides[i];
  }
  if (tensor.numel() == 0) return true;
  return static_cast<uint64_t>(last) < tensor.storage->bytes / element_bytes(tensor.dtype);
}

TEST_CASE("no argument whatever brings an operator outside of its tensors") {
  size_t done = 0, refused = 0;
  uint32_t seed = 1;
  for (const OperatorTable* table : kTables) {
    for (size_t i = 0; i < table->count; ++i) {
      const OperatorRow& row = table->rows[i];
      size_t worked = 0;
      for (int round = 0; round < 400; ++round) {
        Context context;
        {
          Arguments arguments(context, ++seed);
          const uint32_t count = row.inputs == kAny ? seed % 4 : row.inputs;
          std::vector<Value> inputs;
          for (uint32_t k = 0; k < count; ++k) inputs.push_back(arguments.any(k));
          std::vector<const Value*> pointers;
          for (const Value& input : inputs) pointers.push_back(&input);
          std::vector<Value> outputs(row.outputs);
          Call call{context, pointers.data(), count, outputs.data(), row.outputs};
          const bool succeeded = row.run(call);
          worked += succeeded ? 1 : 0;
          if (succeeded == (context.failure[0] != '\0')) FAIL(row.name << ": " << context.failure << ", seed " << seed);
          if (succeeded) {
            for (const Value& output : outputs) {
              if (!is_inside(output)) FAIL(row.name << " gives elements that are outside, seed " << seed);
            }
          }
        }
        if (context.pool.bytes_in_use() != 0) FAIL(row.name << " keeps memory, seed " << seed);
      }
      done += worked;
      refused += 400 - worked;
    }
  }
  // The arguments are not only nonsense.
  CHECK(done * 20 > done + refused);
}

}  // namespace
