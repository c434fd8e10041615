// SPDX-License-Identifier: BSD-3-Clause
// Reads a pickle without running anything: the opcodes of TorchScript's own archives and of torch.save with pickle
// protocols 2 to 5, as a tree of values.
// LibTorch believes sizes, places and order of what it reads; here each is checked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nnapi_convert {

using PickleId = uint32_t;  // number of a value in Pickle::values

struct PickleValue {
  enum class Kind {
    kNone,
    kBool,
    kInt,
    kDouble,
    kString,
    kTuple,
    kList,
    kDict,        // keys and values in turns
    kGlobal,      // a function or class by its name
    kCall,        // a global, and what it is called with: a tuple, or one value for an enum of TorchScript
    kObject,      // a global, and the state when it has one
    kPersistent,  // what names a storage
  };
  Kind kind = Kind::kNone;
  int64_t number = 0;              // value of a bool or int
  std::string_view text = {};      // of a string; of a global "module\nname"; of a double its bytes, the highest first
  std::vector<PickleId> elements;  // of values that hold others
};

struct Pickle {
  std::vector<PickleValue> values;  // their texts are in the bytes that were read, or in joined_texts
  PickleId root = 0;
  std::vector<std::shared_ptr<const std::string>> joined_texts = {};  // names that were pickled in two parts

  const PickleValue& at(PickleId id) const { return values[id]; }
  // Returns the value. Throws ConvertError (kBadFile) unless it is of that kind and has so many elements or more.
  const PickleValue& at(PickleId id, PickleValue::Kind kind, size_t least = 0) const;
};

enum class PickledBy {
  kTorchScript,
  kTorchSave,  // an OrderedDict is a dict, and what a dict was given besides its elements is left out
};

// Throws DamagedFile where the bytes are no pickle, and ConvertError (kBadFile) for a pickle that this reader doesn't
// take. No value holds itself.
Pickle read_pickle(std::string_view bytes, PickledBy by = PickledBy::kTorchScript);

}  // namespace nnapi_convert
