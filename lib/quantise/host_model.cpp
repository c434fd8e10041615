// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/host_model.h"

#include <string>

#include "lib/base/error.h"
#include "lib/base/host_library.h"
#include "lib/nnapi/passes/separate_outputs.h"
#include "lib/serialize/shim_buffer_writer.h"
#include "lib/shim/nnapi_shim.h"

namespace nnapi_convert::quantise {
namespace {

void check(int status, const nnapi_shim_error& error) {
  if (status == NNAPI_SHIM_OK) return;
  throw ConvertError(ExitCode::kVerificationFailed,
                     std::string("calibration: the host's NNAPI doesn't run the model: ") + error.message);
}

std::vector<nnapi_shim_shape> shapes_of(const Sample& sample) {
  std::vector<nnapi_shim_shape> shapes;
  for (const std::vector<int64_t>& sizes : sample.shapes) {
    shapes.push_back({static_cast<uint32_t>(sizes.size()), sizes.data()});
  }
  return shapes;
}

}  // namespace

HostModel::HostModel(nnapi::Model model, const std::vector<Dims>& arguments, int feature_level) {
  nnapi::separate_outputs(model);  // a result of IF or WHILE may be measured, and read by others
  ShimBufferRequest request{model};
  request.arguments = arguments;
  request.names.assign(arguments.size(), "");
  request.feature_level = feature_level;
  request.keeps_names = false;
  ShimBuffer buffer = write_shim_buffer(request);
  weights_.reserve(buffer.weight_bytes);
  write_weights(buffer, false, [this](const void* bytes, size_t size) {
    const auto* first = static_cast<const uint8_t*>(bytes);
    weights_.insert(weights_.end(), first, first + size);
  });
  words_ = std::move(buffer.words);
  seal(words_.data(), words_.size(), 0);
  nnapi_shim_error error{};
  nnapi_shim_model* opened = nullptr;
  check(nnapi_shim_open_memory(words_.data(), words_.size(), weights_.data(), weights_.size(), &opened, &error), error);
  model_ = {opened, nnapi_shim_close};
  const std::string library = host_library_path();
  nnapi_shim_options options{};
  options.struct_bytes = sizeof(options);
  options.library = library.c_str();
  check(nnapi_shim_configure(opened, &options, &error), error);
}

const std::vector<Bytes>& HostModel::run(const Sample& sample) {
  nnapi_shim_error error{};
  const std::vector<nnapi_shim_shape> shapes = shapes_of(sample);
  const auto count = static_cast<uint32_t>(shapes.size());
  results_.resize(nnapi_shim_output_count(model_.get()));
  std::vector<nnapi_shim_buffer> inputs, outputs;
  // NNAPI only reads its inputs.
  for (const Bytes& input : sample.inputs) inputs.push_back({const_cast<uint8_t*>(input.data()), input.size()});
  for (size_t i = 0; i < results_.size(); ++i) {
    nnapi_shim_tensor tensor;
    check(nnapi_shim_output(model_.get(), shapes.data(), count, static_cast<uint32_t>(i), &tensor, &error), error);
    results_[i].resize(tensor.bytes);
    outputs.push_back({results_[i].data(), results_[i].size()});
  }
  check(nnapi_shim_run(model_.get(), shapes.data(), count, inputs.data(), static_cast<uint32_t>(inputs.size()),
                       outputs.data(), static_cast<uint32_t>(outputs.size()), &error),
        error);
  return results_;
}

}  // namespace nnapi_convert::quantise
