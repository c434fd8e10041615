// SPDX-License-Identifier: BSD-3-Clause
// Short-time Fourier transforms: convolutions with waves under a window, and back by transposed ones.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/ops/fourier.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

struct Frames {
  int64_t length, hop;
  bool is_onesided;
  Tensor window;  // [length]
};

// Reads the frames' arguments; the window lies in the middle of the frame.
Frames read_frames(const FormulaArguments& args, bool is_onesided) {
  Frames frames{args.integer("n_fft"), 0, is_onesided, args.optional("window")};
  check_length(frames.length);
  frames.hop = args.is_none("hop_length") ? frames.length / 4 : args.integer("hop_length");
  const int64_t width = args.is_none("win_length") ? frames.length : args.integer("win_length");
  if (!frames.window.defined()) frames.window = constant_of([&] { return at::ones({width}); });
  const int64_t left = (frames.length - width) / 2, right = frames.length - width - left;
  if (left != 0 || right != 0) frames.window = at::constant_pad_nd(frames.window, {left, right}, 0);
  return frames;
}

bool is_onesided(const FormulaArguments& args) {
  return args.is_none("onesided") || args.boolean("onesided");
}

bool returns_complex(const FormulaArguments& args) {
  return !args.is_none("return_complex") && args.boolean("return_complex");
}

double scale_of(const FormulaArguments& args, const Frames& frames, Direction direction) {
  return args.boolean("normalized") ? transform_scale("ortho", direction, frames.length)
                                    : transform_scale("backward", direction, frames.length);
}

// True if the signal has to be padded first, which PyTorch does in Python.
bool pads_before(const OpArguments& args) {
  return !args.has("center") || !args.boolean("center");
}

std::vector<Formed> spectrogram(const FormulaArguments& args) {
  const Tensor self = args.tensor("self");
  const Frames frames = read_frames(args, is_onesided(args));
  const int64_t bins = frames.is_onesided ? frames.length / 2 + 1 : frames.length;
  const double scale = scale_of(args, frames, Direction::kForward);
  const Tensor waves = constant_of([&] {
    const Tensor matrix = analysis_matrix(frames.length, bins, Direction::kForward, scale);
    return at::transpose(matrix, 0, 1).contiguous().unsqueeze(1);
  });
  const Tensor signal = self.dim() == 1 ? self.reshape({1, 1, -1}) : self.unsqueeze(1);
  Tensor both = at::conv1d(signal, waves * frames.window, {}, frames.hop);
  if (self.dim() == 1) both = both.squeeze(0);
  const int64_t axis = both.dim() - 2;
  const Tensor real = both.narrow(axis, 0, bins), imaginary = both.narrow(axis, bins, bins);
  if (returns_complex(args)) return {Formed(real, imaginary)};
  return {at::stack({real, imaginary}, -1)};
}

// Returns [batch, 2 * bins, frames] of a tensor that is complex, or has both parts along its last axis.
Tensor joined_bins(const Formed& self, int64_t bins) {
  Formed parts = self;
  if (!self.is_complex()) parts = Formed(self.real.select(-1, 0), self.real.select(-1, 1));
  const int64_t axis = parts.real.dim() - 2;
  const Tensor joined = at::cat({parts.real.narrow(axis, 0, bins), parts.imaginary.narrow(axis, 0, bins)}, axis);
  return joined.dim() == 2 ? joined.unsqueeze(0) : joined;
}

// Cuts a part of the sum of windows; fills the part that no window covers with zeros.
Tensor cut(const Tensor& signal, int64_t begin, int64_t end) {
  const int64_t reached = std::min(end, signal.size(-1));
  const Tensor part = signal.narrow(-1, begin, reached - begin);
  return end > reached ? at::constant_pad_nd(part, {0, end - reached}, 0) : part;
}

std::vector<Formed> inverse_spectrogram(const FormulaArguments& args) {
  if (returns_complex(args)) throw FormulaRefused("istft with return_complex=True", "return_complex=False");
  const Formed self = args.complex("self");
  const Frames frames = read_frames(args, true);
  const int64_t bins = frames.length / 2 + 1;
  const Tensor joined = joined_bins(self, bins);
  const double scale = scale_of(args, frames, Direction::kInverse);
  const Tensor waves = constant_of(
      [&] { return synthesis_matrix(frames.length, Direction::kInverse, scale).unsqueeze(1).contiguous(); });
  const Tensor sum = at::conv_transpose1d(joined, waves * frames.window, {}, frames.hop);
  const Tensor ones = constant_of([&] { return at::ones({1, 1, joined.size(2)}); });
  const Tensor squares = (frames.window * frames.window).reshape({1, 1, -1});
  const Tensor weight = at::conv_transpose1d(ones, squares, {}, frames.hop);
  const bool is_centred = args.boolean("center");
  const int64_t begin = is_centred ? frames.length / 2 : 0;
  const int64_t whole = sum.size(2) - begin;
  const int64_t wanted = args.is_none("length") ? whole - begin : args.integer("length");
  const Tensor covered =
      cut(sum, begin, begin + std::min(wanted, whole)) / cut(weight, begin, begin + std::min(wanted, whole));
  Tensor result = cut(covered.squeeze(1), 0, wanted);
  const int64_t rank = self.is_complex() ? self.real.dim() : self.real.dim() - 1;
  if (rank == 2) result = result.squeeze(0);
  return {result};
}

}  // namespace

Formulas spectrogram_formulas() {
  return {
      {"aten::stft", nullptr, spectrogram},
      {"aten::stft.center", pads_before, spectrogram},
      {"aten::istft", nullptr, inverse_spectrogram},
  };
}

}  // namespace nnapi_convert
