// SPDX-License-Identifier: BSD-3-Clause
// Made-up inputs keep to what is known of them.
#include "lib/converter/verify/made_up_input.h"

#include <ATen/ATen.h>

#include <catch2/catch.hpp>
#include <utility>

#include "tests/converter/fixtures.h"

namespace nnapi_convert {
namespace {

using namespace test;

MadeInput input_of(at::ScalarType dtype, std::vector<int64_t> sizes, MaskUse mask = {}) {
  MadeInput input{{dtype, to_dims(std::move(sizes)), {}}};
  input.use.mask = mask;
  return input;
}

at::Tensor made(const MadeInput& input, Ending ending, uint64_t seed = 1, const MadeUp& how = {}) {
  return make_up(input, how, ending, seed);
}

}  // namespace

TEST_CASE("the last samples are padded, one with zeros and one with ones") {
  CHECK(ending_of(0, 1) == Ending::kWords);
  CHECK(ending_of(1, 2) == Ending::kZeros);
  CHECK(ending_of(2, 3) == Ending::kZeros);
  CHECK(ending_of(1, 4) == Ending::kWords);
  CHECK(ending_of(2, 4) == Ending::kZeros);
  CHECK(ending_of(3, 4) == Ending::kOnes);
  CHECK(ending_of(31, 32) == Ending::kOnes);
}

TEST_CASE("words end in padding") {
  MadeInput input = input_of(at::kLong, {2, 12});
  input.use.range = IndexRange{0, 99, nullptr, false, true};
  CHECK(made(input, Ending::kZeros).narrow(1, 9, 3).eq(0).all().item().toBool());
  CHECK(made(input, Ending::kZeros).narrow(1, 0, 9).ne(0).any().item().toBool());
  CHECK(made(input, Ending::kOnes).narrow(1, 9, 3).eq(1).all().item().toBool());
  CHECK(made(input, Ending::kWords).narrow(1, 9, 3).gt(1).any().item().toBool());
  input.use.compared = {1, 50, 1000};
  CHECK(made(input, Ending::kOnes).narrow(1, 9, 3).eq(50).all().item().toBool());
  MadeUp without;
  without.has_masks = false;
  CHECK(made(input, Ending::kZeros, 1, without).equal(made(input, Ending::kWords)));
  input.use.range->is_row = false;  // an index of something else
  CHECK(made(input, Ending::kZeros).equal(made(input, Ending::kWords)));
  input.type.dims = to_dims({12, 1});
  CHECK(made(input, Ending::kZeros).equal(made(input, Ending::kWords)));
}

TEST_CASE("masks have holes, and show the beginning of each row") {
  for (const at::ScalarType dtype : {at::kBool, at::kLong, at::kInt, at::kFloat}) {
    for (const bool hiding : {false, true}) {
      const MadeInput input = input_of(dtype, {50, 8}, {hiding});
      for (uint64_t seed = 0; seed < 20; ++seed) {
        const at::Tensor hidden = made(input, Ending::kWords, seed).eq(hiding ? 1 : 0);
        CHECK(hidden.any().item().toBool());
        CHECK_FALSE(hidden.select(1, 0).any().item().toBool());
      }
      const at::Tensor at_end = made(input, Ending::kZeros).eq(hiding ? 1 : 0);
      CHECK(at_end.narrow(1, 6, 2).all().item().toBool());
      CHECK_FALSE(at_end.narrow(1, 0, 6).any().item().toBool());
    }
  }
  const at::Tensor added = made(input_of(at::kFloat, {8, 8}, {{}, true}), Ending::kWords);
  CHECK(added.eq(0).logical_or(added.eq(-HUGE_VAL)).all().item().toBool());
  CHECK(added.eq(-HUGE_VAL).any().item().toBool());
  CHECK(made(input_of(at::kFloat, {8, 1}, {true}), Ending::kOnes).eq(0).all().item().toBool());
  CHECK(made(input_of(at::kFloat, {}, {true}), Ending::kWords).item().toFloat() == 0);
}

TEST_CASE("floats within a range") {
  MadeInput input = input_of(at::kFloat, {1, 3, 20, 20});
  CHECK(made(input, Ending::kOnes).min().item().toFloat() < -2);
  MadeUp shares;
  shares.are_floats_shares = true;
  const at::Tensor pixels = made(input, Ending::kWords, 1, shares);
  CHECK((pixels.min().item().toFloat() >= 0 && pixels.max().item().toFloat() <= 1));
  input.fed = FedRange{"x", 5, 7};
  const at::Tensor values = made(input, Ending::kWords);
  CHECK((values.min().item().toFloat() >= 5 && values.max().item().toFloat() <= 7));
  CHECK(values.std().item().toDouble() > 0.4);
  input.type.dtype = at::kQUInt8;
  input.type.quantization = {0.1, 0};
  CHECK(made(input, Ending::kWords).dequantize().min().item().toFloat() > 4.9F);
}

}  // namespace nnapi_convert
