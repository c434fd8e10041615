// SPDX-License-Identifier: BSD-3-Clause
// Selects LibTorch's kernels for quantised operators. Builds have different ones: Debian's has no QNNPACK on arm64.
#pragma once

#include <ATen/core/jit_type.h>
#include <c10/core/QEngine.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <vector>

namespace nnapi_convert {

bool has_quantised_engine(at::QEngine engine);

// Selects QNNPACK, which mobile builds use and which also reads weights packed for other engines. Keeps LibTorch's own
// choice where this LibTorch lacks QNNPACK; reading a model with packed weights may then fail.
void choose_quantised_engine();

// Selects oneDNN if the class has packed weights of a 3-D convolution, which QNNPACK packs and can't unpack. Call it
// before they are packed.
void choose_quantised_engine_for(const c10::ClassType& type);

// While it lives, LibTorch's own kernels compute on quantised tensors if a graph has an operator that QNNPACK computes
// otherwise than PyTorch defines it: QNNPACK ignores count_include_pad=False and divisor_override, reads beyond the
// padding of a dilated max_pool2d, and mixes up the elements of a channels_last tensor, which its convolutions give, in
// clamp(), hardtanh() and relu6(). Weights that are packed stay with the engine that packed them; graphs that pack
// weights themselves keep QNNPACK.
class KernelsAsDefined {
 public:
  using Graphs = std::vector<std::shared_ptr<torch::jit::Graph>>;

  explicit KernelsAsDefined(const Graphs& graphs);
  ~KernelsAsDefined();
  KernelsAsDefined(const KernelsAsDefined&) = delete;
  KernelsAsDefined& operator=(const KernelsAsDefined&) = delete;

 private:
  at::QEngine before_;
};

}  // namespace nnapi_convert
