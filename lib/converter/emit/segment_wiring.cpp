#include "lib/converter/emit/segment_wiring.h"

#include <algorithm>
#include <unordered_map>

#include "lib/converter/normalise/arguments.h"

namespace nnapi_convert {
namespace {

bool is_plain(const InterfaceInput& input) {
  return input.is_read && !input.quantize && input.type.dtype != at::kLong && input.type.dtype != at::kBool;
}

bool is_plain(const InterfaceOutput& output) {
  return output.source == InterfaceOutput::Source::kNnapi && !output.dequantize && !output.shape &&
         output.dtype != at::kLong && output.dtype != at::kBool;
}

// Whether NNAPI's inputs and outputs are the segment's, each once.
bool is_plain(const PlannedSegment& segment) {
  const NnapiPart& part = segment.part;
  const auto is_one = [](const auto& each) { return is_plain(each); };
  return !segment.segment.rows && segment.places.empty() && !part.interface.inputs.empty() &&
         part.model.inputs.size() == part.interface.inputs.size() &&
         part.model.outputs.size() == part.interface.outputs.size() &&
         std::all_of(part.interface.inputs.begin(), part.interface.inputs.end(), is_one) &&
         std::all_of(part.interface.outputs.begin(), part.interface.outputs.end(), is_one);
}

class Wiring {
 public:
  explicit Wiring(const PlannedModel& planned) : planned_(planned) {}

  std::optional<ShimWiring> run() {
    const std::vector<torch::jit::Value*>& inputs = planned_.model.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) wires_[inputs[i]] = {std::nullopt, i};
    result_.arguments = inputs.size();
    for (size_t i = 0; i < planned_.plan.segments.size(); ++i) {
      if (!add(i)) return std::nullopt;
    }
    for (const torch::jit::Value* output : planned_.model.outputs) {
      const ShimWire* wire = find(output);
      if (wire == nullptr || !wire->segment || has_output(*wire)) return std::nullopt;
      result_.outputs.push_back(*wire);
    }
    return std::move(result_);
  }

 private:
  const ShimWire* find(const torch::jit::Value* value) const {
    const auto found = wires_.find(value);
    return found == wires_.end() ? nullptr : &found->second;
  }

  bool has_output(const ShimWire& wire) const {
    return std::any_of(result_.outputs.begin(), result_.outputs.end(), [&](const ShimWire& other) {
      return other.segment == wire.segment && other.number == wire.number;
    });
  }

  bool add(size_t number) {
    const PlannedSegment& segment = planned_.plan.segments[number];
    if (!is_plain(segment)) return false;
    result_.inputs.emplace_back();
    for (const torch::jit::Value* input : segment.segment.inputs) {
      const ShimWire* wire = find(input);
      if (wire == nullptr) return false;
      result_.inputs.back().push_back(*wire);
    }
    for (size_t i = 0; i < segment.segment.outputs.size(); ++i) {
      // NNAPI may give its outputs in another order than the segment.
      wires_[segment.segment.outputs[i]] = {number, segment.part.interface.outputs[i].index};
    }
    return true;
  }

  const PlannedModel& planned_;
  std::unordered_map<const torch::jit::Value*, ShimWire> wires_;
  ShimWiring result_;
};

bool is_read(const PlannedModel& planned, size_t argument) {
  return planned.interface.inputs[argument].is_read;
}

}  // namespace

std::optional<ShimWiring> wiring_of(const PlannedModel& planned) {
  const Plan& plan = planned.plan;
  const bool has_only_segments =
      std::all_of(plan.steps.begin(), plan.steps.end(), [](const PlanStep& step) { return step.segment >= 0; });
  const bool has_tensors = takes_tensors_only(planned.model.arguments) && !planned.model.outputs.empty();
  if (plan.segments.size() < 2 || !has_only_segments || !plan.blocks.empty() || !has_tensors) return std::nullopt;
  for (size_t i = 0; i < planned.interface.inputs.size(); ++i) {
    if (!is_read(planned, i)) return std::nullopt;
  }
  return Wiring(planned).run();
}

}  // namespace nnapi_convert
