// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/guard.h"

#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "lib/host_runtime/failure.h"
#include "lib/host_runtime/log.h"

namespace nnapi_convert::host {
namespace {

struct Description {
  ResultCode code;
  std::string sentence;
};

Description describe_exception() {
  try {
    throw;
  } catch (const Failure& failure) {
    return {failure.code(), failure.what()};
  } catch (const std::bad_alloc&) {
    return {ResultCode::OUT_OF_MEMORY, "out of memory"};
  } catch (const std::system_error& error) {
    return {ResultCode::RESOURCE_EXHAUSTED_TRANSIENT, error.what()};
  } catch (const c10::Error& error) {
    return {ResultCode::OP_FAILED, error.what_without_backtrace()};
  } catch (const std::exception& error) {
    return {ResultCode::OP_FAILED, error.what()};
  } catch (...) {
    return {ResultCode::OP_FAILED, "unknown exception"};
  }
}

}  // namespace

ResultCode code_of_exception() {
  return describe_exception().code;
}

ResultCode report_exception() {
  const Description description = describe_exception();
  log_sentence(LogLevel::kError, description.sentence);
  return description.code;
}

}  // namespace nnapi_convert::host
