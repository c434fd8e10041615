// SPDX-License-Identifier: BSD-3-Clause
// What can be told of an operation, in the terms of device profiles (schemas/device_profile.schema.json).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/format/operation_table.h"
#include "tools/nnapi-probe/doctor/cut_model.h"

namespace nnapi_doctor {

struct Argument {
  const char* name;  // in schemas/nnapi_operations.json
  uint32_t operand;
};

// A condition of a profile's rule that holds for an operation: the members `key`, or `key` and in it `argument`, whose
// value is the JSON text.
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

  // The inputs, then the outputs; none for an operation that the table does not describe so.
  std::vector<Argument> arguments(uint32_t operation) const;
  bool has_layout(uint32_t operation) const;
  bool is_nchw(uint32_t operation) const;
  // How many products are added up for an element of the result; 1 for none.
  size_t terms(uint32_t operation) const;
  // Multiply-adds of convolutions, dense layers and matrix products; 0 for other operations.
  uint64_t multiply_adds(uint32_t operation) const;
  // The types of the arguments that tell most: the first tensor, filters and weights.
  std::vector<Condition> types(uint32_t operation) const;
  // What else a rule of a profile can be about, the simplest first: strides, padding, layout, rank, sizes.
  std::vector<Condition> forms(uint32_t operation) const;
  // The operations whose results it reads; INPUT: it reads an input of the model. As a list in JSON.
  std::string predecessors(uint32_t operation) const;

 private:
  std::optional<int64_t> number(const std::vector<Argument>& arguments, const std::string& name) const;
  const nnapi_shim::OperandView* find(const std::vector<Argument>& arguments, const std::string& name) const;
  std::string padding(uint32_t operation, const std::vector<Argument>& arguments) const;
  bool equals_same(uint32_t operation, const std::vector<Argument>& arguments, bool is_height) const;

  const nnapi_shim::SubgraphView& main_;
  const ModelCutter& cutter_;
};

// The sizes of an operand as JSON: [1, 3, 224, 224].
std::string sizes_text(const nnapi_shim::OperandView& operand);

}  // namespace nnapi_doctor
