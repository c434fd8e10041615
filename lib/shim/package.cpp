// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/package.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "lib/shim/failure.h"
#include "lib/shim/package_index.h"

namespace nnapi_shim {
namespace {

Weights part_of(const Weights& weights, const PackageEntry& entry) {
  Weights part = weights;
  part.data = weights.data != nullptr ? weights.data + entry.weight_begin : nullptr;
  part.bytes = entry.weight_bytes;
  part.file_offset += entry.weight_begin;
  if (part.bytes == 0) part = Weights();
  return part;
}

}  // namespace

std::unique_ptr<OpenModel> open_words(const void* words, size_t word_count, const Weights& weights,
                                      const std::shared_ptr<const Archive>& archive, nnapi_shim_error* error) {
  if (!is_package(words, word_count)) {
    auto buffer = ModelBuffer::parse(words, word_count, weights.bytes, error);
    if (!buffer) return nullptr;
    return std::make_unique<Model>(std::move(buffer), weights, archive);
  }
  std::vector<int32_t> copy(word_count);
  std::memcpy(copy.data(), words, word_count * sizeof(int32_t));
  std::vector<PackageEntry> entries;
  if (!read_package(copy, weights.bytes, &entries, error)) return nullptr;
  std::vector<PackagedModel> models;
  for (PackageEntry& entry : entries) {
    nnapi_shim_error problem{};
    auto buffer = ModelBuffer::parse(copy.data() + entry.first_word, entry.word_count, entry.weight_bytes, &problem);
    if (!buffer) {
      fail(error, NNAPI_SHIM_BAD_MODEL, "model %zu of the package: %.400s", models.size() + 1, problem.message);
      return nullptr;
    }
    const ModelBuffer& first = models.empty() ? *buffer : models[0].model->buffer();
    if (first.argument_count() != buffer->argument_count() || first.input_count() != buffer->input_count() ||
        first.output_count() != buffer->output_count()) {
      fail(error, NNAPI_SHIM_BAD_MODEL,
           "model %zu of the package has other arguments, inputs or outputs than model 1; convert it again",
           models.size() + 1);
      return nullptr;
    }
    models.push_back({std::move(entry.name),
                      std::make_unique<Model>(std::move(buffer), part_of(weights, entry), archive, entries.size())});
  }
  if (models.size() == 1) return std::move(models[0].model);
  return std::make_unique<Package>(std::move(models));
}

Package::Package(std::vector<PackagedModel> models) : models_(std::move(models)) {
  for (const PackagedModel& each : models_) boundary_.add(each.model->buffer());
  for (size_t i = 0; i < models_.size(); ++i) {
    if (boundary_.converts(models_[i].model->buffer())) converting_ |= 1u << i;
  }
}

int Package::configure(const Options& options, nnapi_shim_error* error) {
  for (const PackagedModel& each : models_) {
    if (const int status = each.model->configure(options, error)) return status;
  }
  only_ = options.variant;
  measures_ = options.measure_models;
  return NNAPI_SHIM_OK;
}

uint32_t Package::feature_level() const {
  uint32_t level = models_[0].model->feature_level();
  for (const PackagedModel& each : models_) level = std::min(level, each.model->feature_level());
  return level;
}

std::vector<int64_t> Package::argument_sizes(uint32_t argument) const {
  std::vector<int64_t> sizes = models_[0].model->argument_sizes(argument);
  for (const PackagedModel& each : models_) {
    const std::vector<int64_t> others = each.model->argument_sizes(argument);
    for (size_t axis = 0; axis < sizes.size() && axis < others.size(); ++axis) {
      if (sizes[axis] != others[axis]) sizes[axis] = 0;
    }
  }
  return sizes;
}

bool Package::takes(size_t number, const CallShapes& shapes) const {
  if (only_ != 0 && number != only_ - 1) return false;
  for (uint32_t i = 0; i < shapes.count; ++i) {
    const std::vector<int64_t> sizes = models_[number].model->argument_sizes(i);
    if (sizes.size() != shapes.arguments[i].rank) return false;
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      if (sizes[axis] != 0 && sizes[axis] != shapes.arguments[i].sizes[axis]) return false;
    }
  }
  return true;
}

// Returns the first model that takes these shapes, if possible one that has callers' tensors; if none takes them, the
// first, whose message tells the sizes needed.
size_t Package::first_fit(const CallShapes& shapes) const {
  if (shapes.count != argument_count() || !shapes.arguments) return 0;
  for (uint32_t i = 0; i < shapes.count; ++i) {
    if (!shapes.arguments[i].sizes && shapes.arguments[i].rank > 0) return 0;
  }
  size_t found = models_.size();
  for (size_t i = models_.size(); i-- > 0;) {
    if (!takes(i, shapes)) continue;
    if (found == models_.size() || !converts(i) || converts(found)) found = i;
  }
  if (found < models_.size()) return found;
  return only_ != 0 ? only_ - 1 : 0;
}

int Package::describe(const CallShapes& shapes, std::shared_ptr<const CallTensors>* tensors, nnapi_shim_error* error) {
  const size_t number = first_fit(shapes);
  const int status = models_[number].model->describe(shapes, tensors, error);
  if (status != NNAPI_SHIM_OK || !converts(number)) return status;
  *tensors = std::make_shared<const CallTensors>(
      CallTensors{as_floats((*tensors)->inputs, boundary_.inputs), as_floats((*tensors)->outputs, boundary_.outputs)});
  return status;
}

int Package::run_on(size_t number, const CallShapes& shapes, const RunBuffers& buffers, nnapi_shim_error* error) {
  Model& model = *models_[number].model;
  if (!converts(number)) return model.run(shapes, buffers, error);
  return run_with_floats(model, boundary_, shapes, buffers, error);
}

bool Package::find_pick(const Shape& shape, size_t* number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Pick& pick : picks_) {
    if (pick.number == kNoModel || pick.shape != shape) continue;
    *number = pick.number;
    newest_ = pick.number;
    return true;
  }
  return false;
}

Package::Search Package::search_for(const CallShapes& shapes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {shapes, shapes.key(), rejected_};
}

int Package::pick(const CallShapes& shapes, size_t* number, nnapi_shim_error* error) {
  *number = 0;
  std::shared_ptr<const CallTensors> tensors;
  if (const int status = describe(shapes, &tensors, error)) return status;
  const Shape shape = shapes.key();
  if (find_pick(shape, number)) return NNAPI_SHIM_OK;
  const std::lock_guard<std::mutex> choosing(choosing_);
  if (find_pick(shape, number)) return NNAPI_SHIM_OK;
  Search search = search_for(shapes);
  return choose(search, number, error);
}

int Package::warm_up(const CallShapes& shapes, nnapi_shim_error* error) {
  size_t number = 0;
  if (const int status = pick(shapes, &number, error)) return status;
  return models_[number].model->warm_up(shapes, error);
}

// Runs the chosen model. A model that fails while it runs is replaced if another one can run the same input.
int Package::run(const CallShapes& shapes, const RunBuffers& buffers, nnapi_shim_error* error) {
  size_t number = 0;
  if (const int status = pick(shapes, &number, error)) return status;
  nnapi_shim_error failure{};
  const int status = run_on(number, shapes, buffers, &failure);
  if (status == NNAPI_SHIM_OK) return status;
  if (error) *error = failure;
  if (status != NNAPI_SHIM_FAILED && status != NNAPI_SHIM_REFUSED) return status;
  const std::lock_guard<std::mutex> choosing(choosing_);
  Search search = search_for(shapes);
  const auto forget = [&] {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Pick& each : picks_) {
      if (each.shape == search.shape) each.number = kNoModel;
    }
  };
  forget();
  search.left_out |= 1u << number;
  note(search, number, failure);
  size_t other = 0;
  // The loop ends, as each round leaves out one more model.
  while (choose(search, &other, nullptr) == NNAPI_SHIM_OK) {
    if (run_on(other, shapes, buffers, nullptr) == NNAPI_SHIM_OK) {
      const std::lock_guard<std::mutex> lock(mutex_);
      rejected_ = search.left_out;
      if (error) *error = nnapi_shim_error{};
      return NNAPI_SHIM_OK;
    }
    forget();
    search.left_out |= 1u << other;
    search.candidates.clear();
  }
  return failure.status;
}

int Package::visit_operations(const CallShapes& shapes, const char* device, nnapi_shim_operation_visitor visit,
                              void* user, nnapi_shim_error* error) {
  size_t number = 0;
  if (pick(shapes, &number, nullptr) != NNAPI_SHIM_OK) number = first_fit(shapes);
  return models_[number].model->visit_operations(shapes, device, visit, user, error);
}

int Package::load_library(const NnapiLibrary** library, nnapi_shim_error* error) {
  return models_[0].model->load_library(library, error);
}

int Package::try_devices(nnapi_shim_error* error) {
  nnapi_shim_error first{};
  bool is_one_good = false;
  for (size_t i = 0; i < models_.size(); ++i) {
    if (only_ != 0 && i != only_ - 1) continue;
    nnapi_shim_error failure{};
    is_one_good = models_[i].model->try_devices(&failure) == NNAPI_SHIM_OK || is_one_good;
    if (first.status == NNAPI_SHIM_OK) first = failure;
    models_[i].model->stop();
  }
  if (is_one_good) return NNAPI_SHIM_OK;
  if (error) *error = first;
  return first.status;
}

Model& Package::newest() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return *models_[newest_].model;
}

void Package::choice(char* text, size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::snprintf(text, bytes, "%s", choice_);
}

}  // namespace nnapi_shim
