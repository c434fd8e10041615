// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/deep_copy.h"

#include <ATen/ATen.h>

#include <cstring>
#include <unordered_map>
#include <unordered_set>

namespace nnapi_convert {
namespace {

bool copies_itself(const c10::ivalue::Object& object) {
  return object.type()->findMethod("__getstate__") != nullptr && object.type()->findMethod("__setstate__") != nullptr;
}

bool has_plain_memory(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == at::kStrided && tensor.has_storage() && !tensor.is_quantized() &&
         tensor.device().is_cpu();
}

// The storages that several tensors share.
class SharedStorages {
 public:
  explicit SharedStorages(const c10::IValue& value) { visit(value); }

  bool any() const { return !shared_.empty(); }
  bool has(const at::Tensor& tensor) const {
    return has_plain_memory(tensor) && shared_.count(tensor.storage().unsafeGetStorageImpl()) != 0;
  }

 private:
  void visit(const c10::IValue& value) {
    if (value.isTensor()) return count(value.toTensor());
    if (!value.isPtrType() || !visited_.insert(value.internalToPointer()).second) return;
    if (value.isTuple()) {
      for (const c10::IValue& element : value.toTupleRef().elements()) visit(element);
    } else if (value.isList()) {
      for (const c10::IValue& element : value.toListRef()) visit(element);
    } else if (value.isGenericDict()) {
      for (const auto& entry : value.toGenericDict()) visit(entry.value());
    } else if (value.isObject() && !copies_itself(value.toObjectRef())) {
      for (const c10::IValue& slot : value.toObjectRef().slots()) visit(slot);
    }
  }

  void count(const at::Tensor& tensor) {
    if (!has_plain_memory(tensor)) return;
    const auto [first, is_new] =
        tensors_.try_emplace(tensor.storage().unsafeGetStorageImpl(), tensor.unsafeGetTensorImpl());
    if (!is_new && first->second != tensor.unsafeGetTensorImpl()) shared_.insert(first->first);
  }

  std::unordered_set<const void*> visited_, shared_;
  std::unordered_map<const void*, const void*> tensors_;  // the first tensor of each storage
};

// Walks over a value and LibTorch's copy of it, and puts a copy of its own in the place of each tensor whose memory
// other tensors share.
class Apart {
 public:
  explicit Apart(const SharedStorages& shared) : shared_(shared) {}

  c10::IValue mended(const c10::IValue& original, c10::IValue copy) {
    if (original.isTensor()) return shared_.has(original.toTensor()) ? copied(original.toTensor()) : copy;
    if (!original.isPtrType() || !visited_.insert(original.internalToPointer()).second) return copy;
    if (original.isTuple()) {
      const auto& elements = original.toTupleRef().elements();
      for (size_t i = 0; i < elements.size(); ++i) {
        copy.toTuple()->unsafeSetElement(i, mended(elements[i], copy.toTupleRef().elements()[i]));
      }
    } else if (original.isTensorList() || original.isList()) {
      c10::List<c10::IValue> list = copy.toList();
      const std::vector<c10::IValue> elements = original.toListRef().vec();
      for (size_t i = 0; i < elements.size(); ++i) list.set(i, mended(elements[i], list.get(i)));
    } else if (original.isGenericDict()) {
      auto dict = copy.toGenericDict();
      for (const auto& entry : original.toGenericDict()) {
        dict.insert_or_assign(entry.key(), mended(entry.value(), dict.at(entry.key())));
      }
    } else if (original.isObject() && !copies_itself(original.toObjectRef())) {
      const auto object = copy.toObject();
      for (size_t i = 0; i < object->slots().size(); ++i) {
        object->setSlot(i, mended(original.toObjectRef().getSlot(i), object->getSlot(i)));
      }
    }
    return copy;
  }

 private:
  at::Tensor copied(const at::Tensor& tensor) {
    at::Tensor& copy = tensors_[tensor.unsafeGetTensorImpl()];
    if (copy.defined()) return copy;
    const c10::Storage storage = copied(tensor.storage());
    copy = at::empty({0}, tensor.options()).set_(storage, tensor.storage_offset(), tensor.sizes(), tensor.strides());
    return copy.set_requires_grad(tensor.requires_grad());
  }

  c10::Storage copied(const c10::Storage& storage) {
    at::Tensor& bytes = storages_[storage.unsafeGetStorageImpl()];
    if (!bytes.defined()) {
      bytes = at::empty({static_cast<int64_t>(storage.nbytes())}, at::TensorOptions(at::kByte));
      if (storage.nbytes() > 0) std::memcpy(bytes.data_ptr(), storage.data(), storage.nbytes());
    }
    return bytes.storage();
  }

  const SharedStorages& shared_;
  std::unordered_set<const void*> visited_;
  std::unordered_map<const void*, at::Tensor> tensors_, storages_;
};

// Makes NamedTuples of LibTorch's copies of them, which are plain tuples: forward doesn't take these.
c10::IValue named_as(const c10::IValue& value, c10::IValue copy) {
  if (!value.isTuple()) return copy;
  std::vector<c10::IValue> elements;
  for (size_t i = 0; i < value.toTupleRef().elements().size(); ++i) {
    elements.push_back(named_as(value.toTupleRef().elements()[i], copy.toTupleRef().elements()[i]));
  }
  const auto type = value.type()->cast<c10::TupleType>();
  return type != nullptr && type->schema() ? c10::ivalue::Tuple::createNamed(std::move(elements), type)
                                           : c10::ivalue::Tuple::create(std::move(elements));
}

}  // namespace

c10::IValue deep_copy(const c10::IValue& value) {
  const SharedStorages shared(value);
  c10::IValue copy = named_as(value, value.deepcopy());
  return shared.any() ? Apart(shared).mended(value, std::move(copy)) : copy;
}

torch::jit::Module deep_copy(const torch::jit::Module& module) {
  return torch::jit::Module(deep_copy(c10::IValue(module._ivalue())).toObject());
}

}  // namespace nnapi_convert
