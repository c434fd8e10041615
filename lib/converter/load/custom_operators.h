// SPDX-License-Identifier: BSD-3-Clause
// Operators that are not LibTorch's own: those of torchvision, and those of libraries that the user gives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nnapi_convert {

// Loads a shared library that registers operators, for the rest of the process. Throws ConvertError (kBadFile) where
// that fails. Call it before the first model is loaded.
void load_torch_library(const std::string& path);

// Declares torchvision's operators by their schemas, so that models with them can be read; running them needs their
// library. Those that a library has registered stay as they are. Declares the operators of recognised_rules(), too,
// which never run.
void declare_custom_operators();

// Returns the advice for LibTorch's message about an operator, or an overload of one, that is not registered or has no
// kernel here; empty for other messages. `format` is the version of the archive's format, if it is known.
std::string missing_operator(const std::string& message, std::optional<uint64_t> format = std::nullopt);

}  // namespace nnapi_convert
