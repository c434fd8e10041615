// SPDX-License-Identifier: BSD-3-Clause
// Compiles a model at its first run with each shape, and runs it.
#include "lib/shim/model.h"

#include <cstdio>
#include <cstring>
#include <utility>

#include "lib/shim/failure.h"
#include "lib/shim/monotonic_clock.h"

namespace nnapi_shim {
namespace {

// Returns whether the same call would fail again.
bool is_lasting(const nnapi_shim_error& failure) {
  const Verdict verdict = verdict_of(failure);
  return failure.status != NNAPI_SHIM_TIMED_OUT && failure.status != NNAPI_SHIM_FAILED &&
         verdict != Verdict::kUnknown && verdict != Verdict::kDied;
}

// Returns the text that names the files about the model.
std::string model_id(const ModelBuffer& buffer) {
  char id[24];
  std::snprintf(id, sizeof id, "%08x%08x", static_cast<uint32_t>(buffer.words()[format::kChecksum]),
                static_cast<uint32_t>(buffer.words()[format::kWeightChecksum]));
  return id;
}

void give(const nnapi_shim_error& failure, nnapi_shim_error* error) {
  if (error) *error = failure;
}

}  // namespace

Model::Model(std::unique_ptr<const ModelBuffer> buffer, const Weights& weights, std::shared_ptr<const Archive> archive,
             size_t variants)
    : buffer_(std::move(buffer)), archive_(std::move(archive)), weights_(weights), variants_(variants) {}

int Model::configure(const Options& options, nnapi_shim_error* error) {
  if (options.variant > variants_) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "options: variant is %u, the file has %zu model%s", options.variant,
                variants_, variants_ == 1 ? "" : "s");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_started_) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                "options can't change any more, as the model was compiled or asked for its operations; open it anew");
  }
  options_ = options;
  return NNAPI_SHIM_OK;
}

int Model::bind(const CallShapes& shapes, ShapeEntry* entry, ModelView* view, nnapi_shim_error* error) const {
  int status = buffer_->bind(shapes.arguments, shapes.count, view, error);
  if (status != NNAPI_SHIM_OK || entry->is_bound.load(std::memory_order_acquire)) return status;
  const SubgraphView& main = view->models[0];
  status = describe_tensors(main, main.inputs, &entry->tensors.inputs, error);
  if (status == NNAPI_SHIM_OK) status = describe_tensors(main, main.outputs, &entry->tensors.outputs, error);
  if (status == NNAPI_SHIM_OK) entry->is_bound.store(true, std::memory_order_release);
  return status;
}

int Model::describe(const CallShapes& shapes, std::shared_ptr<const CallTensors>* tensors, nnapi_shim_error* error) {
  int status = check_shapes(shapes, argument_count(), error);
  if (status != NNAPI_SHIM_OK) return status;
  const std::shared_ptr<ShapeEntry> entry = shapes_.find(shapes);
  *tensors = std::shared_ptr<const CallTensors>(entry, &entry->tensors);
  if (entry->is_bound.load(std::memory_order_acquire)) return status;
  const std::lock_guard<std::mutex> lock(entry->mutex);
  ModelView view;
  status = bind(shapes, entry.get(), &view, error);
  if (status != NNAPI_SHIM_OK) shapes_.drop(entry.get());
  return status;
}

// Loads NNAPI's library if it is not loaded yet; from then on the options can't change.
int Model::start(nnapi_shim_error* error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_started_ = true;
  if (library_) {
    if (!weight_ways_.mapped) weight_ways_ = make_weight_ways(*library_, weights_);
    return NNAPI_SHIM_OK;
  }
  const NnapiLibrary* library = nullptr;
  const int status = load_nnapi(options_.library_path(), options_.is_support_library, &library, error);
  if (status != NNAPI_SHIM_OK) return status;
  if (library->feature_level < buffer_->feature_level()) {
    return fail(error, NNAPI_SHIM_TOO_OLD,
                "the model needs NNAPI feature level %u, this device has level %u; convert it with --feature-level %u, "
                "or run it on the CPU",
                buffer_->feature_level(), library->feature_level, library->feature_level);
  }
  weight_ways_ = make_weight_ways(*library, weights_);
  if (is_checked()) verdicts_.open(options_.cache_directory, model_id(*buffer_));
  library_ = library;
  return status;
}

int Model::load_library(const NnapiLibrary** library, nnapi_shim_error* error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_started_ = true;
  return load_nnapi(options_.library_path(), options_.is_support_library, library, error);
}

std::shared_ptr<const WeightMemory> Model::weight_memory(bool copies) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return weight_ways_.get(copies || copies_weights_);
}

void Model::stop() {
  shapes_.keep_compiled(0);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    weight_ways_ = WeightWays();
    weights_are_mapped_ = false;
  }
  if (archive_) archive_->release_pages();
}

bool Model::is_on_reference(const CallShapes& shapes) {
  if (!options_.takes_any_device()) return false;
  const std::shared_ptr<ShapeEntry> entry = shapes_.find(shapes);
  return entry->is_compiled.load(std::memory_order_acquire) && entry->choice.is_reference;
}

// Computes the digest of the weights once, and only when a token needs it: the weights may be large.
void Model::digest_weights() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (has_digest_) return;
  Sha256 sum;
  if (weights_.bytes > 0) sum.add(weights_.data, static_cast<size_t>(weights_.bytes));
  sum.finish(weights_digest_);
  if (archive_) archive_->release_pages();
  has_digest_ = true;
}

// Compiles the model for these shapes. The caller holds the entry's mutex.
int Model::compile(const CallShapes& shapes, ShapeEntry* entry, nnapi_shim_error* error) {
  int status = start(error);
  if (status != NNAPI_SHIM_OK) return status;
  ModelView view;
  status = bind(shapes, entry, &view, error);
  if (status != NNAPI_SHIM_OK) return status;
  const bool is_cached = !options_.cache_directory.empty() && library_->ANeuralNetworksCompilation_setCaching;
  if (is_cached) digest_weights();
  if (is_checked()) {
    status = compile_checked(view, shapes, is_cached, entry, error);
  } else {
    status = compile_unchecked(view, is_cached, entry, error);
  }
  if (status != NNAPI_SHIM_OK) return status;
  entry->is_compiled.store(true, std::memory_order_release);
  const std::lock_guard<std::mutex> lock(mutex_);
  build_ns_ = entry->compiled->build_ns();
  compile_ns_ = entry->compiled->compile_ns();
  devices_ = entry->compiled->devices();
  weights_are_mapped_ = entry->compiled->weights_are_mapped();
  copies_weights_ = entry->compiled->copies_weights();
  ++compiled_count_;
  note_forbidden(entry->compiled->forbidden());
  return status;
}

// Compiles for the options' devices; if that fails with the weights' file, compiles once more with a copy.
int Model::compile_unchecked(const ModelView& view, bool is_cached, ShapeEntry* entry, nnapi_shim_error* error) {
  const auto compile = [&](const std::shared_ptr<const WeightMemory>& weights, nnapi_shim_error* failure) {
    CacheToken token{};
    int status = NNAPI_SHIM_OK;
    if (is_cached) token = make_cache_token(view, weights_digest_, weights->copies());
    entry->compiled = CompiledModel::make(*library_, options_, view, weights, nullptr, is_cached ? &token : nullptr,
                                          &status, failure);
    return status;
  };
  const std::shared_ptr<const WeightMemory> weights = weight_memory(false);
  nnapi_shim_error failure{};
  const int status = compile(weights, &failure);
  const bool may_copy = status == NNAPI_SHIM_REFUSED && weights->memory() && verdict_of(failure) != Verdict::kUnknown;
  if (may_copy && compile(weight_memory(true), nullptr) == NNAPI_SHIM_OK) {
    note_copies(entry->compiled->devices(), &failure);
    remember(failure);
    return NNAPI_SHIM_OK;
  }
  if (status != NNAPI_SHIM_OK) give(failure, error);
  return status;
}

// Compiles for the first device that passes the check with the samples. If one passes, remembers why earlier ones were
// not taken.
int Model::compile_checked(const ModelView& view, const CallShapes& shapes, bool is_cached, ShapeEntry* entry,
                           nnapi_shim_error* error) {
  WeightWays weights;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    weights = weight_ways_;
  }
  const SearchedModel searched = {*library_, options_, *buffer_, weights, is_cached ? weights_digest_ : nullptr,
                                  verdicts_};
  Trusted found;
  nnapi_shim_error failure{};
  const int status = DeviceSearch(searched).find(view, shapes, &found, &failure);
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

int Model::get_compiled(const CallShapes& shapes, std::shared_ptr<ShapeEntry>* entry, nnapi_shim_error* error) {
  int status = check_shapes(shapes, argument_count(), error);
  if (status != NNAPI_SHIM_OK) return status;
  *entry = shapes_.find(shapes);
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
    status = compile(shapes, &found, &failure);
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

int Model::warm_up(const CallShapes& shapes, nnapi_shim_error* error) {
  std::shared_ptr<ShapeEntry> entry;
  return get_compiled(shapes, &entry, error);
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
  profile->weights_are_mapped = weights_are_mapped_ ? 1 : 0;
  std::strncpy(profile->devices, devices_.c_str(), sizeof(profile->devices) - 1);
}

void Model::remember(const nnapi_shim_error& failure) {
  const std::lock_guard<std::mutex> lock(mutex_);
  last_failure_ = failure;
}

// Notes the devices that driver rules left out before the failure that is known already. The caller holds `mutex_`.
void Model::note_forbidden(const std::string& forbidden) {
  if (forbidden.empty() || std::strstr(last_failure_.message, "known to be wrong") != nullptr) return;
  const std::string later = last_failure_.message;
  fail(&last_failure_, NNAPI_SHIM_REFUSED, "%.400s%s%s", forbidden.c_str(), later.empty() ? "" : "; ", later.c_str());
}

void Model::choice(char* text, size_t bytes) {
  if (bytes > 0) text[0] = '\0';
}

void Model::last_failure(nnapi_shim_error* error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  *error = last_failure_;
}

}  // namespace nnapi_shim
