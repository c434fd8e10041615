// SPDX-License-Identifier: BSD-3-Clause
// The fuzzer of programs: libFuzzer's entry points. The first byte of an input chooses what the others are:
//   a record, whose header and checksum are made right, so that changes get past them; one that is accepted runs;
//   calls of operators, each two bytes for the operator and some for its arguments, on what calls before have given.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "lib/program/operator_table.h"
#include "tests/program/program_run.h"

namespace {

using namespace nnapi_shim::program;
using nnapi_shim::program_testing::OpenProgram;
using nnapi_shim::program_testing::ProgramMaker;
namespace format = nnapi_convert::program_format;

constexpr uint64_t kSteps = 2000;
constexpr size_t kMostMemory = size_t{64} << 20;
constexpr int64_t kMostElements = 4096;  // of a tensor that later calls read: so that they end soon
constexpr size_t kMostCalls = 24;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// Checks that all elements of a tensor are in its storage.
void check_tensor(const Tensor& tensor) {
  require(tensor.rank <= kMostAxes, "tensors have at most 8 axes");
  int64_t last = tensor.offset;
  bool is_empty = false;
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    require(tensor.sizes[i] >= 0 && tensor.strides[i] >= 0, "sizes and strides are not below 0");
    is_empty = is_empty || tensor.sizes[i] == 0;
    int64_t more = 0;
    require(!__builtin_mul_overflow(tensor.sizes[i] > 0 ? tensor.sizes[i] - 1 : 0, tensor.strides[i], &more) &&
                !__builtin_add_overflow(last, more, &last),
            "tensors are in memory");
  }
  require(tensor.offset >= 0, "offsets are not below 0");
  const auto bytes = static_cast<int64_t>(tensor.storage->bytes / element_bytes(tensor.dtype));
  require(is_empty || last < bytes, "elements are in the storage");
}

void check_value(const Value& value, uint32_t depth = 0) {
  if (depth > 8) return;
  if (value.is_tensor()) check_tensor(value.tensor());
  if (value.tag() < Tag::kList) return;
  const Sequence& sequence = value.sequence();
  require(sequence.count <= sequence.capacity || sequence.count == 0, "elements are in their memory");
  require(value.tag() != Tag::kDict || sequence.count % 2 == 0, "dicts have pairs");
  for (uint32_t i = 0; i < sequence.count && i < 16; ++i) check_value(sequence.values[i], depth + 1);
}

void put(std::vector<uint8_t>* record, uint32_t word, uint32_t value) {
  std::memcpy(record->data() + size_t{4} * word, &value, 4);
}

void run_record(const uint8_t* data, size_t size) {
  std::vector<uint8_t> record(data, data + size);
  if (size >= format::kHeaderWords * 4) {
    uint32_t words = 0;
    std::memcpy(&words, data + 4 * format::kWordCount, 4);
    if (words > size / 4 || words < format::kHeaderWords)
      put(&record, format::kWordCount, static_cast<uint32_t>(size / 4));
    put(&record, format::kMagicWord, format::kMagic);
    put(&record, format::kVersionWord, format::kVersion);
    ProgramMaker::set_checksum(&record);
  }
  OpenProgram open(record);
  require(open.is_good() == open.error().empty(), "one sentence");
  if (!open.is_good()) return;
  open.context.pool.set_limit(kMostMemory);
  for (const Method& method : open.program().methods()) {
    std::vector<Value> arguments;
    for (const Argument& argument : method.arguments) {
      switch (argument.type.kind) {
        case Type::Kind::kTensor:
          arguments.push_back(open.floats({1, 2, 2}, {1, -2, 3, 0.5f}));
          break;
        case Type::Kind::kInt:
          arguments.emplace_back(int64_t{3});
          break;
        case Type::Kind::kBool:
          arguments.emplace_back(true);
          break;
        default:
          arguments.push_back(argument.default_value);
      }
    }
    Value result;
    open.context.steps_left = kSteps;
    const bool is_good = open.run(method.name, std::move(arguments), &result);
    require(is_good || open.context.failure[0] != '\0', "a failure has a reason");
    check_value(result);
  }
}

// Gives out bytes of the input; zeros behind its end.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  bool is_at_end() const { return at_ == end_; }
  uint8_t next() { return at_ == end_ ? uint8_t{0} : *at_++; }

 private:
  const uint8_t* at_;
  const uint8_t* const end_;
};

Value tensor_of(Pool& pool, ScalarType dtype, const std::vector<int64_t>& sizes) {
  Value made(make_tensor(pool, dtype, static_cast<uint32_t>(sizes.size()), sizes.data()));
  const Tensor& tensor = made.tensor();
  Value numbers(make_tensor(pool, ScalarType::kFloat32, tensor.rank, tensor.sizes));
  for (int64_t i = 0; i < tensor.numel(); ++i) numbers.tensor().data<float>()[i] = static_cast<float>(i % 5) - 1;
  copy_elements(numbers.tensor(), tensor);
  return made;
}

Value list_of(Pool& pool, Tag tag, const std::vector<Value>& values) {
  Value made(make_sequence(pool, tag, static_cast<uint32_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i) made.sequence().values[i] = values[i];
  return made;
}

std::vector<Value> first_values(Pool& pool) {
  const auto number = [](int64_t value) { return Value(value); };
  const auto ints = [&](const std::vector<int64_t>& numbers) {
    std::vector<Value> values;
    for (const int64_t each : numbers) values.push_back(number(each));
    return list_of(pool, Tag::kList, values);
  };
  std::vector<Value> values = {Value(), Value(false), Value(true), Value(0.5), Value(-3.0), Value::device()};
  for (const int64_t each : {0, 1, 2, 3, 6, -1, -2}) values.push_back(number(each));
  values.push_back(number(INT64_MAX));
  values.push_back(number(INT64_MIN));
  values.push_back(Value(make_string(pool, "nearest", 7)));
  values.push_back(Value(make_string(pool, "{}", 2)));
  for (const std::vector<int64_t>& each : std::vector<std::vector<int64_t>>{
           {}, {0}, {1}, {2, 2}, {1, -1}, {0, 1, 2}, {1, 1, 1, 1}, {INT64_MAX, 2}, {-1, -1}, {4, 4}}) {
    values.push_back(ints(each));
  }
  for (const ScalarType dtype : {ScalarType::kFloat32, ScalarType::kInt64, ScalarType::kBool, ScalarType::kUInt8}) {
    for (const std::vector<int64_t>& sizes :
         std::vector<std::vector<int64_t>>{{}, {0}, {4}, {2, 3}, {3, 2}, {1, 2, 4, 4}, {2, 2, 3, 3}}) {
      values.push_back(tensor_of(pool, dtype, sizes));
    }
  }
  for (const ScalarType dtype : {ScalarType::kFloat16, ScalarType::kFloat64, ScalarType::kInt32, ScalarType::kInt8}) {
    values.push_back(tensor_of(pool, dtype, {2, 3}));
  }
  values.push_back(list_of(pool, Tag::kList, {values.back(), values.back()}));
  values.push_back(list_of(pool, Tag::kTuple, {values.back(), Value()}));
  values.push_back(list_of(pool, Tag::kDict, {number(1), values.back()}));
  return values;
}

const Operator& row_of(uint32_t number) {
  static std::vector<Operator> rows;
  if (rows.empty()) {
    visit_rows([&](const Operator& row, std::string_view) {
      rows.push_back(row);
      return false;
    });
  }
  return rows[number % rows.size()];
}

bool may_be_kept(const Value& value) {
  return !value.is_tensor() || value.tensor().numel() <= kMostElements;
}

void run_calls(Bytes bytes) {
  Context context;
  context.pool.set_limit(kMostMemory);
  std::vector<Value> values = first_values(context.pool);
  for (size_t calls = 0; calls < kMostCalls && !bytes.is_at_end(); ++calls) {
    const uint32_t number = bytes.next();
    const Operator& row = row_of(number + 256u * bytes.next());
    const uint32_t count = row.inputs == kAny ? bytes.next() % 4u : row.inputs;
    std::vector<Value> inputs;
    for (uint32_t i = 0; i < count; ++i) inputs.push_back(values[bytes.next() % values.size()]);
    std::vector<const Value*> pointers;
    for (const Value& input : inputs) pointers.push_back(&input);
    std::vector<Value> outputs(row.outputs == kAny ? 1 : row.outputs);
    Call call{context, pointers.data(), count, outputs.data(), static_cast<uint32_t>(outputs.size())};
    context.failure[0] = '\0';
    context.steps_left = kSteps;
    const bool is_good = row.run(call);
    require(is_good == (context.failure[0] == '\0'), "a failure has a reason, success has none");
    for (const Value& input : inputs) check_value(input);
    for (const Value& output : outputs) {
      if (!is_good) break;
      check_value(output);
      if (may_be_kept(output) && values.size() < 255) values.push_back(output);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  if (data[0] % 2 == 0) {
    run_record(data + 1, size - 1);
  } else {
    run_calls(Bytes(data + 1, size - 1));
  }
  return 0;
}
