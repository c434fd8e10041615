// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into programs on an Android root folder where no service runs: asking the manager of drivers would wait for
// it for ever. The manager here knows no driver, so that Android's libneuralnetworks.so offers its own CPU alone.
//
// A stand-in for Android 10's android::hidl::manager::V1_0::IServiceManager: an object with a table of virtual
// functions and, as a virtual base, an android::RefBase of libutils. Each of its functions returns a Return<void> that
// is fine.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

namespace android::hardware {
namespace {

// As Return<void>: a status of two numbers and an empty string, and whether it was looked at.
struct Returned {
  ~Returned() {}  // Return has one, too, which makes it a result in memory of the caller
  int32_t exception = 0, error = 0;
  void* message[3] = {};
  bool is_checked = false;
};

struct Manager;
using Function = Returned (*)(Manager* self);

Returned do_nothing(Manager*) {
  return {};
}

// As C++ lays out the table of a class with one virtual base: its place, two words, then the functions.
constexpr int kFunctions = 64;
struct Table {
  intptr_t place_of_base, offset_to_top, type;
  Function functions[kFunctions];
};

struct Base {
  void* table;
  void* references;
};

struct Manager {
  const Function* functions;
  Base base;
};

Table table;
Manager manager;

void* function_of_utils(const char* name) {
  void* found = dlsym(dlopen("libutils.so", RTLD_NOW), name);
  if (found == nullptr) std::abort();
  return found;
}

void count_reference() {
  using CountReference = void (*)(const Base*, const void*);
  static const auto count = reinterpret_cast<CountReference>(function_of_utils("_ZNK7android7RefBase9incStrongEPKv"));
  count(&manager.base, &manager);
}

Manager* make_manager() {
  table.place_of_base = reinterpret_cast<intptr_t>(&manager.base) - reinterpret_cast<intptr_t>(&manager);
  for (Function& function : table.functions) function = do_nothing;
  manager.functions = table.functions;
  reinterpret_cast<void (*)(Base*)>(function_of_utils("_ZN7android7RefBaseC2Ev"))(&manager.base);
  count_reference();  // it is never freed
  return &manager;
}

}  // namespace

// As sp<IServiceManager>: it owns a reference, which the caller gives back.
struct Pointer {
  ~Pointer() {}
  Manager* to;
};

[[gnu::visibility("default")]] Pointer defaultServiceManager();

Pointer defaultServiceManager() {
  static Manager* const made = make_manager();
  count_reference();
  return {made};
}

}  // namespace android::hardware
