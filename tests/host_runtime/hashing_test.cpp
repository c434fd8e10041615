// SPDX-License-Identifier: BSD-3-Clause
// Tests results of LSH_PROJECTION, HASHTABLE_LOOKUP and RANDOM_MULTINOMIAL that Android's cases do not test.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "tests/host_runtime/layer_spec.h"
#include "tests/host_runtime/stderr_capture.h"

using namespace model_spec;

TEST_CASE("projections of items of all lengths", "[hashing]") {
  // The signatures are those of FarmHash's own Fingerprint64.
  const auto [length, signature] = GENERATE(table<uint32_t, int32_t>(
      {{1, 40444}, {2, 26087}, {4, 52641}, {5, 12651}, {12, 55300}, {31, 32631}, {40, 53502}}));
  std::vector<float> seeds(16);
  for (std::size_t i = 0; i < seeds.size(); ++i) seeds[i] = 0.5f * static_cast<float>(i) - 3;
  std::vector<int32_t> items(2 * length);
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i] = static_cast<int32_t>(i) * 7919 - static_cast<int32_t>(length);
  const Layer layer(OperationCode::LSH_PROJECTION, {{"hash", constant(kFloat, {1, 16}, seeds)},
                                                    {"input", constant(OperandCode::TENSOR_INT32, {2, length}, items)},
                                                    {"type", int32(1)},
                                                    {"output", tensor(OperandCode::TENSOR_INT32, {1})}});
  const Compiled compiled(layer);
  CHECK(compute(compiled, {}, sizeof signature) == bytes_of(std::vector<int32_t>{signature}));
}

TEST_CASE("keys that a table does not have", "[hashing]") {
  constexpr OperandCode kCodes = OperandCode::TENSOR_QUANT8_ASYMM;
  const Layer layer(OperationCode::HASHTABLE_LOOKUP,
                    {{"lookups", int32_list({7, -5, 9, 8})},
                     {"keys", int32_list({-5, 7, 7, 8})},
                     {"values", constant(kCodes, {4, 2}, std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 8}, 0.5f, 3)},
                     {"output", tensor(kCodes, {4, 2}, 0.5f, 3)},
                     {"hits", tensor(kCodes, {4}, 1)}});
  const Compiled compiled(layer);
  const Execution execution = new_execution(compiled);
  std::vector<uint8_t> output(8), hits(4);
  ANeuralNetworksExecution_setOutput(execution.get(), 0, nullptr, output.data(), output.size());
  ANeuralNetworksExecution_setOutput(execution.get(), 1, nullptr, hits.data(), hits.size());
  REQUIRE(ANeuralNetworksExecution_compute(execution.get()) == 0);
  CHECK(output == std::vector<uint8_t>{3, 4, 1, 2, 0, 0, 7, 8});
  CHECK(hits == std::vector<uint8_t>{1, 1, 0, 1});
}

TEST_CASE("random samples", "[hashing]") {
  const auto samples = [](int32_t first, int32_t second) {
    const Layer layer(OperationCode::RANDOM_MULTINOMIAL,
                      {{"input", constant(kFloat, {2, 3}, std::vector<float>{1000, 1000, -1000, -1000, 1000, 1000})},
                       {"sample_count", int32(100)},
                       {"seeds", int32_list({first, second})},
                       {"output", tensor(OperandCode::TENSOR_INT32, {2, 100})}});
    const Compiled compiled(layer);
    std::vector<int32_t> numbers(200);
    const std::vector<uint8_t> bytes = compute(compiled, {}, 800);
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  };
  const std::vector<int32_t> some = samples(1, 2);
  for (std::size_t i = 0; i < some.size(); ++i) {
    CHECK(some[i] >= (i < 100 ? 0 : 1));
    CHECK(some[i] <= (i < 100 ? 1 : 2));
  }
  CHECK(samples(1, 2) == some);
  CHECK(samples(1, 3) != some);
  CHECK(samples(0, 0) != samples(0, 0));
}

TEST_CASE("samples of what has no probabilities", "[hashing]") {
  for (const float number : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    const Layer layer(OperationCode::RANDOM_MULTINOMIAL,
                      {{"input", constant(kFloat, {2, 2}, std::vector<float>{0, 0, 1, number})},
                       {"sample_count", int32(3)},
                       {"seeds", int32_list({1, 2})},
                       {"output", tensor(OperandCode::TENSOR_INT32, {2, 3})}});
    const Compiled compiled(layer);
    const Execution execution = new_execution(compiled);
    std::vector<int32_t> output(6);
    ANeuralNetworksExecution_setOutput(execution.get(), 0, nullptr, output.data(), output.size() * sizeof(int32_t));
    StderrCapture capture;
    CHECK(ANeuralNetworksExecution_compute(execution.get()) == kBadData);
    CHECK(capture.text().find("argument input: row 1 has no probabilities: finite numbers needed") !=
          std::string::npos);
  }
}
