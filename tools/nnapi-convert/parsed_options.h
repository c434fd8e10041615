// SPDX-License-Identifier: BSD-3-Clause
// Reads and checks the conversion's options after CLI11 has parsed them.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/nnapi-convert/requests.h"

namespace nnapi_convert {

// The group of the options that need the data of --calibrate.
inline constexpr const char* kQuantiseGroup = "Quantising by data";
// The group of the options for turning pixels into the model's input.
inline constexpr const char* kPicturesGroup = "Pictures";

// Treats --output as --litert if its name ends in .tflite, and refuses files of other formats. Throws ConvertError
// (kUsage).
void read_output_format(ConvertArguments& arguments);

// Reads the options that CLI11 can't read itself, and refuses those that don't go together. Throws ConvertError
// (kUsage, or kBadFile for a device's profile).
void read_parsed(const CLI::App& app, ConvertArguments& arguments);

}  // namespace nnapi_convert
