#include "lib/nnapi/passes/recognise_channel_shuffle.h"

#include <optional>

#include "lib/nnapi/builder.h"

namespace nnapi_convert::nnapi {
namespace {

// Axes with the size of all axes before them, without those of size 1.
struct Axis {
  Dim before, size;
  int64_t number;
};

std::vector<Axis> axes_of(const Dims& dims) {
  std::vector<Axis> axes;
  Dim before(1);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != Dim(1)) axes.push_back({before, dims[i], static_cast<int64_t>(i)});
    before *= dims[i];
  }
  return axes;
}

class Recogniser {
 public:
  explicit Recogniser(Model& model) : model_(model), uses_(model), builder_(model) {}

  void run() {
    const std::vector<Operation> operations = std::move(model_.operations);
    model_.operations.clear();
    for (const Operation& operation : operations) {
      if (!shuffles(operations, operation)) model_.operations.push_back(operation);
    }
  }

 private:
  const Dims& dims(OperandId id) const { return model_.at(id).dims; }

  // The operation that makes the operand for one reader only.
  const Operation* sole_producer(const std::vector<Operation>& operations, OperandId id, OperationCode code) const {
    const auto index = static_cast<size_t>(id);
    if (index >= uses_.producer.size() || uses_.producer[index] < 0 || uses_.readers[index] != 1) return nullptr;
    const Operation& producer = operations[static_cast<size_t>(uses_.producer[index])];
    return producer.code == code ? &producer : nullptr;
  }

  bool shuffles(const std::vector<Operation>& operations, const Operation& join) {
    if (join.code != OperationCode::RESHAPE) return false;
    const Operation* swap = sole_producer(operations, join.inputs[0], OperationCode::TRANSPOSE);
    const Operation* cut = swap ? sole_producer(operations, swap->inputs[0], OperationCode::RESHAPE) : nullptr;
    if (cut == nullptr || dims(cut->inputs[0]) != dims(join.outputs[0])) return false;
    const auto groups = swapped(*swap);
    if (!groups) return false;
    for (const Axis& axis : axes_of(dims(cut->inputs[0]))) {
      if (axis.before != groups->first.before || axis.size != groups->first.size * groups->second.size) continue;
      builder_.set_source(join.source);
      const std::vector<OperandId> inputs{cut->inputs[0], builder_.int32(groups->first.size),
                                          builder_.int32(axis.number)};
      model_.operations.push_back({OperationCode::CHANNEL_SHUFFLE, inputs, join.outputs, join.source});
      return true;
    }
    return false;
  }

  // The two neighbouring axes that the TRANSPOSE swaps; nullopt if it does something else.
  std::optional<std::pair<Axis, Axis>> swapped(const Operation& transpose) const {
    const Dims* order = transpose.inputs.size() == 2 ? model_.at(transpose.inputs[1]).ints() : nullptr;
    if (order == nullptr) return std::nullopt;
    const Dims& from = dims(transpose.inputs[0]);
    const std::vector<Axis> axes = axes_of(from);
    std::vector<int64_t> moved;
    for (const int64_t axis : fixed_values(*order)) {
      if (from[static_cast<size_t>(axis)] != Dim(1)) moved.push_back(axis);
    }
    for (size_t i = 0; i + 1 < axes.size(); ++i) {
      std::vector<int64_t> swapped;
      for (const Axis& axis : axes) swapped.push_back(axis.number);
      std::swap(swapped[i], swapped[i + 1]);
      if (swapped == moved) return std::make_pair(axes[i], axes[i + 1]);
    }
    return std::nullopt;
  }

  Model& model_;
  Uses uses_;
  Builder builder_;
};

}  // namespace

void recognise_channel_shuffle(Model& model) {
  Recogniser(model).run();
}

}  // namespace nnapi_convert::nnapi
