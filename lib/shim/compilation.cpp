// SPDX-License-Identifier: BSD-3-Clause
// Compiles models.
#include "lib/shim/compilation.h"

#include <utility>

#include "lib/shim/failure.h"
#include "lib/shim/monotonic_clock.h"
#include "lib/shim/nnapi_names.h"

namespace nnapi_shim {
namespace {

// Refuses options that limit or measure if NNAPI lacks their functions. Options that only save time need no check.
int check_functions(const NnapiLibrary& library, const Options& options, nnapi_shim_error* error) {
  const char* option = nullptr;
  uint32_t level = 4;
  if (options.compile_timeout_ns != 0 && !library.ANeuralNetworksCompilation_setTimeout) option = "compile_timeout_ns";
  if (options.execute_timeout_ns != 0 && !library.ANeuralNetworksExecution_setTimeout) option = "execute_timeout_ns";
  if (options.measure_timing &&
      (!library.ANeuralNetworksExecution_setMeasureTiming || !library.ANeuralNetworksExecution_getDuration)) {
    option = "measure_timing";
    level = 3;
  }
  if (!option) return NNAPI_SHIM_OK;
  return fail(error, NNAPI_SHIM_TOO_OLD,
              "options: %s needs NNAPI feature level %u, this device has level %u; leave the option at 0", option,
              level, library.feature_level);
}

}  // namespace

CacheToken make_cache_token(const ModelView& view, const uint8_t weights_digest[Sha256::kDigestBytes], bool copies) {
  Sha256 sum;
  const int32_t start[2] = {format::kVersion, (view.relax_fp16 ? 1 : 0) | (copies ? 2 : 0)};
  sum.add(start, sizeof(start));
  if (view.words) sum.add(view.words->data(), view.words->size() * sizeof(int32_t));
  sum.add(weights_digest, Sha256::kDigestBytes);
  CacheToken token;
  sum.finish(token.bytes);
  return token;
}

std::shared_ptr<CompiledModel> CompiledModel::make(const NnapiLibrary& library, const Options& options,
                                                   const ModelView& view, std::shared_ptr<const WeightMemory> weights,
                                                   const DeviceChoice* choice, const CacheToken* token, int* status,
                                                   nnapi_shim_error* error) {
  auto made = std::make_shared<CompiledModel>(library, options, std::move(weights));
  *status = check_functions(library, options, error);
  if (*status == NNAPI_SHIM_OK && choice) made->choice_ = *choice;
  if (*status == NNAPI_SHIM_OK && !choice) *status = choose_devices(library, options, &view, &made->choice_, error);
  if (*status != NNAPI_SHIM_OK) return nullptr;
  const uint64_t start = now_ns();
  *status = made->model_.build(view, error);
  if (*status != NNAPI_SHIM_OK) return nullptr;
  const uint64_t built = now_ns();
  *status = complete_devices(library, options, view.models[0], made->model_.main(), &made->choice_, error);
  if (*status == NNAPI_SHIM_OK) *status = made->compile(view, token, error);
  if (*status != NNAPI_SHIM_OK) return nullptr;
  made->build_ns_ = built - start;
  made->compile_ns_ = now_ns() - built;
  made->executions_ = std::make_unique<ExecutionPool>(library, options, made->compilation_, made->choice_.names);
  return made;
}

CompiledModel::CompiledModel(const NnapiLibrary& library, const Options& options,
                             std::shared_ptr<const WeightMemory> weights)
    : library_(library), options_(options), model_(library, std::move(weights)) {}

CompiledModel::~CompiledModel() {
  executions_.reset();
  if (compilation_) library_.ANeuralNetworksCompilation_free(compilation_);
}

int CompiledModel::compile(const ModelView& view, const CacheToken* token, nnapi_shim_error* error) {
  int status = create(error);
  if (status == NNAPI_SHIM_OK) status = set_options(view, token, error);
  if (status != NNAPI_SHIM_OK) return status;
  const int code = library_.ANeuralNetworksCompilation_finish(compilation_);
  return code == 0 ? NNAPI_SHIM_OK : fail_call("ANeuralNetworksCompilation_finish", code, error);
}

int CompiledModel::create(nnapi_shim_error* error) {
  const bool is_chosen = !choice_.handles.empty();
  const int code = is_chosen ? library_.ANeuralNetworksCompilation_createForDevices(
                                   model_.main(), choice_.handles.data(), static_cast<uint32_t>(choice_.handles.size()),
                                   &compilation_)
                             : library_.ANeuralNetworksCompilation_create(model_.main(), &compilation_);
  if (code == 0 && compilation_) return NNAPI_SHIM_OK;
  compilation_ = nullptr;
  return fail_call(is_chosen ? "ANeuralNetworksCompilation_createForDevices" : "ANeuralNetworksCompilation_create",
                   code, error);
}

int CompiledModel::set_options(const ModelView& view, const CacheToken* token, nnapi_shim_error* error) {
  const int32_t preference = options_.preference != 0 ? options_.preference - 1 : view.preference;
  int code = 0;
  if (library_.ANeuralNetworksCompilation_setPreference) {
    code = library_.ANeuralNetworksCompilation_setPreference(compilation_, preference);
  }
  if (code != 0) return fail_call("ANeuralNetworksCompilation_setPreference", code, error);
  if (options_.priority != 0 && library_.ANeuralNetworksCompilation_setPriority) {
    code = library_.ANeuralNetworksCompilation_setPriority(compilation_, options_.priority);
  }
  if (code != 0) return fail_call("ANeuralNetworksCompilation_setPriority", code, error);
  if (options_.compile_timeout_ns != 0) {
    code = library_.ANeuralNetworksCompilation_setTimeout(compilation_, options_.compile_timeout_ns);
  }
  if (code != 0) return fail_call("ANeuralNetworksCompilation_setTimeout", code, error);
  // An error is ignored: the model runs without a cache, too.
  if (token && library_.ANeuralNetworksCompilation_setCaching) {
    library_.ANeuralNetworksCompilation_setCaching(compilation_, options_.cache_directory.c_str(), token->bytes);
  }
  return NNAPI_SHIM_OK;
}

int CompiledModel::fail_call(const char* function, int code, nnapi_shim_error* error) {
  const char* where = devices_text(choice_.names);
  if (is_deadline(code)) {
    return fail_with(error, NNAPI_SHIM_TIMED_OUT, code,
                     "compiling for %s took longer than the options allow (compile_timeout_ns %llu): %s answers %s",
                     where, static_cast<unsigned long long>(options_.compile_timeout_ns), function, result_name(code));
  }
  return fail_with(error, NNAPI_SHIM_REFUSED, code,
                   "compiling for %s failed: %s answers %s; choose another device, or run the model on the CPU", where,
                   function, result_name(code));
}

}  // namespace nnapi_shim
