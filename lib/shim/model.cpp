// Compiles a model at its first run with each shape, and runs it.
#include "lib/shim/model.h"

#include <cstdio>
#include <cstring>
#include <utility>

#include "lib/format/nnapi_codes.h"
#include "lib/shim/failure.h"
#include "lib/shim/monotonic_clock.h"

namespace nnapi_shim {
namespace {

using nnapi_convert::ResultCode;

// Returns whether the same call would fail again.
bool is_lasting(const nnapi_shim_error& failure) {
  if (failure.status == NNAPI_SHIM_TIMED_OUT || failure.status == NNAPI_SHIM_FAILED) return false;
  switch (static_cast<ResultCode>(failure.nnapi_code)) {
    case ResultCode::OUT_OF_MEMORY:
    case ResultCode::UNAVAILABLE_DEVICE:
    case ResultCode::MISSED_DEADLINE_TRANSIENT:
    case ResultCode::RESOURCE_EXHAUSTED_TRANSIENT:
    case ResultCode::DEAD_OBJECT:
      return false;
    default:
      return true;
  }
}

constexpr uint32_t kGuardedRuns = 8;  // the first ones after compiling

// Returns what files about the model are named by.
std::string model_id(const ModelBuffer& buffer) {
  char id[24];
  std::snprintf(id, sizeof id, "%08x%08x", static_cast<uint32_t>(buffer.words()[format::kChecksum]),
                static_cast<uint32_t>(buffer.words()[format::kWeightChecksum]));
  return id;
}

void give(const nnapi_shim_error& failure, nnapi_shim_error* error) {
  if (error) *error = failure;
}

int check_buffer(const char* what, uint32_t index, const nnapi_shim_buffer& found, const nnapi_shim_tensor& needed,
                 nnapi_shim_error* error) {
  if (found.data && found.bytes == needed.bytes) return NNAPI_SHIM_OK;
  if (!found.data && needed.bytes > 0) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%s %u: its buffer is null, %zu bytes are needed", what, index,
                needed.bytes);
  }
  if (found.bytes == needed.bytes) return NNAPI_SHIM_OK;
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
              "%s %u: its buffer has %zu bytes, for arguments of these shapes %zu are needed", what, index, found.bytes,
              needed.bytes);
}

}  // namespace

Model::Model(std::unique_ptr<const ModelBuffer> buffer, const Weights& weights, Archive archive)
    : buffer_(std::move(buffer)), archive_(std::move(archive)), weights_(weights) {}

int Model::configure(const nnapi_shim_options* options, nnapi_shim_error* error) {
  Options read;
  const int status = read_options(options, &read, error);
  if (status != NNAPI_SHIM_OK) return status;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_started_) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                "options can't change any more, as the model was compiled or asked for its operations; open it anew");
  }
  options_ = std::move(read);
  return NNAPI_SHIM_OK;
}

int Model::check_arguments(const nnapi_shim_shape* arguments, uint32_t argument_count, nnapi_shim_error* error) const {
  if (argument_count != buffer_->argument_count() || (!arguments && argument_count > 0)) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "the shapes of %u arguments were given, the model has %u",
                arguments ? argument_count : 0, buffer_->argument_count());
  }
  for (uint32_t i = 0; i < argument_count; ++i) {
    if (arguments[i].rank > format::kMaxRank || (!arguments[i].sizes && arguments[i].rank > 0)) {
      return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "argument %u: rank %u found, with%s sizes; at most %u is possible", i,
                  arguments[i].rank, arguments[i].sizes ? "" : "out", format::kMaxRank);
    }
  }
  return NNAPI_SHIM_OK;
}

int Model::bind(const nnapi_shim_shape* arguments, uint32_t argument_count, ShapeEntry* entry, ModelView* view,
                nnapi_shim_error* error) const {
  int status = buffer_->bind(arguments, argument_count, view, error);
  if (status != NNAPI_SHIM_OK || entry->is_bound.load(std::memory_order_acquire)) return status;
  const SubgraphView& main = view->models[0];
  status = describe_tensors(main, main.inputs, &entry->inputs, error);
  if (status == NNAPI_SHIM_OK) status = describe_tensors(main, main.outputs, &entry->outputs, error);
  if (status == NNAPI_SHIM_OK) entry->is_bound.store(true, std::memory_order_release);
  return status;
}

int Model::describe(const nnapi_shim_shape* arguments, uint32_t argument_count, std::shared_ptr<ShapeEntry>* entry,
                    nnapi_shim_error* error) {
  int status = check_arguments(arguments, argument_count, error);
  if (status != NNAPI_SHIM_OK) return status;
  *entry = shapes_.find(arguments, argument_count);
  if ((*entry)->is_bound.load(std::memory_order_acquire)) return status;
  const std::lock_guard<std::mutex> lock((*entry)->mutex);
  ModelView view;
  status = bind(arguments, argument_count, entry->get(), &view, error);
  if (status != NNAPI_SHIM_OK) shapes_.drop(entry->get());
  return status;
}

// Loads NNAPI's library if it is not loaded yet; from then on the options can't change.
int Model::start(nnapi_shim_error* error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_started_ = true;
  if (library_) return NNAPI_SHIM_OK;
  const NnapiLibrary* library = nullptr;
  const int status = load_nnapi(options_.library_path(), options_.is_support_library, &library, error);
  if (status != NNAPI_SHIM_OK) return status;
  if (library->feature_level < buffer_->feature_level()) {
    return fail(error, NNAPI_SHIM_TOO_OLD,
                "the model needs NNAPI feature level %u, this device has level %u; convert it with --feature-level %u, "
                "or run it on the CPU",
                buffer_->feature_level(), library->feature_level, library->feature_level);
  }
  weight_memory_ = std::make_shared<WeightMemory>(*library, weights_);
  if (is_checked()) verdicts_.open(options_.cache_directory, model_id(*buffer_));
  library_ = library;
  return status;
}

// Computes the digest of the weights once, and only when a token needs it: the weights may be large.
void Model::digest_weights() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (has_digest_) return;
  Sha256 sum;
  if (weights_.bytes > 0) sum.add(weights_.data, static_cast<size_t>(weights_.bytes));
  sum.finish(weights_digest_);
  archive_.release_pages();
  has_digest_ = true;
}

// The caller holds the entry's mutex.
int Model::compile(const nnapi_shim_shape* arguments, uint32_t argument_count, ShapeEntry* entry,
                   nnapi_shim_error* error) {
  int status = start(error);
  if (status != NNAPI_SHIM_OK) return status;
  ModelView view;
  status = bind(arguments, argument_count, entry, &view, error);
  if (status != NNAPI_SHIM_OK) return status;
  const bool is_cached = !options_.cache_directory.empty() && library_->ANeuralNetworksCompilation_setCaching;
  if (is_cached) digest_weights();
  if (is_checked()) {
    status = compile_checked(view, arguments, argument_count, is_cached, entry, error);
  } else {
    CacheToken token{};
    if (is_cached) token = make_cache_token(view, weights_digest_);
    entry->compiled = CompiledModel::make(*library_, options_, view, weight_memory_, nullptr,
                                          is_cached ? &token : nullptr, &status, error);
  }
  if (status != NNAPI_SHIM_OK) return status;
  entry->is_compiled.store(true, std::memory_order_release);
  const std::lock_guard<std::mutex> lock(mutex_);
  build_ns_ = entry->compiled->build_ns();
  compile_ns_ = entry->compiled->compile_ns();
  devices_ = entry->compiled->devices();
  ++compiled_count_;
  return status;
}

// Compiles for the first device that passes the check of the samples. After NNAPI_SHIM_OK, remembers why earlier ones
// were not taken.
int Model::compile_checked(const ModelView& view, const nnapi_shim_shape* arguments, uint32_t argument_count,
                           bool is_cached, ShapeEntry* entry, nnapi_shim_error* error) {
  const SearchedModel searched = {*library_, options_, *buffer_, weight_memory_, is_cached ? weights_digest_ : nullptr,
                                  verdicts_};
  Trusted found;
  nnapi_shim_error failure{};
  const int status = DeviceSearch(searched).find(view, arguments, argument_count, &found, &failure);
  if (status != NNAPI_SHIM_OK) {
    give(failure, error);
    return status;
  }
  if (failure.status != NNAPI_SHIM_OK) remember(failure);
  entry->choice = std::move(found.choice);
  entry->journal = std::move(found.journal);
  entry->guarded_runs.store(kGuardedRuns, std::memory_order_relaxed);
  entry->compiled = std::move(found.compiled);
  const std::lock_guard<std::mutex> lock(mutex_);
  check_ns_ = found.check_ns;
  checked_samples_ = found.checked_samples;
  return status;
}

// Runs the model, the first times with a note in the journal.
int Model::run_guarded(ShapeEntry& entry, const RunBuffers& buffers, DeviceTimes* times, nnapi_shim_error* error) {
  uint32_t left = entry.guarded_runs.load(std::memory_order_relaxed);
  if (left == 0) return entry.compiled->run(buffers, times, error);
  if (entry.journal) entry.journal->enter();
  const int status = entry.compiled->run(buffers, times, error);
  if (entry.journal) entry.journal->leave();
  while (status == NNAPI_SHIM_OK && left > 0 && !entry.guarded_runs.compare_exchange_weak(left, left - 1)) {
  }
  return status;
}

// Drops a compiled model that failed. Returns whether another device may run the model: one that fails among the first
// runs is not used again, unless the other devices fail with this input, too.
bool Model::drop_failed(ShapeEntry& entry, const nnapi_shim_error& failure) {
  const bool has_died = failure.nnapi_code == static_cast<int32_t>(ResultCode::DEAD_OBJECT);
  const bool is_guarded = entry.guarded_runs.load(std::memory_order_relaxed) > 0;
  const Verdict verdict = verdict_of(failure);
  const bool may_try_another = is_guarded && verdict != Verdict::kUnknown && failure.status == NNAPI_SHIM_FAILED;
  // Its driver died and the compiled model with it: the next run compiles again.
  if (has_died || may_try_another) shapes_.drop(&entry);
  if (may_try_another && has_died) {
    verdicts_.set(entry.choice.key, entry.choice.version, verdict, failure.message);
  } else if (may_try_another) {
    verdicts_.suspect(entry.choice.key, entry.choice.version, verdict, failure.message);
  }
  return may_try_another;
}

int Model::get_compiled(const nnapi_shim_shape* arguments, uint32_t argument_count, std::shared_ptr<ShapeEntry>* entry,
                        nnapi_shim_error* error) {
  int status = check_arguments(arguments, argument_count, error);
  if (status != NNAPI_SHIM_OK) return status;
  *entry = shapes_.find(arguments, argument_count);
  ShapeEntry& found = **entry;
  if (found.is_compiled.load(std::memory_order_acquire)) return status;
  {
    // While one thread compiles this shape, other threads wait here for its result.
    const std::lock_guard<std::mutex> lock(found.mutex);
    if (found.is_compiled.load(std::memory_order_acquire)) return status;
    if (found.refusal) {
      give(*found.refusal, error);
      return found.refusal->status;
    }
    nnapi_shim_error failure{};
    status = compile(arguments, argument_count, &found, &failure);
    if (status != NNAPI_SHIM_OK) {
      give(failure, error);
      remember(failure);
      if (is_lasting(failure)) found.refusal = std::make_unique<nnapi_shim_error>(failure);
      return status;
    }
  }
  shapes_.keep_compiled(options_.max_compiled);
  return status;
}

int Model::warm_up(const nnapi_shim_shape* arguments, uint32_t argument_count, nnapi_shim_error* error) {
  std::shared_ptr<ShapeEntry> entry;
  return get_compiled(arguments, argument_count, &entry, error);
}

int Model::check_buffers(const ShapeEntry& entry, const RunBuffers& buffers, nnapi_shim_error* error) const {
  if (buffers.input_count != entry.inputs.size() || buffers.output_count != entry.outputs.size() ||
      (!buffers.inputs && buffers.input_count > 0) || (!buffers.outputs && buffers.output_count > 0)) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                "%u inputs and %u outputs were given, the model has %zu inputs and %zu outputs",
                buffers.inputs ? buffers.input_count : 0, buffers.outputs ? buffers.output_count : 0,
                entry.inputs.size(), entry.outputs.size());
  }
  int status = NNAPI_SHIM_OK;
  for (uint32_t i = 0; i < buffers.input_count && status == NNAPI_SHIM_OK; ++i) {
    status = check_buffer("input", i, buffers.inputs[i], entry.inputs[i], error);
  }
  for (uint32_t i = 0; i < buffers.output_count && status == NNAPI_SHIM_OK; ++i) {
    status = check_buffer("output", i, buffers.outputs[i], entry.outputs[i], error);
  }
  return status;
}

int Model::run(const nnapi_shim_shape* arguments, uint32_t argument_count, const RunBuffers& buffers,
               nnapi_shim_error* error) {
  bool may_try_another = false;
  nnapi_shim_error failure{};
  int status = run_on_one(arguments, argument_count, buffers, &may_try_another, &failure);
  if (!may_try_another) {
    if (status != NNAPI_SHIM_OK) give(failure, error);
    return status;
  }
  // Ends, as each round condemns a device.
  while (may_try_another) {
    nnapi_shim_error later{};
    status = run_on_one(arguments, argument_count, buffers, &may_try_another, &later);
  }
  if (status == NNAPI_SHIM_OK) {
    verdicts_.confirm();
    return status;
  }
  verdicts_.acquit();
  give(failure, error);
  return failure.status;
}

int Model::run_on_one(const nnapi_shim_shape* arguments, uint32_t argument_count, const RunBuffers& buffers,
                      bool* may_try_another, nnapi_shim_error* error) {
  *may_try_another = false;
  std::shared_ptr<ShapeEntry> entry;
  int status = get_compiled(arguments, argument_count, &entry, error);
  if (status == NNAPI_SHIM_OK) status = check_buffers(*entry, buffers, error);
  if (status != NNAPI_SHIM_OK) return status;
  DeviceTimes times;
  const uint64_t start = now_ns();
  status = run_guarded(*entry, buffers, &times, error);
  const uint64_t taken = now_ns() - start;
  if (status != NNAPI_SHIM_OK) {
    *may_try_another = drop_failed(*entry, *error);
    remember(*error);
    return status;
  }
  executions_.fetch_add(1, std::memory_order_relaxed);
  total_execute_ns_.fetch_add(taken, std::memory_order_relaxed);
  last_execute_ns_.store(taken, std::memory_order_relaxed);
  last_on_device_ns_.store(times.on_device, std::memory_order_relaxed);
  last_in_driver_ns_.store(times.in_driver, std::memory_order_relaxed);
  return status;
}

int fail_no_cache(nnapi_shim_error* error) {
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "options: a trial needs cache_directory, where its verdicts are kept");
}

int Model::try_devices(nnapi_shim_error* error) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    options_.is_trial = true;
  }
  if (options_.cache_directory.empty()) return fail_no_cache(error);
  if (!is_checked()) {
    return fail(error, NNAPI_SHIM_BAD_MODEL, "the file has no samples; convert the model with --self-check");
  }
  std::vector<Sample> samples(buffer_->sample_count());
  for (size_t i = 0; i < samples.size(); ++i) {
    const int status = buffer_->read_sample(i, &samples[i], error);
    if (status != NNAPI_SHIM_OK) return status;
  }
  // As many runs as the journal guards in the app: what crashes there shows here.
  for (uint32_t run = 0; run < kGuardedRuns; ++run) {
    const int status = run_trial_once(samples[run % samples.size()], error);
    if (status != NNAPI_SHIM_OK) return status;
  }
  return NNAPI_SHIM_OK;
}

// Runs a sample by run(), on one device after the other until one gives the right results. Ends, as each round condemns
// a device.
int Model::run_trial_once(const Sample& sample, nnapi_shim_error* error) {
  const std::vector<nnapi_shim_shape> shapes = sample.shapes();
  const auto count = static_cast<uint32_t>(shapes.size());
  for (;;) {
    SampleBuffers buffers(sample);
    int status = run(shapes.data(), count, buffers.run_buffers(), error);
    if (status != NNAPI_SHIM_OK) return status;
    status = buffers.compare(error);
    if (status == NNAPI_SHIM_OK) return status;
    const std::shared_ptr<ShapeEntry> entry = shapes_.find(shapes.data(), count);
    verdicts_.set(entry->choice.key, entry->choice.version, Verdict::kWrong, error->message);
    shapes_.drop(entry.get());
  }
}

int Model::visit_operations(const nnapi_shim_shape* arguments, uint32_t argument_count, const char* device,
                            nnapi_shim_operation_visitor visit, void* user, nnapi_shim_error* error) {
  int status = check_arguments(arguments, argument_count, error);
  if (status == NNAPI_SHIM_OK) status = start(error);
  ModelView view;
  if (status == NNAPI_SHIM_OK) status = buffer_->bind(arguments, argument_count, &view, error);
  if (status != NNAPI_SHIM_OK) return status;
  Options asked;
  asked.device = device ? device : options_.device;
  if (!device) asked.device_kind = options_.device_kind;
  DeviceChoice choice;
  status = choose_devices(*library_, asked, &choice, error);
  BuiltModel built(*library_, weight_memory_);
  if (status == NNAPI_SHIM_OK) status = built.build(view, error);
  std::vector<int8_t> supported;
  const std::vector<OperationView>& operations = view.models[0].operations;
  if (status == NNAPI_SHIM_OK) {
    status = query_support(*library_, choice, built.main(), operations.size(), &supported, error);
  }
  if (status != NNAPI_SHIM_OK) return status;
  for (size_t i = 0; i < operations.size(); ++i) {
    visit(user, static_cast<uint32_t>(i), operations[i].code, operations[i].name, operations[i].source, supported[i]);
  }
  return status;
}

void Model::get_profile(nnapi_shim_profile* profile) {
  *profile = nnapi_shim_profile{};
  const std::lock_guard<std::mutex> lock(mutex_);
  profile->build_ns = build_ns_;
  profile->compile_ns = compile_ns_;
  profile->executions = executions_.load(std::memory_order_relaxed);
  profile->last_execute_ns = last_execute_ns_.load(std::memory_order_relaxed);
  profile->total_execute_ns = total_execute_ns_.load(std::memory_order_relaxed);
  profile->last_on_device_ns = last_on_device_ns_.load(std::memory_order_relaxed);
  profile->last_in_driver_ns = last_in_driver_ns_.load(std::memory_order_relaxed);
  profile->check_ns = check_ns_;
  profile->checked_samples = checked_samples_;
  profile->compiled = compiled_count_;
  profile->feature_level = library_ ? library_->feature_level : 0;
  profile->weight_bytes = weights_.bytes;
  profile->weights_are_mapped = weight_memory_ && weight_memory_->memory() ? 1 : 0;
  std::strncpy(profile->devices, devices_.c_str(), sizeof(profile->devices) - 1);
}

void Model::remember(const nnapi_shim_error& failure) {
  const std::lock_guard<std::mutex> lock(mutex_);
  last_failure_ = failure;
}

void Model::last_failure(nnapi_shim_error* error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  *error = last_failure_;
}

}  // namespace nnapi_shim
