#include "lib/converter/verify_inputs.h"

#include <ATen/ATen.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <fstream>

#include "lib/base/error.h"
#include "lib/converter/sample_inputs.h"

namespace nnapi_convert {
namespace {

constexpr int64_t kFlexibleSize = 96;

std::vector<c10::IValue> elements_of(const c10::IValue& value) {
  if (value.isTuple()) return value.toTupleRef().elements().vec();
  return value.isList() ? value.toListRef().vec() : std::vector<c10::IValue>();
}

std::vector<Tensors> read_inputs_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream && bytes.empty()) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}", path));
  c10::IValue value;
  try {
    value = torch::jit::pickle_load(bytes);
  } catch (const std::exception& error) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}; write it with torch.save((x, ...), path)",
                                                       path, first_line(error)));
  }
  const std::vector<c10::IValue> elements = elements_of(value);
  std::vector<Tensors> samples;
  if (!elements.empty() && !elements[0].isTensor()) {
    for (const c10::IValue& sample : elements) flatten(sample, samples.emplace_back());
  } else {
    flatten(value, samples.emplace_back());
  }
  return samples;
}

// The type to make a sample of: sizes from the spec, else from the converted file; flexible ones get a default.
TensorType sample_type(const MetadataInput& input, const InputSpec* spec) {
  TensorType type = input.type;
  for (size_t axis = 0; axis < type.rank(); ++axis) {
    if (type.dims[axis].is_fixed()) continue;
    const bool is_given = spec != nullptr && axis < spec->sizes.size() && spec->sizes[axis];
    type.dims[axis] = is_given ? Dim(*spec->sizes[axis]) : Dim(axis == 0 ? 1 : kFlexibleSize);
  }
  return type;
}

}  // namespace

void load_host_library() {
  const std::string path = host_library_path();
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't load the host's NNAPI {}: {}", path, dlerror()));
  }
}

void flatten(const c10::IValue& value, Tensors& tensors) {
  if (value.isTensor()) {
    tensors.push_back(value.toTensor());
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) flatten(element, tensors);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) flatten(entry.value(), tensors);
  } else if (value.isTensorList() || value.isList()) {
    for (const c10::IValue& element : value.toListRef()) flatten(element, tensors);
  }
}

Tensors with_original_dtypes(const Tensors& inputs, const Metadata& metadata) {
  Tensors result;
  for (size_t i = 0; i < inputs.size(); ++i) result.push_back(to_interface(inputs[i], metadata.inputs[i].original));
  return result;
}

std::vector<Tensors> make_samples(const VerifyRequest& request, const Metadata& metadata, int count) {
  if (!request.inputs_file.empty()) {
    std::vector<Tensors> samples = read_inputs_file(request.inputs_file);
    for (Tensors& sample : samples) {
      if (sample.size() != metadata.inputs.size()) {
        throw ConvertError(ExitCode::kBadFile, fmt::format("{}: {} tensors found, {} needed", request.inputs_file,
                                                           sample.size(), metadata.inputs.size()));
      }
      for (size_t i = 0; i < sample.size(); ++i) sample[i] = to_interface(sample[i], metadata.inputs[i].type);
    }
    return samples;
  }
  std::vector<Tensors> samples(static_cast<size_t>(count));
  for (size_t number = 0; number < samples.size(); ++number) {
    for (size_t i = 0; i < metadata.inputs.size(); ++i) {
      const InputSpec* spec = i < request.inputs.size() ? &request.inputs[i] : nullptr;
      const uint64_t seed = request.seed + 1000 * (number + 1) + i;
      samples[number].push_back(random_tensor(sample_type(metadata.inputs[i], spec), seed, kFlexibleSize));
    }
  }
  return samples;
}

}  // namespace nnapi_convert
