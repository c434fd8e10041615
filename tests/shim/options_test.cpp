// SPDX-License-Identifier: BSD-3-Clause
// Options: their checks, and structs of older and newer callers.
#include "lib/shim/options.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

using namespace nnapi_shim;

namespace {

nnapi_shim_options plain() {
  nnapi_shim_options options{};
  options.struct_bytes = sizeof(options);
  return options;
}

void refuses(const nnapi_shim_options& options, const std::string& part) {
  Options read;
  nnapi_shim_error error{};
  CHECK(read_options(&options, &read, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(error.status == NNAPI_SHIM_BAD_ARGUMENT);
  INFO(error.message);
  CHECK(std::string(error.message).find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("options: the defaults") {
  for (const bool is_null : {true, false}) {
    const nnapi_shim_options zero = plain();
    Options read;
    read.priority = 110;
    REQUIRE(read_options(is_null ? nullptr : &zero, &read, nullptr) == NNAPI_SHIM_OK);
    CHECK(read.library_path() == nullptr);
    CHECK(read.max_compiled == 4);
    CHECK(read.priority == 0);
    CHECK_FALSE(read.needs_one_device());
  }
}

TEST_CASE("options: what is copied") {
  nnapi_shim_options options = plain();
  std::string library = "lib", device = "npu", cache = "/cache";
  options.library = library.c_str();
  options.device = device.c_str();
  options.cache_directory = cache.c_str();
  options.preference = 3;
  options.priority = 110;
  options.compile_timeout_ns = 1;
  options.execute_timeout_ns = 2;
  options.loop_timeout_ns = 3;
  options.measure_timing = options.no_burst = options.no_reuse = 1;
  options.max_compiled = 9;
  Options read;
  REQUIRE(read_options(&options, &read, nullptr) == NNAPI_SHIM_OK);
  library = device = cache = "gone";
  CHECK(read.library == "lib");
  CHECK(read.device == "npu");
  CHECK(read.cache_directory == "/cache");
  CHECK(read.preference == 3);
  CHECK(read.priority == 110);
  CHECK(read.compile_timeout_ns == 1);
  CHECK(read.execute_timeout_ns == 2);
  CHECK(read.loop_timeout_ns == 3);
  CHECK((read.measure_timing && read.no_burst && read.no_reuse && read.needs_one_device()));
  CHECK(read.max_compiled == 9);
}

TEST_CASE("options: what is refused") {
  nnapi_shim_options options = plain();
  options.struct_bytes = 0;
  refuses(options, "struct_bytes is 0, sizeof(nnapi_shim_options), at least");
  options = plain();
  options.device_kind = 5;
  refuses(options, "device_kind is 5");
  options = plain();
  options.preference = 4;
  refuses(options, "preference is 4");
  options = plain();
  options.priority = 1;
  refuses(options, "priority is 1");
  options = plain();
  options.device = "npu";
  options.device_kind = NNAPI_SHIM_GPU;
  refuses(options, "both device (npu) and device_kind (1) are set");
  options = plain();
  options.is_support_library = 1;
  refuses(options, "library has no path");
}

TEST_CASE("options of newer callers") {
  struct {
    nnapi_shim_options known;
    uint64_t later[2];
  } newer{};
  newer.known.struct_bytes = sizeof(newer);
  newer.known.max_compiled = 2;
  Options read;
  REQUIRE(read_options(&newer.known, &read, nullptr) == NNAPI_SHIM_OK);
  CHECK(read.max_compiled == 2);
  newer.later[1] = 1;
  refuses(newer.known, "leave newer options at zero or update the library");
}
