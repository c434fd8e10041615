// LibTorch 1.13's start enters 15,000 kernels into its dispatcher, which is most of the start's CPU time. 2,950 of them
// are for tracing: they wait here until something is traced. 3,000 are for vmap and for making programs functional:
// nothing in this program uses them.
//
// LibTorch calls torch::Library::_impl() by its name, and the loader finds the one below first. Where LibTorch was
// linked so that it finds its own first, no kernel waits.
#include "lib/converter/libtorch/late_kernels.h"

#include <dlfcn.h>
#include <torch/library.h>
#include <torch/version.h>

#include <string>
#include <utility>
#include <vector>

#if TORCH_VERSION_MAJOR < 2

namespace nnapi_convert {
namespace {

struct LateKernel {
  torch::Library* library;  // lives as long as LibTorch
  std::string name;
  torch::CppFunction function;
};

// LibTorch starts before the static objects here are made.
std::vector<LateKernel>& late_kernels() {
  static auto* const kernels = new std::vector<LateKernel>();
  return *kernels;
}

bool is_unused(c10::DispatchKey key) {
  return key == c10::DispatchKey::Functionalize || key == c10::DispatchKey::FuncTorchBatched ||
         key == c10::DispatchKey::Batched;
}

// LibTorch's own function of the name.
torch::Library& enter(torch::Library* library, const char* name, torch::CppFunction&& function) {
  using Enter = torch::Library& (*)(torch::Library*, const char*, torch::CppFunction&&);
  static const auto libtorchs =
      reinterpret_cast<Enter>(::dlsym(RTLD_NEXT, "_ZNR5torch7Library5_implEPKcONS_11CppFunctionE"));
  return libtorchs(library, name, std::move(function));
}

}  // namespace

void enter_tracing_kernels() {
  for (LateKernel& kernel : std::exchange(late_kernels(), {})) {
    enter(kernel.library, kernel.name.c_str(), std::move(kernel.function));
  }
}

}  // namespace nnapi_convert

torch::Library& torch::Library::_impl(const char* name, torch::CppFunction&& function) & {
  using namespace nnapi_convert;
  if (dispatch_key_ && is_unused(*dispatch_key_)) return *this;
  if (dispatch_key_ != c10::DispatchKey::Tracer) return enter(this, name, std::move(function));
  function.schema_.reset();  // would only be compared with the operator's
  late_kernels().push_back({this, name, std::move(function)});
  return *this;
}

#else

namespace nnapi_convert {

void enter_tracing_kernels() {}

}  // namespace nnapi_convert

#endif
