// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/add_in_mean.h"

#include <algorithm>
#include <utility>

#include "lib/nnapi/passes/pointwise_convolution.h"
#include "lib/nnapi/passes/shifted_mean.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr int64_t kMostChannels = 4096;  // the model holds a weight for each channel

class MeanAdder {
 public:
  explicit MeanAdder(Model& model) : model_(model), builder_(model), uses_(model) {}

  void run() {
    for (Operation& sum : model_.operations) {
      const auto found = shifted_mean(model_, uses_, sum);
      if (!found || !has_channels(model_.at(model_.operations[found->mean].inputs[0]))) continue;
      Operation& mean = model_.operations[found->mean];
      const OperandId input = mean.inputs[0];
      mean.outputs.clear();
      sum = model_.at(input).dims.size() == 2 ? matrix_layer(input, found->added, sum)
                                              : image_layer(input, found->added, sum);
    }
    auto& operations = model_.operations;
    operations.erase(std::remove_if(operations.begin(), operations.end(),
                                    [](const Operation& operation) { return operation.outputs.empty(); }),
                     operations.end());
  }

 private:
  // True for a matrix, or an image in NHWC.
  bool has_channels(const Operand& input) const {
    const size_t rank = input.dims.size();
    return (rank == 2 || rank == 4) && input.dims.back().is_fixed() && input.dims.back().value() <= kMostChannels;
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
