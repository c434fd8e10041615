// SPDX-License-Identifier: BSD-3-Clause
// Makes the module of several methods: each has a module of its own (emit_method()), and the methods share their state.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/emit/conversion.h"
#include "lib/converter/frontend/frontend.h"
#include "lib/converter/plan/planned_model.h"
#include "lib/types/stages.h"

namespace nnapi_convert {

// A method before its module is made.
struct PlannedMethod {
  std::string name;
  Frontend frontend;  // with the method in the place of forward (method_view.h)
  ConvertOptions options;
  PlannedModel planned;
  Diagnostics diagnostics = {};
  std::optional<StoredWeights> stored_weights = {};  // with --int8-weights
};

// A method and what it was converted to. The conversion's module is a part of the file's.
struct MethodConversion {
  std::string name;
  Conversion conversion;
  std::vector<InputSpec> inputs;  // what --input said about its tensors
  Diagnostics diagnostics;
};

struct MethodsConversion {
  torch::jit::Module module;
  std::shared_ptr<DeferredTensors> late = std::make_shared<DeferredTensors>();  // weights of `module`
  std::vector<MethodConversion> methods;
  std::vector<ShimRecords> records = {};        // for the shim: of the segments that `module` begins with
  std::shared_ptr<const Program> program = {};  // of all methods, for the shim without PyTorch
  std::vector<FolderFile> attached = {};        // as Conversion::attached
};

// Makes the module. `original`'s other methods stay as they are.
MethodsConversion emit_methods(std::vector<PlannedMethod> methods, const torch::jit::Module& original,
                               Diagnostics& diagnostics, Stages& stages);

// Writes the archive as write_and_release() of one method does.
void write_and_release(MethodsConversion& conversion, const std::string& path);

}  // namespace nnapi_convert
