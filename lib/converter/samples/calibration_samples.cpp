// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/samples/calibration_samples.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "lib/base/error.h"
#include "lib/base/file_bytes.h"
#include "lib/base/numpy_file.h"
#include "lib/base/picture_list.h"
#include "lib/converter/frontend/index_range.h"
#include "lib/converter/frontend/sample_inputs.h"
#include "lib/converter/graph/read_problem.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/converter/load/saved_tensors.h"
#include "lib/converter/samples/picture_samples.h"
#include "lib/converter/samples/sample_limits.h"

namespace nnapi_convert {
namespace {

using Sample = std::vector<at::Tensor>;

constexpr int kMostRandom = 100'000;

[[noreturn]] void fail(const std::string& source, const std::string& problem) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("--calibrate {}: {}", source, problem));
}

bool fits(at::IntArrayRef sizes, const Dims& dims) {
  if (sizes.size() != dims.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].is_fixed() && dims[i].value() != sizes[i]) return false;
  }
  return true;
}

// Cuts the tensor that a file has for one input into samples: it may hold one, several along the first axis, or one
// without the axis of the batch. Empty where it doesn't fit.
std::vector<at::Tensor> pieces_of(const at::Tensor& tensor, const Dims& dims) {
  if (fits(tensor.sizes(), dims)) return {tensor};
  if (dims.empty()) return {};
  const Dims rest(dims.begin() + 1, dims.end());
  const int64_t batch = dims[0].fixed_value().value_or(1);
  if (fits(tensor.sizes(), rest) && batch == 1) return {tensor.unsqueeze(0)};
  if (tensor.dim() != static_cast<int64_t>(dims.size()) || !fits(tensor.sizes().slice(1), rest) || batch <= 0)
    return {};
  std::vector<at::Tensor> pieces;
  for (int64_t begin = 0; begin + batch <= tensor.size(0); begin += batch) {
    pieces.push_back(tensor.narrow(0, begin, batch));
  }
  return pieces;
}

uint64_t bytes_of(const Sample& sample) {
  uint64_t bytes = 0;
  for (const at::Tensor& tensor : sample) bytes += tensor.nbytes();
  return bytes;
}

class SampleList {
 public:
  SampleList(const CalibrationOptions& options, const ModuleInterface& interface)
      : source_(options.source), interface_(interface) {}

  // Adds the samples in one tensor for each input; each tensor has to hold as many. Messages name them `place`.
  void add(const std::vector<at::Tensor>& tensors, const std::string& place) {
    if (tensors.size() != interface_.inputs.size()) {
      fail(source_, fmt::format("{}: {} tensors found, {} needed, one for each input", place, tensors.size(),
                                interface_.inputs.size()));
    }
    std::vector<std::vector<at::Tensor>> pieces;
    for (size_t i = 0; i < tensors.size(); ++i) pieces.push_back(checked_pieces(tensors[i], i, place));
    for (const auto& each : pieces) {
      if (each.size() == pieces[0].size()) continue;
      fail(source_, fmt::format("{}: samples of {} and {} found, as many of each input needed", place, each.size(),
                                pieces[0].size()));
    }
    for (size_t number = 0; number < pieces[0].size(); ++number) {
      Sample sample;
      for (const auto& each : pieces) sample.push_back(each[number]);
      samples_.push_back(std::move(sample));
    }
  }

  size_t size() const { return samples_.size(); }
  uint64_t bytes_of_first() const { return bytes_of(samples_.front()); }
  CalibrationSamples take() { return std::move(samples_); }

 private:
  std::vector<at::Tensor> checked_pieces(const at::Tensor& tensor, size_t input, const std::string& place) const {
    const InterfaceInput& needed = interface_.inputs[input];
    const at::Tensor values = tensor.is_quantized() ? tensor.dequantize() : tensor;
    if (values.is_complex() || (values.is_floating_point() && !c10::isFloatingType(needed.type.dtype))) {
      fail(source_, fmt::format("{}: input {}: dtype {} found, {} needed", place, needed.name,
                                dtype_name(values.scalar_type()), dtype_name(needed.type.dtype)));
    }
    std::vector<at::Tensor> pieces = pieces_of(values, needed.type.dims);
    if (pieces.empty()) {
      fail(source_, fmt::format("{}: input {}: shape [{}] found, {} needed", place, needed.name,
                                fmt::join(tensor.sizes(), ", "), to_text(needed.type.dims)));
    }
    for (at::Tensor& piece : pieces) {
      piece = piece.to(needed.type.dtype).contiguous();
      if (piece.is_floating_point() && !at::isfinite(piece).all().item().toBool()) {
        fail(source_, fmt::format("{}: input {} has NaN or infinite values", place, needed.name));
      }
    }
    return pieces;
  }

  const std::string& source_;
  const ModuleInterface& interface_;
  CalibrationSamples samples_;
};

std::vector<at::Tensor> tensors_of(const c10::IValue& value) {
  std::vector<at::Tensor> tensors;
  if (value.isTensor()) return {value.toTensor()};
  std::vector<c10::IValue> elements;
  if (value.isTuple()) elements = value.toTupleRef().elements().vec();
  if (value.isList()) elements = value.toListRef().vec();
  for (const c10::IValue& element : elements) {
    if (element.isTensor()) tensors.push_back(element.toTensor());
  }
  return tensors.size() == elements.size() ? tensors : std::vector<at::Tensor>();
}

// Reads a file of torch.save: a tensor, a tuple of one tensor for each input, or a list of such.
void read_torch(const std::string& path, size_t inputs, SampleList& samples) {
  calibration::check_readable(path);
  c10::IValue value;
  try {
    value = load_saved(path);
  } catch (const std::exception& error) {
    fail(path, fmt::format("no samples: {}; write them with torch.save([tensor, ...], path), or of several inputs "
                           "torch.save([(a, b), ...], path)",
                           read_problem(error)));
  }
  const bool is_one = value.isTensor() || (value.isTuple() && tensors_of(value).size() == inputs);
  if (is_one) return samples.add(tensors_of(value), "the file");
  if (!value.isList() && !value.isTuple()) fail(path, "no samples: no tensor, list or tuple found");
  const std::vector<c10::IValue> elements =
      value.isList() ? value.toListRef().vec() : value.toTupleRef().elements().vec();
  for (size_t i = 0; i < elements.size(); ++i) samples.add(tensors_of(elements[i]), fmt::format("sample {}", i));
}

at::ScalarType dtype_of(calibration::ElementType type) {
  using calibration::ElementType;
  switch (type) {
    case ElementType::kFloat16:
      return at::kHalf;
    case ElementType::kFloat32:
      return at::kFloat;
    case ElementType::kFloat64:
      return at::kDouble;
    case ElementType::kInt8:
      return at::kChar;
    case ElementType::kUInt8:
      return at::kByte;
    case ElementType::kInt16:
      return at::kShort;
    case ElementType::kInt32:
      return at::kInt;
    case ElementType::kInt64:
      return at::kLong;
    case ElementType::kBool:
      return at::kBool;
  }
  return at::kFloat;
}

at::Tensor to_torch(const calibration::Array& array) {
  const at::Tensor tensor = at::empty(array.shape, at::TensorOptions(dtype_of(array.type)));
  if (!array.bytes.empty()) std::memcpy(tensor.data_ptr(), array.bytes.data(), array.bytes.size());
  return tensor;
}

// Reads arrays. Those of an archive belong to the inputs by their names; in their order where none has an input's name.
// Messages call the file `place`.
void read_numpy(const std::string& path, const std::string& place, const ModuleInterface& interface,
                SampleList& samples, Diagnostics& diagnostics) {
  const std::vector<calibration::Array> arrays = calibration::read_numpy_file(path);
  std::map<std::string, at::Tensor> named;
  std::vector<at::Tensor> in_order, by_name;
  std::vector<std::string> found_names, needed_names;
  for (const calibration::Array& array : arrays) {
    in_order.push_back(to_torch(array));
    named[array.name] = in_order.back();
    found_names.push_back(array.name);
  }
  for (const InterfaceInput& input : interface.inputs) {
    const auto found = named.find(input.name);
    if (found != named.end()) by_name.push_back(found->second);
    needed_names.push_back(input.name);
  }
  if (by_name.size() == interface.inputs.size()) return samples.add(by_name, place);
  if (!by_name.empty()) {
    fail(path, fmt::format("arrays {} found, {} needed: one for each input, by its name", fmt::join(found_names, ", "),
                           fmt::join(needed_names, ", ")));
  }
  // numpy.savez(path, a, b) gives such names.
  const bool is_unnamed = std::all_of(found_names.begin(), found_names.end(),
                                      [](const std::string& name) { return name.rfind("arr_", 0) == 0; });
  samples.add(in_order, place);
  if (needed_names.size() == 1 || is_unnamed) return;
  diagnostics.warn(
      fmt::format("calibration: arrays {} are taken for the inputs {} in this order: none has an input's name",
                  fmt::join(found_names, ", "), fmt::join(needed_names, ", ")));
}

// Reads the files of a folder into `data`. If the first file is one sample, takes all files to be, and reads no more
// than are used. Samples are numbered as files where each file is one.
void read_arrays(const std::vector<calibration::ListedPicture>& files, const ModuleInterface& interface,
                 SampleList& samples, CalibrationData& data, Diagnostics& diagnostics) {
  std::vector<size_t> used(files.size());
  std::iota(used.begin(), used.end(), size_t{0});
  bool are_single = true;
  for (size_t i = 0; i < used.size(); ++i) {
    const calibration::ListedPicture& file = files[used[i]];
    const size_t before = samples.size();
    Diagnostics of_file;  // the other files' warnings repeat those of the first
    read_numpy(file.path, file.name, interface, samples, i == 0 ? diagnostics : of_file);
    const bool is_one = samples.size() == before + 1;
    are_single = are_single && is_one;
    if (i == 0 && is_one) thin_out(used, most_samples(samples.bytes_of_first()));
    for (size_t number = before; number < samples.size(); ++number) {
      const std::string name = is_one ? file.name : fmt::format("{}[{}]", file.name, number - before);
      data.names.push_back({used.at(i), name, file.path, file.label, 0, 0});
    }
  }
  if (used.size() < files.size()) warn_of_thinning(used.size(), files.size(), "files", diagnostics);
  data.pictures = files;
  data.found = are_single ? files.size() : samples.size();
  if (are_single) return;
  for (size_t number = 0; number < data.names.size(); ++number) data.names[number].number = number;
}

int random_count(const std::string& source) {
  const std::string text = source.substr(std::string(kRandomSource).size());
  const bool is_number = !text.empty() && text.size() < 7 && text.find_first_not_of("0123456789") == std::string::npos;
  const int count = is_number ? std::stoi(text) : 0;
  if (count >= 1 && count <= kMostRandom) return count;
  throw ConvertError(ExitCode::kUsage,
                     fmt::format("--calibrate {}: write random:N, N from 1 to {}", source, kMostRandom));
}

void make_random(const std::string& source, const ModuleInterface& interface, const LoadedModel& loaded,
                 SampleList& samples, Diagnostics& diagnostics) {
  const int count = random_count(source);
  diagnostics.warn(
      "calibration: the scales come from random numbers, for trying only: give real samples for a model that is used");
  std::vector<std::string> names;
  std::vector<TensorType> types;
  for (const InterfaceInput& input : interface.inputs) {
    if (!all_fixed(input.type.dims)) {
      throw ConvertError(ExitCode::kUsage,
                         fmt::format("--calibrate {}: input {} has flexible sizes {}; give every size "
                                     "with --input",
                                     source, input.name, to_text(input.type.dims)));
    }
    names.push_back(input.name);
    types.push_back(input.type);
  }
  const auto ranges = index_ranges(loaded, names, types);
  for (int number = 0; number < count; ++number) {
    std::vector<at::Tensor> tensors;
    for (size_t i = 0; i < types.size(); ++i) {
      const uint64_t seed = 1000 * (static_cast<uint64_t>(number) + 1) + i;
      tensors.push_back(ranges[i] ? random_indices(types[i], seed, 1, *ranges[i]) : random_tensor(types[i], seed, 1));
    }
    samples.add(tensors, fmt::format("sample {}", number));
  }
}

void take_bundled(const LoadedModel& loaded, SampleList& samples) {
  if (loaded.bundled_inputs.empty()) fail(kBundledSource, "the model has no bundled inputs");
  for (size_t i = 0; i < loaded.bundled_inputs.size(); ++i) {
    std::vector<at::Tensor> tensors;
    for (const c10::IValue& value : loaded.bundled_inputs[i]) {
      if (value.isTensor()) tensors.push_back(value.toTensor());
    }
    samples.add(tensors, fmt::format("bundled input {}", i));
  }
}

// Warns of channels of inputs of rank 4 that hold one value in all samples, beside others that don't.
void warn_of_dead_channels(const CalibrationSamples& samples, const ModuleInterface& interface,
                           Diagnostics& diagnostics) {
  for (size_t input = 0; input < interface.inputs.size(); ++input) {
    const at::Tensor& first = samples[0][input];
    if (first.dim() != 4 || !first.is_floating_point() || first.numel() == 0) continue;
    at::Tensor lowest = first.amin({0, 2, 3}), highest = first.amax({0, 2, 3});
    for (const Sample& sample : samples) {
      lowest = at::minimum(lowest, sample[input].amin({0, 2, 3}));
      highest = at::maximum(highest, sample[input].amax({0, 2, 3}));
    }
    const at::Tensor dead = lowest.eq(highest);
    const int64_t count = dead.sum().item().toLong();
    if (count == 0 || count == dead.numel()) continue;
    diagnostics.warn(
        fmt::format("calibration: input {}: {} of {} channels hold one value in all samples, the first "
                    "is channel {}: are the samples whole?",
                    interface.inputs[input].name, count, dead.numel(), dead.to(at::kInt).argmax().item().toLong()));
  }
}

// Warns of samples that are all the same: they are as good as one. Inputs of one value have a warning of their own.
void warn_of_one_sample_again(const CalibrationSamples& samples, Diagnostics& diagnostics) {
  const auto is_first = [&](const Sample& sample) {
    return std::equal(sample.begin(), sample.end(), samples[0].begin(),
                      [](const at::Tensor& a, const at::Tensor& b) { return a.equal(b); });
  };
  const auto varies = [](const at::Tensor& input) {
    return input.numel() > 0 && input.ne(input.flatten()[0]).any().item().toBool();
  };
  if (samples.size() < 2 || !std::any_of(samples[0].begin(), samples[0].end(), varies)) return;
  if (!std::all_of(samples.begin(), samples.end(), is_first)) return;
  diagnostics.warn(fmt::format(
      "calibration: all {} samples are the same: the scales fit nothing else; give real inputs", samples.size()));
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

CalibrationData read_calibration(const CalibrationOptions& options, const ModuleInterface& interface,
                                 const LoadedModel& loaded, Diagnostics& diagnostics) {
  const std::string& source = options.source;
  SampleList samples(options, interface);
  const bool is_random = source.rfind(kRandomSource, 0) == 0;
  CalibrationData result;
  const bool is_path = is_file_of_samples(source);
  const bool is_pictures = is_path && calibration::names_pictures(source);
  const auto arrays = is_path ? calibration::list_arrays(source) : std::vector<calibration::ListedPicture>();
  if (!is_pictures && options.pictures.is_given()) {
    throw ConvertError(ExitCode::kUsage, fmt::format("--calibrate {}: --resize, --crop, --mean, --std, --pixel-max and "
                                                     "--bgr are for pictures",
                                                     source));
  }
  if (is_random) {
    make_random(source, interface, loaded, samples, diagnostics);
  } else if (source == kBundledSource) {
    take_bundled(loaded, samples);
  } else if (is_pictures) {
    const auto add = [&](const PictureSample& sample) {
      const calibration::ListedPicture& picture = sample.picture;
      samples.add({sample.tensor}, picture.path);
      result.names.push_back({sample.number, picture.name, picture.path, picture.label, sample.width, sample.height});
    };
    result.pictures = read_pictures(options, interface, diagnostics, add);
    result.found = result.pictures.size();
  } else if (!arrays.empty()) {
    read_arrays(arrays, interface, samples, result, diagnostics);
  } else if (ends_with(source, ".npy") || ends_with(source, ".npz")) {
    read_numpy(source, "the file", interface, samples, diagnostics);
  } else {
    read_torch(source, interface.inputs.size(), samples);
  }
  result.samples = samples.take();
  const size_t count = result.samples.size(), most = count == 0 ? 0 : most_samples(bytes_of(result.samples[0]));
  if (result.found == 0) result.found = count;
  for (size_t i = result.names.size(); i < count; ++i) result.names.push_back({i});
  thin_out(result.samples, most);
  thin_out(result.names, most);
  if (result.samples.size() < count) warn_of_thinning(result.samples.size(), count, "samples", diagnostics);
  if (result.samples.empty()) fail(source, "no sample found, at least one needed");
  warn_of_dead_channels(result.samples, interface, diagnostics);
  warn_of_one_sample_again(result.samples, diagnostics);
  return result;
}

std::vector<FedRange> fed_ranges(const CalibrationSamples& samples, const ModuleInterface& interface) {
  std::vector<FedRange> ranges;
  for (size_t input = 0; input < interface.inputs.size(); ++input) {
    FedRange range{interface.inputs[input].name, std::numeric_limits<double>::infinity(),
                   -std::numeric_limits<double>::infinity()};
    for (const Sample& sample : samples) {
      if (!sample[input].is_floating_point() || sample[input].numel() == 0) continue;
      range.lowest = std::min(range.lowest, sample[input].min().item().toDouble());
      range.highest = std::max(range.highest, sample[input].max().item().toDouble());
    }
    if (range.lowest <= range.highest) ranges.push_back(std::move(range));
  }
  return ranges;
}

}  // namespace nnapi_convert
