// Catch2 2's one header, made of Catch2 3: the tests are written for Catch2 2, and this lies where only Catch2 3 is installed.
#pragma once

#include <catch2/catch_all.hpp>

using Catch::Approx;

namespace Catch {

inline auto Contains(const std::string& part) {
  return Matchers::ContainsSubstring(part);
}

using Matchers::EndsWith;
using Matchers::StartsWith;

}  // namespace Catch
