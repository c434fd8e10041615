#include "lib/shim/package.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "lib/shim/failure.h"
#include "lib/shim/package_index.h"

namespace nnapi_shim {
namespace {

std::vector<int64_t> shape_of(const nnapi_shim_shape* arguments, uint32_t argument_count) {
  std::vector<int64_t> shape;
  for (uint32_t i = 0; i < argument_count; ++i) {
    shape.push_back(arguments[i].rank);
    shape.insert(shape.end(), arguments[i].sizes, arguments[i].sizes + arguments[i].rank);
  }
  return shape;
}

Weights part_of(const Weights& weights, const PackageEntry& entry) {
  Weights part = weights;
  part.data = weights.data != nullptr ? weights.data + entry.weight_begin : nullptr;
  part.bytes = entry.weight_bytes;
  part.file_offset += entry.weight_begin;
  if (part.bytes == 0) part = Weights();
  return part;
}

}  // namespace

int Package::read(const void* words, size_t word_count, const Weights& weights,
                  const std::shared_ptr<const Archive>& archive, std::vector<PackagedModel>* models,
                  nnapi_shim_error* error) {
  if (!is_package(words, word_count)) {
    auto buffer = ModelBuffer::parse(words, word_count, weights.bytes, error);
    if (!buffer) return NNAPI_SHIM_BAD_MODEL;
    models->push_back({"", std::make_unique<Model>(std::move(buffer), weights, archive)});
    return NNAPI_SHIM_OK;
  }
  std::vector<int32_t> copy(word_count);
  std::memcpy(copy.data(), words, word_count * sizeof(int32_t));
  std::vector<PackageEntry> entries;
  if (!read_package(copy, weights.bytes, &entries, error)) return NNAPI_SHIM_BAD_MODEL;
  for (PackageEntry& entry : entries) {
    nnapi_shim_error problem{};
    auto buffer = ModelBuffer::parse(copy.data() + entry.first_word, entry.word_count, entry.weight_bytes, &problem);
    if (!buffer) {
      return fail(error, NNAPI_SHIM_BAD_MODEL, "model %zu of the package: %.400s", models->size() + 1, problem.message);
    }
    const bool is_like_first = models->empty() || [&] {
      const ModelBuffer& first = (*models)[0].model->buffer();
      return first.argument_count() == buffer->argument_count() && first.input_count() == buffer->input_count() &&
             first.output_count() == buffer->output_count();
    }();
    if (!is_like_first) {
      return fail(error, NNAPI_SHIM_BAD_MODEL,
                  "model %zu of the package has other arguments, inputs or outputs than model 1; convert it again",
                  models->size() + 1);
    }
    models->push_back(
        {std::move(entry.name), std::make_unique<Model>(std::move(buffer), part_of(weights, entry), archive)});
  }
  return NNAPI_SHIM_OK;
}

Package::Package(std::vector<PackagedModel> models) : models_(std::move(models)) {
  for (const PackagedModel& each : models_) boundary_.add(each.model->buffer());
  for (size_t i = 0; i < models_.size(); ++i) {
    if (boundary_.converts(models_[i].model->buffer())) converting_ |= 1u << i;
  }
}

int Package::configure(const nnapi_shim_options* options, nnapi_shim_error* error) {
  Options read;
  if (const int status = read_options(options, &read, error)) return status;
  if (read.variant > models_.size()) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "options: variant is %u, the file has %zu model%s", read.variant,
                models_.size(), models_.size() == 1 ? "" : "s");
  }
  for (const PackagedModel& each : models_) {
    if (const int status = each.model->configure(options, error)) return status;
  }
  only_ = read.variant;
  measures_ = read.measure_models;
  return NNAPI_SHIM_OK;
}

uint32_t Package::feature_level() const {
  uint32_t level = buffer().feature_level();
  for (const PackagedModel& each : models_) level = std::min(level, each.model->buffer().feature_level());
  return level;
}

std::vector<int64_t> Package::argument_sizes(uint32_t argument) const {
  std::vector<int64_t> sizes = buffer().argument_sizes(argument);
  for (const PackagedModel& each : models_) {
    const std::vector<int64_t> others = each.model->buffer().argument_sizes(argument);
    for (size_t axis = 0; axis < sizes.size() && axis < others.size(); ++axis) {
      if (sizes[axis] != others[axis]) sizes[axis] = 0;
    }
  }
  return sizes;
}

bool Package::takes(size_t number, const nnapi_shim_shape* arguments, uint32_t argument_count) const {
  const ModelBuffer& buffer = models_[number].model->buffer();
  if (only_ != 0 && number != only_ - 1) return false;
  for (uint32_t i = 0; i < argument_count; ++i) {
    const std::vector<int64_t> sizes = buffer.argument_sizes(i);
    if (sizes.size() != arguments[i].rank) return false;
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      if (sizes[axis] != 0 && sizes[axis] != arguments[i].sizes[axis]) return false;
    }
  }
  return true;
}

// Returns the first model that takes these shapes, if possible one that has callers' tensors; if none takes them, the
// first, whose message tells the sizes needed.
size_t Package::first_fit(const nnapi_shim_shape* arguments, uint32_t argument_count) const {
  if (models_.size() == 1 || argument_count != buffer().argument_count() || !arguments) return 0;
  for (uint32_t i = 0; i < argument_count; ++i) {
    if (!arguments[i].sizes && arguments[i].rank > 0) return 0;
  }
  size_t found = models_.size();
  for (size_t i = models_.size(); i-- > 0;) {
    if (!takes(i, arguments, argument_count)) continue;
    if (found == models_.size() || !converts(i) || converts(found)) found = i;
  }
  if (found < models_.size()) return found;
  return only_ != 0 ? only_ - 1 : 0;
}

int Package::describe(const nnapi_shim_shape* arguments, uint32_t argument_count, std::shared_ptr<ShapeEntry>* entry,
                      nnapi_shim_error* error) {
  const size_t number = first_fit(arguments, argument_count);
  const int status = models_[number].model->describe(arguments, argument_count, entry, error);
  if (status != NNAPI_SHIM_OK || !converts(number)) return status;
  const auto seen = std::make_shared<ShapeEntry>(arguments, argument_count);
  seen->inputs = as_floats((*entry)->inputs, boundary_.inputs);
  seen->outputs = as_floats((*entry)->outputs, boundary_.outputs);
  *entry = seen;
  return status;
}

int Package::run_on(size_t number, const nnapi_shim_shape* arguments, uint32_t argument_count,
                    const RunBuffers& buffers, nnapi_shim_error* error) {
  Model& model = *models_[number].model;
  if (!converts(number)) return model.run(arguments, argument_count, buffers, error);
  return run_with_floats(model, boundary_, arguments, argument_count, buffers, error);
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

int Package::pick(const nnapi_shim_shape* arguments, uint32_t argument_count, size_t* number, nnapi_shim_error* error) {
  *number = 0;
  if (models_.size() == 1) return NNAPI_SHIM_OK;
  std::shared_ptr<ShapeEntry> entry;
  if (const int status = describe(arguments, argument_count, &entry, error)) return status;
  Search search{arguments, argument_count, shape_of(arguments, argument_count), 0, {}, {}, ""};
  if (find_pick(search.shape, number)) return NNAPI_SHIM_OK;
  const std::lock_guard<std::mutex> choosing(choosing_);
  if (find_pick(search.shape, number)) return NNAPI_SHIM_OK;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    search.left_out = rejected_;
  }
  return choose(search, number, error);
}

int Package::warm_up(const nnapi_shim_shape* arguments, uint32_t argument_count, nnapi_shim_error* error) {
  size_t number = 0;
  if (const int status = pick(arguments, argument_count, &number, error)) return status;
  return models_[number].model->warm_up(arguments, argument_count, error);
}

// A model that fails while it runs is replaced if another one can run the same input.
int Package::run(const nnapi_shim_shape* arguments, uint32_t argument_count, const RunBuffers& buffers,
                 nnapi_shim_error* error) {
  size_t number = 0;
  if (const int status = pick(arguments, argument_count, &number, error)) return status;
  nnapi_shim_error failure{};
  const int status = run_on(number, arguments, argument_count, buffers, &failure);
  if (status == NNAPI_SHIM_OK) return status;
  if (error) *error = failure;
  if (models_.size() == 1 || (status != NNAPI_SHIM_FAILED && status != NNAPI_SHIM_REFUSED)) return status;
  const std::lock_guard<std::mutex> choosing(choosing_);
  Search search{arguments, argument_count, shape_of(arguments, argument_count), 0, {}, {}, ""};
  const auto forget = [&] {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Pick& each : picks_) {
      if (each.shape == search.shape) each.number = kNoModel;
    }
  };
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    search.left_out = rejected_;
  }
  forget();
  search.left_out |= 1u << number;
  note(search, number, failure);
  size_t other = 0;
  // Ends, as each round leaves out one model more.
  while (choose(search, &other, nullptr) == NNAPI_SHIM_OK) {
    if (run_on(other, arguments, argument_count, buffers, nullptr) == NNAPI_SHIM_OK) {
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

int Package::visit_operations(const nnapi_shim_shape* arguments, uint32_t argument_count, const char* device,
                              nnapi_shim_operation_visitor visit, void* user, nnapi_shim_error* error) {
  size_t number = first_fit(arguments, argument_count);
  if (models_.size() > 1 && pick(arguments, argument_count, &number, nullptr) != NNAPI_SHIM_OK) {
    number = first_fit(arguments, argument_count);
  }
  return models_[number].model->visit_operations(arguments, argument_count, device, visit, user, error);
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
    if (models_.size() > 1) models_[i].model->stop();
  }
  if (is_one_good) return NNAPI_SHIM_OK;
  if (error) *error = first;
  return first.status;
}

void Package::get_profile(nnapi_shim_profile* profile) {
  size_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    number = newest_;
  }
  models_[number].model->get_profile(profile);
}

void Package::last_failure(nnapi_shim_error* error) {
  size_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    number = newest_;
  }
  models_[number].model->last_failure(error);
}

void Package::choice(char* text, size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::snprintf(text, bytes, "%s", choice_);
}

}  // namespace nnapi_shim
