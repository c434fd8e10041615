// SPDX-License-Identifier: BSD-3-Clause
// Misspelt names.
#include "lib/base/nearest_name.h"

#include <catch2/catch.hpp>

using nnapi_convert::nearest_name;

TEST_CASE("nearest_name: one letter more, less, another, two exchanged") {
  const std::vector<std::string> names = {"--nhwc", "--nchw", "--verify", "--report", "--input"};
  CHECK(nearest_name("--nhcw", names) == "--nhwc");
  CHECK(nearest_name("--nhw", names) == "--nhwc");
  CHECK(nearest_name("-nhwc", names) == "--nhwc");
  CHECK(nearest_name("--verfy", names) == "--verify");
  CHECK(nearest_name("--Verify", names) == "--verify");
  CHECK(nearest_name("--reporrt", names) == "--report");
  CHECK(nearest_name("--imput", names) == "--input");
}

TEST_CASE("nearest_name: the beginning of a name") {
  CHECK(nearest_name("--embed", {"--emit-cpu", "--embed-shim-source"}) == "--embed-shim-source");
}

TEST_CASE("nearest_name: nothing is near") {
  const std::vector<std::string> names = {"--nhwc", "--quant", "-v", "-o"};
  for (const char* word : {"--unknown", "-x", "--", "", "3", "--device"}) CHECK(nearest_name(word, names).empty());
  CHECK(nearest_name("foo", {"floor", "fmod", "pow"}).empty());  // two changes of three letters
  CHECK(nearest_name("ops", {}).empty());
  CHECK(nearest_name("models", {"ops", "shim", "check"}).empty());
}
