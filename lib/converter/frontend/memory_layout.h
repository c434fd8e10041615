// SPDX-License-Identifier: BSD-3-Clause
// Finds how the original lays its tensors out in memory, where the model's inputs are in PyTorch's own order: runs
// operators once on made-up tensors with the memory of their arguments.
#pragma once

#include <ATen/core/ivalue.h>

#include <list>
#include <optional>
#include <unordered_map>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// An assumption about a tensor's order in memory. kGaps: its axes the other way round, with elements between its own.
enum class Layout { kUnknown, kContiguous, kGaps };

class MemoryLayouts {
 public:
  // `unknown` is the layout of the results of operators that can't be run.
  explicit MemoryLayouts(const TypeMap& types, Layout inputs = Layout::kContiguous, Layout unknown = Layout::kUnknown)
      : types_(types), inputs_(inputs), unknown_(unknown) {}

  // Returns a made-up tensor with the sizes, strides and place in memory of the original's; nothing where these aren't
  // known before the model runs.
  std::optional<at::Tensor> like(const TorchValue& value);

  // Returns the tensor argument whose memory the value has; null for a value with memory of its own.
  const TorchValue* viewed(const TorchValue& value);

 private:
  std::optional<c10::IValue> made_up(const TorchValue& value);
  std::optional<c10::IValue> make_up(const TorchValue& value);
  std::optional<c10::IValue> made_up_list(const TorchNode& list);
  void run(const TorchNode& node);

  const TypeMap& types_;
  const Layout inputs_, unknown_;
  std::unordered_map<const TorchValue*, std::optional<c10::IValue>> made_up_;
};

// Finds the tensors with open sizes that are contiguous, in memory of their own, whatever the sizes and the orders of
// the model's inputs are: by tries with several sizes and layouts, of inputs and of what only a run of the model shows.
class ContiguousInAnySize {
 public:
  explicit ContiguousInAnySize(const TypeMap& types);
  bool contains(const TorchValue& value);

 private:
  std::list<TypeMap> types_;
  std::list<MemoryLayouts> tries_;
};

// True for a tensor that begins at the beginning of its memory, which has no other elements.
bool has_whole_memory(const at::Tensor& tensor);

}  // namespace nnapi_convert
