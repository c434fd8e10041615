// SPDX-License-Identifier: BSD-3-Clause
// Writes the TorchScript source of the module around an NNAPI model. The module checks its inputs, prepares and builds
// the model at the first call, runs it, and returns results in PyTorch's order.
#pragma once

#include <string>

#include "lib/nnapi/model.h"
#include "lib/serialize/buffer_writer.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// The namespace of the emitted classes, and the name of the class that callers load.
constexpr const char* kWrapperNamespace = "__torch__.nnapi_convert";
constexpr const char* kWrapperClass = "NnapiModule";
constexpr int kKeptSizes = 4;  // for a model with flexible sizes: the number of last sizes whose compilations are kept
std::string qualified_class(const std::string& name);

struct WrapperRequest {
  const nnapi::Model& model;
  const SerializedModel& serialized;
  const ModuleInterface& interface;
  PreferenceCode preference;
  bool relax_fp16;
  std::string bundled_type;  // TorchScript type of one bundled input tuple; empty: none
  std::string class_name = kWrapperClass;
};

// Returns the source in the dialect of TorchScript archives. The class has the attributes training, ser_model, weights,
// comp and, as needed, int8_scales (for each weight: a tensor of scales that broadcasts to it, or an empty one),
// patch_words, sizes and sizes_<n> (all sizes of the inputs for which comp and comp_<n> were compiled), constant_<n>
// (output n) and bundled_inputs.
std::string wrapper_source(const WrapperRequest& request);

}  // namespace nnapi_convert
