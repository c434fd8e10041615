// SPDX-License-Identifier: BSD-3-Clause
// Writes the files of --emit-python and --emit-kotlin.
#pragma once

#include <string>

#include "lib/base/file.h"
#include "tools/nnapi-convert/requests.h"

namespace nnapi_convert {

// Adds the files that are asked for. `written` is the converted file before it takes its place; empty if only a LiteRT
// file is written.
void add_starting_code(PendingTexts& texts, const ConvertArguments& arguments, const std::string& written);

}  // namespace nnapi_convert
