// A list of names within a message.
#pragma once

namespace nnapi_shim {

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
