// Where a memory of the runtime's own will be used, and so what it holds.
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
  // Input or output `index` of the compilation's model; all roles have to be of one type.
  void add_role(std::shared_ptr<const Compilation> compilation, Direction direction, uint32_t index, float frequency);
  void set_dimensions(uint32_t rank, const uint32_t* dims);
  void finish();

  // When finished.
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
  Operand operand_;  // what all roles say together
  std::vector<Role> roles_;
};

}  // namespace nnapi_convert::host
