// SPDX-License-Identifier: BSD-3-Clause
// Runs a file as an app without PyTorch does: by the shim's C interface (lib/shim/nnapi_shim.h), on the host's NNAPI.
#pragma once

#include <ATen/core/function_schema.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/converter/verify/verify_inputs.h"
#include "lib/serialize/metadata.h"

namespace nnapi_convert {

class ShimRunner {
 public:
  // `forward` names the arguments; `variant` is the number of a package's model, from 1 on, and 0 else. Throws
  // ConvertError: kBadFile for a file that the shim can't open, kUsage for one that gives texts, which are not
  // compared.
  ShimRunner(const std::string& path, const Metadata& metadata, const c10::FunctionSchema& forward, uint32_t variant);
  ~ShimRunner();
  ShimRunner(const ShimRunner&) = delete;
  ShimRunner& operator=(const ShimRunner&) = delete;

  // Returns the tensors and numbers of forward's result, numbers as tensors of rank 0, as flatten() does. `leaves` are
  // those of `arguments`. Throws ConvertError (kVerificationFailed) if the file doesn't run.
  Tensors run(const ForwardArguments& arguments, const Values& leaves);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nnapi_convert
