// SPDX-License-Identifier: BSD-3-Clause
// Opens NNAPI's library and finds its functions.
#include "lib/shim/nnapi_library.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstring>
#include <mutex>

namespace nnapi_shim {
namespace {

using AnyFunction = void (*)();

constexpr const char* kSystemLibrary = "libneuralnetworks.so";
constexpr uint16_t kNotUsed = 0xFFFF;
constexpr int64_t kSupportLibraryLevel = 31;  // ANEURALNETWORKS_FEATURE_LEVEL_5: the first with function tables

struct FunctionPlace {
  uint8_t level;
  bool is_in_table;
  uint16_t offset;  // in NnapiFunctions, or kNotUsed
};

constexpr FunctionPlace kPlaces[] = {
#define NNAPI_SHIM_FUNCTION(level, result, name, parameters) {level, true, offsetof(NnapiFunctions, name)},
#define NNAPI_SHIM_SYSTEM_FUNCTION(level, result, name, parameters) {level, false, offsetof(NnapiFunctions, name)},
#define NNAPI_SHIM_UNUSED(level, name) {level, true, kNotUsed},
#include "lib/shim/nnapi_functions.inc"
#undef NNAPI_SHIM_FUNCTION
#undef NNAPI_SHIM_SYSTEM_FUNCTION
#undef NNAPI_SHIM_UNUSED
};

// The names of the functions in kPlaces, one after the other; an unused function has an empty name. This is one text
// because a table of pointers would need relocations when the app starts.
constexpr char kNames[] =
#define NNAPI_SHIM_FUNCTION(level, result, name, parameters) #name "\0"
#define NNAPI_SHIM_SYSTEM_FUNCTION(level, result, name, parameters) #name "\0"
#define NNAPI_SHIM_UNUSED(level, name) "\0"
#include "lib/shim/nnapi_functions.inc"
#undef NNAPI_SHIM_FUNCTION
#undef NNAPI_SHIM_SYSTEM_FUNCTION
#undef NNAPI_SHIM_UNUSED
    ;

// Calls `visit(place, name)` for each function that the shim uses, until `visit` returns false.
template <typename Visit>
void for_each_function(const Visit& visit) {
  const char* name = kNames;
  for (const FunctionPlace& where : kPlaces) {
    if (where.offset != kNotUsed && !visit(where, name)) return;
    name += std::strlen(name) + 1;
  }
}

// The start of NnApiSLDriverImplFL5: the level, then one function for each entry of kPlaces that is in the table.
struct SupportLibraryTable {
  int64_t feature_level;
  AnyFunction functions[1];
};

struct LoadedLibrary {
  NnapiLibrary library;
  char* path = nullptr;
  LoadedLibrary* next = nullptr;
};

void place(NnapiFunctions* functions, const FunctionPlace& where, const void* function_pointer) {
  std::memcpy(reinterpret_cast<char*>(functions) + where.offset, function_pointer, sizeof(AnyFunction));
}

// Returns the level of the newest function found.
uint32_t find_exports(void* handle, NnapiFunctions* functions) {
  uint32_t newest = 0;
  for_each_function([&](const FunctionPlace& where, const char* name) {
    if (void* found = dlsym(handle, name)) {
      place(functions, where, &found);
      if (where.level > newest) newest = where.level;
    }
    return true;
  });
  return newest;
}

// Returns whether other functions can replace this function of level 1.
bool can_do_without(const NnapiFunctions& functions, const char* name) {
  const char* verb = name + sizeof("ANeuralNetworks") - 1;
  if (std::strcmp(verb, "Compilation_create") == 0) {
    return functions.ANeuralNetworksCompilation_createForDevices && functions.ANeuralNetworks_getDevice &&
           functions.ANeuralNetworks_getDeviceCount;
  }
  if (std::strcmp(verb, "Execution_startCompute") == 0 || std::strncmp(verb, "Event_", 6) == 0) {
    return functions.ANeuralNetworksExecution_compute;
  }
  return std::strncmp(verb, "Memory_", 7) == 0 || std::strstr(verb, "FromMemory") != nullptr;
}

// Returns null if the library can build, compile and run models, else the name of a function that it lacks.
const char* missing_function(const NnapiFunctions& functions) {
  const char* missing = nullptr;
  for_each_function([&](const FunctionPlace& where, const char* name) {
    AnyFunction found;
    std::memcpy(&found, reinterpret_cast<const char*>(&functions) + where.offset, sizeof(found));
    if (where.level > 1 || found || can_do_without(functions, name)) return true;
    missing = name;
    return false;
  });
  return missing;
}

int load_table(void* handle, const char* path, NnapiLibrary* library, nnapi_shim_error* error) {
  using GetTable = const SupportLibraryTable* (*)();
  void* symbol = dlsym(handle, "ANeuralNetworks_getSLDriverImpl");
  if (!symbol) {
    return fail(error, NNAPI_SHIM_UNAVAILABLE,
                "%s is no NNAPI support library: it has no function ANeuralNetworks_getSLDriverImpl", path);
  }
  GetTable get_table;
  std::memcpy(&get_table, &symbol, sizeof(get_table));
  const SupportLibraryTable* table = get_table();
  if (!table) {
    return fail(error, NNAPI_SHIM_UNAVAILABLE, "the NNAPI support library %s offers no drivers on this device", path);
  }
  if (table->feature_level < kSupportLibraryLevel) {
    return fail(error, NNAPI_SHIM_UNAVAILABLE,
                "the NNAPI support library %s has a function table of level code %lld; %lld (feature level 5) or more "
                "is needed",
                path, static_cast<long long>(table->feature_level), static_cast<long long>(kSupportLibraryLevel));
  }
  const AnyFunction* entry = table->functions;
  for (const FunctionPlace& where : kPlaces) {
    if (!where.is_in_table) continue;
    if (where.offset != kNotUsed) place(library, where, entry);
    ++entry;
  }
  library->feature_level = level_from_code(table->feature_level);
  return NNAPI_SHIM_OK;
}

int load_functions(void* handle, const char* path, bool is_support_library, NnapiLibrary* library,
                   nnapi_shim_error* error) {
  library->is_support_library = is_support_library;
  if (is_support_library) {
    const int status = load_table(handle, path, library, error);
    if (status != NNAPI_SHIM_OK) return status;
  } else {
    library->feature_level = find_exports(handle, library);
  }
  if (const char* name = missing_function(*library)) {
    return fail(error, NNAPI_SHIM_UNAVAILABLE,
                "the NNAPI library %s lacks the function %s, without which no model can run", path, name);
  }
  if (library->ANeuralNetworks_getRuntimeFeatureLevel) {
    const uint32_t level = level_from_code(library->ANeuralNetworks_getRuntimeFeatureLevel());
    if (level > 0) library->feature_level = level;
  }
  return NNAPI_SHIM_OK;
}

}  // namespace

uint32_t level_from_code(int64_t code) {
  constexpr int64_t kFirstApi = 27, kLastApi = 31, kLaterLevels = 1000000;
  if (code < kFirstApi || code >= kLaterLevels + kLaterLevels) return 0;
  if (code > kLaterLevels) return static_cast<uint32_t>(code - kLaterLevels);
  return static_cast<uint32_t>((code < kLastApi ? code : kLastApi) - kFirstApi + 1);
}

int load_nnapi(const char* path, bool is_support_library, const NnapiLibrary** library, nnapi_shim_error* error) {
  static std::mutex mutex;
  static LoadedLibrary* loaded = nullptr;
  *library = nullptr;
  if (!path) path = kSystemLibrary;
  const std::lock_guard<std::mutex> lock(mutex);
  for (const LoadedLibrary* known = loaded; known; known = known->next) {
    if (known->library.is_support_library == is_support_library && std::strcmp(known->path, path) == 0) {
      *library = &known->library;
      return NNAPI_SHIM_OK;
    }
  }
  // A library in use is never closed: drivers leave threads running.
  struct stat file;
  const bool is_path = std::strchr(path, '/') != nullptr;
  if (is_path && ::stat(path, &file) == 0 && !S_ISREG(file.st_mode)) {
    return fail(error, NNAPI_SHIM_UNAVAILABLE, "the NNAPI library %s is no regular file", path);
  }
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* reason = dlerror();
    return fail(error, NNAPI_SHIM_UNAVAILABLE, "this device has no NNAPI library %s that can be opened: %s", path,
                reason ? reason : "no reason given");
  }
  NnapiLibrary found;
  const int status = load_functions(handle, path, is_support_library, &found, error);
  if (status != NNAPI_SHIM_OK) {
    dlclose(handle);
    return status;
  }
  auto* entry = new LoadedLibrary;
  entry->library = found;
  entry->path = strdup(path);
  entry->next = loaded;
  loaded = entry;
  *library = &entry->library;
  return status;
}

}  // namespace nnapi_shim
