// SPDX-License-Identifier: BSD-3-Clause
// RESHAPEs of bool and integers become RESHAPEs of float32 with the same result.
#include "lib/nnapi/passes/reshape_as_floats.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/validate.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::count;
using testing::Net;

namespace {

using Problems = std::vector<std::string>;

Operand bare_type(OperandCode code, Dims dims) {
  return {code, std::move(dims), 0, 0, {}};
}

OperandId input_of(Net& net, OperandCode code, const Dims& dims) {
  const OperandId id = net.builder.variable(bare_type(code, dims));
  net.model.inputs.push_back({id});
  return id;
}

OperandId reshape_of(Net& net, OperandId id, const Dims& dims) {
  Operand type = net.model.at(id);
  type.dims = dims;
  return net.builder.add(OperationCode::RESHAPE, {id, net.builder.int32_tensor(dims)}, type);
}

}  // namespace

TEST_CASE("reshape_as_floats: bool") {
  for (const int64_t size : {6, 6000}) {  // a large tensor's ones and zeros are repeated
    Net net;
    const OperandId x = net.input({size, 2}), zero = net.weights({1});
    const OperandId mask =
        net.builder.add(OperationCode::GREATER, {x, zero}, bare_type(OperandCode::TENSOR_BOOL8, {size, 2}));
    net.output(reshape_of(net, mask, {2, size}));
    CHECK(validate(net.model, 8) != Problems{});
    reshape_as_floats(net.model, 3);
    CHECK(validate(net.model, 3) == Problems{});
  }
}

TEST_CASE("reshape_as_floats: places, which float32 holds") {
  Net net;
  const OperandId places = net.builder.add(OperationCode::ARGMAX, {net.input({4, 5, 6}), net.builder.int32(1)},
                                           bare_type(OperandCode::TENSOR_INT32, {4, 6}));
  net.output(reshape_of(net, places, {24}));
  CHECK(validate(net.model, 3) != Problems{});
  reshape_as_floats(net.model, 3);
  CHECK(validate(net.model, 3) == Problems{});
  CHECK(count(net.model, OperationCode::CAST) == 2);
}

TEST_CASE("reshape_as_floats: integers of any size need arithmetic on integers") {
  for (const int level : {3, 4, 6}) {
    Net net;
    net.output(reshape_of(net, input_of(net, OperandCode::TENSOR_INT32, {4, 6}), {24}));
    reshape_as_floats(net.model, level);
    CHECK((validate(net.model, level) == Problems{}) == (level >= 4));
    CHECK(count(net.model, OperationCode::CAST) == (level == 4 ? 4 : 0));
  }
}

TEST_CASE("reshape_as_floats: integers that are read as float32 only are cast once") {
  Net net;
  const OperandId x = reshape_of(net, input_of(net, OperandCode::TENSOR_INT32, {4, 6}), {24});
  net.output(net.builder.add(OperationCode::CAST, {x}, testing::float_type({24})));
  reshape_as_floats(net.model, 3);
  CHECK(validate(net.model, 3) == Problems{});
}
