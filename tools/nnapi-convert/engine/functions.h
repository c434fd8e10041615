// SPDX-License-Identifier: BSD-3-Clause
// Declares the functions of the table in tools/nnapi-convert/engine.h; each has a file of its own.
#pragma once

#include <string>
#include <vector>

#include "tools/nnapi-convert/requests.h"

namespace nnapi_convert {

int convert_and_print(const ConvertArguments& arguments);
int check_and_print(const CheckArguments& arguments);
int verify_and_print(const VerifyArguments& arguments);
std::string shown_file(const std::string& path, const std::string& format);
std::vector<std::string> called_operators(const std::string& path);
std::string doctor_page(const std::string& path, const std::string& doctor, const std::string& device);
std::string listed_operations(const std::string& format, const std::vector<std::string>& names);

}  // namespace nnapi_convert
