// SPDX-License-Identifier: BSD-3-Clause
// Linear layers of float16 weights (quantize_dynamic with dtype=torch.float16). LibTorch packs such weights by FBGEMM
// only, which many builds lack, Debian's and phones' among them: they refuse every file that has such a layer.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

namespace nnapi_convert {

// Lets the methods of a saved class (__setstate__, and what it calls) keep float16 weights as they are, in place of
// packing them, where this LibTorch can't pack them. unpack() of such weights gives float32 numbers that float16 holds.
void keep_float16_weights(const c10::ClassType& type);

// Returns the float16 weights of a pickled object of PyTorch's own class of packed weights, with this type and state,
// where this LibTorch can't pack them. Null for other classes, and for weights of integers.
c10::intrusive_ptr<c10::ivalue::Object> float16_linear_of(const c10::ClassType& type, const c10::IValue& state);

}  // namespace nnapi_convert
