// SPDX-License-Identifier: BSD-3-Clause
// The fuzzer of what the shim reads: libFuzzer's entry points. The first byte of an input chooses what the others are:
// a buffer, an archive, a package, driver rules or a picture. Word count and checksum of a buffer are made right, so
// that changes get past them.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/format/crc32.h"
#include "lib/format/package_format.h"
#include "lib/shim/archive.h"
#include "lib/shim/driver_rules.h"
#include "lib/shim/model_buffer.h"
#include "lib/shim/open_archive.h"
#include "lib/shim/package_index.h"
#include "tests/shim/fuzz_picture.h"

namespace {

using namespace nnapi_shim;

enum Kind : uint8_t { kBuffer, kArchive, kPackage, kRules, kPicture, kKinds };

volatile uint64_t g_read;  // so that reading is not left out

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

void check_operand(const OperandView& operand) {
  uint64_t sum = std::strlen(operand.name);
  for (uint32_t i = 0; i < operand.rank; ++i) {
    require(operand.dims[i] >= 1 && operand.dims[i] <= 0x7FFFFFFF, "dimensions are known and positive");
  }
  for (uint32_t i = 0; i < operand.channel_scale_count; ++i) sum += operand.channel_scales[i] > 0 ? 1 : 0;
  g_read = g_read + sum;
}

void check_values(const ModelView& view, size_t number, uint64_t weight_bytes) {
  const SubgraphView& model = view.models[number];
  uint64_t sum = 0;
  for (const ValueView& value : model.values) {
    require(value.operand < model.operands.size(), "values are of operands");
    if (value.source == format::ValueSource::kImmediate) {
      for (uint64_t i = 0; i < value.length; ++i) sum += static_cast<const uint8_t*>(value.data)[i];
    } else if (value.source == format::ValueSource::kWeight || value.source == format::ValueSource::kFloat16Weight ||
               value.source == format::ValueSource::kInt8Weight) {
      require(value.offset <= weight_bytes && value.length <= weight_bytes - value.offset, "weights are in range");
      const OperandView& operand = model.operands[value.operand];
      uint64_t numbers = 1;
      for (uint32_t axis = 0; axis < operand.rank; ++axis) numbers *= operand.dims[axis];
      require(value.source != format::ValueSource::kInt8Weight ||
                  (numbers == value.length && operand.dims[operand.channel_axis] == operand.channel_scale_count),
              "int8 weights have a number for each element, and a scale for each channel");
    } else if (value.source == format::ValueSource::kModel) {
      require(value.model > number && value.model < view.models.size(), "subgraphs come later");
    }
  }
  g_read = g_read + sum;
}

void check_view(const ModelView& view, uint64_t weight_bytes) {
  for (size_t number = 0; number < view.models.size(); ++number) {
    const SubgraphView& model = view.models[number];
    for (const OperandView& operand : model.operands) check_operand(operand);
    check_values(view, number, weight_bytes);
    for (const OperationView& operation : model.operations) {
      g_read = g_read + std::strlen(operation.name) + std::strlen(operation.source);
      for (uint32_t i = 0; i < operation.input_count; ++i) {
        require(operation.inputs[i] < model.operands.size(), "an operation's inputs are operands");
      }
      for (uint32_t i = 0; i < operation.output_count; ++i) {
        require(operation.outputs[i] < model.operands.size(), "an operation's outputs are operands");
      }
    }
    for (const uint32_t operand : model.input_operands) require(operand < model.operands.size(), "inputs are operands");
    for (const uint32_t operand : model.output_operands) require(operand < model.operands.size(), "outputs too");
  }
}

// Binds to sizes that fit the ranks and fixed sizes of the words, which stand in the buffer.
void bind(const ModelBuffer& buffer) {
  const std::vector<int32_t>& words = buffer.words();
  for (const int64_t flexible : {1, 2, 7, 224, 0x7FFFFFFF}) {
    std::vector<std::vector<int64_t>> sizes(buffer.argument_count());
    std::vector<nnapi_shim_shape> shapes;
    size_t at = format::kHeaderWords;
    for (std::vector<int64_t>& argument : sizes) {
      argument.resize(static_cast<size_t>(words[at++]));
      for (int64_t& size : argument) {
        size = words[at] == 0 ? flexible : words[at];
        ++at;
      }
      shapes.push_back({static_cast<uint32_t>(argument.size()), argument.data()});
    }
    nnapi_shim_error error{};
    ModelView view;
    const int status = buffer.bind(shapes.data(), buffer.argument_count(), &view, &error);
    require(status == NNAPI_SHIM_OK || (status == NNAPI_SHIM_BAD_ARGUMENT && error.message[0] != 0), "one sentence");
    if (status == NNAPI_SHIM_OK) check_view(view, buffer.weight_bytes());
  }
}

// Reads samples whose inputs are not large, and compares a device's zeros with them.
void read_samples(const ModelBuffer& buffer) {
  for (size_t number = 0; number < buffer.sample_count(); ++number) {
    nnapi_shim_error error{};
    Sample sample;
    const int status = buffer.read_sample(number, &sample, &error);
    require(status == NNAPI_SHIM_OK || (status == NNAPI_SHIM_BAD_MODEL && error.message[0] != 0), "one sentence");
    if (status != NNAPI_SHIM_OK) continue;
    uint64_t sum = 0;
    for (const std::vector<uint8_t>& input : sample.inputs) {
      for (const uint8_t byte : input) sum += byte;
    }
    g_read = g_read + sum;
    for (size_t i = 0; i < sample.outputs.size(); ++i) {
      const nnapi_shim_tensor& tensor = sample.output_tensors[i];
      if (tensor.bytes > 1 << 20) continue;
      const std::vector<uint8_t> zeros(tensor.bytes);
      compare_output(sample.outputs[i], tensor, static_cast<uint32_t>(i), zeros.data(), &error);
    }
  }
}

void check_parsed(const ModelBuffer* buffer, const nnapi_shim_error& error) {
  require(buffer != nullptr || (error.status == NNAPI_SHIM_BAD_MODEL && error.message[0] != 0), "one sentence");
  if (buffer == nullptr) return;
  bind(*buffer);
  read_samples(*buffer);
}

uint64_t weight_bytes_of(const std::vector<int32_t>& words) {
  if (words.size() < format::kHeaderWords) return 0;
  return static_cast<uint32_t>(words[format::kWeightBytesLow]) |
         uint64_t{static_cast<uint32_t>(words[format::kWeightBytesHigh])} << 32;
}

void fuzz_package(std::vector<int32_t> words) {
  namespace package = nnapi_convert::package_format;
  if (words.size() < package::kHeaderWords) return;
  words[package::kVersionWord] = package::kVersion;
  words[package::kWordCount] = static_cast<int32_t>(words.size());
  words[package::kChecksum] = 0;
  words[package::kChecksum] = static_cast<int32_t>(nnapi_convert::crc32(words.data(), words.size() * sizeof(int32_t)));
  const uint64_t weight_bytes = static_cast<uint32_t>(words[package::kWeightBytesLow]) |
                                uint64_t{static_cast<uint32_t>(words[package::kWeightBytesHigh])} << 32;
  nnapi_shim_error error{};
  std::vector<PackageEntry> entries;
  const bool is_good = read_package(words, weight_bytes, &entries, &error);
  require(is_good || (error.status == NNAPI_SHIM_BAD_MODEL && error.message[0] != 0), "one sentence");
  if (!is_good) return;
  for (const PackageEntry& entry : entries) {
    require(entry.first_word <= words.size() && entry.word_count <= words.size() - entry.first_word, "words in range");
    require(entry.weight_begin <= weight_bytes && entry.weight_bytes <= weight_bytes - entry.weight_begin,
            "weights too");
    nnapi_shim_error problem{};
    const auto buffer =
        ModelBuffer::parse(words.data() + entry.first_word, entry.word_count, entry.weight_bytes, &problem);
    check_parsed(buffer.get(), problem);
  }
}

void fuzz_buffer(std::vector<int32_t> words) {
  if (words.size() >= format::kHeaderWords) {
    words[format::kWordCount] = static_cast<int32_t>(words.size());
    words[format::kChecksum] = 0;
    words[format::kChecksum] = static_cast<int32_t>(nnapi_convert::crc32(words.data(), words.size() * sizeof(int32_t)));
  }
  nnapi_shim_error error{};
  const auto buffer = ModelBuffer::parse(words.data(), words.size(), weight_bytes_of(words), &error);
  check_parsed(buffer.get(), error);
}

// Describes the tensors of all segments for sizes that fit the arguments.
void fuzz_chain(const std::shared_ptr<const Archive>& archive) {
  nnapi_shim_error error{};
  const auto model = open_archive(archive, &error);
  require(model || (error.status == NNAPI_SHIM_BAD_MODEL && error.message[0] != 0), "one sentence");
  if (!model) return;
  std::vector<std::vector<int64_t>> sizes;
  for (uint32_t i = 0; i < model->argument_count(); ++i) {
    sizes.push_back(model->argument_sizes(i));
    for (int64_t& each : sizes.back()) each = each == 0 ? 2 : each;
  }
  std::vector<nnapi_shim_shape> shapes;
  for (const std::vector<int64_t>& each : sizes) shapes.push_back({static_cast<uint32_t>(each.size()), each.data()});
  std::shared_ptr<const CallTensors> tensors;
  const int described = model->describe(shapes, &tensors, &error);
  require(described == NNAPI_SHIM_OK || error.message[0] != 0, "one sentence");
  if (described != NNAPI_SHIM_OK) return;
  require(tensors->outputs.size() == model->output_count(), "all outputs");
  for (const nnapi_shim_tensor& tensor : tensors->outputs) g_read = g_read + tensor.bytes;
}

void fuzz_archive(const uint8_t* data, size_t size) {
  static const int fd = ::memfd_create("archive", 0);
  require(fd >= 0 && ::ftruncate(fd, 0) == 0, "a file in memory");
  require(::pwrite(fd, data, size, 0) == static_cast<ssize_t>(size), "a file in memory");
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  nnapi_shim_error error{};
  Archive archive;
  const int status = archive.open(path.c_str(), &error);
  require(status == NNAPI_SHIM_OK || error.message[0] != 0, "one sentence");
  if (status != NNAPI_SHIM_OK) return;
  for (const ArchivePart& part : archive.parts()) {
    const Weights& weights = part.weights;
    require(weights.bytes <= size && part.words.size() <= size / sizeof(int32_t), "records are within the file");
    g_read = g_read + nnapi_convert::crc32(weights.data, static_cast<size_t>(weights.bytes));
    fuzz_buffer(part.words);
  }
  fuzz_chain(std::make_shared<const Archive>(std::move(archive)));
}

void fuzz_rules(const uint8_t* data, size_t size) {
  nnapi_shim_error error{};
  DriverRules rules;
  const int status = rules.read("rules", reinterpret_cast<const char*>(data), size, &error);
  require(status == NNAPI_SHIM_OK || (error.message[0] != 0 && rules.is_empty()), "one sentence, and no rule");
  if (rules.find("qti-dsp", "1.3-21:build_lahaina", nullptr)) g_read = g_read + 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto kind = static_cast<Kind>(data[0] % kKinds);
  ++data;
  --size;
  if (kind == kArchive) {
    fuzz_archive(data, size);
    return 0;
  }
  if (kind == kRules) {
    fuzz_rules(data, size);
    return 0;
  }
  if (kind == kPicture) {
    fuzz_picture(data, size);
    return 0;
  }
  std::vector<int32_t> words(size / sizeof(int32_t));
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * sizeof(int32_t));
  kind == kPackage ? fuzz_package(words) : fuzz_buffer(words);
  return 0;
}
