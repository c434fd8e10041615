// How the shim reports that something failed: a status and one sentence for people.
#pragma once

#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// Fills `error`, if it is not null, and returns `status`. `nnapi_code` is what NNAPI answered, or 0. A sentence that
// does not fit is cut off at a whole character and ends in "...".
int fail(nnapi_shim_error* error, nnapi_shim_status status, int32_t nnapi_code, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

// Says that nothing failed, and returns NNAPI_SHIM_OK.
int succeed(nnapi_shim_error* error);

// A list of names in one text: items separated by ", "; those that do not fit are counted at its end.
class NameList {
 public:
  void add(const char* format, ...) __attribute__((format(printf, 2, 3)));
  // Ends the list.
  const char* text();
  int count() const { return count_; }

 private:
  static constexpr int kBytes = 300;
  char text_[kBytes + 40] = "";
  int used_ = 0, count_ = 0, left_out_ = 0;
};

}  // namespace nnapi_shim
