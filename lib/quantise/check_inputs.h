// SPDX-License-Identifier: BSD-3-Clause
// Makes the inputs of the samples by which a file checks a device.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lib/converter/frontend/index_range.h"
#include "lib/converter/plan/nnapi_part.h"
#include "lib/quantise/host_model.h"
#include "lib/serialize/buffer_sample.h"
#include "lib/types/usual_sizes.h"

namespace nnapi_convert {

// A reason why a segment has no samples.
class NoSample : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The kinds of numbers that are made up.
struct MadeNumbers {
  bool are_floats_positive = false;
  bool are_integers_flags = false;  // 0 and 1, as in masks, unless they are indices
};

// Returns the dtype of the elements that NNAPI takes and gives. Throws NoSample for one that samples can't have.
at::ScalarType element_type(const nnapi::Operand& operand);
// Returns the elements as bytes.
std::vector<uint8_t> check_bytes(const at::Tensor& tensor);
// Returns the caller's tensor as NNAPI's operand holds it: type, rank and order of axes.
at::Tensor to_physical(at::Tensor tensor, const nnapi::Operand& operand, const nnapi::Boundary& boundary);

// Tells the open sizes of a sample's call of the whole model.
using CallSizes = std::function<int64_t(int input, int axis)>;

// The inputs of one sample of a part, as the buffer and as forward's caller have them.
class CheckInputs {
 public:
  CheckInputs(const NnapiPart& part, const IndexRanges& ranges, MadeNumbers numbers,
              CallSizes call_sizes = usual_open_size)
      : part_(part), ranges_(ranges), numbers_(numbers), call_sizes_(std::move(call_sizes)) {}

  // Makes the inputs of sample `number`. `real` is a sample that the user gave, or null. It is stored if it takes at
  // most `most_bytes`. Throws NoSample.
  void make(uint32_t number, const InputTuple* real, size_t most_bytes);

  const std::vector<at::Tensor>& callers() const { return callers_; }
  BufferSample sample() const { return {sizes_, made_, {}}; }
  // Returns the bytes of NNAPI's inputs.
  const std::vector<quantise::Bytes>& physical() const { return physical_; }

 private:
  std::vector<int64_t> sizes_of(const InputTuple* real, size_t number) const;
  void make_one(const nnapi::Boundary& boundary, uint32_t seed, const at::Tensor* given, size_t most_bytes);
  at::Tensor uniform(const nnapi::Operand& operand, const nnapi::Boundary& boundary, std::vector<int64_t> sizes,
                     const at::Tensor* given, BufferSampleInput& made) const;
  std::pair<double, double> limits(const nnapi::Operand& operand, const nnapi::Boundary& boundary,
                                   const at::Tensor* given) const;

  const NnapiPart& part_;
  const IndexRanges& ranges_;
  MadeNumbers numbers_;
  CallSizes call_sizes_;
  std::vector<int64_t> sizes_;
  std::vector<at::Tensor> callers_;
  std::vector<BufferSampleInput> made_;
  std::vector<quantise::Bytes> physical_;
};

}  // namespace nnapi_convert
