// Kernels for tracing are there once they are asked for; those that nothing uses are not.
#include "lib/converter/libtorch/late_kernels.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <catch2/catch.hpp>

#include "lib/converter/libtorch/release.h"

using namespace nnapi_convert;

TEST_CASE("late kernels: operators can be traced after enter_tracing_kernels, by the kernel of their name") {
  enter_tracing_kernels();
  enter_tracing_kernels();
  for (const c10::OperatorName& name : {c10::OperatorName("aten::relu", ""), {"aten::add", "Tensor"}}) {
    const auto found = c10::Dispatcher::singleton().findSchema(name);
    REQUIRE(found);
    CHECK(found->hasKernelForDispatchKey(c10::DispatchKey::Tracer));
    CHECK(found->hasKernelForDispatchKey(c10::DispatchKey::Autograd));
    CHECK(found->hasKernelForDispatchKey(c10::DispatchKey::Functionalize) != kIsAndroidsRelease);
  }
}
