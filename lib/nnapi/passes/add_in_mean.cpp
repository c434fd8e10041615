#include "lib/nnapi/passes/add_in_mean.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/nnapi/passes/pointwise_convolution.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr int64_t kMostChannels = 4096;  // the model holds a weight for each

class MeanAdder {
 public:
  explicit MeanAdder(Model& model) : model_(model), builder_(model), uses_(model) {}

  void run() {
    for (Operation& sum : model_.operations) {
      const auto added = added_to_mean(sum);
      if (!added) continue;
      Operation& mean = model_.operations[added->first];
      const OperandId input = mean.inputs[0];
      mean.outputs.clear();
      sum = model_.at(input).dims.size() == 2 ? matrix_layer(input, added->second, sum)
                                              : image_layer(input, added->second, sum);
    }
    auto& operations = model_.operations;
    operations.erase(std::remove_if(operations.begin(), operations.end(),
                                    [](const Operation& operation) { return operation.outputs.empty(); }),
                     operations.end());
  }

 private:
  bool is_number(OperandId id, int64_t value) const {
    const Dims* numbers = model_.at(id).ints();
    return numbers != nullptr && *numbers == Dims{Dim(value)};
  }

  // Returns the number of the MEAN whose result alone the operation adds a number to, and that number.
  std::optional<std::pair<size_t, float>> added_to_mean(const Operation& sum) const {
    if (sum.code != OperationCode::ADD || !is_number(sum.inputs[2], static_cast<int64_t>(FuseCode::NONE))) {
      return std::nullopt;
    }
    const size_t other = model_.at(sum.inputs[0]).constant() != nullptr ? 0 : 1;
    const Operand& number = model_.at(sum.inputs[other]);
    const OperandId term = sum.inputs[1 - other];
    const int maker = uses_.producer[static_cast<size_t>(term)];
    const bool is_plain = number.constant() != nullptr && number.type == OperandCode::TENSOR_FLOAT32 &&
                          number.constant()->element_count() == 1 && maker >= 0 &&
                          uses_.readers[static_cast<size_t>(term)] == 1 &&
                          model_.at(sum.outputs[0]).dims == model_.at(term).dims;
    if (!is_plain || !is_mean_of_channels(model_.operations[static_cast<size_t>(maker)])) return std::nullopt;
    return std::pair(static_cast<size_t>(maker), number.constant()->floats()[0]);
  }

  bool is_mean_of_channels(const Operation& mean) const {
    if (mean.code != OperationCode::MEAN) return false;
    const Operand& input = model_.at(mean.inputs[0]);
    const size_t rank = input.dims.size();
    const bool fits = (rank == 2 || rank == 4) && input.dims.back().is_fixed() &&
                      input.dims.back().value() <= kMostChannels && !input.is_constant() &&
                      input.type == OperandCode::TENSOR_FLOAT32;
    const auto last = static_cast<int64_t>(rank) - 1;
    const bool is_along_last = is_number(mean.inputs[1], last) || is_number(mean.inputs[1], -1);
    return fits && is_along_last && model_.at(mean.outputs[0]).dims.size() == rank;
  }

  OperandId averages(OperandId input, std::vector<int64_t> shape) {
    const int64_t channels = model_.at(input).dims.back().value();
    shape.push_back(channels);
    return builder_.tensor(Constant::of_floats(
        std::vector<float>(static_cast<size_t>(channels), 1 / static_cast<float>(channels)), std::move(shape)));
  }

  Operation matrix_layer(OperandId input, float added, const Operation& sum) {
    return {OperationCode::FULLY_CONNECTED,
            {input, averages(input, {1}), builder_.tensor(Constant::of_floats({added})), sum.inputs[2]},
            sum.outputs,
            sum.source};
  }

  Operation image_layer(OperandId input, float added, const Operation& sum) {
    const OperandId filter = averages(input, {1, 1, 1}), bias = builder_.tensor(Constant::of_floats({added}));
    return {OperationCode::CONV_2D, pointwise_arguments(builder_, input, filter, bias, sum.inputs[2]), sum.outputs,
            sum.source};
  }

  Model& model_;
  Builder builder_;
  const Uses uses_;
};

}  // namespace

void add_in_mean(Model& model) {
  MeanAdder(model).run();
}

}  // namespace nnapi_convert::nnapi
