// SPDX-License-Identifier: BSD-3-Clause
// Lists the uses of a device memory (memory.h), and derives the type and shape of its value.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/host_runtime/direction.h"
#include "lib/host_runtime/operand.h"

namespace nnapi_convert::host {

class Compilation;

class MemoryDescriptor {
 public:
  // Adds the use as input or output `index` of the compilation's model. All uses need the same type.
  void add_role(std::shared_ptr<const Compilation> compilation, Direction direction, uint32_t index, float frequency);
  void set_dimensions(uint32_t rank, const uint32_t* dims);
  void finish();

  // Fails if the descriptor is not finished; the functions below need a finished one.
  void require_finished(const char* what) const;
  OperandCode type() const { return operand_.type; }
  const Shape& shape() const { return operand_.shape; }
  bool has_role(const Compilation* compilation, Direction direction, uint32_t index) const;

 private:
  struct Role {
    std::shared_ptr<const Compilation> compilation;
    Direction direction;
    uint32_t index;
  };

  void require_unfinished(const char* what) const;
  void add_shape(const Shape& shape, const std::string& subject);

  bool finished_ = false;
  Operand operand_;  // the type and shape that all roles agree on
  std::vector<Role> roles_;
};

}  // namespace nnapi_convert::host
