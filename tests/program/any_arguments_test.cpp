// SPDX-License-Identifier: BSD-3-Clause
// No argument whatever makes operators read or write outside of their tensors (with the sanitizers' builds).
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/program/operator_table.h"
#include "tests/program/operator_calls.h"

// Arguments ask for more memory than there is.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=64";
}

using namespace nnapi_shim::program_testing;

namespace {

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
  visit_rows([&](const Operator& row, std::string_view name) {
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
        if (succeeded == (context.failure[0] != '\0')) FAIL(name << ": " << context.failure << ", seed " << seed);
        if (succeeded) {
          for (const Value& output : outputs) {
            if (!is_inside(output)) FAIL(name << " gives elements that are outside, seed " << seed);
          }
        }
      }
      if (context.pool.bytes_in_use() != 0) FAIL(name << " keeps memory, seed " << seed);
    }
    done += worked;
    refused += 400 - worked;
    return false;
  });
  // The arguments are not only nonsense.
  CHECK(done * 20 > done + refused);
}

}  // namespace
