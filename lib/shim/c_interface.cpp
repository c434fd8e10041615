// SPDX-License-Identifier: BSD-3-Clause
// Implements the C interface.
#include "lib/shim/nnapi_shim.h"

#include <algorithm>
#include <new>
#include <utility>

#include "lib/shim/failure.h"
#include "lib/shim/model.h"
#include "lib/shim/named_results.h"
#include "lib/shim/open_archive.h"
#include "lib/shim/package.h"
#include "lib/shim/shared_memory.h"
#include "lib/shim/tensor_types.h"
#include "lib/shim/trial_process.h"

namespace {

using nnapi_shim::fail;

void clear(nnapi_shim_error* error) {
  if (!error) return;
  error->status = NNAPI_SHIM_OK;
  error->nnapi_code = 0;
  error->message[0] = '\0';
}

int fail_null(nnapi_shim_error* error, const char* function, const char* what) {
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%s: %s is null, one is needed", function, what);
}

std::vector<nnapi_shim_buffer> buffers_of(const nnapi_shim_place* places, uint32_t count) {
  std::vector<nnapi_shim_buffer> buffers;
  for (uint32_t i = 0; i < count; ++i) buffers.push_back(nnapi_shim::buffer_of(places[i]));
  return buffers;
}

int configure(nnapi_shim_model& model, const nnapi_shim_options* options, nnapi_shim_error* error) {
  nnapi_shim::Options read;
  const int status = nnapi_shim::read_options(options, &read, error);
  return status == NNAPI_SHIM_OK ? model.configure(read, error) : status;
}

// Describes the input or output number `index`.
int describe_one(nnapi_shim_model& model, const nnapi_shim::CallShapes& shapes, bool is_output, uint32_t index,
                 nnapi_shim_tensor* tensor, nnapi_shim_error* error) {
  std::shared_ptr<const nnapi_shim::CallTensors> tensors;
  if (const int status = model.describe(shapes, &tensors, error)) return status;
  const std::vector<nnapi_shim_tensor>& found = is_output ? tensors->outputs : tensors->inputs;
  if (index < found.size()) {
    *tensor = found[index];
    return NNAPI_SHIM_OK;
  }
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%s %u was asked for, the model has %zu", is_output ? "output" : "input",
              index, found.size());
}

int make_model(nnapi_shim::Archive opened, nnapi_shim_model** model, nnapi_shim_error* error) {
  const auto archive = std::make_shared<nnapi_shim::Archive>(std::move(opened));
  *model = nnapi_shim::open_archive(archive, error).release();
  if (!*model) return NNAPI_SHIM_BAD_MODEL;
  archive->drop_words();
  const int status = (*model)->attachments.read(archive->attached(), error);
  if (status == NNAPI_SHIM_OK) return status;
  delete *model;
  *model = nullptr;
  return status;
}

// Checks the arguments of a function for pictures.
int check_pictures(const nnapi_shim_model* model, const nnapi_shim_picture* picture, const nnapi_shim_tensor* tensor,
                   const void* data, const char* function, nnapi_shim_error* error) {
  if (!model || !picture) return fail_null(error, function, model ? "picture" : "model");
  if (!tensor || !data) return fail_null(error, function, tensor ? "data" : "tensor");
  if (model->attachments.has_pictures) return NNAPI_SHIM_OK;
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
              "the file doesn't tell how pictures become the model's input; convert the model again with --mean and "
              "--std, and --resize and --crop where they are needed");
}

}  // namespace

extern "C" {

int nnapi_shim_open_memory(const void* words, size_t word_count, const void* weights, size_t weight_bytes,
                           nnapi_shim_model** model, nnapi_shim_error* error) {
  clear(error);
  if (!model) return fail_null(error, "nnapi_shim_open_memory", "model");
  *model = nullptr;
  if (!words) return fail_null(error, "nnapi_shim_open_memory", "words");
  if (!weights && weight_bytes > 0) return fail_null(error, "nnapi_shim_open_memory", "weights");
  nnapi_shim::Weights where;
  where.data = static_cast<const uint8_t*>(weights);
  where.bytes = weight_bytes;
  *model = nnapi_shim::open_words(words, word_count, where, nullptr, error).release();
  return *model ? NNAPI_SHIM_OK : NNAPI_SHIM_BAD_MODEL;
}

int nnapi_shim_open_file(const char* path, nnapi_shim_model** model, nnapi_shim_error* error) {
  clear(error);
  if (!model) return fail_null(error, "nnapi_shim_open_file", "model");
  *model = nullptr;
  if (!path) return fail_null(error, "nnapi_shim_open_file", "path");
  nnapi_shim::Archive archive;
  const int status = archive.open(path, error);
  return status == NNAPI_SHIM_OK ? make_model(std::move(archive), model, error) : status;
}

int nnapi_shim_open_descriptor(int fd, uint64_t offset, uint64_t bytes, nnapi_shim_model** model,
                               nnapi_shim_error* error) {
  clear(error);
  if (!model) return fail_null(error, "nnapi_shim_open_descriptor", "model");
  *model = nullptr;
  nnapi_shim::Archive archive;
  const int status = archive.open(fd, offset, bytes, error);
  return status == NNAPI_SHIM_OK ? make_model(std::move(archive), model, error) : status;
}

int nnapi_shim_open_archive(const void* memory, size_t bytes, nnapi_shim_model** model, nnapi_shim_error* error) {
  clear(error);
  if (!model) return fail_null(error, "nnapi_shim_open_archive", "model");
  *model = nullptr;
  if (!memory) return fail_null(error, "nnapi_shim_open_archive", "archive");
  nnapi_shim::Archive archive;
  const int status = archive.open(memory, bytes, error);
  return status == NNAPI_SHIM_OK ? make_model(std::move(archive), model, error) : status;
}

int nnapi_shim_open_reader(nnapi_shim_reader reader, void* context, uint64_t bytes, nnapi_shim_model** model,
                           nnapi_shim_error* error) {
  clear(error);
  if (!model) return fail_null(error, "nnapi_shim_open_reader", "model");
  *model = nullptr;
  if (!reader) return fail_null(error, "nnapi_shim_open_reader", "reader");
  nnapi_shim::Archive archive;
  const int status = archive.open(reader, context, bytes, error);
  return status == NNAPI_SHIM_OK ? make_model(std::move(archive), model, error) : status;
}

void nnapi_shim_close(nnapi_shim_model* model) {
  delete model;
}

int nnapi_shim_configure(nnapi_shim_model* model, const nnapi_shim_options* options, nnapi_shim_error* error) {
  clear(error);
  if (!model) return fail_null(error, "nnapi_shim_configure", "model");
  return configure(*model, options, error);
}

uint32_t nnapi_shim_argument_count(const nnapi_shim_model* model) {
  return model ? model->argument_count() : 0;
}
uint32_t nnapi_shim_input_count(const nnapi_shim_model* model) {
  return model ? static_cast<uint32_t>(model->input_arguments().size()) : 0;
}
uint32_t nnapi_shim_output_count(const nnapi_shim_model* model) {
  return model ? model->output_count() : 0;
}
uint32_t nnapi_shim_feature_level(const nnapi_shim_model* model) {
  return model ? model->feature_level() : 0;
}

int nnapi_shim_argument(const nnapi_shim_model* model, uint32_t index, uint32_t* rank, int64_t* sizes,
                        nnapi_shim_error* error) {
  clear(error);
  if (!model) return fail_null(error, "nnapi_shim_argument", "model");
  if (!rank || !sizes) return fail_null(error, "nnapi_shim_argument", rank ? "sizes" : "rank");
  const uint32_t count = model->argument_count();
  if (index >= count) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "argument %u was asked for, the model has %u", index, count);
  }
  const std::vector<int64_t> found = model->argument_sizes(index);
  *rank = static_cast<uint32_t>(found.size());
  std::copy(found.begin(), found.end(), sizes);
  return NNAPI_SHIM_OK;
}

int nnapi_shim_input(nnapi_shim_model* model, const nnapi_shim_shape* arguments, uint32_t argument_count,
                     uint32_t index, nnapi_shim_tensor* tensor, nnapi_shim_error* error) {
  clear(error);
  if (!model || !tensor) return fail_null(error, "nnapi_shim_input", model ? "tensor" : "model");
  return describe_one(*model, {arguments, argument_count}, false, index, tensor, error);
}

int nnapi_shim_output(nnapi_shim_model* model, const nnapi_shim_shape* arguments, uint32_t argument_count,
                      uint32_t index, nnapi_shim_tensor* tensor, nnapi_shim_error* error) {
  clear(error);
  if (!model || !tensor) return fail_null(error, "nnapi_shim_output", model ? "tensor" : "model");
  return describe_one(*model, {arguments, argument_count}, true, index, tensor, error);
}

int nnapi_shim_warm_up(nnapi_shim_model* model, const nnapi_shim_shape* arguments, uint32_t argument_count,
                       nnapi_shim_error* error) {
  clear(error);
  if (!model) return fail_null(error, "nnapi_shim_warm_up", "model");
  return model->warm_up({arguments, argument_count}, error);
}

int nnapi_shim_run(nnapi_shim_model* model, const nnapi_shim_shape* arguments, uint32_t argument_count,
                   const nnapi_shim_buffer* inputs, uint32_t input_count, const nnapi_shim_buffer* outputs,
                   uint32_t output_count, nnapi_shim_error* error) {
  clear(error);
  if (!model) return fail_null(error, "nnapi_shim_run", "model");
  const nnapi_shim::RunBuffers buffers = {inputs, input_count, outputs, output_count};
  return model->run({arguments, argument_count}, buffers, error);
}

nnapi_shim_result* nnapi_shim_result_new(void) {
  return new (std::nothrow) nnapi_shim_result();
}

void nnapi_shim_result_free(nnapi_shim_result* result) {
  delete result;
}

uint32_t nnapi_shim_method_count(const nnapi_shim_model* model) {
  return model ? model->method_count() : 0;
}

const char* nnapi_shim_method_name(const nnapi_shim_model* model, uint32_t index) {
  return model && index < model->method_count() ? model->method_name(index) : nullptr;
}

int nnapi_shim_call(nnapi_shim_model* model, const char* method, const nnapi_shim_named_tensor* arguments,
                    uint32_t argument_count, nnapi_shim_result* result, nnapi_shim_error* error) {
  clear(error);
  if (result) result->clear();
  if (!model) return fail_null(error, "nnapi_shim_call", "model");
  if (!arguments && argument_count > 0) return fail_null(error, "nnapi_shim_call", "arguments");
  return model->call(method, arguments, argument_count, result, error);
}

uint32_t nnapi_shim_result_count(const nnapi_shim_result* result) {
  return result ? result->count() : 0;
}

int nnapi_shim_result_tensor(const nnapi_shim_result* result, uint32_t index, nnapi_shim_named_tensor* tensor,
                             nnapi_shim_error* error) {
  clear(error);
  if (!result || !tensor) return fail_null(error, "nnapi_shim_result_tensor", result ? "tensor" : "result");
  if (index >= result->count()) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "tensor %u was asked for, the result has %u", index, result->count());
  }
  result->get(index, tensor);
  return NNAPI_SHIM_OK;
}

int nnapi_shim_result_find(const nnapi_shim_result* result, const char* path, nnapi_shim_named_tensor* tensor,
                           nnapi_shim_error* error) {
  clear(error);
  if (!result || !path) return fail_null(error, "nnapi_shim_result_find", result ? "path" : "result");
  if (!tensor) return fail_null(error, "nnapi_shim_result_find", "tensor");
  uint32_t index = 0;
  if (!result->find(path, &index)) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "\"%.150s\" was asked for, the result has no such path", path);
  }
  result->get(index, tensor);
  return NNAPI_SHIM_OK;
}

int nnapi_shim_picture_tensor(const nnapi_shim_model* model, nnapi_shim_tensor* tensor, nnapi_shim_error* error) {
  clear(error);
  const nnapi_shim_picture none = {};
  const int status = check_pictures(model, &none, tensor, tensor, "nnapi_shim_picture_tensor", error);
  if (status == NNAPI_SHIM_OK) *tensor = nnapi_shim::picture_tensor(model->attachments.pictures);
  return status;
}

const char* nnapi_shim_picture_argument(const nnapi_shim_model* model) {
  return model && !model->attachments.picture_path.empty() ? model->attachments.picture_path.c_str() : nullptr;
}

int nnapi_shim_picture_fill(const nnapi_shim_model* model, const nnapi_shim_picture* picture,
                            const nnapi_shim_tensor* tensor, void* data, size_t bytes, nnapi_shim_error* error) {
  clear(error);
  const int status = check_pictures(model, picture, tensor, data, "nnapi_shim_picture_fill", error);
  if (status != NNAPI_SHIM_OK) return status;
  return nnapi_shim::fill_picture(model->attachments.pictures, *picture, *tensor, data, bytes, error);
}

int nnapi_shim_picture_boxes(const nnapi_shim_model* model, const nnapi_shim_picture* picture,
                             const nnapi_shim_tensor* tensor, float* boxes, uint32_t count, nnapi_shim_error* error) {
  clear(error);
  const int status = check_pictures(model, picture, tensor, boxes, "nnapi_shim_picture_boxes", error);
  if (status != NNAPI_SHIM_OK) return status;
  return nnapi_shim::boxes_of_picture(model->attachments.pictures, *picture, *tensor, boxes, count, error);
}

uint32_t nnapi_shim_label_count(const nnapi_shim_model* model) {
  return model ? static_cast<uint32_t>(model->attachments.labels.size()) : 0;
}

const char* nnapi_shim_label(const nnapi_shim_model* model, uint32_t index) {
  return index < nnapi_shim_label_count(model) ? model->attachments.labels[index].c_str() : nullptr;
}

int nnapi_shim_top(const nnapi_shim_model* model, const nnapi_shim_tensor* output, const void* data,
                   nnapi_shim_score* best, uint32_t* count, nnapi_shim_error* error) {
  clear(error);
  if (!output || !data) return fail_null(error, "nnapi_shim_top", output ? "data" : "output");
  if (!best || !count) return fail_null(error, "nnapi_shim_top", best ? "count" : "best");
  if (!nnapi_shim::is_float(output->type) && !nnapi_shim::is_8_bit(output->type)) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "an output of type %d found, one of floats or 8-bit integers needed",
                static_cast<int>(output->type));
  }
  *count = static_cast<uint32_t>(nnapi_shim::find_best(*output, data, best, *count));
  for (uint32_t i = 0; i < *count; ++i) best[i].label = nnapi_shim_label(model, best[i].index);
  return NNAPI_SHIM_OK;
}

uint32_t nnapi_shim_note_count(const nnapi_shim_model* model) {
  return model ? static_cast<uint32_t>(model->attachments.notes.size()) : 0;
}

const char* nnapi_shim_note_key(const nnapi_shim_model* model, uint32_t index) {
  return index < nnapi_shim_note_count(model) ? model->attachments.notes[index].first.c_str() : nullptr;
}

const char* nnapi_shim_note(const nnapi_shim_model* model, const char* key) {
  if (!model || !key) return nullptr;
  for (const auto& [name, value] : model->attachments.notes) {
    if (name == key) return value.c_str();
  }
  return nullptr;
}

int nnapi_shim_share_descriptor(nnapi_shim_model* model, int fd, size_t offset, size_t bytes,
                                nnapi_shim_memory** memory, nnapi_shim_error* error) {
  clear(error);
  if (!model || !memory) return fail_null(error, "nnapi_shim_share_descriptor", model ? "memory" : "model");
  *memory = nullptr;
  const nnapi_shim::NnapiLibrary* library = nullptr;
  const int status = model->load_library(&library, error);
  return status == NNAPI_SHIM_OK ? nnapi_shim::share_descriptor(*library, fd, offset, bytes, memory, error) : status;
}

int nnapi_shim_share_hardware_buffer(nnapi_shim_model* model, const AHardwareBuffer* buffer, size_t bytes,
                                     nnapi_shim_memory** memory, nnapi_shim_error* error) {
  clear(error);
  if (!model || !memory) return fail_null(error, "nnapi_shim_share_hardware_buffer", model ? "memory" : "model");
  *memory = nullptr;
  if (!buffer) return fail_null(error, "nnapi_shim_share_hardware_buffer", "buffer");
  const nnapi_shim::NnapiLibrary* library = nullptr;
  const int status = model->load_library(&library, error);
  return status == NNAPI_SHIM_OK ? nnapi_shim::share_hardware_buffer(*library, buffer, bytes, memory, error) : status;
}

void nnapi_shim_memory_free(nnapi_shim_memory* memory) {
  delete memory;
}

int nnapi_shim_run_shared(nnapi_shim_model* model, const nnapi_shim_shape* arguments, uint32_t argument_count,
                          const nnapi_shim_place* inputs, uint32_t input_count, const nnapi_shim_place* outputs,
                          uint32_t output_count, nnapi_shim_error* error) {
  clear(error);
  if (!model) return fail_null(error, "nnapi_shim_run_shared", "model");
  if (!inputs) input_count = 0;
  if (!outputs) output_count = 0;
  const nnapi_shim::NnapiLibrary* library = nullptr;
  int status = model->load_library(&library, error);
  if (status == NNAPI_SHIM_OK) status = nnapi_shim::check_places(*library, inputs, input_count, "input", error);
  if (status == NNAPI_SHIM_OK) status = nnapi_shim::check_places(*library, outputs, output_count, "output", error);
  if (status != NNAPI_SHIM_OK) return status;
  const std::vector<nnapi_shim_buffer> from = buffers_of(inputs, input_count), to = buffers_of(outputs, output_count);
  const nnapi_shim::RunBuffers buffers = {from.data(), input_count, to.data(), output_count, inputs, outputs};
  return model->run({arguments, argument_count}, buffers, error);
}

int nnapi_shim_probe(const char* path, const nnapi_shim_options* options, nnapi_shim_error* error) {
  nnapi_shim_model* model = nullptr;
  int status = nnapi_shim_open_file(path, &model, error);
  if (status == NNAPI_SHIM_OK) status = configure(*model, options, error);
  if (status == NNAPI_SHIM_OK) status = model->try_devices(error);
  nnapi_shim_close(model);
  return status;
}

int nnapi_shim_probe_process(const char* program, const char* path, const nnapi_shim_options* options,
                             uint64_t limit_ns, nnapi_shim_error* error) {
  clear(error);
  if (!program || !path) return fail_null(error, "nnapi_shim_probe_process", program ? "path" : "program");
  nnapi_shim::Options read;
  const int status = nnapi_shim::read_options(options, &read, error);
  if (status != NNAPI_SHIM_OK) return status;
  if (read.cache_directory.empty()) return nnapi_shim::fail_no_cache(error);
  return nnapi_shim::run_trial_process({program, path, read, limit_ns}, error);
}

void nnapi_shim_get_profile(nnapi_shim_model* model, nnapi_shim_profile* profile) {
  if (!profile) return;
  *profile = nnapi_shim_profile{};
  if (model) model->get_profile(profile);
}

void nnapi_shim_last_failure(nnapi_shim_model* model, nnapi_shim_error* error) {
  clear(error);
  if (model && error) model->last_failure(error);
}

void nnapi_shim_choice(nnapi_shim_model* model, char* text, size_t bytes) {
  if (!text || bytes == 0) return;
  text[0] = '\0';
  if (model) model->choice(text, bytes);
}

int nnapi_shim_visit_operations(nnapi_shim_model* model, const nnapi_shim_shape* arguments, uint32_t argument_count,
                                const char* device, nnapi_shim_operation_visitor visit, void* user,
                                nnapi_shim_error* error) {
  clear(error);
  if (!model || !visit) return fail_null(error, "nnapi_shim_visit_operations", model ? "visit" : "model");
  return model->visit_operations({arguments, argument_count}, device, visit, user, error);
}

int nnapi_shim_visit_devices(const nnapi_shim_options* options, nnapi_shim_device_visitor visit, void* user,
                             nnapi_shim_error* error) {
  clear(error);
  if (!visit) return fail_null(error, "nnapi_shim_visit_devices", "visit");
  nnapi_shim::Options read;
  int status = nnapi_shim::read_options(options, &read, error);
  const nnapi_shim::NnapiLibrary* library = nullptr;
  if (status == NNAPI_SHIM_OK) {
    status = nnapi_shim::load_nnapi(read.library_path(), read.is_support_library, &library, error);
  }
  std::vector<nnapi_shim::Device> devices;
  if (status == NNAPI_SHIM_OK) status = nnapi_shim::list_devices(*library, &devices, error);
  if (status != NNAPI_SHIM_OK) return status;
  for (const nnapi_shim::Device& device : devices) {
    visit(user, device.name, device.version, device.type, device.feature_level_code);
  }
  return status;
}

}  // extern "C"
