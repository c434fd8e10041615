// SPDX-License-Identifier: BSD-3-Clause
// Formulas of operators that read or make complex numbers, which are pairs of real tensors (formulas.h).
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>

#include "lib/ops/formulas.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

bool takes_pair(const OpArguments& args) {
  const auto inputs = args.node().inputs();
  return std::any_of(inputs.begin(), inputs.end(), [](const TorchValue* input) { return is_pair(*input); });
}

// True if the first argument is complex: a pair, or a complex constant.
bool takes_complex(const OpArguments& args) {
  const auto inputs = args.node().inputs();
  return takes_pair(args) || std::any_of(inputs.begin(), inputs.end(), [](const TorchValue* input) {
           const auto constant = torch::jit::toIValue(input);
           return constant && is_complex(*constant);
         });
}

// True if the first argument is real. False for a tensor of unknown dtype: an operator on the CPU may give complex
// numbers.
bool takes_real(const OpArguments& args) {
  return !takes_pair(args) && !c10::isComplexType(args.tensor("self").dtype);
}

bool takes_pair_or_real(const OpArguments& args) {
  return takes_pair(args) || takes_real(args);
}

Tensor imaginary_or_zero(const Formed& x) {
  return x.is_complex() ? x.imaginary : constant_of([&] { return at::zeros({1}); });
}

std::vector<Formed> real_part(const FormulaArguments& args) {
  return {args.first().real};
}

std::vector<Formed> imaginary_part(const FormulaArguments& args) {
  return {args.first().imaginary};
}

std::vector<Formed> both_parts(const FormulaArguments& args) {
  const Formed x = args.first();
  return {at::stack({x.real, x.imaginary}, -1)};
}

std::vector<Formed> joined_parts(const FormulaArguments& args) {
  const Tensor x = args.first().real;
  return {Formed(x.select(-1, 0), x.select(-1, 1))};
}

std::vector<Formed> polar(const FormulaArguments& args) {
  const Tensor length = args.tensor("abs"), angle = args.tensor("angle");
  return {Formed(length * at::cos(angle), length * at::sin(angle))};
}

std::vector<Formed> length(const FormulaArguments& args) {
  const Formed x = args.first();
  return {at::sqrt(x.real * x.real + x.imaginary * x.imaginary)};
}

std::vector<Formed> angle(const FormulaArguments& args) {
  const Formed x = args.first();
  return {at::atan2(x.imaginary, x.real)};
}

std::vector<Formed> conjugate(const FormulaArguments& args) {
  const Formed x = args.first();
  return {Formed(x.real, at::neg(x.imaginary))};
}

std::vector<Formed> itself(const FormulaArguments& args) {
  return {args.first()};
}

Formed product_of(const Formed& a, const Formed& b) {
  if (!a.is_complex()) return {a.real * b.real, a.real * b.imaginary};
  if (!b.is_complex()) return {a.real * b.real, a.imaginary * b.real};
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}

std::vector<Formed> product(const FormulaArguments& args) {
  return {product_of(args.complex("self"), args.complex("other"))};
}

std::vector<Formed> square(const FormulaArguments& args) {
  const Formed x = args.first();
  return {product_of(x, x)};
}

Formed quotient_of(const Formed& a, const Formed& b) {
  if (!b.is_complex()) return {a.real / b.real, a.imaginary / b.real};
  const Tensor square = b.real * b.real + b.imaginary * b.imaginary;
  if (!a.is_complex()) return {a.real * b.real / square, at::neg(a.real * b.imaginary) / square};
  return {(a.real * b.real + a.imaginary * b.imaginary) / square,
          (a.imaginary * b.real - a.real * b.imaginary) / square};
}

std::vector<Formed> quotient(const FormulaArguments& args) {
  return {quotient_of(args.complex("self"), args.complex("other"))};
}

std::vector<Formed> reciprocal(const FormulaArguments& args) {
  return {quotient_of(constant_of([] { return at::ones({}); }), args.first())};
}

std::vector<Formed> exponential(const FormulaArguments& args) {
  const Formed x = args.first();
  const Tensor length = at::exp(x.real);
  return {Formed(length * at::cos(x.imaginary), length * at::sin(x.imaginary))};
}

template <int sign>
std::vector<Formed> sum(const FormulaArguments& args) {
  const Formed a = args.complex("self"), b = args.complex("other");
  const double factor = sign * args.number("alpha");
  return {Formed(a.real + b.real * factor, imaginary_or_zero(a) + imaginary_or_zero(b) * factor)};
}

// rsub: other - alpha * self.
std::vector<Formed> reversed_difference(const FormulaArguments& args) {
  const Formed a = args.complex("self"), b = args.complex("other");
  const double factor = args.number("alpha");
  return {Formed(b.real - a.real * factor, imaginary_or_zero(b) - imaginary_or_zero(a) * factor)};
}

// Multiplies matrices; the second one is the argument `name`.
template <const char* name>
std::vector<Formed> matrix_product(const FormulaArguments& args) {
  const Formed a = args.first(), b = args.complex(name);
  const auto times = [](const Tensor& left, const Tensor& right) { return at::matmul(left, right); };
  if (!a.is_complex()) return {Formed(times(a.real, b.real), times(a.real, b.imaginary))};
  if (!b.is_complex()) return {Formed(times(a.real, b.real), times(a.imaginary, b.real))};
  return {Formed(times(a.real, b.real) - times(a.imaginary, b.imaginary),
                 times(a.real, b.imaginary) + times(a.imaginary, b.real))};
}

constexpr char kOther[] = "other", kMat2[] = "mat2";

// Rolls each axis by half of its size: rounded down (fftshift), or up (ifftshift), which undoes the other.
template <int more>
std::vector<Formed> shifted(const FormulaArguments& args) {
  const Formed x = args.first();
  std::vector<int64_t> axes, shifts;
  if (args.is_none("dim")) {
    for (int64_t i = 0; i < x.real.dim(); ++i) axes.push_back(i);
  } else {
    axes = args.integers("dim");
  }
  for (const int64_t axis : axes) shifts.push_back((x.real.size(axis) + more) / 2);
  return {Formed(at::roll(x.real, shifts, axes), at::roll(x.imaginary, shifts, axes))};
}

// Applies the operator to the real and to the imaginary part.
std::vector<Formed> each_part(const FormulaArguments& args) {
  const Formed x = args.first();
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(args.schema().name().c_str(),
                                                                 args.schema().overload_name().c_str());
  const auto call = [&](const Tensor& part) {
    torch::jit::Stack stack{part};
    for (size_t i = 1; i < args.schema().arguments().size(); ++i) {
      stack.push_back(args.value(args.schema().arguments()[i].name()));
    }
    op.callBoxed(&stack);
    return stack.at(0).toTensor();
  };
  return {Formed(call(x.real), call(x.imaginary))};
}

// Pads a complex tensor. The padding value is real, so the imaginary part is padded with zeros.
std::vector<Formed> padded(const FormulaArguments& args) {
  const Formed x = args.first();
  const std::vector<int64_t> sizes = args.integers("pad");
  const bool has_mode = args.has("mode");
  const std::string mode = has_mode ? args.value("mode").toStringRef() : "constant";
  if (mode != "constant") {
    return {Formed(at::pad(x.real, sizes, mode), at::pad(x.imaginary, sizes, mode))};
  }
  const double value = args.is_none("value") ? 0 : args.number("value");
  return {Formed(at::constant_pad_nd(x.real, sizes, value), at::constant_pad_nd(x.imaginary, sizes, 0))};
}

}  // namespace

Formulas complex_formulas() {
  Formulas formulas = {
      {"aten::real", takes_pair_or_real, real_part},
      {"aten::imag", takes_pair, imaginary_part},
      {"aten::view_as_real", takes_pair, both_parts},
      {"aten::view_as_complex", nullptr, joined_parts},
      {"aten::polar", nullptr, polar},
      {"aten::abs", takes_pair, length},
      {"aten::angle", takes_pair, angle},
      {"aten::conj", takes_pair, conjugate},
      {"aten::_conj", takes_pair, conjugate},
      {"aten::conj_physical", takes_pair, conjugate},
      {"aten::resolve_conj", takes_pair_or_real, itself},
      {"aten::resolve_neg", takes_pair_or_real, itself},
      {"aten::fft_fftshift", takes_pair, shifted<0>},
      {"aten::fft_ifftshift", takes_pair, shifted<1>},
      {"aten::pad", takes_pair, padded},
      {"aten::constant_pad_nd", takes_pair, padded},
      {"aten::mul.Tensor", takes_complex, product},
      {"aten::mul.Scalar", takes_complex, product},
      {"aten::div.Tensor", takes_complex, quotient},
      {"aten::div.Scalar", takes_complex, quotient},
      {"aten::add.Tensor", takes_complex, sum<1>},
      {"aten::add.Scalar", takes_complex, sum<1>},
      {"aten::sub.Tensor", takes_complex, sum<-1>},
      {"aten::sub.Scalar", takes_complex, sum<-1>},
      {"aten::rsub.Tensor", takes_complex, reversed_difference},
      {"aten::rsub.Scalar", takes_complex, reversed_difference},
      {"aten::square", takes_pair, square},
      {"aten::reciprocal", takes_pair, reciprocal},
      {"aten::exp", takes_pair, exponential},
      {"aten::matmul", takes_complex, matrix_product<kOther>},
      {"aten::mm", takes_complex, matrix_product<kMat2>},
      {"aten::bmm", takes_complex, matrix_product<kMat2>},
  };
  for (const char* name : {"aten::conj", "aten::_conj", "aten::conj_physical"}) {
    formulas.push_back({name, takes_real, itself});
  }
  for (const char* name : {"aten::neg",
                           "aten::reshape",
                           "aten::view",
                           "aten::flatten.using_ints",
                           "aten::permute",
                           "aten::transpose.int",
                           "aten::t",
                           "aten::unsqueeze",
                           "aten::squeeze",
                           "aten::squeeze.dim",
                           "aten::slice.Tensor",
                           "aten::select.int",
                           "aten::narrow",
                           "aten::expand",
                           "aten::movedim.int",
                           "aten::roll",
                           "aten::flip",
                           "aten::contiguous",
                           "aten::clone",
                           "aten::detach",
                           "aten::sum",
                           "aten::sum.dim_IntList",
                           "aten::mean",
                           "aten::mean.dim",
                           "aten::index_select"}) {
    formulas.push_back({name, takes_pair, each_part});
  }
  return formulas;
}

}  // namespace nnapi_convert
