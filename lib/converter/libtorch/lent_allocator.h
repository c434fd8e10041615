// An allocator of LibTorch, whose functions LibTorch 1.13 and 2 declare differently.
//
// The program is built on LibTorch 1.13, 2.6 or 2.14. This folder holds all that depends on the release.
#pragma once

#include <c10/core/Allocator.h>
#include <torch/version.h>

namespace nnapi_convert {

// Lends memory to LibTorch. A derived class says which.
class LentAllocator : public at::Allocator {
 public:
#if TORCH_VERSION_MAJOR >= 2
  at::DataPtr allocate(size_t size) override {
    return lend(size);
  }
  void copy_data(void* to, const void* from, size_t size) const override {
    default_copy_data(to, from, size);
  }
#else
  at::DataPtr allocate(size_t size) const override {
    return lend(size);
  }
#endif

 private:
  virtual at::DataPtr lend(size_t size) const = 0;
};

}  // namespace nnapi_convert
