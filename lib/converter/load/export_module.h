// SPDX-License-Identifier: BSD-3-Clause
// The TorchScript module of an exported program: its weights as attributes under their dotted names, and forward.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>

#include "lib/base/diagnostics.h"
#include "lib/converter/load/export_archive.h"
#include "lib/converter/load/export_signature.h"
#include "lib/converter/load/fixed_value.h"

namespace nnapi_convert {

struct ExportModule {
  torch::jit::Module module;
  c10::FunctionSchema forward;
  std::vector<ValueTree> arguments;        // of forward, without self
  std::vector<std::string> tensor_values;  // the graph's names of the tensors that forward takes, in their order
  std::vector<std::string> tensor_paths;   // names of these tensors, such as "x", "pair[0]", "boxes[left]"
  std::vector<std::string> number_values;  // the graph's names of the integers that forward takes
  std::vector<std::string> number_paths;
  std::vector<FixedValue> fixed;  // numbers, texts and None that forward was exported with
  bool is_dynamically_quantised = false;
};

ExportModule build_module(const ExportArchive& archive, const ExportSignature& signature, Diagnostics& diagnostics);

}  // namespace nnapi_convert
