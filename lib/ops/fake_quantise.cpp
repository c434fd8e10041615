// SPDX-License-Identifier: BSD-3-Clause
// Fake quantisation by a scale that is a constant. If quint8 holds the levels, it becomes QUANTIZE and DEQUANTIZE,
// which drivers with 8-bit arithmetic know; otherwise, and at feature levels without QUANTIZE, it becomes arithmetic.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/formula.h"
#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr int kQuantizeLevel = 3;

struct FakeQuantization {
  double scale;
  int64_t zero_point, least, greatest;

  double number(int64_t level) const { return static_cast<double>(level - zero_point) * scale; }
};

// Reads the arguments, which are numbers or tensors of one number. PyTorch cuts a zero point off to an integer; a
// learned one is rounded and clamped to the levels.
template <bool is_learned>
FakeQuantization read_fake(const OpArguments& args) {
  FakeQuantization fake{number_value(args, "scale"), 0, args.integer("quant_min"), args.integer("quant_max")};
  const double zero_point = number_value(args, "zero_point");
  fake.zero_point = static_cast<int64_t>(is_learned ? std::nearbyint(zero_point) : zero_point);
  if (is_learned) fake.zero_point = std::min(std::max(fake.zero_point, fake.least), fake.greatest);
  return fake;
}

std::vector<ValueType> fake_quantized_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  require_float(args, self);
  require_rank(args, self, 1, kHighestRank);
  const bool is_single = is_number(args, "scale") && is_number(args, "zero_point");
  args.require(is_single, "scales that are computed, or several", "a constant scale and zero point");
  const double scale = number_value(args, "scale");
  args.require(std::isfinite(scale) && scale > 0, fmt::format("a scale of {}", scale), "a finite one above 0");
  return {self};
}

Expression limited(const Expression& x, double least, double greatest) {
  return minimum(maximum(x, least), greatest);
}

// Returns the quantisation as quint8; nothing if quint8 doesn't hold the levels. Signed levels are shifted by 128.
std::optional<Quantization> as_bytes(const FakeQuantization& fake) {
  constexpr int64_t kGreatestCode = 255;
  const int64_t shift = fake.least < 0 ? 128 : 0, zero = fake.zero_point + shift;
  const bool fits = fake.least + shift >= 0 && fake.least < fake.greatest && fake.greatest + shift <= kGreatestCode &&
                    zero >= 0 && zero <= kGreatestCode;
  return fits ? std::optional(Quantization{fake.scale, zero}) : std::nullopt;
}

template <bool is_learned>
void lower_fake_quantize(OpContext& ctx) {
  constexpr int64_t kAllLevels = 256;
  const FakeQuantization fake = read_fake<is_learned>(ctx);
  const Expression x = argument(ctx, "self");
  const std::optional<Quantization> bytes = as_bytes(fake);
  if (bytes && ctx.can_use(OperationCode::QUANTIZE, kQuantizeLevel)) {
    const bool has_all = fake.greatest - fake.least + 1 == kAllLevels;
    const Expression kept = has_all ? x : limited(x, fake.number(fake.least), fake.number(fake.greatest));
    const TensorType type{at::kQUInt8, x.type().dims, *bytes};
    return dequantize(kept.then(OperationCode::QUANTIZE, {}, type)).set_output();
  }
  const auto zero_point = static_cast<double>(fake.zero_point);
  const Expression codes = round_to_even(x * (1 / fake.scale)) + zero_point;
  const Expression kept = limited(codes, static_cast<double>(fake.least), static_cast<double>(fake.greatest));
  ((kept - zero_point) * fake.scale).set_output();
}

}  // namespace

OpRules fake_quantise_rules() {
  const char* note = "8 bits: QUANTIZE from feature level 3; a constant scale";
  return {
      {"aten::fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int quant_max) "
       "-> Tensor",
       1, note, fake_quantized_type, lower_fake_quantize<false>, kElementwise | Fact::kRoundsToLevels},
      {"aten::fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, int "
       "quant_min, int quant_max) -> Tensor",
       3, note, fake_quantized_type, lower_fake_quantize<false>, kElementwise | Fact::kRoundsToLevels},
      {"aten::_fake_quantize_learnable_per_tensor_affine(Tensor self, Tensor scale, Tensor zero_point, int quant_min, "
       "int quant_max, float grad_factor=1.) -> Tensor",
       3, note, fake_quantized_type, lower_fake_quantize<true>, kElementwise | Fact::kRoundsToLevels},
  };
}

}  // namespace nnapi_convert
