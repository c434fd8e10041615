// SPDX-License-Identifier: BSD-3-Clause
// Finds the floating-point dtypes that a model's own operators give to tensors, before the model is made to compute in
// float32.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/converter/frontend/container_groups.h"
#include "lib/converter/graph/attribute_path.h"
#include "lib/converter/graph/float_width.h"

namespace nnapi_convert {

// The floating-point dtypes of the tensors that come into a graph; Undefined for tensors of other dtypes.
struct SourceDtypes {
  at::ScalarType others;                                 // of arguments and attributes that aren't named below
  StatedFloats arguments{};                              // by the number of the graph's input; self is 0
  std::map<AttributePath, at::ScalarType> attributes{};  // by the attribute's path

  at::ScalarType of_argument(size_t number) const;
  // `access` is a prim::GetAttr or prim::SetAttr.
  at::ScalarType of_attribute(const torch::jit::Node& access) const;
};

class OriginalDtypes {
 public:
  OriginalDtypes(torch::jit::Graph& graph, SourceDtypes sources);

  // Returns the floating-point dtype of a tensor, and of the widest tensor in a container; nothing for other dtypes.
  std::optional<at::ScalarType> of(const torch::jit::Value* value) const;

  // Returns the dtypes of the floating-point tensors in a container: by their constant keys in dicts, and under ""
  // those of the others.
  std::map<std::string, std::set<at::ScalarType>> all_in(const torch::jit::Value* container);

  const SourceDtypes& sources() const { return sources_; }
  ContainerGroups& containers() { return containers_; }

 private:
  // While dtypes are being found: kNotFloating for tensors of other dtypes; nothing for a tensor that isn't decided
  // yet.
  using Width = std::optional<at::ScalarType>;
  static constexpr at::ScalarType kNotFloating = at::ScalarType::Undefined;

  static Width wider(Width one, Width other);
  Width known(const torch::jit::Value* value) const;
  Width found(const torch::jit::Value& value);
  Width of_operands(const torch::jit::Node& node);
  Width widest(const std::vector<const torch::jit::Value*>& values) const;
  std::vector<const torch::jit::Value*> values_in(const torch::jit::Value& container);
  bool settle(const std::vector<const torch::jit::Value*>& values);
  bool is_number(const torch::jit::Value* value);
  bool found_number(const torch::jit::Value& value);

  ContainerGroups containers_;
  SourceDtypes sources_;
  std::unordered_map<const torch::jit::Value*, at::ScalarType> known_;
  std::unordered_map<const torch::jit::Value*, bool> numbers_;
};

// Returns the widest dtype of the floating-point tensors in a tensor or a list of tensors; nothing if there is none.
std::optional<at::ScalarType> float_dtype_in(const c10::IValue& value);

// Returns the node's constant argument "dtype"; nothing if the node has none.
std::optional<at::ScalarType> asked_dtype(const torch::jit::Node& node);

// True for a cast that TorchScript puts in where a script enters torch.autocast.
bool is_autocast(const torch::jit::Node& node);

}  // namespace nnapi_convert
