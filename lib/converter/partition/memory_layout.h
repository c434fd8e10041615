// Finds how the original lays its tensors out in memory, where the model's inputs are in PyTorch's own order: runs
// operators once on made-up tensors with the memory of their arguments.
#pragma once

#include <ATen/core/ivalue.h>

#include <optional>
#include <unordered_map>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

class MemoryLayouts {
 public:
  explicit MemoryLayouts(const TypeMap& types) : types_(types) {}

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
  std::unordered_map<const TorchValue*, std::optional<c10::IValue>> made_up_;
};

}  // namespace nnapi_convert
