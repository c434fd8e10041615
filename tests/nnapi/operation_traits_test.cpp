// SPDX-License-Identifier: BSD-3-Clause
// What the table of operations says of each agrees with itself, and with the signatures.
#include <catch2/catch.hpp>

#include "lib/format/operation_table.h"
#include "lib/nnapi/integer_forms.h"
#include "lib/nnapi/passes/convolution_inputs.h"

namespace nnapi_convert::nnapi {
namespace {

using Trait = OperationTrait;

TEST_CASE("traits: a filter has an axis of channels", "[traits]") {
  for (const OperationInfo& operation : all_operations()) {
    INFO(operation.name);
    CHECK(operation.has(Trait::kWeighted) == (operation.channel_axis >= 0));
    CHECK(operation.has(Trait::kWeighted) == (operation.integers == IntegerForm::kWeighted));
    if (operation.has(Trait::kConvolution)) CHECK(operation.has(Trait::kWeighted));
  }
}

TEST_CASE("traits: what moves values has one scale, keeps a factor, and has no activation of its own", "[traits]") {
  for (const OperationInfo& operation : all_operations()) {
    if (!operation.has(Trait::kMovesValues)) continue;
    INFO(operation.name);
    CHECK(operation.integers == IntegerForm::kTied);
    CHECK(operation.has(Trait::kKeepsFactor));
    CHECK_FALSE(operation.has(Trait::kElementwise));
  }
  for (const OperationInfo& operation : all_operations()) {
    INFO(operation.name);
    if (operation.has(Trait::kViews)) CHECK(operation.has(Trait::kMovesValues));
    if (operation.has(Trait::kArithmetic)) CHECK((operation.has(Trait::kElementwise) && operation.takes_activation()));
    if (operation.has(Trait::kActivation)) CHECK(operation.has(Trait::kElementwise));
    if (operation.fused_as != FuseCode::NONE) CHECK(operation.has(Trait::kActivation));
  }
}

TEST_CASE("traits: a fixed scale belongs to the form of that name", "[traits]") {
  for (const OperationInfo& operation : all_operations()) {
    INFO(operation.name);
    CHECK((operation.integers == IntegerForm::kFixed) == (operation.fixed_scale.denominator != 0));
  }
  CHECK(fixed_scale(OperationCode::TANH) == Scale{1.0f / 128, 128});
  CHECK(fixed_scale(OperationCode::SOFTMAX) == Scale{1.0f / 256, 0});
  CHECK_FALSE(fixed_scale(OperationCode::ADD).has_value());
}

TEST_CASE("traits: the signatures tell fused activations and types", "[traits]") {
  CHECK(find_operation(OperationCode::L2_POOL_2D)->takes_activation());
  CHECK_FALSE(find_operation(OperationCode::RELU)->takes_activation());
  CHECK(find_operation(OperationCode::SELECT)->takes(OperandCode::TENSOR_BOOL8));
  CHECK_FALSE(find_operation(OperationCode::RESHAPE)->takes(OperandCode::TENSOR_BOOL8));
  CHECK_FALSE(has_trait(static_cast<OperationCode>(100'000), Trait::kElementwise));
}

TEST_CASE("traits: filters with a scale for each channel are those of convolutions", "[traits]") {
  CHECK(channel_axis(OperationCode::DEPTHWISE_CONV_2D) == 3);
  CHECK(channel_axis(OperationCode::TRANSPOSE_CONV_2D) == 0);
  CHECK_FALSE(channel_axis(OperationCode::FULLY_CONNECTED).has_value());
  CHECK(is_convolution(OperationCode::GROUPED_CONV_2D));
  CHECK_FALSE(is_convolution(OperationCode::TRANSPOSE_CONV_2D));
}

}  // namespace
}  // namespace nnapi_convert::nnapi
