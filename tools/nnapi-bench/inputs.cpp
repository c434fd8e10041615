// SPDX-License-Identifier: BSD-3-Clause
// Makes inputs, or fetches bundled ones.
#include "tools/nnapi-bench/inputs.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "lib/base/error.h"
#include "lib/base/split_text.h"
#include "tools/nnapi-bench/torch_error.h"

namespace nnapi_bench {
namespace {

using nnapi_convert::ConvertError;
using nnapi_convert::ExitCode;
using nnapi_convert::split_text;

constexpr const char* kTypes = "float, uint8_t, int32, int64 or quint8:SCALE:ZERO_POINT";

[[noreturn]] void fail(const std::string& message) {
  throw ConvertError(ExitCode::kUsage, message);
}

template <typename Number>
bool read_number(const std::string& text, Number& number) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end;
}

std::vector<int64_t> read_sizes(const std::string& text) {
  std::vector<int64_t> sizes;
  for (const std::string& part : split_text(text, ',')) {
    int64_t size = 0;
    if (!read_number(part, size) || size < 1) {
      fail(fmt::format("--input_dims: '{}' found in '{}', sizes of 1 or more needed, as in 1,3,224,224", part, text));
    }
    sizes.push_back(size);
  }
  return sizes;
}

bool read_scale(const std::string& text, double& scale) {
  char* end = nullptr;
  scale = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(scale) && scale > 0;
}

at::Tensor quantised_ones(const std::vector<int64_t>& sizes, const std::string& type) {
  const std::vector<std::string> parts = split_text(type, ':');
  double scale = 0;
  int64_t zero_point = 0;
  const bool is_good = parts.size() == 3 && read_scale(parts[1], scale) && read_number(parts[2], zero_point) &&
                       zero_point >= 0 && zero_point <= 255;
  if (!is_good) fail(fmt::format("--input_type: '{}' found, quint8:SCALE:ZERO_POINT needed, as quint8:0.02:128", type));
  return at::quantize_per_tensor(at::ones(sizes), scale, zero_point, at::kQUInt8);
}

at::Tensor ones(const std::vector<int64_t>& sizes, const std::string& type) {
  if (type == "float") return at::ones(sizes);
  if (type == "uint8_t") return at::ones(sizes, at::kByte);
  if (type == "int32") return at::ones(sizes, at::kInt);
  if (type == "int64") return at::ones(sizes, at::kLong);
  if (type.compare(0, 7, "quint8:") == 0) return quantised_ones(sizes, type);
  fail(fmt::format("--input_type: '{}' found, {} needed", type, kTypes));
}

at::Tensor laid_out(const at::Tensor& tensor, const std::string& format) {
  if (format == "contiguous_format") return tensor;
  if (format != "channels_last") {
    fail(fmt::format("--input_memory_format: '{}' found, contiguous_format or channels_last needed", format));
  }
  if (tensor.dim() != 4) {
    fail(fmt::format("--input_memory_format: channels_last found for {} sizes, 4 needed", tensor.dim()));
  }
  return tensor.contiguous(at::MemoryFormat::ChannelsLast);
}

// Splits a flag's text into one part for each input; a single part counts for all inputs.
std::vector<std::string> one_each(const std::string& flag, const std::string& text, size_t count) {
  std::vector<std::string> parts = split_text(text, ';');
  if (parts.size() == 1) parts.resize(count, parts[0]);
  if (parts.size() != count) {
    fail(fmt::format("{}: {} parts found, {} needed, as many as --input_dims has", flag, parts.size(), count));
  }
  return parts;
}

std::vector<c10::IValue> made_inputs(const InputFlags& flags) {
  const std::vector<std::string> dims = split_text(flags.input_dims, ';');
  const std::vector<std::string> types = one_each("--input_type", flags.input_type, dims.size());
  const std::vector<std::string> formats = one_each("--input_memory_format", flags.input_memory_format, dims.size());
  std::vector<c10::IValue> inputs;
  for (size_t i = 0; i < dims.size(); ++i) {
    try {
      inputs.emplace_back(laid_out(ones(read_sizes(dims[i]), types[i]), formats[i]));
    } catch (const c10::Error& error) {
      fail(fmt::format("--input_dims: '{}': {}", dims[i], message_of(error)));
    }
  }
  return inputs;
}

std::vector<c10::IValue> bundled_inputs(int number, const torch::jit::Module& module, const std::string& path) {
  const auto method = module.find_method("get_all_bundled_inputs");
  if (!method) {
    fail(
        fmt::format("--use_bundled_input: {} has no bundled inputs; convert it with --bundle-inputs, or give "
                    "--input_dims and --input_type",
                    path));
  }
  const c10::List<c10::IValue> all = (*method)({}).toList();
  if (static_cast<size_t>(number) >= all.size()) {
    fail(fmt::format("--use_bundled_input: {} found, {} has {} bundled inputs, counted from 0", number, path,
                     all.size()));
  }
  return all.get(static_cast<size_t>(number)).toTupleRef().elements().vec();
}

}  // namespace

void check_flags(const InputFlags& flags) {
  const bool is_made = !flags.input_dims.empty() || !flags.input_type.empty();
  const int ways = (flags.no_inputs ? 1 : 0) + (flags.use_bundled_input >= 0 ? 1 : 0) + (is_made ? 1 : 0);
  if (ways == 0) fail("no inputs given: --use_bundled_input N, --input_dims with --input_type, or --no_inputs needed");
  if (ways > 1) fail("--use_bundled_input, --input_dims with --input_type and --no_inputs exclude each other");
  if (!is_made) return;
  if (flags.input_dims.empty()) fail("--input_dims needed beside --input_type");
  if (flags.input_type.empty()) fail(fmt::format("--input_type needed beside --input_dims: {}", kTypes));
  made_inputs(flags);
}

std::vector<c10::IValue> make_inputs(const InputFlags& flags, const torch::jit::Module& module,
                                     const std::string& path) {
  if (flags.no_inputs) return {};
  if (flags.use_bundled_input >= 0) return bundled_inputs(flags.use_bundled_input, module, path);
  return made_inputs(flags);
}

}  // namespace nnapi_bench
