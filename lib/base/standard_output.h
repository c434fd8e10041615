// What is printed for other programs to read.
#pragma once

#include <filesystem>

namespace nnapi_convert {

// True for "-" and for the system's names of standard output, such as /dev/stdout.
bool is_standard_output(const std::filesystem::path& path);

// Throws ConvertError (kBadFile) where what std::cout was given has not arrived whole, for example on a full disk.
void flush_standard_output();

}  // namespace nnapi_convert
