// SPDX-License-Identifier: BSD-3-Clause
// Which part of a model computes with integers where others stay float.
#include "lib/quantise/integer_part.h"

#include <array>
#include <catch2/catch.hpp>
#include <random>

#include "lib/quantise/minimum_cut.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::quantise;
using nnapi::OperandId;
using nnapi::testing::Net;

namespace {

// All but those without an integer form, of the small models below: SQRT.
std::vector<bool> chosen(const nnapi::Model& model, bool integer_outputs = false) {
  std::vector<bool> is_integer;
  for (const nnapi::Operation& operation : model.operations) {
    is_integer.push_back(operation.code != OperationCode::SQRT);
  }
  choose_integer_part(model, integer_outputs, is_integer);
  return is_integer;
}

// The least that parts source and sink, by trying all ways.
int64_t least_by_trying(size_t nodes, const std::vector<std::array<int64_t, 3>>& edges) {
  int64_t least = FlowNetwork::kEndless;
  for (size_t side = 0; side < (size_t{1} << nodes); ++side) {
    if ((side & 1) == 0 || (side & 2) != 0) continue;
    int64_t cost = 0;
    for (const auto& [from, to, capacity] : edges) {
      if ((side >> from & 1) != 0 && (side >> to & 1) == 0) cost += capacity;
    }
    least = std::min(least, cost);
  }
  return least;
}

}  // namespace

TEST_CASE("integer_part: the cut costs what the best of all does") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const size_t nodes = 3 + random() % 6;
    std::vector<std::array<int64_t, 3>> edges;
    FlowNetwork network(nodes);
    for (size_t i = 0; i < nodes * 3; ++i) {
      const size_t from = random() % nodes, to = random() % nodes;
      const int64_t capacity = static_cast<int64_t>(random() % 10);
      edges.push_back({static_cast<int64_t>(from), static_cast<int64_t>(to), capacity});
      network.add_edge(from, to, capacity);
    }
    const std::vector<bool> side = network.source_side();
    int64_t cost = 0;
    for (const auto& [from, to, capacity] : edges) {
      if (side[static_cast<size_t>(from)] && !side[static_cast<size_t>(to)]) cost += capacity;
    }
    CHECK(cost == least_by_trying(nodes, edges));
  }
}

TEST_CASE("integer_part: arithmetic beside a float operation is float, layers with weights are not") {
  Net net;
  const OperandId x = net.fully_connected(net.input({20, 60}), 40);
  const OperandId sum = net.binary(OperationCode::ADD, x, x);
  const OperandId root = net.unary(OperationCode::SQRT, sum);
  const OperandId product = net.binary(OperationCode::MUL, root, root);
  net.output(net.fully_connected(product, 40));
  CHECK(chosen(net.model) == std::vector<bool>{true, false, false, false, true});
}

TEST_CASE("integer_part: a model without float operations stays as it is") {
  Net net;
  const OperandId x = net.input({20, 60});
  net.output(net.binary(OperationCode::ADD, x, x));
  CHECK(chosen(net.model) == std::vector<bool>{true});
}

// As boxes are decoded: some of the values go through a float operation, the others don't, and all are one output.
TEST_CASE("integer_part: what an output is made of has the form that the caller gets, where that converts no more") {
  Net net;
  const OperandId x = net.fully_connected(net.input({20, 60}), 40);
  const OperandId doubled = net.binary(OperationCode::ADD, x, x);
  const OperandId root = net.unary(OperationCode::SQRT, x);
  net.output(net.binary(OperationCode::MUL, doubled, root));
  CHECK(chosen(net.model) == std::vector<bool>{true, false, false, false});
  CHECK(chosen(net.model, true) == std::vector<bool>{true, false, false, false});
  net.output(net.binary(OperationCode::ADD, doubled, doubled));
  CHECK(chosen(net.model) == std::vector<bool>{true, false, false, false, false});
  CHECK(chosen(net.model, true) == std::vector<bool>{true, true, false, true, true});
}

TEST_CASE("integer_part: values are moved as integers where that converts no more of them") {
  Net net;
  const OperandId x = net.fully_connected(net.input({20, 60}), 40);
  const OperandId flat = net.reshape(x, {800});
  net.output(net.unary(OperationCode::SQRT, flat));
  CHECK(chosen(net.model) == std::vector<bool>{true, true, false});
}

TEST_CASE("integer_part: a formula with a float operation is float as a whole") {
  for (const bool is_one : {true, false}) {
    Net net;
    const OperandId x = net.fully_connected(net.input({20, 60}), 40);
    net.builder.set_source("model.py:1");
    const OperandId means = net.mean(net.binary(OperationCode::MUL, x, x), {1}, true);
    if (!is_one) net.builder.set_source("model.py:2");
    const OperandId root = net.unary(OperationCode::SQRT, means);
    if (!is_one) net.builder.set_source("model.py:3");
    const OperandId scaled = net.binary(OperationCode::MUL, x, root);
    net.output(net.fully_connected(scaled, 40));
    // Of each of the 20 rows one value goes through SQRT: QUANTIZE and DEQUANTIZE cost least there.
    const bool is_split = !is_one;
    CHECK(chosen(net.model) == std::vector<bool>{true, is_split, is_split, false, is_split, true});
    CHECK(formulas_of(net.model).size() == (is_one ? 1 : 3));
  }
}
