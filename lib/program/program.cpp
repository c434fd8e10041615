// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/program.h"

#include <cstring>

namespace nnapi_shim::program {

const Method* Program::find_method(const char* name) const {
  for (uint32_t i = 0; i < named_methods_; ++i) {
    if (std::strcmp(methods_[i].name, name) == 0) return &methods_[i];
  }
  return nullptr;
}

namespace {

// Copies values of constants into a call's memory. An object to which two values refer is copied once.
class StateMaker {
 public:
  explicit StateMaker(Pool& pool) : pool_(pool) {}

  bool copy(const Value& from, Value* to) {
    if (from.tag() < Tag::kTensor) {
      *to = from;
      return true;
    }
    for (const Copy& known : copies_) {
      if (known.from != from.object()) continue;
      *to = known.to;
      return true;
    }
    return from.is_tensor() ? copy_tensor(from.tensor(), to) : copy_sequence(from.sequence(), to);
  }

 private:
  struct Copy {
    const Object* from;
    Value to;
  };

  bool copy_tensor(const Tensor& from, Value* to) {
    Tensor* made = make_tensor(pool_, from.dtype, from.rank, from.sizes);
    if (made == nullptr) return false;
    copy_elements(from, *made);
    *to = Value(made);
    copies_.push_back({&from.head, *to});
    return true;
  }

  bool copy_sequence(const Sequence& from, Value* to) {
    Sequence* made = make_sequence(pool_, from.head.tag, from.count);
    if (made == nullptr) return false;
    *to = Value(made);
    for (uint32_t i = 0; i < from.count; ++i) {
      if (!copy(from.values[i], &made->values[i])) return false;
    }
    copies_.push_back({&from.head, *to});
    return true;
  }

  Pool& pool_;
  std::vector<Copy> copies_;
};

}  // namespace

bool Program::make_state(Context& context, Value* state) const {
  return StateMaker(context.pool).copy(constants_[state_], state);
}

}  // namespace nnapi_shim::program
