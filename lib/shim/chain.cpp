// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/chain.h"

#include <algorithm>
#include <utility>

#include "lib/shim/failure.h"

namespace nnapi_shim {
namespace {

// Returns the tensor's sizes in PyTorch's order.
std::vector<int64_t> sizes_of(const nnapi_shim_tensor& tensor) {
  std::vector<int64_t> sizes(tensor.sizes, tensor.sizes + tensor.rank);
  if (tensor.is_nhwc != 0) std::rotate(sizes.begin() + 1, sizes.end() - 1, sizes.end());
  return sizes;
}

int fail_wiring(size_t segment, const char* problem, nnapi_shim_error* error) {
  return fail(error, NNAPI_SHIM_BAD_MODEL, "segment %zu of the file %s; run the file with PyTorch, or convert it again",
              segment, problem);
}

nnapi_shim_place place_of(const nnapi_shim_buffer* buffers, const nnapi_shim_place* shared, size_t index) {
  return shared ? shared[index] : nnapi_shim_place{buffers[index].data, buffers[index].bytes, nullptr, 0};
}

// The places of one segment's tensors in the two forms that RunBuffers has.
struct Places {
  std::vector<nnapi_shim_place> places;
  std::vector<nnapi_shim_buffer> buffers;
  bool has_memory = false;

  void add(const nnapi_shim_place& place) {
    has_memory = has_memory || place.memory;
    places.push_back(place);
    buffers.push_back(buffer_of(place));
  }
  const nnapi_shim_place* shared() const { return has_memory ? places.data() : nullptr; }
};

// Passes operations on to `visit` with numbers that go on from segment to segment.
struct Visit {
  nnapi_shim_operation_visitor visit;
  void* user;
  uint32_t before;
  uint32_t count;
};

void visit_one(void* user, uint32_t number, int32_t code, const char* name, const char* source, int32_t is_supported) {
  auto* visit = static_cast<Visit*>(user);
  visit->count = number + 1;
  visit->visit(visit->user, visit->before + number, code, name, source, is_supported);
}

// Checks that each argument of a segment is one input of NNAPI, and that the outputs that wires name exist.
int check_wiring(const Segments& segments, const Wiring& wiring, nnapi_shim_error* error) {
  for (size_t i = 0; i < segments.size(); ++i) {
    const std::vector<int32_t>& arguments = segments[i]->input_arguments();
    bool is_each_once =
        arguments.size() == segments[i]->argument_count() && arguments.size() == wiring.inputs[i].size();
    for (size_t k = 0; is_each_once && k < arguments.size(); ++k) {
      is_each_once = std::count(arguments.begin(), arguments.end(), static_cast<int32_t>(k)) == 1;
    }
    if (!is_each_once) return fail_wiring(i, "has other inputs than the file's index says", error);
    for (const Wire& wire : wiring.inputs[i]) {
      if (wire.segment == Wire::kArgument || wire.number < segments[wire.segment]->output_count()) continue;
      return fail_wiring(i, "reads an output that an earlier segment does not have", error);
    }
  }
  for (const Wire& wire : wiring.outputs) {
    if (wire.number < segments[wire.segment]->output_count()) continue;
    return fail_wiring(wire.segment, "has fewer outputs than the file's index says", error);
  }
  return NNAPI_SHIM_OK;
}

}  // namespace

// The state of a run.
struct Chain::Call {
  std::vector<BoundSegment> bound;
  CallTensors tensors;
  const RunBuffers& buffers;
  std::vector<std::vector<uint8_t>> memory;         // of the tensors between segments
  std::vector<std::vector<nnapi_shim_place>> made;  // by segment: the places of its outputs
};

std::unique_ptr<OpenModel> make_chain(Segments segments, Wiring wiring, nnapi_shim_error* error) {
  if (check_wiring(segments, wiring, error) != NNAPI_SHIM_OK) return nullptr;
  return std::make_unique<Chain>(std::move(segments), std::move(wiring));
}

Chain::Chain(Segments segments, Wiring wiring) : segments_(std::move(segments)), wiring_(std::move(wiring)) {
  for (const std::vector<Wire>& wires : wiring_.inputs) {
    for (const Wire& wire : wires) {
      const auto argument = static_cast<int32_t>(wire.number);
      const bool is_known = std::count(inputs_.begin(), inputs_.end(), argument) > 0;
      if (wire.segment == Wire::kArgument && !is_known) inputs_.push_back(argument);
    }
  }
}

std::vector<int64_t> Chain::argument_sizes(uint32_t argument) const {
  for (size_t i = 0; i < segments_.size(); ++i) {
    for (size_t k = 0; k < wiring_.inputs[i].size(); ++k) {
      const Wire& wire = wiring_.inputs[i][k];
      if (wire.segment == Wire::kArgument && wire.number == argument) {
        return segments_[i]->argument_sizes(static_cast<uint32_t>(k));
      }
    }
  }
  return {};
}

int Chain::bind(const CallShapes& shapes, std::vector<BoundSegment>* bound, nnapi_shim_error* error) {
  int status = check_shapes(shapes, argument_count(), error);
  if (status != NNAPI_SHIM_OK) return status;
  bound->resize(segments_.size());
  for (size_t i = 0; i < segments_.size() && status == NNAPI_SHIM_OK; ++i) {
    BoundSegment& segment = (*bound)[i];
    for (const Wire& wire : wiring_.inputs[i]) {
      if (wire.segment == Wire::kArgument) {
        const nnapi_shim_shape& shape = shapes.arguments[wire.number];
        segment.sizes.emplace_back(shape.sizes, shape.sizes + shape.rank);
      } else {
        segment.sizes.push_back(sizes_of((*bound)[wire.segment].tensors->outputs[wire.number]));
      }
    }
    for (const std::vector<int64_t>& sizes : segment.sizes) {
      segment.shapes.push_back({static_cast<uint32_t>(sizes.size()), sizes.data()});
    }
    status = segments_[i]->describe(segment.shapes, &segment.tensors, error);
  }
  return status;
}

// Returns the number of the input that holds this argument of forward.
size_t Chain::input_of(uint32_t argument) const {
  return static_cast<size_t>(std::find(inputs_.begin(), inputs_.end(), static_cast<int32_t>(argument)) -
                             inputs_.begin());
}

// Lists the tensors that callers give and get, and checks that the segments fit together.
int Chain::list_tensors(const std::vector<BoundSegment>& bound, CallTensors* tensors, nnapi_shim_error* error) const {
  std::vector<const nnapi_shim_tensor*> inputs(inputs_.size(), nullptr);
  for (size_t i = 0; i < bound.size(); ++i) {
    for (const nnapi_shim_tensor& input : bound[i].tensors->inputs) {
      const Wire& wire = wiring_.inputs[i][input.argument];
      const nnapi_shim_tensor* made = nullptr;
      if (wire.segment == Wire::kArgument) {
        const nnapi_shim_tensor*& first = inputs[input_of(wire.number)];
        if (!first) first = &input;
        made = first;
      } else {
        made = &bound[wire.segment].tensors->outputs[wire.number];
      }
      if (!has_same_form(*made, input)) {
        return fail_wiring(i, "reads a tensor in another form than it is made in", error);
      }
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    tensors->inputs.push_back(*inputs[i]);
    tensors->inputs.back().argument = static_cast<uint32_t>(inputs_[i]);
  }
  for (const Wire& wire : wiring_.outputs)
    tensors->outputs.push_back(bound[wire.segment].tensors->outputs[wire.number]);
  return NNAPI_SHIM_OK;
}

int Chain::describe(const CallShapes& shapes, std::shared_ptr<const CallTensors>* tensors, nnapi_shim_error* error) {
  std::vector<BoundSegment> bound;
  if (const int status = bind(shapes, &bound, error)) return status;
  const auto listed = std::make_shared<CallTensors>();
  *tensors = listed;
  return list_tensors(bound, listed.get(), error);
}

int Chain::warm_up(const CallShapes& shapes, nnapi_shim_error* error) {
  std::vector<BoundSegment> bound;
  CallTensors tensors;
  int status = bind(shapes, &bound, error);
  if (status == NNAPI_SHIM_OK) status = list_tensors(bound, &tensors, error);
  for (size_t i = 0; i < bound.size() && status == NNAPI_SHIM_OK; ++i) {
    status = segments_[i]->warm_up(bound[i].shapes, error);
  }
  return status;
}

int Chain::run_segment(Call& call, size_t number, nnapi_shim_error* error) {
  const BoundSegment& segment = call.bound[number];
  Places from, to;
  for (const nnapi_shim_tensor& input : segment.tensors->inputs) {
    const Wire& wire = wiring_.inputs[number][input.argument];
    if (wire.segment != Wire::kArgument) {
      from.add(call.made[wire.segment][wire.number]);
      continue;
    }
    from.add(place_of(call.buffers.inputs, call.buffers.shared_inputs, input_of(wire.number)));
  }
  for (uint32_t i = 0; i < segment.tensors->outputs.size(); ++i) {
    const auto given = std::find_if(wiring_.outputs.begin(), wiring_.outputs.end(),
                                    [&](const Wire& wire) { return wire.segment == number && wire.number == i; });
    if (given != wiring_.outputs.end()) {
      to.add(place_of(call.buffers.outputs, call.buffers.shared_outputs,
                      static_cast<size_t>(given - wiring_.outputs.begin())));
      continue;
    }
    call.memory.emplace_back(segment.tensors->outputs[i].bytes);
    to.add({call.memory.back().data(), call.memory.back().size(), nullptr, 0});
  }
  call.made.push_back(to.places);
  const RunBuffers buffers = {from.buffers.data(), static_cast<uint32_t>(from.buffers.size()),
                              to.buffers.data(),   static_cast<uint32_t>(to.buffers.size()),
                              from.shared(),       to.shared()};
  return segments_[number]->run(segment.shapes, buffers, error);
}

int Chain::run(const CallShapes& shapes, const RunBuffers& buffers, nnapi_shim_error* error) {
  Call call{{}, {}, buffers, {}, {}};
  int status = bind(shapes, &call.bound, error);
  if (status == NNAPI_SHIM_OK) status = list_tensors(call.bound, &call.tensors, error);
  if (status == NNAPI_SHIM_OK) status = check_buffers(buffers, call.tensors, error);
  for (size_t i = 0; i < segments_.size() && status == NNAPI_SHIM_OK; ++i) status = run_segment(call, i, error);
  return status;
}

int Chain::visit_operations(const CallShapes& shapes, const char* device, nnapi_shim_operation_visitor visit,
                            void* user, nnapi_shim_error* error) {
  std::vector<BoundSegment> bound;
  int status = bind(shapes, &bound, error);
  Visit counted = {visit, user, 0, 0};
  for (size_t i = 0; i < bound.size() && status == NNAPI_SHIM_OK; ++i) {
    counted.before += std::exchange(counted.count, 0);
    status = segments_[i]->visit_operations(bound[i].shapes, device, visit_one, &counted, error);
  }
  return status;
}

}  // namespace nnapi_shim
