// SPDX-License-Identifier: BSD-3-Clause
// Operators of our own that stand for compositions of PyTorch's; lib/converter/frontend/recognise.cpp finds those.
#include <fmt/format.h>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/pooling.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// local_response_norm: NNAPI multiplies alpha by the sum of squares, PyTorch by their mean.
void lower_local_response_norm(OpContext& ctx) {
  nnapi::Builder& builder = ctx.builder();
  const int64_t size = ctx.integer("size");
  const auto number = [&](double value) { return builder.float32(static_cast<float>(value)); };
  ctx.emit(OperationCode::LOCAL_RESPONSE_NORMALIZATION,
           {ctx.operand("self").id, builder.int32(size / 2), number(ctx.number("k")),
            number(ctx.number("alpha") / static_cast<double>(size)), number(ctx.number("beta")), builder.int32(1)});
}

}  // namespace

OpRules recognised_rules() {
  OpRules rules = {
      {"nnapi_convert::local_response_norm(Tensor self, int size, float alpha, float beta, float k) -> Tensor", 3, "",
       float_self, lower_local_response_norm, kUnprovedRows},
  };
  for (const OpRule& rule : recognised_pooling_rules()) rules.push_back(rule);
  return rules;
}

}  // namespace nnapi_convert
