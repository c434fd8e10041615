// Weights of modules that are evaluated one after the other as an archive is written, so that they are never in memory
// together.
#pragma once

#include <ATen/core/Tensor.h>

#include <unordered_map>

#include "lib/nnapi/constant.h"

namespace nnapi_convert {

class LateTensors {
 public:
  // The constant as a tensor. A large one is late: its data are zeros, which take no memory, until fill().
  at::Tensor add(const nnapi::Constant& constant);

  // Evaluates all that are late; then they are tensors like others.
  void fill();

  // True if these are a late tensor's data.
  bool holds(const void* data) const { return late_.count(data) != 0; }
  // Evaluates the late tensor with these data into the sink. With `releases` it lets go of the constant: nothing can
  // ask for it again.
  void write(const void* data, bool releases, const nnapi::ByteSink& sink);

 private:
  struct Late {
    at::Tensor tensor;
    nnapi::Constant value;
  };
  std::unordered_map<const void*, Late> late_;  // by their data
};

// Lets go of the bytes of constants as large as those that are late.
void release_late(nnapi::Constant& constant);

}  // namespace nnapi_convert
