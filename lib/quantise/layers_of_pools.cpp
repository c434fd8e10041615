#include "lib/quantise/layers_of_pools.h"

#include <algorithm>
#include <optional>

#include "lib/nnapi/builder.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Builder;
using nnapi::Constant;
using nnapi::Model;
using nnapi::Operand;
using nnapi::OperandId;
using nnapi::Operation;

constexpr int64_t kMostPlaces = 16;                     // along an axis: drivers take no filters of any size
constexpr size_t kExplicitPool = 10, kWithLayout = 11;  // arguments of AVERAGE_POOL_2D with explicit padding

class PoolLayers {
 public:
  PoolLayers(const Model& model, const std::vector<bool>& left_out)
      : left_out_(left_out), result_{model, {}}, uses_(model), readers_(readers_of(model)) {}

  LayersOfPools run() {
    result_.is_layer.resize(result_.model.operations.size());
    for (size_t i = 0; i < result_.model.operations.size(); ++i) {
      const bool is_left_out = i < left_out_.size() && left_out_[i];
      if (is_left_out || !averages_images(result_.model.operations[i])) continue;
      replace(result_.model.operations[i]);
      result_.is_layer[i] = true;
    }
    return std::move(result_);
  }

 private:
  const Operand& at(OperandId id) const { return result_.model.at(id); }

  bool is(OperandId id, const Dims& numbers) const { return at(id).ints() != nullptr && *at(id).ints() == numbers; }

  // Returns whether it averages each channel of whole images, which have [n, height, width, channels].
  bool averages_images(const Operation& operation) const {
    const bool is_mean = operation.code == OperationCode::MEAN;
    if (!is_mean && operation.code != OperationCode::AVERAGE_POOL_2D) return false;
    const Operand& image = at(operation.inputs[0]);
    const bool has_images = image.type == OperandCode::TENSOR_FLOAT32 && image.dims.size() == 4 &&
                            is_filter(image.dims[1]) && is_filter(image.dims[2]) && image.dims[3].is_fixed();
    if (!has_images || image.dims[1].value() * image.dims[2].value() == 1) return false;
    return is_mean ? is_mean_of_places(operation) : is_pool_of_places(operation, image.dims);
  }

  // Without the axes of places the result is a vector, which a linear layer takes as an image of one place, too.
  bool is_mean_of_places(const Operation& mean) const {
    if (!is(mean.inputs[1], {1, 2}) && !is(mean.inputs[1], {2, 1})) return false;
    const auto result = static_cast<size_t>(mean.outputs[0]);
    const std::vector<size_t>& readers = readers_[result];
    return at(mean.outputs[0]).dims.size() == 4 ||
           (uses_.readers[result] == static_cast<int>(readers.size()) &&
            std::all_of(readers.begin(), readers.end(), [&](size_t reader) {
              return result_.model.operations[reader].code == OperationCode::FULLY_CONNECTED;
            }));
  }

  bool is_pool_of_places(const Operation& pool, const Dims& image) const {
    const std::vector<OperandId>& arguments = pool.inputs;
    const bool is_explicit = arguments.size() == kExplicitPool || arguments.size() == kWithLayout;
    if (!is_explicit) return false;
    const bool* is_nchw =
        arguments.size() == kWithLayout ? std::get_if<bool>(&at(arguments[kExplicitPool]).value) : nullptr;
    const bool has_padding =
        !std::all_of(arguments.begin() + 1, arguments.begin() + 5, [&](OperandId id) { return is(id, {0}); });
    return (is_nchw == nullptr || !*is_nchw) && !has_padding && is(arguments[7], {image[2]}) &&
           is(arguments[8], {image[1]});
  }

  static bool is_filter(const Dim& size) { return size.is_fixed() && size.value() <= kMostPlaces; }

  void replace(Operation& operation) {
    Builder builder(result_.model);
    const Dims image = at(operation.inputs[0]).dims;
    const int64_t height = image[1].value(), width = image[2].value(), channels = image[3].value();
    const auto count = static_cast<size_t>(height * width * channels);
    const OperandId filter = builder.tensor(Constant::of_floats(
        std::vector<float>(count, 1 / static_cast<float>(height * width)), {1, height, width, channels}));
    const OperandId bias = builder.tensor(Constant::of_floats(std::vector<float>(static_cast<size_t>(channels), 0)));
    const OperandId none = builder.int32(static_cast<int64_t>(FuseCode::NONE));
    const OperandId activation = operation.code == OperationCode::MEAN ? none : operation.inputs[9];
    const OperandId zero = builder.int32(0), one = builder.int32(1);
    result_.model.at(operation.outputs[0]).dims = {image[0], Dim(1), Dim(1), image[3]};
    operation.code = OperationCode::DEPTHWISE_CONV_2D;
    operation.inputs = {operation.inputs[0], filter, bias, zero, zero, zero, zero, one, one, one, activation};
  }

  const std::vector<bool>& left_out_;
  LayersOfPools result_;
  const nnapi::Uses uses_;
  const std::vector<std::vector<size_t>> readers_;
};

}  // namespace

bool LayersOfPools::any() const {
  return std::count(is_layer.begin(), is_layer.end(), true) != 0;
}

LayersOfPools layers_of_pools(const Model& model, const std::vector<bool>& left_out) {
  return PoolLayers(model, left_out).run();
}

}  // namespace nnapi_convert::quantise
