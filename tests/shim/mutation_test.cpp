// SPDX-License-Identifier: BSD-3-Clause
// Every truncation and every change of one word gives an error or a model; the sanitizers watch.
#include <cstring>

#include "tests/shim/buffer_checks.h"

using namespace nnapi_shim;
using namespace nnapi_shim::testing;

namespace {

// Reads everything that a view points to.
uint64_t read_all(const ModelView& view) {
  uint64_t sum = view.feature_level;
  for (const SubgraphView& model : view.models) {
    for (const OperandView& operand : model.operands) {
      for (uint32_t i = 0; i < operand.rank; ++i) sum += operand.dims[i];
      for (uint32_t i = 0; i < operand.channel_scale_count; ++i) {
        uint32_t bits = 0;
        std::memcpy(&bits, operand.channel_scales + i, sizeof bits);
        sum += bits;
      }
      sum += std::strlen(operand.name);
    }
    for (const ValueView& value : model.values) {
      if (value.source != format::ValueSource::kImmediate) continue;
      for (uint64_t i = 0; i < value.length; ++i) sum += static_cast<const uint8_t*>(value.data)[i];
    }
    for (const OperationView& operation : model.operations) {
      for (uint32_t i = 0; i < operation.input_count; ++i) sum += operation.inputs[i];
      for (uint32_t i = 0; i < operation.output_count; ++i) sum += operation.outputs[i];
      sum += std::strlen(operation.name) + std::strlen(operation.source);
    }
  }
  return sum;
}

struct Outcomes {
  int refused = 0, unbound = 0, bound = 0;
};

void take(const MadeBuffer& made, Outcomes* outcomes) {
  nnapi_shim_error error{};
  const auto buffer = parse(made, &error);
  if (buffer == nullptr) {
    REQUIRE(error.status == NNAPI_SHIM_BAD_MODEL);
    REQUIRE(std::strlen(error.message) > 20);
    ++outcomes->refused;
    return;
  }
  const Shapes shapes({{1, 3, 2, 2}, {1}});
  ModelView view;
  if (buffer->bind(shapes.shapes.data(), 2, &view, &error) != NNAPI_SHIM_OK) {
    REQUIRE(error.status == NNAPI_SHIM_BAD_ARGUMENT);
    ++outcomes->unbound;
    return;
  }
  REQUIRE(read_all(view) != 0);
  ++outcomes->bound;
}

}  // namespace

TEST_CASE("truncation at every word is refused") {
  const MadeBuffer made = make_buffer(conditional_net());
  for (size_t count = 0; count < made.words.size(); ++count) {
    MadeBuffer cut = made;
    cut.words.resize(count);
    Outcomes outcomes;
    take(cut, &outcomes);
    REQUIRE(outcomes.refused == 1);
    if (count < format::kHeaderWords) continue;
    cut.words[format::kWordCount] = static_cast<int32_t>(count);
    seal(cut.words);
    take(cut, &outcomes);
    REQUIRE(outcomes.refused == 2);
  }
}

TEST_CASE("a change of any word gives an error or a model") {
  const MadeBuffer made = make_buffer(conditional_net());
  const std::vector<int32_t> values = {
      0, 1, 2, 3, 4, 5, 7, 8, 15, 64, 0xFFFFFF, 1 << 24, 0x10000000, 0x40000000, 0x7FFFFFFF, -0x7FFFFFFF - 1, -1, -2};
  Outcomes outcomes;
  for (size_t word = 0; word < made.words.size(); ++word) {
    const int32_t old = made.words[word];
    std::vector<int32_t> tried = values;
    for (const uint32_t bit : {1u, 2u, 4u, 0x80u, 0x100u, 0x10000u}) {
      tried.push_back(static_cast<int32_t>(static_cast<uint32_t>(old) ^ bit));
      tried.push_back(static_cast<int32_t>(static_cast<uint32_t>(old) + bit));
    }
    for (const int32_t value : tried) {
      MadeBuffer changed = made;
      changed.words[word] = value;
      if (word != format::kChecksum) seal(changed.words);
      take(changed, &outcomes);
    }
  }
  CHECK(outcomes.refused > 1000);
  CHECK(outcomes.unbound > 10);
  CHECK(outcomes.bound > 1000);
}
