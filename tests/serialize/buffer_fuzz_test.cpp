// SPDX-License-Identifier: BSD-3-Clause
// Damaged buffers are refused or read as a consistent model; under the sanitizers, reading past the end shows.
#include <algorithm>
#include <catch2/catch.hpp>
#include <climits>
#include <random>

#include "lib/base/error.h"
#include "lib/serialize/buffer_reader.h"
#include "lib/serialize/buffer_writer.h"
#include "tests/serialize/sample_model.h"

using namespace nnapi_convert;

namespace {

using Words = std::vector<int32_t>;

const Words kExtremes = {0,       -1,          1,       2,
                         3,       5,           8,       127,
                         128,     1 << 8,      1 << 16, (1 << 24) - 1,
                         1 << 24, 1 << 29,     1 << 30, (1 << 30) + 1,
                         INT_MAX, INT_MAX - 3, INT_MIN, INT_MIN + 1};

Words words_to_change() {
  return write_buffer(testing::sample_model()).words;
}

// Names only operands that exist, and holds no more than the buffer did.
bool is_consistent(const BufferModel& model, size_t word_count) {
  const auto exists = [&](int32_t id) { return id >= 0 && static_cast<size_t>(id) < model.operands.size(); };
  size_t words = 6 + 4 * model.operands.size() + 3 * model.values.size() + 3 * model.operations.size();
  bool good = true;
  for (const BufferOperand& operand : model.operands) words += operand.dims.size();
  for (const BufferValue& value : model.values) {
    good = good && exists(value.operand) && (value.source == 0 || value.source == 2);
    words += value.source == 0 ? (value.bytes.size() + 3) / 4 : 3;
  }
  for (const BufferOperation& operation : model.operations) {
    good = good && std::all_of(operation.inputs.begin(), operation.inputs.end(), exists);
    good = good && std::all_of(operation.outputs.begin(), operation.outputs.end(), exists);
    words += operation.inputs.size() + operation.outputs.size();
  }
  good = good && std::all_of(model.inputs.begin(), model.inputs.end(), exists);
  good = good && std::all_of(model.outputs.begin(), model.outputs.end(), exists);
  words += model.inputs.size() + model.outputs.size();
  return good && words == word_count;
}

// True if the buffer was read. Anything but a consistent model or a ConvertError fails the test.
bool is_read(const Words& words) {
  const Words exact(words.begin(), words.end());  // no spare capacity behind the last word
  try {
    const BufferModel model = read_buffer(exact.data(), exact.size());
    REQUIRE(is_consistent(model, exact.size()));
    return true;
  } catch (const ConvertError& error) {
    REQUIRE(error.exit_code() == ExitCode::kBadFile);
    return false;
  }
}

}  // namespace

TEST_CASE("damaged buffers: every truncation is refused") {
  const Words words = words_to_change();
  REQUIRE(is_read(words));
  for (size_t size = 0; size < words.size(); ++size) {
    INFO(size);
    CHECK_FALSE(is_read(Words(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(size))));
  }
}

TEST_CASE("damaged buffers: words that are left over are refused") {
  Words words = words_to_change();
  for (int i = 0; i < 20; ++i) {
    words.push_back(i);
    CHECK_FALSE(is_read(words));
  }
}

TEST_CASE("damaged buffers: every word with extreme values, alone and in pairs") {
  const Words words = words_to_change();
  size_t read = 0;
  for (size_t position = 0; position < words.size(); ++position) {
    for (const int32_t value : kExtremes) {
      Words damaged = words;
      damaged[position] = value;
      INFO("word " << position << " = " << value);
      read += is_read(damaged) ? 1 : 0;
      if (position + 1 == words.size()) continue;
      damaged[position + 1] = value;
      is_read(damaged);
    }
  }
  // Types, scales, sizes and values are any numbers; counts, lengths and operands are not.
  CHECK(read > words.size() * kExtremes.size() / 3);
  CHECK(read < words.size() * kExtremes.size() * 2 / 3);
}

TEST_CASE("damaged buffers: 100000 at random") {
  std::mt19937 random(7);
  const auto pick = [&](size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random); };
  const Words words = words_to_change();
  size_t read = 0;
  for (int i = 0; i < 100000; ++i) {
    Words damaged = words;
    for (size_t changes = 1 + pick(4); changes > 0; --changes) {
      // Half of the changes hit headers and records, where counts and lengths are.
      const size_t position = pick(pick(2) == 0 ? 59 : damaged.size());
      damaged[position] = pick(3) == 0 ? static_cast<int32_t>(random()) : kExtremes[pick(kExtremes.size())];
    }
    if (pick(4) == 0) damaged.resize(pick(damaged.size() + 8));
    read += is_read(damaged) ? 1 : 0;
  }
  CHECK(read > 1000);
  CHECK(read < 60000);
}
