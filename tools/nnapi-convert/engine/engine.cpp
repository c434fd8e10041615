// SPDX-License-Identifier: BSD-3-Clause
// Defines the table of functions that need LibTorch.
#include "tools/nnapi-convert/engine.h"

#include <ATen/Parallel.h>

#include "lib/converter/load/embedded_source.h"
#include "tools/nnapi-convert/engine/functions.h"

const nnapi_convert::Engine* nnapi_convert_engine(const char* version) {
  using namespace nnapi_convert;
  static const Engine engine = {convert_and_print, check_and_print,  verify_and_print,
                                shown_file,        doctor_page,      listed_operations,
                                read_shim_source,  called_operators, [] { at::set_num_threads(1); },
                                set_watched_run};
  return version == std::string(NNAPI_CONVERT_VERSION) ? &engine : nullptr;
}
