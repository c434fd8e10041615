// SPDX-License-Identifier: BSD-3-Clause
// Exit codes, and the text of broken invariants.
#include "lib/base/error.h"

#include <catch2/catch.hpp>
#include <string>

using namespace nnapi_convert;

TEST_CASE("ConvertError carries its message and exit code") {
  const ConvertError error(ExitCode::kBadFile, "can't read x.pt: not a zip archive");
  CHECK(std::string(error.what()) == "can't read x.pt: not a zip archive");
  CHECK(error.exit_code() == ExitCode::kBadFile);
}

TEST_CASE("exit codes are the documented numbers") {
  CHECK(static_cast<int>(ExitCode::kDone) == 0);
  CHECK(static_cast<int>(ExitCode::kNotConvertible) == 1);
  CHECK(static_cast<int>(ExitCode::kUsage) == 2);
  CHECK(static_cast<int>(ExitCode::kBadFile) == 3);
  CHECK(static_cast<int>(ExitCode::kVerificationFailed) == 4);
  CHECK(static_cast<int>(ExitCode::kInternal) == 70);
}

TEST_CASE("a broken invariant says where, what and with which value") {
  const int found = 3;
  std::string message;
  try {
    NNC_ASSERT(found == 4, "found " + std::to_string(found));
  } catch (const ConvertError&) {
    FAIL("a broken invariant is not bad input");
  } catch (const std::logic_error& error) {
    message = error.what();
  }
  CHECK_THAT(message, Catch::Contains("error_test.cpp:") && Catch::EndsWith("broken invariant `found == 4`: found 3"));
}

TEST_CASE("an invariant that holds evaluates its condition once and its detail never") {
  int evaluations = 0;
  NNC_ASSERT(++evaluations == 1, (++evaluations, "detail"));
  CHECK(evaluations == 1);
}
