// SPDX-License-Identifier: BSD-3-Clause
// Random models, written and read back.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <iterator>
#include <random>

#include "lib/nnapi/builder.h"
#include "lib/serialize/buffer_reader.h"
#include "lib/serialize/buffer_writer.h"
#include "tests/serialize/sample_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;

namespace {

class RandomModel {
 public:
  explicit RandomModel(unsigned seed) : random_(seed) {}

  Model make() {
    for (int64_t i = pick(1, 12); i > 0; --i) add_operand();
    for (int64_t i = pick(0, 6); i > 0; --i) {
      model_.operations.push_back({static_cast<OperationCode>(pick(0, 105)), some_operands(), some_operands(), ""});
    }
    for (const OperandId id : some_operands()) model_.inputs.push_back({id});
    for (const OperandId id : some_operands()) model_.outputs.push_back({id});
    return std::move(model_);
  }

 private:
  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }

  std::vector<OperandId> some_operands() {
    std::vector<OperandId> ids(static_cast<size_t>(pick(0, 5)));
    for (OperandId& id : ids) id = static_cast<OperandId>(pick(0, static_cast<int64_t>(model_.operands.size()) - 1));
    return ids;
  }

  Dim number() { return pick(0, 4) == 0 ? Dim::of_input(0, static_cast<int>(pick(0, 3))) : Dim(pick(-9, 99)); }

  void add_operand() {
    Builder builder(model_);
    const int64_t count = pick(0, 60);
    switch (pick(0, 6)) {
      case 0:
        builder.int32(number());
        return;
      case 1:
        builder.boolean(pick(0, 1) == 0);
        return;
      case 2:
        builder.float32(static_cast<float>(pick(-99, 99)) / 8);
        return;
      case 3: {
        Dims values;
        for (int64_t i = pick(0, 9); i > 0; --i) values.push_back(number());
        builder.int32_tensor(values);
        return;
      }
      case 4:
        builder.tensor(Constant::of_floats(std::vector<float>(static_cast<size_t>(count), 1.5f), {1, count}));
        return;
      case 5: {
        std::vector<uint8_t> bytes(static_cast<size_t>(count * 4));
        for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(pick(0, 255));
        const int64_t size = pick(0, count * 4);
        bytes.resize(static_cast<size_t>(size));
        builder.tensor(testing::constant_of(DataType::kUInt8, {size}, bytes), 0.25f,
                       static_cast<int32_t>(pick(0, 255)));
        return;
      }
      default: {
        Dims dims;
        for (int64_t i = pick(0, 4); i > 0; --i) dims.push_back(number());
        builder.variable({OperandCode::TENSOR_FLOAT32, dims, static_cast<float>(pick(0, 9)), 7, {}});
      }
    }
  }

  std::mt19937 random_;
  Model model_;
};

uint32_t word_of(const Dim& dim) {
  return static_cast<uint32_t>(dim.fixed_value().value_or(0));
}

// The bytes of a value as NNAPI gets them; flexible numbers as 0.
std::vector<uint8_t> expected_bytes(const Operand& operand) {
  if (operand.constant() != nullptr) return operand.constant()->bytes();
  if (const bool* flag = std::get_if<bool>(&operand.value)) return {static_cast<uint8_t>(*flag ? 1 : 0)};
  std::vector<uint32_t> words;
  if (operand.ints() != nullptr) {
    for (const Dim& dim : *operand.ints()) words.push_back(word_of(dim));
  } else {
    words.push_back(static_cast<uint32_t>(testing::float_bits(std::get<float>(operand.value))));
  }
  std::vector<uint8_t> bytes(4 * words.size());
  if (!bytes.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

void check_operands(const Model& model, const BufferModel& read) {
  REQUIRE(read.operands.size() == model.operands.size());
  for (size_t i = 0; i < model.operands.size(); ++i) {
    const Operand& operand = model.operands[i];
    REQUIRE(read.operands[i].type == static_cast<int32_t>(operand.type));
    REQUIRE(read.operands[i].scale == operand.scale);
    REQUIRE(read.operands[i].zero_point == operand.zero_point);
    std::vector<uint32_t> dims;
    for (const Dim& dim : operand.dims) dims.push_back(word_of(dim));
    REQUIRE(read.operands[i].dims == dims);
  }
}

void check_values(const Model& model, const SerializedModel& written, const BufferModel& read) {
  size_t value = 0;
  size_t buffer = 0;
  for (size_t i = 0; i < model.operands.size(); ++i) {
    const Operand& operand = model.operands[i];
    if (!operand.is_constant()) continue;
    REQUIRE(value < read.values.size());
    const BufferValue& found = read.values[value++];
    REQUIRE(found.operand == static_cast<OperandId>(i));
    if (found.source == 0) {
      REQUIRE(found.bytes == expected_bytes(operand));
      continue;
    }
    REQUIRE(found.buffer == buffer);
    REQUIRE(found.offset == 0);
    REQUIRE(found.length == operand.constant()->byte_count());
    REQUIRE(written.buffers.at(buffer++) == *operand.constant());
  }
  REQUIRE(value == read.values.size());
  REQUIRE(buffer == written.buffers.size());
}

void check_operations(const Model& model, const BufferModel& read) {
  REQUIRE(read.operations.size() == model.operations.size());
  for (size_t i = 0; i < model.operations.size(); ++i) {
    REQUIRE(read.operations[i].code == static_cast<int32_t>(model.operations[i].code));
    REQUIRE(read.operations[i].inputs == model.operations[i].inputs);
    REQUIRE(read.operations[i].outputs == model.operations[i].outputs);
  }
  REQUIRE(read.inputs.size() == model.inputs.size());
  for (size_t i = 0; i < model.inputs.size(); ++i) REQUIRE(read.inputs[i] == model.inputs[i].operand);
  REQUIRE(read.outputs.size() == model.outputs.size());
  for (size_t i = 0; i < model.outputs.size(); ++i) REQUIRE(read.outputs[i] == model.outputs[i].operand);
}

// Every flexible number has one patch, in the order of words.
void check_patches(const Model& model, const SerializedModel& written) {
  std::vector<Dim> flexible;
  const auto collect = [&](const Dims& dims) {
    std::copy_if(dims.begin(), dims.end(), std::back_inserter(flexible),
                 [](const Dim& dim) { return !dim.is_fixed(); });
  };
  for (const Operand& operand : model.operands) collect(operand.dims);
  for (const Operand& operand : model.operands) {
    if (operand.ints() != nullptr) collect(*operand.ints());
  }
  REQUIRE(written.patches.size() == flexible.size());
  for (size_t i = 0; i < flexible.size(); ++i) {
    REQUIRE(written.patches[i].value == flexible[i]);
    REQUIRE(written.words.at(written.patches[i].word) == 0);
    if (i > 0) REQUIRE(written.patches[i - 1].word < written.patches[i].word);
  }
}

}  // namespace

TEST_CASE("buffer round trip: random models come back as they were") {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    INFO("seed " << seed);
    const Model model = RandomModel(seed).make();
    const SerializedModel written = write_buffer(model);
    const BufferModel read = read_buffer(written.words.data(), written.words.size());
    check_operands(model, read);
    check_values(model, written, read);
    check_operations(model, read);
    check_patches(model, written);
  }
}

TEST_CASE("buffer round trip: a patched word changes that number and nothing else") {
  const SerializedModel written = write_buffer(testing::sample_model());
  std::vector<int32_t> words = written.words;
  for (const WordPatch& patch : written.patches) {
    words[patch.word] = static_cast<int32_t>(patch.value.evaluate([](int, int) { return 6; }));
  }
  const BufferModel model = read_buffer(words.data(), words.size());
  const std::vector<std::vector<uint32_t>> dims = {{6, 11}, {6, 11}, {3, 11}, {3}, {}, {6, 3}, {3}, {6, 3, 1}};
  for (size_t i = 0; i < dims.size(); ++i) CHECK(model.operands[i].dims == dims[i]);
  CHECK(model.values[3].bytes == std::vector<uint8_t>{6, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0});
}
