// SPDX-License-Identifier: BSD-3-Clause
// Converts a model by the library, as a program of someone else would: consumer MODEL OUT.
#include <nnapi_convert.h>

#include <iostream>

int main(int, char** argv) {
  using namespace nnapi_convert;
  try {
    Diagnostics diagnostics;
    ConvertOptions options;
    options.layout.nhwc = true;
    const Conversion conversion = convert(load_model(argv[1], diagnostics), options, diagnostics);
    write_conversion(conversion, argv[2]);
    std::cout << make_report(argv[1], argv[2], conversion, diagnostics, std::nullopt).dump() << "\n";
  } catch (const ConvertError& error) {
    std::cerr << error.what() << "\n";
    return static_cast<int>(error.exit_code());
  }
}
