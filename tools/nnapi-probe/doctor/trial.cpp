// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/doctor/trial.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <utility>

#include "lib/format/float16.h"
#include "lib/format/nnapi_codes.h"
#include "lib/shim/buffer_views.h"
#include "lib/shim/failure.h"
#include "lib/shim/monotonic_clock.h"
#include "tools/nnapi-probe/doctor/facts.h"

namespace nnapi_doctor {
namespace {

using nnapi_convert::OperandCode;
using nnapi_shim::CompiledModel;
using nnapi_shim::ModelView;

constexpr uint64_t kMostTimedNs = 200000000;  // runs for times end after so long

bool is_float32(int32_t type) {
  return type == static_cast<int32_t>(OperandCode::TENSOR_FLOAT32);
}

size_t bytes_of(const nnapi_shim::OperandView& operand) {
  uint64_t bytes = 0;
  nnapi_shim::operand_bytes(operand, &bytes);
  return static_cast<size_t>(bytes);
}

// Runs the model so often that the median of the times is meaningful and that a fault which comes and goes shows;
// returns the first failure. `clear` empties the results before each run, so that a device that writes nothing is
// wrong; `is_wrong` judges them after the run.
template <typename Clear, typename IsWrong>
int run_repeatedly(CompiledModel& model, const nnapi_shim::RunBuffers& buffers, const Request& request, Answer* answer,
                   nnapi_shim_error* error, const Clear& clear, const IsWrong& is_wrong) {
  std::vector<uint64_t> times;
  uint64_t sum = 0;
  for (uint32_t i = 0;; ++i) {
    const bool is_timed = i < std::max<uint32_t>(request.runs, 1) && (i == 0 || sum < kMostTimedNs);
    const bool is_checked = i < request.checks && sum < request.checks_ns;
    if (!is_timed && !is_checked) break;
    clear();
    nnapi_shim::DeviceTimes on_device;
    const uint64_t begin = nnapi_shim::now_ns();
    if (const int status = model.run(buffers, &on_device, error)) return status;
    times.push_back(nnapi_shim::now_ns() - begin);
    sum += times.back();
    ++answer->checked_runs;
    if (is_wrong()) ++answer->wrong_runs;
  }
  // The first run is slower than the others.
  if (times.size() > 1) times.erase(times.begin());
  std::sort(times.begin(), times.end());
  answer->median_ns = times[times.size() / 2];
  return NNAPI_SHIM_OK;
}

// Returns the offset behind a result of so many bytes, in the store's scratch and kept memory.
size_t behind(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

void round_all(float* numbers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = nnapi_convert::float_of_float16(nnapi_convert::float16_bits(numbers[i]));
  }
}

std::vector<uint8_t> rounded_copy(const void* bytes, size_t count) {
  std::vector<uint8_t> copy(static_cast<const uint8_t*>(bytes), static_cast<const uint8_t*>(bytes) + count);
  // A vector's memory is aligned for floats.
  round_all(reinterpret_cast<float*>(copy.data()), count / sizeof(float));
  return copy;
}

// Returns the tolerance for an operand that `operations` compute.
Tolerance tolerance_for(const Part& part, uint32_t operand, const std::vector<uint32_t>& operations, bool is_half) {
  Tolerance tolerance = tolerance_of(operations.size(), is_half);
  if (!part.cutter->follows_integers(operand, operations)) return tolerance;
  const int64_t integers = part.cutter->dequantised_from(operand);
  const auto scale =
      integers < 0 ? 0.0 : static_cast<double>(part.main().operands[static_cast<size_t>(integers)].scale);
  tolerance.step = scale > 0 ? scale : kStepOfRange;
  return tolerance;
}

// Replaces float weights by rounded copies, which have to live as long as the model.
void round_weights(const Part& part, ModelView* view, std::vector<std::vector<uint8_t>>* copies) {
  nnapi_shim::SubgraphView& main = view->models[0];
  for (nnapi_shim::ValueView& value : main.values) {
    if (!is_float32(main.operands[value.operand].type)) continue;
    const void* data = nullptr;
    if (value.source == nnapi_shim::format::ValueSource::kImmediate) data = value.data;
    if (value.source == nnapi_shim::format::ValueSource::kWeight) data = part.weights.data + value.offset;
    if (data == nullptr) continue;
    copies->push_back(rounded_copy(data, static_cast<size_t>(value.length)));
    value.source = nnapi_shim::format::ValueSource::kImmediate;
    value.data = copies->back().data();
  }
}

}  // namespace

Laboratory::Laboratory(const Patient& patient, LibraryChoice library) : patient_(patient), choice_(std::move(library)) {
  options_.replaces_rules = true;  // drivers that are known to be wrong are examined, too
}

int Laboratory::start(nnapi_shim_error* error) {
  if (library_ != nullptr) return NNAPI_SHIM_OK;
  const char* path = choice_.path.empty() ? nullptr : choice_.path.c_str();
  const int status = nnapi_shim::load_nnapi(path, choice_.is_support_library, &library_, error);
  if (status != NNAPI_SHIM_OK) return status;
  // Below feature level 3 there is no list of devices; nor is one made for a library that can't compile for a chosen
  // device.
  if (library_->ANeuralNetworksCompilation_createForDevices == nullptr) return NNAPI_SHIM_OK;
  if (nnapi_shim::list_devices(*library_, &devices_, nullptr) != NNAPI_SHIM_OK) devices_.clear();
  if (devices_.size() > kMostDevices) devices_.resize(kMostDevices);
  return NNAPI_SHIM_OK;
}

int Laboratory::list(Answer* answer, nnapi_shim_error* /*error*/) {
  answer->feature_level = library_->feature_level;
  answer->device_count = static_cast<uint32_t>(devices_.size());
  for (size_t i = 0; i < devices_.size(); ++i) {
    DeviceNote& note = answer->devices[i];
    std::snprintf(note.name, sizeof note.name, "%s", devices_[i].name);
    std::snprintf(note.version, sizeof note.version, "%s", devices_[i].version);
    note.type = devices_[i].type;
    note.feature_level = devices_[i].feature_level;
  }
  return NNAPI_SHIM_OK;
}

int Laboratory::choose(const Request& request, nnapi_shim::DeviceChoice* choice, nnapi_shim_error* error) const {
  for (const int32_t number : {request.device, request.other}) {
    if (number == kNnapisChoice) continue;
    if (number < 0 || static_cast<size_t>(number) >= devices_.size()) {
      return nnapi_shim::fail(error, NNAPI_SHIM_NO_DEVICE, "device %d is gone", number);
    }
    const nnapi_shim::Device& device = devices_[static_cast<size_t>(number)];
    choice->handles.push_back(device.handle);
    choice->names += std::string(choice->names.empty() ? "" : ", ") + device.name;
  }
  return NNAPI_SHIM_OK;
}

std::shared_ptr<CompiledModel> Laboratory::compile(const Request& request, const Part& part, const ModelView& view,
                                                   Answer* answer, int* status, nnapi_shim_error* error) {
  nnapi_shim::DeviceChoice choice;
  *status = choose(request, &choice, error);
  if (*status != NNAPI_SHIM_OK) return nullptr;
  const auto weights = std::make_shared<nnapi_shim::WeightMemory>(*library_, part.weights, request.copies);
  ++answer->compilations;
  const std::shared_ptr<CompiledModel> made =
      CompiledModel::make(*library_, options_, view, weights, &choice, nullptr, status, error);
  if (made) answer->compile_ns = made->compile_ns();
  return made;
}

int Laboratory::ask_support(const TaskBytes& bytes, const Part& part, nnapi_shim_error* error) {
  const size_t count = part.main().operations.size();
  nnapi_shim::DeviceChoice choice;
  if (const int status = choose(bytes.request(), &choice, error)) return status;
  const auto weights = std::make_shared<nnapi_shim::WeightMemory>(*library_, part.weights, bytes.request().copies);
  nnapi_shim::BuiltModel model(*library_, weights);
  if (const int status = model.build(part.views[0], error)) return status;
  std::vector<int8_t> supported(count, 1);
  if (!choice.handles.empty()) {
    const int status = nnapi_shim::query_support(*library_, choice, model.main(), count, &supported, error);
    if (status != NNAPI_SHIM_OK) return status;
  }
  for (size_t i = 0; i < count; ++i) bytes.flags()[i] = supported[i] != 0 ? 1 : 0;
  return NNAPI_SHIM_OK;
}

int Laboratory::run_whole(const Request& request, const Part& part, Answer* answer, nnapi_shim_error* error) {
  int status = NNAPI_SHIM_OK;
  const std::shared_ptr<CompiledModel> model =
      compile(request, part, part.views[request.sample], answer, &status, error);
  if (!model) return status;
  const nnapi_shim::Sample& sample = part.samples[request.sample];
  nnapi_shim::SampleBuffers buffers(sample);
  const nnapi_shim::RunBuffers run = buffers.run_buffers();
  const auto is_wrong = [&] {
    if (part.is_made) return has_wrong_outputs(request, part, run, answer);
    nnapi_shim_error wrong{};
    if (buffers.compare(&wrong) == NNAPI_SHIM_OK) return false;
    std::snprintf(answer->message, sizeof answer->message, "sample %u: %.300s", request.sample, wrong.message);
    return true;
  };
  return run_repeatedly(
      *model, run, request, answer, error, [&] { buffers.clear(); }, is_wrong);
}

// Compares the outputs with the reference's values, for a file without expected outputs.
bool Laboratory::has_wrong_outputs(const Request& request, const Part& part, const nnapi_shim::RunBuffers& buffers,
                                   Answer* answer) const {
  const std::vector<uint32_t>& outputs = part.main().output_operands;
  std::vector<uint32_t> operations(part.main().operations.size());
  std::iota(operations.begin(), operations.end(), 0);
  bool is_wrong = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!patient_.store.is_known(part, outputs[i])) continue;
    const Comparison found =
        compare(part.forms[outputs[i]], patient_.store.at(part, outputs[i]), buffers.outputs[i].data,
                tolerance_for(part, outputs[i], operations, request.is_half));
    if (!found.is_wrong) continue;
    is_wrong = true;
    std::snprintf(answer->message, sizeof answer->message, "output %zu is wrong by %g, of a range of %g", i,
                  found.worst, found.range);
  }
  return is_wrong;
}

int Laboratory::run_cut(const Request& request, const std::vector<uint32_t>& operations, const Part& part,
                        Answer* answer, nnapi_shim_error* error) {
  CutModel cut = part.cutter->cut(operations);
  const std::vector<nnapi_shim::OperandView>& operands = part.main().operands;
  const bool is_rounded = request.task == Task::kRounded;
  std::vector<std::vector<uint8_t>> weights, inputs, results;
  if (is_rounded) round_weights(part, &cut.view, &weights);
  std::vector<nnapi_shim_buffer> from, to;
  for (const uint32_t operand : cut.inputs) {
    if (!patient_.store.is_known(part, operand)) {
      return nnapi_shim::fail(error, NNAPI_SHIM_BAD_ARGUMENT, "no expected value of operand %u is known", operand);
    }
    uint8_t* data = patient_.store.at(part, operand);
    const size_t bytes = bytes_of(operands[operand]);
    if (is_rounded && is_float32(operands[operand].type)) {
      inputs.push_back(rounded_copy(data, bytes));
      data = inputs.back().data();
    }
    from.push_back({data, bytes});
  }
  for (const uint32_t operand : cut.outputs) results.emplace_back(bytes_of(operands[operand]));
  for (std::vector<uint8_t>& result : results) to.push_back({result.data(), result.size()});
  int status = NNAPI_SHIM_OK;
  const std::shared_ptr<CompiledModel> model = compile(request, part, cut.view, answer, &status, error);
  if (!model) return status;
  const nnapi_shim::RunBuffers buffers = {from.data(), static_cast<uint32_t>(from.size()), to.data(),
                                          static_cast<uint32_t>(to.size())};
  const auto clear = [&] {
    for (std::vector<uint8_t>& result : results) std::fill(result.begin(), result.end(), uint8_t{0xFF});
  };
  const auto keep = [&](uint8_t* at) {
    for (const std::vector<uint8_t>& result : results) {
      std::memcpy(at, result.data(), result.size());
      at += behind(result.size());
    }
  };
  bool has_worst = false;
  const auto is_wrong = [&] {
    if (request.task != Task::kCut) return false;
    bool is_run_wrong = false, is_worst = false;
    for (size_t i = 0; i < results.size(); ++i) {
      const uint32_t operand = cut.outputs[i];
      if (!patient_.store.is_known(part, operand)) continue;
      const Comparison found = compare(part.forms[operand], patient_.store.at(part, operand), results[i].data(),
                                       tolerance_for(part, operand, operations, request.is_half));
      is_run_wrong = is_run_wrong || found.is_wrong;
      if (has_worst && !(found.worst_share > answer->worst.worst_share)) continue;
      has_worst = is_worst = true;
      answer->worst = found;
      answer->worst_operand = operand;
    }
    if (is_worst && operations.size() == 1) keep(patient_.store.kept());
    return is_run_wrong;
  };
  status = run_repeatedly(*model, buffers, request, answer, error, clear, is_wrong);
  if (status != NNAPI_SHIM_OK) return status;
  if (is_rounded) keep(patient_.store.scratch());
  for (size_t i = 0; i < results.size() && request.task == Task::kReference; ++i) {
    std::memcpy(patient_.store.at(part, cut.outputs[i]), results[i].data(), results[i].size());
    patient_.store.set_known(part, cut.outputs[i], true);
  }
  return NNAPI_SHIM_OK;
}

void Laboratory::work(const TaskBytes& bytes) {
  Answer& answer = bytes.answer();
  const Request& request = bytes.request();
  std::memset(static_cast<void*>(&answer), 0, sizeof answer);
  nnapi_shim_error error{};
  int status = start(&error);
  if (status == NNAPI_SHIM_OK) {
    const Part& part = patient_.parts[request.part];
    const std::vector<uint32_t> operations(bytes.operations(), bytes.operations() + request.operation_count);
    if (request.task == Task::kDevices) status = list(&answer, &error);
    if (request.task == Task::kSupport) status = ask_support(bytes, part, &error);
    if (request.task == Task::kWhole) status = run_whole(request, part, &answer, &error);
    if (request.task == Task::kCut || request.task == Task::kReference || request.task == Task::kRounded) {
      status = run_cut(request, operations, part, &answer, &error);
    }
  }
  answer.status = status;
  answer.nnapi_code = error.nnapi_code;
  if (status != NNAPI_SHIM_OK) std::snprintf(answer.message, sizeof answer.message, "%.390s", error.message);
}

bool half_explains_worst_run(const Patient& patient, const Part& part, uint32_t operation) {
  const CutModel cut = part.cutter->cut({operation});
  const OperationFacts facts(part.main(), *part.cutter);
  size_t at = 0;
  for (const uint32_t operand : cut.outputs) {
    const bool is_explained =
        !patient.store.is_known(part, operand) ||
        is_half_precision(part.forms[operand], patient.store.at(part, operand), patient.store.kept() + at,
                          patient.store.scratch() + at, facts.terms(operation));
    if (!is_explained) return false;
    at += behind(bytes_of(part.main().operands[operand]));
  }
  return true;
}

}  // namespace nnapi_doctor
