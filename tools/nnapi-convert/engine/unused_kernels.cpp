// LibTorch's start enters 15,000 kernels into its dispatcher. 5,900 of them are for tracing, for vmap, and for making
// programs functional, none of which this program does. Left out, LibTorch starts in less time and memory.
//
// LibTorch calls the function below by its name, and the loader finds this library's first. Where LibTorch was linked
// so that it finds its own first, nothing is left out.
#include <dlfcn.h>
#include <torch/library.h>
#include <torch/version.h>

#include <utility>

#if TORCH_VERSION_MAJOR < 2

namespace {

// True for keys that are in no tensor's set of keys unless a program asks for one of these modes.
bool is_unused(c10::DispatchKey key) {
  return key == c10::DispatchKey::Tracer || key == c10::DispatchKey::Functionalize ||
         key == c10::DispatchKey::FuncTorchBatched || key == c10::DispatchKey::Batched;
}

using Register = torch::Library& (*)(torch::Library* library, const char* name, torch::CppFunction&& function);

}  // namespace

// Enters a kernel of an operator. LibTorch's own function does it for all keys that are used.
torch::Library& torch::Library::_impl(const char* name, torch::CppFunction&& function) & {
  static const auto libtorchs =
      reinterpret_cast<Register>(::dlsym(RTLD_NEXT, "_ZNR5torch7Library5_implEPKcONS_11CppFunctionE"));
  return dispatch_key_ && is_unused(*dispatch_key_) ? *this : libtorchs(this, name, std::move(function));
}

#endif
