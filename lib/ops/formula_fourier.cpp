// SPDX-License-Identifier: BSD-3-Clause
// torch.fft of fixed sizes, along one axis after the other.
#include <ATen/ATen.h>

#include <optional>

#include "lib/ops/fourier.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

// How the last axis is transformed: like the others, from real numbers to half of the results, or back to real numbers.
enum class Last { kFull, kToHalf, kToReal };

struct Transform {
  std::vector<int64_t> axes, lengths;
  Direction direction;
  std::string norm;
};

Formed as_float(const Formed& x) {
  return x.is_complex() || x.real.scalar_type() == at::kFloat ? x : Formed(x.real.to(at::kFloat));
}

std::string norm_of(const FormulaArguments& args) {
  return args.is_none("norm") ? "backward" : args.value("norm").toStringRef();
}

std::vector<int64_t> axes_of(const FormulaArguments& args, int64_t rank) {
  std::vector<int64_t> axes;
  if (!args.is_none("dim")) {
    axes = args.value("dim").isInt() ? std::vector<int64_t>{args.integer("dim")} : args.integers("dim");
  } else {
    const auto count = args.is_none("s") ? rank : static_cast<int64_t>(args.integers("s").size());
    for (int64_t i = rank - count; i < rank; ++i) axes.push_back(i);
  }
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  return axes;
}

// Returns the given lengths. Instead of -1 or none it returns the axis's own length, or, for Last::kToReal, the whole
// length that half of the results implies.
std::vector<int64_t> lengths_of(const FormulaArguments& args, const Tensor& x, const std::vector<int64_t>& axes,
                                Last last) {
  const std::string name = args.has("n") ? "n" : "s";
  std::vector<int64_t> lengths(axes.size(), -1);
  if (!args.is_none(name)) {
    lengths = name == "n" ? std::vector<int64_t>{args.integer(name)} : args.integers(name);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    if (lengths[i] != -1) continue;
    const int64_t size = x.size(axes[i]);
    lengths[i] = last == Last::kToReal && i + 1 == axes.size() ? 2 * (size - 1) : size;
  }
  return lengths;
}

Formed transformed(const Formed& x, const Transform& transform, size_t i) {
  const double scale = transform_scale(transform.norm, transform.direction, transform.lengths[i]);
  return full_transform(x, transform.axes[i], transform.lengths[i], transform.direction, scale);
}

template <Direction direction, Last last>
std::vector<Formed> transform(const FormulaArguments& args) {
  Formed x = as_float(args.complex("self"));
  const std::vector<int64_t> axes = axes_of(args, x.real.dim());
  if (axes.empty()) return {x};
  const Transform whole{axes, lengths_of(args, x.real, axes, last), direction, norm_of(args)};
  const size_t end = axes.size() - 1;
  const double scale = transform_scale(whole.norm, direction, whole.lengths[end]);
  if (last == Last::kToHalf) x = half_transform(x.real, axes[end], whole.lengths[end], direction, scale);
  for (size_t i = 0; i < (last == Last::kFull ? axes.size() : end); ++i) x = transformed(x, whole, i);
  if (last == Last::kToReal) x = real_transform(x, axes[end], whole.lengths[end], direction, scale);
  return {x};
}

constexpr auto kForward = Direction::kForward;
constexpr auto kInverse = Direction::kInverse;

}  // namespace

Formulas fourier_formulas() {
  return {
      {"aten::fft_fft", nullptr, transform<kForward, Last::kFull>},
      {"aten::fft_fft2", nullptr, transform<kForward, Last::kFull>},
      {"aten::fft_fftn", nullptr, transform<kForward, Last::kFull>},
      {"aten::fft_ifft", nullptr, transform<kInverse, Last::kFull>},
      {"aten::fft_ifft2", nullptr, transform<kInverse, Last::kFull>},
      {"aten::fft_ifftn", nullptr, transform<kInverse, Last::kFull>},
      {"aten::fft_rfft", nullptr, transform<kForward, Last::kToHalf>},
      {"aten::fft_rfft2", nullptr, transform<kForward, Last::kToHalf>},
      {"aten::fft_rfftn", nullptr, transform<kForward, Last::kToHalf>},
      {"aten::fft_ihfft", nullptr, transform<kInverse, Last::kToHalf>},
      {"aten::fft_ihfft2", nullptr, transform<kInverse, Last::kToHalf>},
      {"aten::fft_ihfftn", nullptr, transform<kInverse, Last::kToHalf>},
      {"aten::fft_irfft", nullptr, transform<kInverse, Last::kToReal>},
      {"aten::fft_irfft2", nullptr, transform<kInverse, Last::kToReal>},
      {"aten::fft_irfftn", nullptr, transform<kInverse, Last::kToReal>},
      {"aten::fft_hfft", nullptr, transform<kForward, Last::kToReal>},
      {"aten::fft_hfft2", nullptr, transform<kForward, Last::kToReal>},
      {"aten::fft_hfftn", nullptr, transform<kForward, Last::kToReal>},
  };
}

}  // namespace nnapi_convert
