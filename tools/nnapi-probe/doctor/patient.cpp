// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/doctor/patient.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "lib/format/buffer_samples.h"
#include "lib/format/crc32.h"
#include "lib/format/operation_table.h"
#include "lib/shim/buffer_views.h"
#include "lib/shim/failure.h"
#include "lib/shim/package_index.h"
#include "lib/shim/tensors.h"
#include "tools/nnapi-probe/doctor/facts.h"

namespace nnapi_doctor {
namespace {

constexpr uint64_t kAlignment = 64;

// Takes the words and the weights of one model of a package.
bool choose_variant(const std::vector<int32_t>& words, uint32_t variant, std::vector<int32_t>* chosen,
                    nnapi_shim::Weights* weights, nnapi_shim_error* error) {
  *chosen = words;
  const bool is_package = nnapi_shim::is_package(words.data(), words.size());
  std::vector<nnapi_shim::PackageEntry> entries;
  if (is_package && !nnapi_shim::read_package(words, weights->bytes, &entries, error)) return false;
  const size_t count = is_package ? entries.size() : 1;
  if (variant > count) {
    nnapi_shim::fail(error, NNAPI_SHIM_BAD_ARGUMENT, "--variant %u: the file has %zu model%s", variant, count,
                     count == 1 ? "" : "s");
    return false;
  }
  if (!is_package) return true;
  const nnapi_shim::PackageEntry& entry = entries[variant > 0 ? variant - 1 : 0];
  chosen->assign(words.begin() + static_cast<std::ptrdiff_t>(entry.first_word),
                 words.begin() + static_cast<std::ptrdiff_t>(entry.first_word + entry.word_count));
  weights->data += entry.weight_begin;
  weights->bytes = entry.weight_bytes;
  weights->fd = -1;  // the model's part may begin within a page
  return true;
}

// Returns made-up values of an input: floats from -1 to 1, any integers for quantised types, and 0 for other types,
// which may be indices.
std::vector<uint8_t> made_input(const nnapi_shim_tensor& tensor, uint32_t seed) {
  std::vector<uint8_t> bytes(tensor.bytes, 0);
  const bool is_float = tensor.type == static_cast<int32_t>(nnapi_convert::OperandCode::TENSOR_FLOAT32);
  if (is_float) {
    for (size_t i = 0; i < tensor.bytes / sizeof(float); ++i) {
      const float value = nnapi_convert::buffer_samples::uniform_float(seed, i, -1, 1);
      std::memcpy(&bytes[i * sizeof value], &value, sizeof value);
    }
  } else if (tensor.scale > 0) {
    for (size_t i = 0; i < tensor.bytes; ++i) {
      bytes[i] = static_cast<uint8_t>(nnapi_convert::buffer_samples::uniform_integer(seed, i, 0, 255));
    }
  }
  return bytes;
}

// Makes inputs for a part without samples, whose sizes have to be fixed.
int make_sample(Part* part, nnapi_shim_error* error) {
  part->is_made = true;
  part->samples.resize(1);
  part->views.resize(1);
  nnapi_shim::Sample& sample = part->samples[0];
  for (uint32_t i = 0; i < part->buffer->argument_count(); ++i) {
    const std::vector<int64_t> sizes = part->buffer->argument_sizes(i);
    sample.ranks.push_back(static_cast<uint32_t>(sizes.size()));
    sample.sizes.insert(sample.sizes.end(), sizes.begin(), sizes.end());
  }
  const std::vector<nnapi_shim_shape> shapes = sample.shapes();
  if (part->buffer->bind(shapes.data(), static_cast<uint32_t>(shapes.size()), &part->views[0], error) !=
      NNAPI_SHIM_OK) {
    return nnapi_shim::fail(error, NNAPI_SHIM_BAD_MODEL,
                            "the file has flexible sizes and no samples to examine a device by; convert the model with "
                            "--self-check 2");
  }
  const nnapi_shim::SubgraphView& main = part->main();
  int status = nnapi_shim::describe_tensors(main, main.inputs, &sample.input_tensors, error);
  if (status == NNAPI_SHIM_OK) {
    status = nnapi_shim::describe_tensors(main, main.outputs, &sample.output_tensors, error);
  }
  for (const nnapi_shim_tensor& tensor : sample.input_tensors) {
    sample.inputs.push_back(made_input(tensor, static_cast<uint32_t>(sample.inputs.size() + 1)));
  }
  part->cutter = std::make_unique<ModelCutter>(part->views[0]);
  return status;
}

// Reads the samples, each with its sizes filled in.
int read_samples(Part* part, nnapi_shim_error* error) {
  const size_t count = part->buffer->sample_count();
  if (count == 0) return make_sample(part, error);
  part->samples.resize(count);
  part->views.resize(count);
  for (size_t i = 0; i < count; ++i) {
    if (const int status = part->buffer->read_sample(i, &part->samples[i], error)) return status;
    const std::vector<nnapi_shim_shape> shapes = part->samples[i].shapes();
    const int status = part->buffer->bind(shapes.data(), static_cast<uint32_t>(shapes.size()), &part->views[i], error);
    if (status != NNAPI_SHIM_OK) return status;
  }
  part->cutter = std::make_unique<ModelCutter>(part->views[0]);
  return NNAPI_SHIM_OK;
}

// Describes the operands. Channels are the last axis, or axis 1 for the results of operations in NCHW.
void describe_operands(Part* part) {
  const nnapi_shim::SubgraphView& main = part->main();
  for (const nnapi_shim::OperandView& operand : main.operands) {
    TensorForm form;
    form.type = operand.type;
    form.dims.assign(operand.dims, operand.dims + operand.rank);
    form.channel_axis = operand.rank > 0 ? operand.rank - 1 : 0;
    part->forms.push_back(std::move(form));
  }
  const OperationFacts facts(part->main(), *part->cutter);
  for (uint32_t number = 0; number < main.operations.size(); ++number) {
    if (!facts.is_nchw(number)) continue;
    const nnapi_shim::OperationView& operation = main.operations[number];
    for (uint32_t i = 0; i < operation.output_count; ++i) part->forms[operation.outputs[i]].channel_axis = 1;
  }
}

int open_part(const nnapi_shim::ArchivePart& source, uint32_t variant, Part* part, nnapi_shim_error* error) {
  std::vector<int32_t> words;
  part->weights = source.weights;
  if (!choose_variant(source.words, variant, &words, &part->weights, error)) return NNAPI_SHIM_BAD_MODEL;
  part->buffer = nnapi_shim::ModelBuffer::parse(words.data(), words.size(), part->weights.bytes, error);
  if (!part->buffer) return NNAPI_SHIM_BAD_MODEL;
  if (const int status = read_samples(part, error)) return status;
  describe_operands(part);
  return NNAPI_SHIM_OK;
}

}  // namespace

ValueStore::~ValueStore() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

void ValueStore::release() const {
  if (is_file_) ::madvise(data_, bytes_, MADV_DONTNEED);
}

std::string ValueStore::open(std::vector<Part>* parts, const std::string& folder) {
  uint64_t bytes = kAlignment;
  for (Part& part : *parts) {
    const nnapi_shim::SubgraphView& main = part.main();
    part.places.assign(main.operands.size(), kNoPlace);
    for (uint32_t i = 0; i < main.operands.size(); ++i) {
      uint64_t size = 0;
      if (part.cutter->is_constant(i) || !nnapi_shim::is_tensor(main.operands[i].type)) continue;
      if (!nnapi_shim::operand_bytes(main.operands[i], &size)) return "a tensor of the model has 4 GiB or more";
      part.places[i] = bytes;
      bytes += (size + kAlignment) / kAlignment * kAlignment + kAlignment;
    }
  }
  uint64_t most_results = 0;
  for (const Part& part : *parts) {
    for (const nnapi_shim::OperationView& operation : part.main().operations) {
      uint64_t results = 0;
      for (uint32_t i = 0; i < operation.output_count; ++i) {
        uint64_t size = 0;
        nnapi_shim::operand_bytes(part.main().operands[operation.outputs[i]], &size);
        results += size + kAlignment;
      }
      most_results = std::max(most_results, results);
    }
  }
  scratch_ = static_cast<size_t>(bytes);
  bytes += most_results;
  kept_ = static_cast<size_t>(bytes);
  bytes += most_results;
  if (bytes > (uint64_t{1} << 33) || bytes > SIZE_MAX / 2) return "the values of the model take more than 8 GiB";
  bytes_ = static_cast<size_t>(bytes);
  int fd = -1;
  if (!folder.empty()) {
    const std::string path = folder + "/doctor.values";
    fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return "can't write " + path + ": " + std::strerror(errno);
    ::unlink(path.c_str());
    const int code = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes_));
    if (code != 0) {
      ::close(fd);
      return "can't write " + std::to_string(bytes_) + " bytes to " + path + ": " + std::strerror(code);
    }
  }
  void* mapped = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
  if (fd >= 0) ::close(fd);
  if (mapped == MAP_FAILED) return std::string("can't map the values of the model: ") + std::strerror(errno);
  data_ = static_cast<uint8_t*>(mapped);
  is_file_ = fd >= 0;
  for (Part& part : *parts) choose_sample(&part, 0);
  return "";
}

void ValueStore::choose_sample(Part* part, size_t sample) const {
  for (uint32_t i = 0; i < part->places.size(); ++i) {
    if (part->places[i] != kNoPlace) set_known(*part, i, false);
  }
  const std::vector<uint32_t>& inputs = part->main().input_operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (part->places[inputs[i]] == kNoPlace) continue;
    const std::vector<uint8_t>& from = part->samples[sample].inputs[i];
    std::memcpy(at(*part, inputs[i]), from.data(), from.size());
    set_known(*part, inputs[i], true);
  }
  part->chosen = sample;
}

int Patient::open(const std::string& file, uint32_t variant, const std::string& folder, nnapi_shim_error* error) {
  path = file;
  if (const int status = archive.open(file.c_str(), error)) return status;
  uint32_t sum = 0;
  parts.resize(archive.parts().size());
  for (size_t i = 0; i < parts.size(); ++i) {
    if (const int status = open_part(archive.parts()[i], variant, &parts[i], error)) return status;
    const std::vector<int32_t>& words = parts[i].buffer->words();
    sum = sum * 31 + nnapi_convert::crc32(words.data(), words.size() * sizeof(int32_t));
  }
  archive.drop_words();
  if (parts.empty()) return nnapi_shim::fail(error, NNAPI_SHIM_BAD_MODEL, "%.200s has no model", file.c_str());
  char text[24];
  std::snprintf(text, sizeof text, "%08x", sum);
  id = text;
  const std::string problem = store.open(&parts, folder);
  if (problem.empty()) return NNAPI_SHIM_OK;
  return nnapi_shim::fail(error, NNAPI_SHIM_FAILED, "%.400s", problem.c_str());
}

}  // namespace nnapi_doctor
