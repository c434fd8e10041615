#include "lib/shim/chain.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "lib/shim/failure.h"

namespace nnapi_shim {
namespace {

bool is_same(const nnapi_shim_tensor& a, const nnapi_shim_tensor& b) {
  return a.type == b.type && a.rank == b.rank && std::equal(a.sizes, a.sizes + a.rank, b.sizes) && a.scale == b.scale &&
         a.zero_point == b.zero_point && a.bytes == b.bytes && a.is_nhwc == b.is_nhwc;
}

// The sizes in PyTorch's order.
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

int check_place(const char* what, size_t index, const nnapi_shim_place& place, const nnapi_shim_tensor& needed,
                nnapi_shim_error* error) {
  if (place.bytes == needed.bytes && (place.data || place.memory)) return NNAPI_SHIM_OK;
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%s %zu: its buffer has %zu bytes%s, %zu are needed", what, index,
              place.bytes, place.data || place.memory ? "" : " and is null", needed.bytes);
}

// The places of one segment's tensors in the two forms that RunBuffers has.
struct Places {
  std::vector<nnapi_shim_place> places;
  std::vector<nnapi_shim_buffer> buffers;
  bool has_memory = false;

  void add(const nnapi_shim_place& place) {
    has_memory = has_memory || place.memory;
    places.push_back(place);
    // Shared memory has no address: that of its object stands for it.
    const auto* memory = reinterpret_cast<const char*>(place.memory);
    buffers.push_back({memory ? const_cast<char*>(memory) : place.data, place.bytes});
  }
  const nnapi_shim_place* shared() const { return has_memory ? places.data() : nullptr; }
};

// Counts operations on through the segments.
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

// Each argument of a segment is one input of NNAPI, and what wires name is there.
int check_wiring(const Chain::Segments& segments, const Wiring& wiring, nnapi_shim_error* error) {
  for (size_t i = 0; i < segments.size(); ++i) {
    const ModelBuffer& buffer = segments[i]->buffer();
    const std::vector<int32_t>& arguments = buffer.input_arguments();
    bool is_each_once = arguments.size() == buffer.argument_count() && arguments.size() == wiring.inputs[i].size();
    for (size_t k = 0; is_each_once && k < arguments.size(); ++k) {
      is_each_once = std::count(arguments.begin(), arguments.end(), static_cast<int32_t>(k)) == 1;
    }
    if (!is_each_once) return fail_wiring(i, "has other inputs than the file's index says", error);
    for (const Wire& wire : wiring.inputs[i]) {
      if (wire.segment == Wire::kArgument || wire.number < segments[wire.segment]->buffer().output_count()) continue;
      return fail_wiring(i, "reads an output that an earlier segment does not have", error);
    }
  }
  for (const Wire& wire : wiring.outputs) {
    if (wire.number < segments[wire.segment]->buffer().output_count()) continue;
    return fail_wiring(wire.segment, "has fewer outputs than the file's index says", error);
  }
  return NNAPI_SHIM_OK;
}

}  // namespace

// What a run knows.
struct Chain::Call {
  std::vector<BoundSegment> bound;
  CallTensors tensors;
  const RunBuffers& buffers;
  std::vector<std::vector<uint8_t>> memory;         // between segments
  std::vector<std::vector<nnapi_shim_place>> made;  // by segment: where its outputs are
};

int Chain::read(const std::shared_ptr<const Archive>& archive, Segments* segments, nnapi_shim_error* error) {
  for (const ArchivePart& part : archive->parts()) {
    std::vector<PackagedModel> models;
    const int status = Package::read(part.words.data(), part.words.size(), part.weights, archive, &models, error);
    if (status != NNAPI_SHIM_OK) return status;
    segments->push_back(std::make_unique<Package>(std::move(models)));
  }
  return segments->size() == 1 ? NNAPI_SHIM_OK : check_wiring(*segments, archive->wiring(), error);
}

Chain::Chain(Segments segments, Wiring wiring) : segments_(std::move(segments)), wiring_(std::move(wiring)) {
  for (const std::vector<Wire>& wires : wiring_.inputs) {
    for (const Wire& wire : wires) {
      const bool is_known = std::count(inputs_.begin(), inputs_.end(), wire.number) > 0;
      if (wire.segment == Wire::kArgument && !is_known) inputs_.push_back(wire.number);
    }
  }
}

int Chain::configure(const nnapi_shim_options* options, nnapi_shim_error* error) {
  for (const auto& segment : segments_) {
    if (const int status = segment->configure(options, error)) return status;
  }
  return NNAPI_SHIM_OK;
}

uint32_t Chain::argument_count() const {
  return is_one() ? segments_[0]->buffer().argument_count() : wiring_.argument_count;
}

uint32_t Chain::input_count() const {
  return is_one() ? segments_[0]->buffer().input_count() : static_cast<uint32_t>(inputs_.size());
}

uint32_t Chain::output_count() const {
  return is_one() ? segments_[0]->buffer().output_count() : static_cast<uint32_t>(wiring_.outputs.size());
}

uint32_t Chain::feature_level() const {
  uint32_t level = 0;
  for (const auto& segment : segments_) level = std::max(level, segment->feature_level());
  return level;
}

// An argument that no segment reads has no sizes.
std::vector<int64_t> Chain::argument_sizes(uint32_t argument) const {
  if (is_one()) return segments_[0]->argument_sizes(argument);
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

int Chain::bind_segment(const nnapi_shim_shape* arguments, size_t number, std::vector<BoundSegment>* bound,
                        nnapi_shim_error* error) {
  BoundSegment& segment = (*bound)[number];
  for (const Wire& wire : wiring_.inputs[number]) {
    if (wire.segment == Wire::kArgument) {
      const nnapi_shim_shape& shape = arguments[wire.number];
      segment.sizes.emplace_back(shape.sizes, shape.sizes + shape.rank);
    } else {
      segment.sizes.push_back(sizes_of((*bound)[wire.segment].entry->outputs[wire.number]));
    }
  }
  for (const std::vector<int64_t>& sizes : segment.sizes) {
    segment.shapes.push_back({static_cast<uint32_t>(sizes.size()), sizes.data()});
  }
  return segments_[number]->describe(segment.shapes.data(), static_cast<uint32_t>(segment.shapes.size()),
                                     &segment.entry, error);
}

int Chain::bind(const nnapi_shim_shape* arguments, uint32_t argument_count, std::vector<BoundSegment>* bound,
                nnapi_shim_error* error) {
  if (argument_count != wiring_.argument_count || (!arguments && argument_count > 0)) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "the shapes of %u arguments were given, the model has %u",
                arguments ? argument_count : 0, wiring_.argument_count);
  }
  for (uint32_t i = 0; i < argument_count; ++i) {
    if (arguments[i].rank <= format::kMaxRank && (arguments[i].sizes || arguments[i].rank == 0)) continue;
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "argument %u: rank %u found, with%s sizes; at most %u is possible", i,
                arguments[i].rank, arguments[i].sizes ? "" : "out", format::kMaxRank);
  }
  bound->resize(segments_.size());
  for (size_t i = 0; i < segments_.size(); ++i) {
    if (const int status = bind_segment(arguments, i, bound, error)) return status;
  }
  return NNAPI_SHIM_OK;
}

// Lists what callers give and get, and checks that the segments fit together.
int Chain::list_tensors(const std::vector<BoundSegment>& bound, CallTensors* tensors, nnapi_shim_error* error) const {
  std::vector<const nnapi_shim_tensor*> inputs(inputs_.size(), nullptr);
  for (size_t i = 0; i < bound.size(); ++i) {
    for (const nnapi_shim_tensor& input : bound[i].entry->inputs) {
      const Wire& wire = wiring_.inputs[i][input.argument];
      const nnapi_shim_tensor* made = nullptr;
      if (wire.segment != Wire::kArgument) {
        made = &bound[wire.segment].entry->outputs[wire.number];
      } else {
        const nnapi_shim_tensor*& first =
            inputs[static_cast<size_t>(std::find(inputs_.begin(), inputs_.end(), wire.number) - inputs_.begin())];
        if (!first) first = &input;
        made = first;
      }
      if (!is_same(*made, input)) return fail_wiring(i, "reads a tensor in another form than it is made in", error);
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    tensors->inputs.push_back(*inputs[i]);
    tensors->inputs.back().argument = inputs_[i];
  }
  for (const Wire& wire : wiring_.outputs) tensors->outputs.push_back(bound[wire.segment].entry->outputs[wire.number]);
  return NNAPI_SHIM_OK;
}

int Chain::describe(const nnapi_shim_shape* arguments, uint32_t argument_count, CallTensors* tensors,
                    nnapi_shim_error* error) {
  std::vector<BoundSegment> bound;
  if (const int status = bind(arguments, argument_count, &bound, error)) return status;
  return list_tensors(bound, tensors, error);
}

int Chain::describe_one(const nnapi_shim_shape* arguments, uint32_t argument_count, bool is_output, uint32_t index,
                        nnapi_shim_tensor* tensor, nnapi_shim_error* error) {
  std::shared_ptr<ShapeEntry> entry;
  CallTensors tensors;
  const int status = is_one() ? segments_[0]->describe(arguments, argument_count, &entry, error)
                              : describe(arguments, argument_count, &tensors, error);
  if (status != NNAPI_SHIM_OK) return status;
  const std::vector<nnapi_shim_tensor>& found =
      is_output ? (entry ? entry->outputs : tensors.outputs) : (entry ? entry->inputs : tensors.inputs);
  if (index < found.size()) {
    *tensor = found[index];
    return NNAPI_SHIM_OK;
  }
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%s %u was asked for, the model has %zu", is_output ? "output" : "input",
              index, found.size());
}

int Chain::warm_up(const nnapi_shim_shape* arguments, uint32_t argument_count, nnapi_shim_error* error) {
  if (is_one()) return segments_[0]->warm_up(arguments, argument_count, error);
  std::vector<BoundSegment> bound;
  CallTensors tensors;
  int status = bind(arguments, argument_count, &bound, error);
  if (status == NNAPI_SHIM_OK) status = list_tensors(bound, &tensors, error);
  for (size_t i = 0; i < bound.size() && status == NNAPI_SHIM_OK; ++i) {
    status = segments_[i]->warm_up(bound[i].shapes.data(), static_cast<uint32_t>(bound[i].shapes.size()), error);
  }
  return status;
}

int Chain::run_segment(Call& call, size_t number, nnapi_shim_error* error) {
  const BoundSegment& segment = call.bound[number];
  Places from, to;
  for (const nnapi_shim_tensor& input : segment.entry->inputs) {
    const Wire& wire = wiring_.inputs[number][input.argument];
    if (wire.segment != Wire::kArgument) {
      from.add(call.made[wire.segment][wire.number]);
      continue;
    }
    const auto index = static_cast<size_t>(std::find(inputs_.begin(), inputs_.end(), wire.number) - inputs_.begin());
    from.add(place_of(call.buffers.inputs, call.buffers.shared_inputs, index));
  }
  for (uint32_t i = 0; i < segment.entry->outputs.size(); ++i) {
    const auto given = std::find_if(wiring_.outputs.begin(), wiring_.outputs.end(),
                                    [&](const Wire& wire) { return wire.segment == number && wire.number == i; });
    if (given != wiring_.outputs.end()) {
      to.add(place_of(call.buffers.outputs, call.buffers.shared_outputs,
                      static_cast<size_t>(given - wiring_.outputs.begin())));
      continue;
    }
    call.memory.emplace_back(segment.entry->outputs[i].bytes);
    to.add({call.memory.back().data(), call.memory.back().size(), nullptr, 0});
  }
  call.made.push_back(to.places);
  const RunBuffers buffers = {from.buffers.data(), static_cast<uint32_t>(from.buffers.size()),
                              to.buffers.data(),   static_cast<uint32_t>(to.buffers.size()),
                              from.shared(),       to.shared()};
  return segments_[number]->run(segment.shapes.data(), static_cast<uint32_t>(segment.shapes.size()), buffers, error);
}

int Chain::run(const nnapi_shim_shape* arguments, uint32_t argument_count, const RunBuffers& buffers,
               nnapi_shim_error* error) {
  if (is_one()) return segments_[0]->run(arguments, argument_count, buffers, error);
  Call call{{}, {}, buffers, {}, {}};
  int status = bind(arguments, argument_count, &call.bound, error);
  if (status == NNAPI_SHIM_OK) status = list_tensors(call.bound, &call.tensors, error);
  if (status != NNAPI_SHIM_OK) return status;
  const size_t inputs = call.tensors.inputs.size(), outputs = call.tensors.outputs.size();
  if (buffers.input_count != inputs || buffers.output_count != outputs || !buffers.inputs || !buffers.outputs) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                "%u inputs and %u outputs were given, the model has %zu inputs and %zu outputs",
                buffers.inputs ? buffers.input_count : 0, buffers.outputs ? buffers.output_count : 0, inputs, outputs);
  }
  for (size_t i = 0; i < inputs && status == NNAPI_SHIM_OK; ++i) {
    status = check_place("input", i, place_of(buffers.inputs, buffers.shared_inputs, i), call.tensors.inputs[i], error);
  }
  for (size_t i = 0; i < outputs && status == NNAPI_SHIM_OK; ++i) {
    status =
        check_place("output", i, place_of(buffers.outputs, buffers.shared_outputs, i), call.tensors.outputs[i], error);
  }
  for (size_t i = 0; i < segments_.size() && status == NNAPI_SHIM_OK; ++i) status = run_segment(call, i, error);
  return status;
}

int Chain::visit_operations(const nnapi_shim_shape* arguments, uint32_t argument_count, const char* device,
                            nnapi_shim_operation_visitor visit, void* user, nnapi_shim_error* error) {
  if (is_one()) return segments_[0]->visit_operations(arguments, argument_count, device, visit, user, error);
  std::vector<BoundSegment> bound;
  int status = bind(arguments, argument_count, &bound, error);
  Visit counted = {visit, user, 0, 0};
  for (size_t i = 0; i < bound.size() && status == NNAPI_SHIM_OK; ++i) {
    counted.before += std::exchange(counted.count, 0);
    status = segments_[i]->visit_operations(bound[i].shapes.data(), static_cast<uint32_t>(bound[i].shapes.size()),
                                            device, visit_one, &counted, error);
  }
  return status;
}

int Chain::load_library(const NnapiLibrary** library, nnapi_shim_error* error) {
  return segments_[0]->load_library(library, error);
}

int Chain::try_devices(nnapi_shim_error* error) {
  for (const auto& segment : segments_) {
    if (const int status = segment->try_devices(error)) return status;
  }
  return NNAPI_SHIM_OK;
}

void Chain::get_profile(nnapi_shim_profile* profile) {
  segments_[0]->get_profile(profile);
  for (size_t i = 1; i < segments_.size(); ++i) {
    nnapi_shim_profile next;
    segments_[i]->get_profile(&next);
    uint64_t nnapi_shim_profile::*const sums[] = {
        &nnapi_shim_profile::build_ns,          &nnapi_shim_profile::compile_ns,
        &nnapi_shim_profile::last_execute_ns,   &nnapi_shim_profile::total_execute_ns,
        &nnapi_shim_profile::last_on_device_ns, &nnapi_shim_profile::last_in_driver_ns,
        &nnapi_shim_profile::weight_bytes,      &nnapi_shim_profile::check_ns};
    for (const auto sum : sums) profile->*sum += next.*sum;
    profile->executions = std::min(profile->executions, next.executions);
    profile->compiled = std::min(profile->compiled, next.compiled);
    profile->checked_samples += next.checked_samples;
    profile->weights_are_mapped = std::min(profile->weights_are_mapped, next.weights_are_mapped);
    if (std::strcmp(profile->devices, next.devices) == 0) continue;
    const size_t length = std::strlen(profile->devices);
    std::snprintf(profile->devices + length, sizeof profile->devices - length, "%s%s", length > 0 ? "; " : "",
                  next.devices);
  }
}

void Chain::last_failure(nnapi_shim_error* error) {
  for (const auto& segment : segments_) {
    segment->last_failure(error);
    if (error->status != NNAPI_SHIM_OK) return;
  }
}

void Chain::choice(char* text, size_t bytes) {
  segments_[0]->choice(text, bytes);
}

}  // namespace nnapi_shim
