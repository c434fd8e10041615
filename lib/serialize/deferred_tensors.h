// SPDX-License-Identifier: BSD-3-Clause
// Keeps weights of modules unevaluated (late) until an archive is written. The writer evaluates one after the other, so
// that they are never in memory together.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <unordered_map>

#include "lib/nnapi/constant.h"
#include "lib/nnapi/constant_map.h"

namespace nnapi_convert {

class DeferredTensors {
 public:
  // A function that hands over all bytes of a tensor. With `releases` it also frees their source, and is not called
  // again.
  using Write = std::function<void(bool releases, const nnapi::ByteSink& sink)>;
  // A function that is called with the CRC-32 of the bytes each time after they were handed over.
  using OnWritten = std::function<void(uint32_t checksum)>;

  // Returns the constant as a tensor. A large tensor is late: its data are zeros, which take no memory, until fill().
  at::Tensor add(const nnapi::Constant& constant);
  // Works as add(), but returns the same tensor for an equal constant, until forget_shared().
  at::Tensor add_shared(const nnapi::Constant& constant);
  void forget_shared() { shared_.clear(); }
  // Returns a tensor of `size` bytes that `write` makes: a late one, or, if it is small, a filled one.
  at::Tensor add(uint64_t size, Write write, OnWritten on_written);

  // Takes back a tensor of add(): it will not be written.
  void remove(const at::Tensor& tensor) { late_.erase(key_of(tensor)); }

  // Evaluates all late tensors; after that they are normal tensors.
  void fill();

  size_t size() const { return late_.size(); }
  // Returns true for a late tensor, or a view of one.
  bool holds(const at::Tensor& tensor) const { return late_.count(key_of(tensor)) != 0; }
  // Writes a late tensor into the sink. With `releases` it can't be written again.
  void write(const at::Tensor& tensor, bool releases, const nnapi::ByteSink& sink) const;
  // Takes the CRC-32 of the bytes that write() wrote.
  void note_written(const at::Tensor& tensor, uint32_t checksum) const;

 private:
  struct Late {
    at::Tensor tensor;
    Write write;
    OnWritten on_written;
  };
  using Key = const c10::StorageImpl*;

  static Key key_of(const at::Tensor& tensor) { return tensor.storage().unsafeGetStorageImpl(); }
  at::Tensor keep(Late late);

  nnapi::ConstantMap<at::Tensor> shared_;
  std::unordered_map<Key, Late> late_;
};

// Frees the bytes of a constant that is large enough for a late tensor.
void release_late(nnapi::Constant& constant);

}  // namespace nnapi_convert
