// Evaluating every recipe of a model.
#include "lib/nnapi/passes/evaluate_constants.h"

#include <catch2/catch.hpp>

#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;

TEST_CASE("evaluate_constants: values stay, recipes go, other operands are left alone") {
  testing::Net net;
  const Constant value = Constant::of_floats({1, 2, 3, 4, 5, 6}, {2, 3});
  const OperandId plain = net.builder.tensor(value);
  const OperandId permuted = net.builder.tensor(value.then(Permute{{1, 0}}), 0.5f, 3);
  const OperandId variable = net.input({2, 3});
  const OperandId number = net.builder.int32(7);
  evaluate_constants(net.model);
  CHECK(net.model.at(plain).constant()->source() == value.source());
  CHECK(net.model.at(permuted).constant()->is_source());
  CHECK(net.model.at(permuted).constant()->floats() == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(net.model.at(permuted).scale == 0.5f);
  CHECK(net.model.at(permuted).zero_point == 3);
  CHECK_FALSE(net.model.at(variable).is_constant());
  CHECK(*net.model.at(number).ints() == Dims{7});
}
