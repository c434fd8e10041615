// SPDX-License-Identifier: BSD-3-Clause
// Tests the refusals of LSH_PROJECTION, HASHTABLE_LOOKUP and RANDOM_MULTINOMIAL: each test makes one change to a valid
// operation and checks the sentence.
#include <catch2/catch.hpp>

#include "tests/host_runtime/layer_spec.h"

using namespace model_spec;

TEST_CASE("LSH_PROJECTION", "[recurrent]") {
  const Layer dense(OperationCode::LSH_PROJECTION, {{"hash", weights({4, 2})},
                                                    {"input", tensor(OperandCode::TENSOR_INT32, {3, 2})},
                                                    {"weights", weights({3})},
                                                    {"type", int32(2)},
                                                    {"output", tensor(OperandCode::TENSOR_INT32, {8})}});
  const Refusals refuses_layer(dense);
  refuses_layer([](Layer& l) { l["type"] = int32(0); }, "argument type: 0 found, 1 to 3 needed");
  refuses_layer([](Layer& l) { l["weights"] = weights({2}); }, "argument weights: dimensions [2] found, [3] needed");
  refuses_layer([](Layer& l) { l["type"] = int32(1); }, "argument output: dimensions [8] found, [4] needed");
  refuses_layer(
      [](Layer& l) {
        l["type"] = int32(3);
        l["hash"] = weights({4, 31});
      },
      "argument hash: dimensions [4, 31] found, at most 32 bits of signature needed");
  Layer sparse = dense;
  sparse["type"] = int32(3);
  sparse["output"].dims = {4};
  accepts(sparse);
  const FeatureLevel level(2);
  accepts(dense);
  refuses(sparse, "argument type: 3 found, 1 or 2 needed below feature level 3");
}

TEST_CASE("HASHTABLE_LOOKUP", "[recurrent]") {
  constexpr OperandCode kCodes = OperandCode::TENSOR_QUANT8_ASYMM;
  const Refusals refuses_layer{
      Layer(OperationCode::HASHTABLE_LOOKUP, {{"lookups", tensor(OperandCode::TENSOR_INT32, {4})},
                                              {"keys", int32_list({-11, 0, 1234})},
                                              {"values", tensor(kCodes, {3, 2}, 0.5f, 5)},
                                              {"output", tensor(kCodes, {4, 2}, 0.5f, 5)},
                                              {"hits", tensor(kCodes, {4}, 1, 0)}})};
  refuses_layer([](Layer& l) { l["keys"] = int32_list({-11, 0}); }, "argument keys: dimensions [2] found, [3] needed");
  refuses_layer(
      [](Layer& l) {
        l["keys"] = int32_list({-11, 5, 4});
      },
      "argument keys: 4 after 5 found, ascending ones needed");
  refuses_layer([](Layer& l) { l["hits"].scale = 0.5f; }, "argument hits: scale 0.5, zero point 0 found, 1, 0 needed");
  refuses_layer([](Layer& l) { l["output"].zero_point = 0; },
                "argument output: scale 0.5, zero point 0 found, those of values needed: 0.5, 5");
}

TEST_CASE("RANDOM_MULTINOMIAL", "[recurrent]") {
  const Refusals refuses_layer{
      Layer(OperationCode::RANDOM_MULTINOMIAL, {{"input", tensor(kFloat, {2, 5})},
                                                {"sample_count", int32(7)},
                                                {"seeds", int32_list({1, 2})},
                                                {"output", tensor(OperandCode::TENSOR_INT32, {2, 7})}})};
  refuses_layer([](Layer& l) { l["sample_count"] = int32(0); }, "argument sample_count: 0 found, at least 1 needed");
  refuses_layer([](Layer& l) { l["seeds"] = int32_list({1}); }, "argument seeds: dimensions [1] found, [2] needed");
  refuses_layer([](Layer& l) { l["output"].dims = {2, 8}; }, "argument output: dimensions [2, 8] found, [2, 7] needed");
}
