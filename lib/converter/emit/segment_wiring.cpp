// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/segment_wiring.h"

#include <algorithm>
#include <unordered_map>

#include "lib/converter/frontend/arguments.h"

namespace nnapi_convert {
namespace {

// A tensor outside of NNAPI: where it comes from, and the form in which NNAPI makes it or, of an argument, first reads
// it.
struct Source {
  ShimWire wire;
  const nnapi::Operand* operand = nullptr;
  bool nhwc = false;
};

bool is_like(const nnapi::Operand& a, const nnapi::Operand& b) {
  return a.type == b.type && a.dims == b.dims && a.scale == b.scale && a.zero_point == b.zero_point;
}

// True if NNAPI's inputs and outputs are the segment's, each once.
bool is_plain(const PlannedSegment& segment) {
  const NnapiPart& part = segment.part;
  const auto is_of_nnapi = [](const InterfaceOutput& output) {
    return output.source == InterfaceOutput::Source::kNnapi;
  };
  return !segment.segment.rows && !part.model.inputs.empty() &&
         part.model.inputs.size() == part.interface.inputs.size() &&
         part.model.outputs.size() == part.interface.outputs.size() &&
         std::all_of(part.interface.outputs.begin(), part.interface.outputs.end(), is_of_nnapi);
}

class Wiring {
 public:
  explicit Wiring(const PlannedModel& planned) : planned_(planned) {}

  std::optional<ShimWiring> run() {
    const std::vector<torch::jit::Value*>& inputs = planned_.model.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) sources_[inputs[i]].wire.number = i;
    result_.arguments = inputs.size();
    for (const PlanStep& step : planned_.plan.steps) {
      if (!add(static_cast<size_t>(step.segment))) return std::nullopt;
    }
    for (const torch::jit::Value* output : planned_.model.outputs) {
      const auto found = sources_.find(output);
      if (found == sources_.end() || !found->second.wire.segment || has_output(found->second.wire)) return std::nullopt;
      result_.outputs.push_back(found->second.wire);
    }
    const auto is_read = [this](const torch::jit::Value* input) { return sources_.at(input).operand != nullptr; };
    if (!std::all_of(inputs.begin(), inputs.end(), is_read)) return std::nullopt;
    return std::move(result_);
  }

 private:
  bool has_output(const ShimWire& wire) const {
    return std::any_of(result_.outputs.begin(), result_.outputs.end(), [&](const ShimWire& other) {
      return other.segment == wire.segment && other.number == wire.number;
    });
  }

  // Adds the segment that runs next. Returns false if it can't be wired, or its compilation has another number in the
  // file.
  bool add(size_t number) {
    const PlannedSegment& segment = planned_.plan.segments[number];
    if (number != result_.inputs.size() || !is_plain(segment)) return false;
    result_.inputs.emplace_back();
    for (const torch::jit::Value* input : segment.segment.inputs) {
      const auto found = sources_.find(input);
      if (found == sources_.end() || !reads(segment.part, result_.inputs.back().size(), found->second)) return false;
      result_.inputs.back().push_back(found->second.wire);
    }
    for (size_t i = 0; i < segment.segment.outputs.size(); ++i) {
      // NNAPI may give its outputs in another order than the segment.
      const size_t index = segment.part.interface.outputs[i].index;
      const nnapi::Boundary& made = segment.part.model.outputs[index];
      sources_[segment.segment.outputs[i]] = {{number, index}, &segment.part.model.at(made.operand), made.nhwc};
    }
    return true;
  }

  // True if the segment reads the source as its argument in the form that the source has. Sets the form of a source
  // that has none yet.
  static bool reads(const NnapiPart& part, size_t argument, Source& source) {
    const auto read = std::find_if(part.model.inputs.begin(), part.model.inputs.end(),
                                   [&](const nnapi::Boundary& input) { return input.argument == argument; });
    if (read == part.model.inputs.end()) return false;
    const nnapi::Operand& operand = part.model.at(read->operand);
    if (source.operand != nullptr) return is_like(*source.operand, operand) && source.nhwc == read->nhwc;
    source.operand = &operand;
    source.nhwc = read->nhwc;
    return true;
  }

  const PlannedModel& planned_;
  std::unordered_map<const torch::jit::Value*, Source> sources_;
  ShimWiring result_;
};

}  // namespace

std::optional<ShimWiring> wiring_of(const PlannedModel& planned) {
  const Plan& plan = planned.plan;
  const bool has_only_segments =
      std::all_of(plan.steps.begin(), plan.steps.end(), [](const PlanStep& step) { return step.segment >= 0; });
  const bool has_tensors = takes_tensors_only(planned.model.arguments) && !planned.model.outputs.empty();
  const bool has_conditions = !planned.interface.conditions.empty();  // the program checks them
  if (has_conditions || plan.segments.size() < 2 || !has_only_segments || !plan.blocks.empty() || !has_tensors)
    return std::nullopt;
  return Wiring(planned).run();
}

}  // namespace nnapi_convert
