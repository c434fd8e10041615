// SPDX-License-Identifier: BSD-3-Clause
// Reads exported programs (.pt2), what torch.export.save wrote, as TorchScript modules.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/module.h>

#include <optional>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/base/folder.h"
#include "lib/base/source_check.h"
#include "lib/converter/load/fixed_value.h"
#include "lib/converter/load/size_expression.h"

namespace nnapi_convert {

// A tensor that forward takes, as the program states it.
struct ExportedTensor {
  struct Size {
    std::optional<int64_t> number;                  // nullopt: any size in the range
    std::optional<SizeExpression> expression = {};  // sizes of one symbol depend on each other
    int64_t min = 0;
    std::optional<int64_t> max = {};
    int64_t example = 1;  // a size that the program takes

    // Returns the least size of a range; 1 for torch.export's own ranges, which begin at 2: a batch of 1 is right
    // there.
    int64_t least() const {
      constexpr int64_t kOwnLeast = 2;
      const SizeExpression itself{"", 1, 0};
      const SizeExpression& of = expression ? *expression : itself;
      return min > size_for(of, kOwnLeast).value_or(min) ? min : size_for(of, 1).value_or(1);
    }
  };
  std::string path;  // as --input names it: "x", "pair[0]", "boxes[left]"
  c10::ScalarType dtype;
  std::vector<Size> sizes;
};

// Returns the tensor of this path; null if the program states none.
const ExportedTensor* find_tensor(const std::vector<ExportedTensor>& stated, const std::string& path);

// An integer that forward takes, on which sizes may depend.
struct ExportedNumber {
  std::string path;
  ExportedTensor::Size value;
};

struct ExportedModel {
  torch::jit::Module module;
  std::vector<std::vector<c10::IValue>> samples;  // arguments of forward: those that the file stores, if any
  std::vector<ExportedTensor> tensors;            // that forward takes, in the order of its arguments' leaves
  std::vector<ExportedNumber> numbers;            // that forward takes
  std::vector<std::string> guards = {};       // what torch.export took for granted of sizes, as Python's comparisons
  std::vector<FixedValue> fixed;              // arguments that decide nothing: the program has their values
  bool is_dynamically_quantised = false;      // its module is the float model of the rounded weights
  std::vector<FolderFile> extra_files = {};   // that it was saved with
  std::shared_ptr<SourceChecks> checks = {};  // of its mapped weights
};

// Reads an exported program; the operators that it has must be declared before. With `checks_weights` reads all weights
// for their checksums first; else the code that reads them calls checks->finish(). Throws ConvertError: kBadFile for
// what is damaged or not read, kNotConvertible for what has no form in TorchScript.
ExportedModel load_exported(const std::string& path, Diagnostics& diagnostics, bool checks_weights);

}  // namespace nnapi_convert
