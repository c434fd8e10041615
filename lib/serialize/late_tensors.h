// Weights of modules that are evaluated one after the other as an archive is written, so that they are never in memory
// together.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <unordered_map>

#include "lib/nnapi/constant.h"

namespace nnapi_convert {

class LateTensors {
 public:
  // Hands over all bytes of a tensor. With `releases` it isn't called again and lets go of what it took them from.
  using Write = std::function<void(bool releases, const nnapi::ByteSink& sink)>;
  // Gets the CRC-32 of the bytes each time that they were handed over.
  using OnWritten = std::function<void(uint32_t checksum)>;

  // The constant as a tensor. A large one is late: its data are zeros, which take no memory, until fill().
  at::Tensor add(const nnapi::Constant& constant);
  // The same for `size` bytes that `write` makes.
  at::Tensor add(uint64_t size, Write write, OnWritten on_written);

  // Evaluates all that are late; then they are tensors like others.
  void fill();

  size_t size() const { return late_.size(); }
  // True if these are a late tensor's data.
  bool holds(const void* data) const { return late_.count(data) != 0; }
  // Writes the late tensor with these data into the sink, and gives the CRC-32 of its bytes. With `releases` it can't
  // be written again.
  uint32_t write(const void* data, bool releases, const nnapi::ByteSink& sink);

 private:
  struct Late {
    at::Tensor tensor;
    Write write;
    OnWritten on_written;
  };
  at::Tensor keep(Late late);

  std::unordered_map<const void*, Late> late_;  // by their data
};

// Lets go of the bytes of constants as large as those that are late.
void release_late(nnapi::Constant& constant);

}  // namespace nnapi_convert
