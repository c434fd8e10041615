// Formulas of operators that read or make complex numbers, which are pairs of real tensors (formulas.h).
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>

#include "lib/converter/formulas/formulas.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

bool takes_pair(const OpArguments& args) {
  const auto inputs = args.node().inputs();
  return std::any_of(inputs.begin(), inputs.end(), [](const TorchValue* input) { return is_pair(*input); });
}

bool takes_none(const OpArguments& args) {
  return !takes_pair(args);
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

Formed other_argument(const FormulaArguments& args) {
  if (args.value("other").isScalar() && args.value("other").toScalar().isComplex()) {
    throw FormulaRefused("a complex number", "a real one");
  }
  return args.complex("other");
}

std::vector<Formed> product(const FormulaArguments& args) {
  const Formed a = args.complex("self"), b = other_argument(args);
  if (!a.is_complex()) return {Formed(a.real * b.real, a.real * b.imaginary)};
  if (!b.is_complex()) return {Formed(a.real * b.real, a.imaginary * b.real)};
  return {Formed(a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real)};
}

std::vector<Formed> quotient(const FormulaArguments& args) {
  const Formed a = args.complex("self"), b = other_argument(args);
  if (!b.is_complex()) return {Formed(a.real / b.real, a.imaginary / b.real)};
  const Tensor square = b.real * b.real + b.imaginary * b.imaginary;
  if (!a.is_complex()) return {Formed(a.real * b.real / square, at::neg(a.real * b.imaginary) / square)};
  return {Formed((a.real * b.real + a.imaginary * b.imaginary) / square,
                 (a.imaginary * b.real - a.real * b.imaginary) / square)};
}

template <int sign>
std::vector<Formed> sum(const FormulaArguments& args) {
  const Formed a = args.complex("self"), b = other_argument(args);
  const double factor = sign * args.number("alpha");
  return {Formed(a.real + b.real * factor, imaginary_or_zero(a) + imaginary_or_zero(b) * factor)};
}

// Rolled by half of the size, rounded down, or up to undo that.
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

// What pads is a real number; the imaginary part gets zeros.
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
      {"aten::real", nullptr, real_part},
      {"aten::imag", takes_pair, imaginary_part},
      {"aten::view_as_real", takes_pair, both_parts},
      {"aten::view_as_complex", nullptr, joined_parts},
      {"aten::polar", nullptr, polar},
      {"aten::abs", takes_pair, length},
      {"aten::angle", takes_pair, angle},
      {"aten::conj", takes_pair, conjugate},
      {"aten::_conj", takes_pair, conjugate},
      {"aten::conj_physical", takes_pair, conjugate},
      {"aten::resolve_conj", nullptr, itself},
      {"aten::resolve_neg", nullptr, itself},
      {"aten::fft_fftshift", takes_pair, shifted<0>},
      {"aten::fft_ifftshift", takes_pair, shifted<1>},
      {"aten::pad", takes_pair, padded},
      {"aten::constant_pad_nd", takes_pair, padded},
      {"aten::mul.Tensor", takes_pair, product},
      {"aten::div.Tensor", takes_pair, quotient},
      {"aten::add.Tensor", takes_pair, sum<1>},
      {"aten::sub.Tensor", takes_pair, sum<-1>},
  };
  for (const char* name : {"aten::conj", "aten::_conj", "aten::conj_physical"}) {
    formulas.push_back({name, takes_none, itself});
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
                           "aten::mul.Scalar",
                           "aten::div.Scalar",
                           "aten::index_select"}) {
    formulas.push_back({name, takes_pair, each_part});
  }
  return formulas;
}

}  // namespace nnapi_convert
