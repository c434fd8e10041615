// SPDX-License-Identifier: BSD-3-Clause
// Layer and RMS norms in front of linear layers divide by L2_NORMALIZATION.
#include "lib/nnapi/passes/l2_normalise.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/linear_as_convolution.h"
#include "lib/nnapi/passes/pointwise_convolution.h"
#include "lib/nnapi/validate.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::codes;
using testing::Net;

namespace {

constexpr auto kTimes = OperationCode::MUL;
const std::vector<OperationCode> kShort{OperationCode::PAD_V2, OperationCode::L2_NORMALIZATION,
                                        OperationCode::FULLY_CONNECTED};

struct NormNet : Net {
  // 1 / sqrt(mean(x^2) + eps) of each row.
  OperandId factor(OperandId x, float eps) {
    const auto last = static_cast<int64_t>(dims(x).size()) - 1;
    const OperandId sum = binary(OperationCode::ADD, mean(binary(kTimes, x, x), {last}, true),
                                 builder.tensor(Constant::of_floats({eps})));
    return unary(OperationCode::RSQRT, sum);
  }
  OperandId normalised(OperandId x, float eps = 0.5f) { return binary(kTimes, x, factor(x, eps)); }

  OperandId pointwise(OperandId x, int64_t channels) {
    Dims result = dims(x);
    const OperandId filter = weights({channels, 1, 1, result.back().value()}), bias = weights({channels});
    result.back() = Dim(channels);
    return builder.add(OperationCode::CONV_2D, pointwise_arguments(builder, x, filter, bias, builder.int32(0)),
                       testing::float_type(result));
  }
};

void check_becomes(Net& net, const std::vector<OperationCode>& left) {
  testing::check_keeps_results(net, [&](Model& model) {
    l2_normalise(model);
    compact(model);
  });
  CHECK(codes(net.model) == left);
  CHECK(validate(net.model, 3).empty());
}

void check_stays(Net& net) {
  const std::vector<OperationCode> before = codes(net.model);
  check_becomes(net, before);
}

}  // namespace

TEST_CASE("l2_normalise: an eps beside small and large squares") {
  for (const float eps : {1e-5f, 1.0f, 100.0f}) {
    NormNet net;
    net.output(net.fully_connected(net.normalised(net.input({5, 40}), eps), 3));
    check_becomes(net, kShort);
    CHECK(net.dims(testing::the(net.model, OperationCode::PAD_V2).outputs[0]).back() == Dim(44));
  }
}

TEST_CASE("l2_normalise: the product in the other order, and several layers") {
  NormNet net;
  const OperandId x = net.input({5, 40});
  const OperandId rows = net.binary(kTimes, net.factor(x, 0.25f), x);
  net.output(net.fully_connected(rows, 3));
  net.output(net.fully_connected(rows, 2));
  net.output(net.fully_connected(x, 2));  // the rows before the norm stay as they are
  check_becomes(net, {kShort[0], kShort[1], kShort[2], kShort[2], kShort[2]});
}

TEST_CASE("l2_normalise: images, and rows of a third axis") {
  NormNet image;
  image.output(image.pointwise(image.normalised(image.input({1, 2, 3, 32})), 4));
  check_becomes(image, {kShort[0], kShort[1], OperationCode::CONV_2D});

  NormNet sequence;
  sequence.output(sequence.fully_connected(sequence.normalised(sequence.input({2, 3, 32})), 4));
  check_becomes(sequence, kShort);
}

TEST_CASE("l2_normalise: norms after each other") {
  NormNet net;
  const OperandId first = net.fully_connected(net.normalised(net.input({5, 32})), 48);
  net.output(net.fully_connected(net.normalised(first), 3));
  check_becomes(net, {kShort[0], kShort[1], kShort[2], kShort[0], kShort[1], kShort[2]});
}

TEST_CASE("l2_normalise: what else reads the rows needs them as they are") {
  NormNet output;
  const OperandId rows = output.normalised(output.input({5, 40}));
  output.output(output.fully_connected(rows, 3));
  output.output(rows);
  check_stays(output);

  NormNet sum;
  const OperandId terms = sum.normalised(sum.input({5, 40}));
  sum.output(sum.fully_connected(terms, 3));
  sum.output(sum.unary(OperationCode::RELU, terms));
  check_stays(sum);

  NormNet factor;
  const OperandId x = factor.input({5, 40});
  const OperandId by = factor.factor(x, 0.5f);
  factor.output(factor.fully_connected(factor.binary(kTimes, x, by), 3));
  factor.output(by);
  check_stays(factor);

  NormNet read_as_weights;
  const OperandId filter = read_as_weights.normalised(read_as_weights.input({3, 40}));
  const OperandId data = read_as_weights.input({5, 40});
  const OperandId bias = read_as_weights.weights({3});
  read_as_weights.output(read_as_weights.builder.add(OperationCode::FULLY_CONNECTED,
                                                     {data, filter, bias, read_as_weights.builder.int32(0)},
                                                     testing::float_type({Dim(5), Dim(3)})));
  check_stays(read_as_weights);
}

TEST_CASE("l2_normalise: other sums, means and sizes stay") {
  NormNet narrow;
  narrow.output(narrow.fully_connected(narrow.normalised(narrow.input({5, 8})), 3));
  check_stays(narrow);

  NormNet no_eps;  // L2_NORMALIZATION divides by at least 1e-6
  no_eps.output(no_eps.fully_connected(no_eps.normalised(no_eps.input({5, 40}), 1e-13f), 3));
  check_stays(no_eps);

  NormNet of_columns;
  const OperandId x = of_columns.input({40, 40});
  const OperandId sum =
      of_columns.binary(OperationCode::ADD, of_columns.mean(of_columns.binary(kTimes, x, x), {0}, true),
                        of_columns.builder.tensor(Constant::of_floats({0.5f})));
  of_columns.output(
      of_columns.fully_connected(of_columns.binary(kTimes, x, of_columns.unary(OperationCode::RSQRT, sum)), 3));
  check_stays(of_columns);

  NormNet of_another;
  const OperandId a = of_another.input({5, 40}), b = of_another.input({5, 40});
  of_another.output(of_another.fully_connected(of_another.binary(kTimes, a, of_another.factor(b, 0.5f)), 3));
  check_stays(of_another);

  NormNet other_rows;  // FULLY_CONNECTED flattens its input to rows of 80
  const OperandId filter = other_rows.weights({3, 80}), bias = other_rows.weights({3});
  const OperandId rows = other_rows.normalised(other_rows.input({4, 40}));
  other_rows.output(other_rows.builder.add(OperationCode::FULLY_CONNECTED,
                                           {rows, filter, bias, other_rows.builder.int32(0)},
                                           testing::float_type({Dim(2), Dim(3)})));
  check_stays(other_rows);
}
