// SPDX-License-Identifier: BSD-3-Clause
// Reads what an exported program says of a tensor: its type, and how it lies in its storage.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace nnapi_convert {

// A size that is a number known at export, or an expression of sizes.
struct ExportedSize {
  std::optional<int64_t> number;
  std::string expression = {};       // "Symbol('s77', positive=True, integer=True)"
  std::optional<int64_t> hint = {};  // its value for the example that was exported with
};

struct TensorMeta {
  c10::ScalarType dtype;
  std::vector<ExportedSize> sizes;
  std::vector<ExportedSize> strides;
  ExportedSize offset;
};

// Throw ConvertError: kBadFile for what is not read, kNotConvertible for what PyTorch 1.13.1 lacks.
TensorMeta read_tensor_meta(const nlohmann::json& meta, const std::string& name);
ExportedSize read_size(const nlohmann::json& value);
c10::ScalarType read_dtype(int64_t number, const std::string& of_what);

}  // namespace nnapi_convert
