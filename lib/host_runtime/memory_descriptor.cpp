// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/memory_descriptor.h"

#include <algorithm>

#include "lib/format/operation_table.h"
#include "lib/host_runtime/compilation.h"
#include "lib/host_runtime/failure.h"

namespace nnapi_convert::host {

void MemoryDescriptor::require_unfinished(const char* what) const {
  if (finished_) fail(ResultCode::BAD_STATE, "{}: the memory descriptor is finished already", what);
}

void MemoryDescriptor::require_finished(const char* what) const {
  if (!finished_) fail(ResultCode::BAD_STATE, "{}: the memory descriptor is not finished", what);
}

bool MemoryDescriptor::has_role(const Compilation* compilation, Direction direction, uint32_t index) const {
  return std::any_of(roles_.begin(), roles_.end(), [&](const Role& role) {
    return role.compilation.get() == compilation && role.direction == direction && role.index == index;
  });
}

void MemoryDescriptor::add_shape(const Shape& shape, const std::string& subject) {
  std::optional<Shape> both = merged(operand_.shape, shape);
  if (!both) bad_data("{}: dimensions {} found, {} needed", subject, to_string(shape), to_string(operand_.shape));
  operand_.shape = *std::move(both);
}

void MemoryDescriptor::add_role(std::shared_ptr<const Compilation> compilation, Direction direction, uint32_t index,
                                float frequency) {
  const std::string subject = fmt::format("memory descriptor, {} {}", name_of(direction), index);
  require_unfinished(subject.c_str());
  if (!compilation->finished()) fail(ResultCode::BAD_STATE, "{}: the compilation is not finished", subject);
  const Model& model = compilation->model();
  const std::vector<uint32_t>& indices = direction == Direction::kInput ? model.inputs() : model.outputs();
  if (index >= indices.size()) bad_data("{}: the model has {} only", subject, indices.size());
  if (!(frequency > 0 && frequency <= 1)) {
    bad_data("{}: frequency {} found, above 0 and at most 1 needed", subject, frequency);
  }
  if (has_role(compilation.get(), direction, index)) bad_data("{}: listed before", subject);
  const Operand& operand = model.operands()[indices[index]];
  if (roles_.empty()) {
    operand_.type = operand.type;
    operand_.scale = operand.scale;
    operand_.zero_point = operand.zero_point;
  }
  if (operand.type != operand_.type) {
    bad_data("{}: {} found, that of the other uses needed: {}", subject, name_of(operand.type), name_of(operand_.type));
  }
  if (operand.scale != operand_.scale || operand.zero_point != operand_.zero_point) {
    bad_data("{}: scale {}, zero point {} found, those of the other uses needed: {}, {}", subject, operand.scale,
             operand.zero_point, operand_.scale, operand_.zero_point);
  }
  add_shape(operand.shape, subject);
  roles_.push_back({std::move(compilation), direction, index});
}

void MemoryDescriptor::set_dimensions(uint32_t rank, const uint32_t* dims) {
  require_unfinished("memory descriptor, setDimensions");
  if (rank == 0) return;
  Shape shape = {true, {}};
  for (uint32_t i = 0; i < rank; ++i) shape.dims.push_back(dims[i] == 0 ? kUnknown : static_cast<int64_t>(dims[i]));
  add_shape(shape, "memory descriptor, setDimensions");
}

void MemoryDescriptor::finish() {
  require_unfinished("memory descriptor, finish");
  if (roles_.empty()) bad_data("memory descriptor, finish: no use found, at least one needed");
  finished_ = true;
}

}  // namespace nnapi_convert::host
