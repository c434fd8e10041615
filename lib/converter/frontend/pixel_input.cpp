// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/pixel_input.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/converter/graph/float_width.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Value;

constexpr double kBrightest = 255;
constexpr size_t kRank = 4;

[[noreturn]] void fail(const std::string& problem) {
  throw ConvertError(ExitCode::kUsage, "--input-pixels: " + problem);
}

// Returns the number of the argument, counted without self.
size_t find_argument(const c10::FunctionSchema& forward, const std::string& name) {
  const auto& arguments = forward.arguments();
  const auto found = std::find_if(arguments.begin() + 1, arguments.end(), [&](const c10::Argument& argument) {
    return name.empty() ? argument.type()->kind() == c10::TypeKind::TensorType : argument.name() == name;
  });
  if (found == arguments.end()) fail(name.empty() ? "forward takes no tensor" : "forward has no argument " + name);
  if (found->type()->kind() != c10::TypeKind::TensorType) {
    fail(fmt::format("{} is {}, a tensor of rank {} needed", name, found->type()->repr_str(), kRank));
  }
  return static_cast<size_t>(found - arguments.begin()) - 1;
}

// Counts the tensors before the argument: specs without names are for tensors only.
size_t tensors_before(const c10::FunctionSchema& forward, size_t argument) {
  const auto first = forward.arguments().begin() + 1;
  return static_cast<size_t>(std::count_if(first, first + static_cast<std::ptrdiff_t>(argument), [](const auto& each) {
    return each.type()->kind() == c10::TypeKind::TensorType;
  }));
}

at::Tensor per_channel(const std::vector<double>& values) {
  return at::tensor(values, at::TensorOptions(at::kDouble)).to(at::kFloat);
}

// Inserts the nodes that normalise pixels. Returns their result, which the original takes.
Value* normalise(Graph& graph, Value* bytes, const PixelInput& pixels, at::ScalarType dtype) {
  const auto call = [&](const char* name, std::initializer_list<torch::jit::NamedValue> arguments) {
    return graph.insert(c10::Symbol::fromQualString(name), at::ArrayRef<torch::jit::NamedValue>(arguments));
  };
  Value* x = bytes;
  if (pixels.is_bgr) {
    const at::Tensor order = at::tensor(std::vector<int64_t>{2, 1, 0}, at::TensorOptions(at::kLong));
    x = call("aten::index_select", {x, 3, graph.insertConstant(order)});
  } else if (pixels.has_alpha) {
    x = call("aten::slice", {x, 3, 0, 3, 1});
  }
  x = call("aten::to", {x, static_cast<int64_t>(at::kFloat), false, false});
  x = call("aten::div", {x, kBrightest});
  if (pixels.pixel_max != 1) x = call("aten::mul", {x, pixels.pixel_max});
  x = call("aten::sub", {x, graph.insertConstant(per_channel(pixels.mean))});
  x = call("aten::div", {x, graph.insertConstant(per_channel(pixels.std))});
  x = call("aten::permute", {x, std::vector<int64_t>{0, 3, 1, 2}});
  if (dtype != at::kFloat) x = call("aten::to", {x, static_cast<int64_t>(dtype), false, false});
  return x;
}

void edit_forward(Graph& graph, size_t argument, const PixelInput& pixels, at::ScalarType dtype) {
  Value* original = graph.inputs()[argument + 1];
  Value* bytes = graph.insertInput(argument + 1)->setType(c10::TensorType::get());
  {
    const torch::jit::WithInsertPoint at_start(*graph.nodes().begin());
    original->replaceAllUsesWith(normalise(graph, bytes, pixels, dtype));
  }
  const std::string name = original->debugName();
  graph.eraseInput(argument + 2);
  bytes->setDebugName(name);
}

// Returns pixels that give about this picture when they are normalised.
at::Tensor pixels_of(const at::Tensor& picture, const PixelInput& pixels) {
  if (picture.dim() != static_cast<int64_t>(kRank)) {
    fail(fmt::format("the file's example has rank {}, {} needed", picture.dim(), kRank));
  }
  at::Tensor x = picture.to(at::kFloat).permute({0, 2, 3, 1}) * per_channel(pixels.std) + per_channel(pixels.mean);
  x = (x * (kBrightest / pixels.pixel_max)).round().clamp(0, kBrightest).to(at::kByte);
  if (pixels.is_bgr) x = x.flip({3});
  if (pixels.has_alpha) x = at::constant_pad_nd(x, {0, 1}, kBrightest);
  return x.contiguous();
}

void edit_example(InputTuple& example, size_t argument, const PixelInput& pixels) {
  if (argument >= example.size() || !example[argument].isTensor()) return;
  example[argument] = pixels_of(example[argument].toTensor(), pixels);
}

// Puts the channels last, with the alpha channel.
template <typename Size>
void move_channels(std::vector<Size>& sizes, const PixelInput& pixels, Size with_alpha, const std::string& name) {
  if (sizes.size() != kRank) fail(fmt::format("input {} has rank {}, {} needed", name, sizes.size(), kRank));
  std::rotate(sizes.begin() + 1, sizes.begin() + 2, sizes.end());
  if (pixels.has_alpha) sizes.back() = std::move(with_alpha);
}

constexpr size_t kChannelAxis = 1;

void edit_spec(InputSpec& spec, const PixelInput& pixels, const std::string& name) {
  if (spec.dtype == at::kByte) return;
  if (spec.sizes.size() == kRank) check_pixel_channels(spec.sizes[1], pixels);
  move_channels(spec.sizes, pixels, std::optional<int64_t>(4), name);
  std::map<size_t, OpenSizeSpec> open;
  for (auto& [axis, size] : spec.open) {
    if (axis != kChannelAxis) open[axis > kChannelAxis ? axis - 1 : axis] = std::move(size);
  }
  spec.open = std::move(open);
  spec.dtype = at::kByte;
}

void edit_stated(ExportedTensor& stated, const PixelInput& pixels) {
  move_channels(stated.sizes, pixels, ExportedTensor::Size{4}, stated.path);
  stated.dtype = at::kByte;
}

}  // namespace

void check_pixel_channels(const std::optional<int64_t>& channels, const PixelInput& pixels) {
  const int64_t found = channels.value_or(3);
  const bool is_color = pixels.has_alpha || pixels.is_bgr;
  if (found == 3 || (found == 1 && !is_color)) return;
  fail(fmt::format("the model takes {}, {} needed; --input gives the sizes that MODEL takes: 1,3,H,W",
                   counted(found, "channel"), is_color ? "3" : "1 or 3"));
}

void take_pixels(LoadedModel& loaded, const PixelInput& pixels, std::vector<InputSpec>& specs) {
  const c10::FunctionSchema forward = loaded.module.get_method("forward").function().getSchema();
  const size_t argument = find_argument(forward, pixels.name);
  const std::string name = forward.arguments()[argument + 1].name();
  const at::ScalarType dtype = float_width(loaded.module).value_or(at::kFloat);
  loaded.module = loaded.module.clone(true);  // others may hold the module, too
  edit_forward(*loaded.module.get_method("forward").graph(), argument, pixels, dtype);
  for (InputTuple& example : loaded.bundled_inputs) edit_example(example, argument, pixels);
  edit_example(loaded.traced_inputs, argument, pixels);
  for (ExportedTensor& stated : loaded.stated) {
    if (stated.path == name) edit_stated(stated, pixels);
  }
  const size_t position = tensors_before(forward, argument);
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].name == name || (specs[i].name.empty() && i == position)) edit_spec(specs[i], pixels, name);
  }
}

}  // namespace nnapi_convert
