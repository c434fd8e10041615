// SPDX-License-Identifier: BSD-3-Clause
// Slices of concatenations become what was concatenated, and the model computes the same.
#include "lib/nnapi/passes/take_parts.h"

#include <catch2/catch.hpp>

#include "lib/nnapi/passes/compact.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::count;
using testing::Net;

namespace {

OperandId part_slice(Net& net, OperandId x, size_t axis, int64_t begin, int64_t end) {
  std::vector<int64_t> begins(net.dims(x).size(), 0), ends = fixed_values(net.dims(x));
  begins[axis] = begin;
  ends[axis] = end;
  return net.strided_slice(x, begins, ends, std::vector<int64_t>(begins.size(), 1));
}

OperandId computed_part(Net& net, const std::vector<int64_t>& dims) {
  return net.unary(OperationCode::RELU, net.input(to_dims(dims)));
}

// Runs the pass, checks that the model computes the same, and counts the slices that are left.
size_t slices_after_pass(Net& net) {
  testing::check_keeps_results(net, [&](Model& model) {
    take_parts(model);
    compact(model);
  });
  return count(net.model, OperationCode::STRIDED_SLICE);
}

}  // namespace

TEST_CASE("take_parts: both parts of a concatenation") {
  Net net;
  const OperandId joined = net.concatenation({computed_part(net, {1, 4, 7}), computed_part(net, {1, 3, 7})}, 1);
  net.output(part_slice(net, joined, 1, 0, 4));
  net.output(part_slice(net, joined, 1, 4, 7));
  CHECK(slices_after_pass(net) == 0);
  CHECK(count(net.model, OperationCode::CONCATENATION) == 0);
}

TEST_CASE("take_parts: behind a transpose, and of concatenations along another axis") {
  Net net;
  std::vector<OperandId> scales;
  for (const int64_t size : {5, 3}) {
    scales.push_back(net.concatenation({computed_part(net, {1, 4, size}), computed_part(net, {1, 2, size})}, 1));
  }
  const OperandId rows = net.transpose(net.concatenation(scales, 2), {0, 2, 1});
  net.output(part_slice(net, rows, 2, 0, 4));
  net.output(part_slice(net, rows, 2, 4, 6));
  CHECK(slices_after_pass(net) == 0);
  CHECK(count(net.model, OperationCode::CONCATENATION) == 2);
  CHECK(count(net.model, OperationCode::TRANSPOSE) == 2);
}

TEST_CASE("take_parts: two of three parts") {
  Net net;
  const OperandId joined = net.concatenation(
      {computed_part(net, {1, 2, 7}), computed_part(net, {1, 2, 7}), computed_part(net, {1, 3, 7})}, 1);
  net.output(part_slice(net, joined, 1, 0, 4));
  net.output(part_slice(net, joined, 1, 4, 7));
  CHECK(slices_after_pass(net) == 0);
  CHECK(count(net.model, OperationCode::CONCATENATION) == 1);
}

TEST_CASE("take_parts: slices that take other elements than a part stay") {
  Net net;
  const OperandId joined = net.concatenation({computed_part(net, {1, 4, 7}), computed_part(net, {1, 3, 7})}, 1);
  net.output(part_slice(net, joined, 1, 0, 5));
  net.output(part_slice(net, joined, 1, 1, 4));
  net.output(part_slice(net, joined, 2, 0, 4));
  CHECK(slices_after_pass(net) == 3);
}

TEST_CASE("take_parts: a part that is an input, a constant or a result already stays a slice") {
  Net net;
  const OperandId input = net.input({1, 4, 7}), result = computed_part(net, {1, 2, 7});
  net.output(result);
  const OperandId joined = net.concatenation({input, result}, 1);
  net.output(part_slice(net, joined, 1, 0, 4));
  net.output(part_slice(net, joined, 1, 4, 6));
  CHECK(slices_after_pass(net) == 2);
}
