// SPDX-License-Identifier: BSD-3-Clause
// The records that tell an app about its model: how pictures become its input, the names of its classes, notes.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "lib/shim/nnapi_shim.h"
#include "lib/shim/picture.h"

namespace nnapi_shim {

// The bytes of the records; empty ones are not in the archive.
struct AttachedRecords {
  std::string pictures, labels, notes;
};

struct Attachments {
  bool has_pictures = false;
  PictureRecord pictures;
  std::string picture_path;  // path of the argument that takes pictures; may be empty
  std::vector<std::string> labels;
  std::vector<std::pair<std::string, std::string>> notes;

  // Reads the records. Returns NNAPI_SHIM_BAD_MODEL if one has another form.
  int read(const AttachedRecords& records, nnapi_shim_error* error);
};

// Finds the `count` largest elements of a tensor, the first of equal ones first. Returns how many it found.
size_t find_best(const nnapi_shim_tensor& tensor, const void* data, nnapi_shim_score* best, size_t count);

}  // namespace nnapi_shim
