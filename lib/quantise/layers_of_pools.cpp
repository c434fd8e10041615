// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/layers_of_pools.h"

#include <algorithm>
#include <optional>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/known_arguments.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Builder;
using nnapi::Constant;
using nnapi::Model;
using nnapi::Operand;
using nnapi::OperandId;
using nnapi::Operation;

constexpr int64_t kMostPlaces = 16;                     // along an axis: drivers don't take filters of any size
constexpr size_t kExplicitPool = 10, kWithLayout = 11;  // arguments of AVERAGE_POOL_2D with explicit padding

// The axes of an image: [n, height, width, channels], or [n, channels, height, width].
struct Axes {
  size_t height, width, channels;
};
constexpr Axes kNhwc{1, 2, 3}, kNchw{2, 3, 1};

class PoolLayers {
 public:
  PoolLayers(const Model& model, bool allows_nchw)
      : allows_nchw_(allows_nchw), result_{model, {}}, uses_(model), readers_(readers_of(model)) {}

  LayersOfPools run(const std::vector<bool>& left_out) {
    result_.is_layer.resize(result_.model.operations.size());
    for (size_t i = 0; i < result_.model.operations.size(); ++i) {
      if (i < left_out.size() && left_out[i]) continue;
      const auto axes = averaged_axes(result_.model.operations[i]);
      if (!axes || (axes->channels == kNchw.channels && !allows_nchw_)) continue;
      replace(result_.model.operations[i], *axes);
      result_.is_layer[i] = true;
    }
    return std::move(result_);
  }

 private:
  const Operand& at(OperandId id) const { return result_.model.at(id); }

  bool is(OperandId id, const Dims& numbers) const { return nnapi::is_numbers(result_.model, id, numbers); }

  // Returns the axes of the images, if the operation averages each channel of whole images.
  std::optional<Axes> averaged_axes(const Operation& operation) const {
    const bool is_mean = operation.code == OperationCode::MEAN;
    if (!is_mean && operation.code != OperationCode::AVERAGE_POOL_2D) return std::nullopt;
    const Operand& image = at(operation.inputs[0]);
    if (image.type != OperandCode::TENSOR_FLOAT32 || image.dims.size() != 4) return std::nullopt;
    const auto axes = is_mean ? axes_of_mean(operation) : axes_of_pool(operation, image.dims);
    if (!axes || !image.dims[axes->channels].is_fixed()) return std::nullopt;
    const Dim &height = image.dims[axes->height], &width = image.dims[axes->width];
    return is_filter(height) && is_filter(width) && height.value() * width.value() > 1 ? axes : std::nullopt;
  }

  // Without the spatial axes the result is a vector, which a linear layer takes as an image of one place, too.
  std::optional<Axes> axes_of_mean(const Operation& mean) const {
    const auto result = static_cast<size_t>(mean.outputs[0]);
    const std::vector<size_t>& readers = readers_[result];
    const bool is_image = at(mean.outputs[0]).dims.size() == 4 ||
                          (uses_.readers[result] == static_cast<int>(readers.size()) &&
                           std::all_of(readers.begin(), readers.end(), [&](size_t reader) {
                             return result_.model.operations[reader].code == OperationCode::FULLY_CONNECTED;
                           }));
    if (!is_image) return std::nullopt;
    if (is(mean.inputs[1], {1, 2}) || is(mean.inputs[1], {2, 1})) return kNhwc;
    if (is(mean.inputs[1], {2, 3}) || is(mean.inputs[1], {3, 2})) return kNchw;
    return std::nullopt;
  }

  std::optional<Axes> axes_of_pool(const Operation& pool, const Dims& image) const {
    const std::vector<OperandId>& arguments = pool.inputs;
    if (arguments.size() != kExplicitPool && arguments.size() != kWithLayout) return std::nullopt;
    const bool* is_nchw =
        arguments.size() == kWithLayout ? std::get_if<bool>(&at(arguments[kExplicitPool]).value) : nullptr;
    const Axes axes = is_nchw != nullptr && *is_nchw ? kNchw : kNhwc;
    const bool is_whole =
        std::all_of(arguments.begin() + 1, arguments.begin() + 5, [&](OperandId id) { return is(id, {0}); }) &&
        is(arguments[7], {image[axes.width]}) && is(arguments[8], {image[axes.height]});
    return is_whole ? std::optional(axes) : std::nullopt;
  }

  static bool is_filter(const Dim& size) { return size.is_fixed() && size.value() <= kMostPlaces; }

  void replace(Operation& operation, const Axes& axes) {
    Builder builder(result_.model);
    Dims image = at(operation.inputs[0]).dims;
    const int64_t height = image[axes.height].value(), width = image[axes.width].value();
    const int64_t channels = image[axes.channels].value();
    image[axes.height] = image[axes.width] = Dim(1);
    result_.model.at(operation.outputs[0]).dims = image;
    const auto count = static_cast<size_t>(height * width * channels);
    const OperandId filter = builder.tensor(Constant::of_floats(
        std::vector<float>(count, 1 / static_cast<float>(height * width)), {1, height, width, channels}));
    const OperandId bias = builder.tensor(Constant::of_floats(std::vector<float>(static_cast<size_t>(channels), 0)));
    const OperandId none = builder.int32(static_cast<int64_t>(FuseCode::NONE));
    const OperandId activation = operation.code == OperationCode::MEAN ? none : operation.inputs[9];
    const OperandId zero = builder.int32(0), one = builder.int32(1);
    operation.code = OperationCode::DEPTHWISE_CONV_2D;
    operation.inputs = {operation.inputs[0], filter, bias, zero, zero, zero, zero, one, one, one, activation};
    if (axes.channels == kNchw.channels) operation.inputs.push_back(builder.boolean(true));
  }

  const bool allows_nchw_;
  LayersOfPools result_;
  const nnapi::Uses uses_;
  const std::vector<std::vector<size_t>> readers_;
};

}  // namespace

bool LayersOfPools::any() const {
  return std::count(is_layer.begin(), is_layer.end(), true) != 0;
}

LayersOfPools layers_of_pools(const Model& model, const std::vector<bool>& left_out, bool allows_nchw) {
  return PoolLayers(model, allows_nchw).run(left_out);
}

}  // namespace nnapi_convert::quantise
