// SPDX-License-Identifier: BSD-3-Clause
// Reads what a pickle holds at its top, without running any of it: nothing is imported, called or built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nnapi_convert {

struct PickleOutline {
  enum class Kind {
    kOther,   // a number, a list, a tuple, ...
    kDict,    // or an OrderedDict
    kTensor,  // or a parameter
    kObject,  // of a class
  };
  Kind kind = Kind::kOther;
  std::string class_name;         // of an object, for example "torchvision.models.resnet.ResNet"
  std::vector<std::string> keys;  // of a dict: the first kMostKeys that are strings
  size_t tensors = 0;             // how many values of a dict are tensors
  std::string weights_key;        // of a dict: the first key whose value is a dict with tensors; empty: none
};

constexpr size_t kMostPickleKeys = 16;

// Returns the outline of the pickle that begins at `bytes[begin]`; `begin` is moved behind it. A pickle that goes on
// behind the bytes is outlined as far as it is there. Nothing where the bytes are no pickle.
std::optional<PickleOutline> pickle_outline(std::string_view bytes, size_t& begin);

}  // namespace nnapi_convert
