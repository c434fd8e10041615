// SPDX-License-Identifier: BSD-3-Clause
// Facts about an operation, in the terms of device profiles (schemas/device_profile.schema.json).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/format/operation_table.h"
#include "tools/nnapi-probe/doctor/cut_model.h"

namespace nnapi_doctor {

struct Argument {
  const char* name;  // its name in schemas/nnapi_operations.json
  uint32_t operand;
};

// A condition of a profile's rule that holds for an operation: the member `key`, or in it the member `argument`, with
// the JSON text `value` as its value.
struct Condition {
  std::string key, argument, value;
  bool operator==(const Condition& other) const {
    return key == other.key && argument == other.argument && value == other.value;
  }
};

class OperationFacts {
 public:
  // Both have to outlive this object.
  OperationFacts(const nnapi_shim::SubgraphView& main, const ModelCutter& cutter) : main_(main), cutter_(cutter) {}

  // Returns the inputs, then the outputs; none for an operation whose operands don't fit the table.
  std::vector<Argument> arguments(uint32_t operation) const;
  bool has_layout(uint32_t operation) const;
  bool is_nchw(uint32_t operation) const;
  // Returns how many products are added up for an element of the result; 1 for none.
  size_t terms(uint32_t operation) const;
  // Returns the multiply-adds of convolutions, dense layers and matrix products; 0 for other operations.
  uint64_t multiply_adds(uint32_t operation) const;
  // Returns the types of the most telling arguments: the first tensor, filters and weights.
  std::vector<Condition> types(uint32_t operation) const;
  // Returns the other conditions that a profile's rule can have, the simplest first: strides, padding, layout, rank,
  // sizes.
  std::vector<Condition> forms(uint32_t operation) const;
  // Returns the operations whose results it reads, as a JSON list; INPUT: it reads an input of the model.
  std::string predecessors(uint32_t operation) const;

 private:
  std::optional<int64_t> number(const std::vector<Argument>& arguments, const std::string& name) const;
  const nnapi_shim::OperandView* find(const std::vector<Argument>& arguments, const std::string& name) const;
  std::string padding(uint32_t operation, const std::vector<Argument>& arguments) const;
  bool equals_same(uint32_t operation, const std::vector<Argument>& arguments, bool is_height) const;

  const nnapi_shim::SubgraphView& main_;
  const ModelCutter& cutter_;
};

// Returns the sizes of an operand as JSON: [1, 3, 224, 224].
std::string sizes_text(const nnapi_shim::OperandView& operand);

}  // namespace nnapi_doctor
