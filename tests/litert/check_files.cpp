// SPDX-License-Identifier: BSD-3-Clause
// litert_rules FILE...: checks LiteRT files against the format and its quantisation specification. Prints a line for
// each fault, and exits with 1 if there are any.
#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/litert/format_rules.h"
#include "tests/litert/quantisation_rules.h"

namespace {

std::string bytes_of(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nnapi_convert::litert::testing;
  bool is_right = true;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string bytes = bytes_of(argv[i]);
      for (const auto check : {&format_problems, &quantisation_problems}) {
        for (const std::string& problem : check(bytes)) {
          std::cout << argv[i] << ": " << problem << "\n";
          is_right = false;
        }
      }
    }
  } catch (const std::exception& error) {
    std::cout << error.what() << "\n";
    return 1;
  }
  return is_right ? 0 : 1;
}
