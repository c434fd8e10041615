// SPDX-License-Identifier: BSD-3-Clause
// Defines the table of functions that need LibTorch.
#include "tools/nnapi-convert/engine.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include "lib/converter/load/embedded_source.h"
#include "tools/nnapi-convert/engine/functions.h"

namespace {

// LibTorch sets OpenMP's threads, and then makes a pool for its mobile kernels, which needs the processor's type. An
// emulated processor has none that it knows; models without such kernels run all the same.
void use_one_thread() {
  try {
    at::set_num_threads(1);
  } catch (const c10::Error&) {
  }
}

}  // namespace

const nnapi_convert::Engine* nnapi_convert_engine(const char* version) {
  using namespace nnapi_convert;
  static const Engine engine = {convert_and_print, check_and_print,  verify_and_print, shown_file,     doctor_page,
                                listed_operations, read_shim_source, called_operators, use_one_thread, set_watched_run};
  return version == std::string(NNAPI_CONVERT_VERSION) ? &engine : nullptr;
}
