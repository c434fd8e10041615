// Kernels that LibTorch enters into its dispatcher at each start, and that few conversions use or none does.
#pragma once

namespace nnapi_convert {

// Enters the kernels for tracing into LibTorch's dispatcher. To be called before anything is traced; later calls do
// nothing.
void enter_tracing_kernels();

}  // namespace nnapi_convert
