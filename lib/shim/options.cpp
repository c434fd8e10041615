// SPDX-License-Identifier: BSD-3-Clause
// Reads the caller's options.
#include "lib/shim/options.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace nnapi_shim {
namespace {

// Bytes of the first published struct; later versions add fields after `no_reuse`.
constexpr size_t kFirstBytes = offsetof(nnapi_shim_options, no_reuse) + sizeof(int32_t);

int copy_struct(const nnapi_shim_options* from, nnapi_shim_options* to, nnapi_shim_error* error) {
  const size_t bytes = from->struct_bytes;
  if (bytes < kFirstBytes) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                "options: struct_bytes is %zu, sizeof(nnapi_shim_options), at least %zu, is needed", bytes,
                kFirstBytes);
  }
  const auto* tail = reinterpret_cast<const unsigned char*>(from);
  for (size_t i = sizeof(*to); i < bytes; ++i) {
    if (tail[i] != 0) {
      return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                  "options: byte %zu of %zu is set, this version of the library knows %zu bytes; leave newer options "
                  "at zero or update the library",
                  i, bytes, sizeof(*to));
    }
  }
  std::memcpy(to, from, bytes < sizeof(*to) ? bytes : sizeof(*to));
  return NNAPI_SHIM_OK;
}

int check_numbers(const nnapi_shim_options& options, nnapi_shim_error* error) {
  if (options.device_kind < NNAPI_SHIM_ANY_DEVICE || options.device_kind > NNAPI_SHIM_NOT_REFERENCE_CPU) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                "options: device_kind is %d, a nnapi_shim_device_kind (%d to %d) is needed", options.device_kind,
                NNAPI_SHIM_ANY_DEVICE, NNAPI_SHIM_NOT_REFERENCE_CPU);
  }
  if (options.preference < 0 || options.preference > 3) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                "options: preference is %d, 0 or 1 + ANEURALNETWORKS_PREFER_* (1 to 3) is needed", options.preference);
  }
  if (options.priority != 0 && options.priority != 90 && options.priority != 100 && options.priority != 110) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                "options: priority is %d, 0 or ANEURALNETWORKS_PRIORITY_* (90, 100 or 110) is needed",
                options.priority);
  }
  if (options.device && options.device_kind != NNAPI_SHIM_ANY_DEVICE) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "options: both device (%s) and device_kind (%d) are set, leave one out",
                options.device, options.device_kind);
  }
  if (options.is_support_library && !options.library) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "options: is_support_library is set, but library has no path of one");
  }
  return NNAPI_SHIM_OK;
}

// Reads a file of rules; at most one byte more than rules may have.
int read_file(const std::string& path, std::string* text, nnapi_shim_error* error) {
  struct stat status;
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {  // opening a pipe waits for its writer
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "options: driver_rules_file %.200s is no regular file", path.c_str());
  }
  FILE* file = std::fopen(path.c_str(), "rbe");
  if (file) {
    text->resize(DriverRules::kMostBytes + 1);
    text->resize(std::fread(&(*text)[0], 1, text->size(), file));
  }
  const bool is_read = file && std::ferror(file) == 0;
  const int reason = errno;
  if (file) std::fclose(file);
  if (is_read) return NNAPI_SHIM_OK;
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "options: driver_rules_file %.200s can't be read: %s", path.c_str(),
              std::strerror(reason));
}

int read_rules(Options* options, nnapi_shim_error* error) {
  const bool is_file = !options->driver_rules_file.empty();
  options->replaces_rules = is_file || !options->driver_rules.empty();
  if (!options->replaces_rules) return NNAPI_SHIM_OK;
  if (is_file && !options->driver_rules.empty()) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                "options: both driver_rules and driver_rules_file are set, leave one out");
  }
  std::string content;
  if (is_file) {
    const int status = read_file(options->driver_rules_file, &content, error);
    if (status != NNAPI_SHIM_OK) return status;
  }
  const std::string& text = is_file ? content : options->driver_rules;
  return options->own_rules.read(is_file ? options->driver_rules_file.c_str() : "options: driver_rules", text.data(),
                                 text.size(), error);
}

const char* text_or_empty(const char* text) {
  return text ? text : "";
}

}  // namespace

int read_options(const nnapi_shim_options* from, Options* options, nnapi_shim_error* error) {
  *options = Options();
  if (!from) return NNAPI_SHIM_OK;
  nnapi_shim_options known{};
  int status = copy_struct(from, &known, error);
  if (status == NNAPI_SHIM_OK) status = check_numbers(known, error);
  if (status != NNAPI_SHIM_OK) return status;
  options->library = text_or_empty(known.library);
  options->is_support_library = known.is_support_library != 0;
  options->device = text_or_empty(known.device);
  options->device_kind = known.device_kind;
  options->preference = known.preference;
  options->priority = known.priority;
  options->compile_timeout_ns = known.compile_timeout_ns;
  options->execute_timeout_ns = known.execute_timeout_ns;
  options->loop_timeout_ns = known.loop_timeout_ns;
  options->measure_timing = known.measure_timing != 0;
  options->cache_directory = text_or_empty(known.cache_directory);
  if (known.max_compiled != 0) options->max_compiled = known.max_compiled;
  options->no_burst = known.no_burst != 0;
  options->no_reuse = known.no_reuse != 0;
  options->no_self_check = known.no_self_check != 0;
  options->variant = known.variant;
  options->measure_models = known.measure_models != 0;
  options->driver_rules = text_or_empty(known.driver_rules);
  options->driver_rules_file = text_or_empty(known.driver_rules_file);
  return read_rules(options, error);
}

}  // namespace nnapi_shim
