// SPDX-License-Identifier: BSD-3-Clause
// Names an operation in messages.
#pragma once

#include <cstddef>
#include <cstdio>

#include "lib/shim/model_view.h"
#include "lib/shim/nnapi_names.h"

namespace nnapi_shim {

// A text such as "operation 3 CONV_2D (features.0, model.py:12)". Leaves out a name or source line that was stripped
// from the model, and cuts long ones.
class OperationText {
 public:
  OperationText(const OperationView& operation, size_t number) {
    const bool has_name = operation.name[0] != '\0', has_source = operation.source[0] != '\0';
    const char* open = has_name || has_source ? " (" : "";
    const char* close = has_name || has_source ? ")" : "";
    std::snprintf(text_, sizeof(text_), "operation %zu %s%s%.100s%s%.100s%s", number, operation_name(operation.code),
                  open, operation.name, has_name && has_source ? ", " : "", operation.source, close);
  }
  const char* text() const { return text_; }

 private:
  char text_[300];
};

}  // namespace nnapi_shim
