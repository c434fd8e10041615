// The one-line text of a refusal.
#include "lib/base/diagnostics.h"

#include <catch2/catch.hpp>

using namespace nnapi_convert;

TEST_CASE("a refusal's message names place, operation, found, needed and hint") {
  const Refusal refusal{"model.py:12", "aten::fft_fft", "complex output", "a real one", "run it on the CPU"};
  CHECK(refusal.message() == "model.py:12: aten::fft_fft: complex output; needed: a real one; hint: run it on the CPU");
}

TEST_CASE("a refusal's message leaves out what is empty") {
  CHECK(Refusal{"", "aten::sort", "rank 5", "", ""}.message() == "aten::sort: rank 5");
  CHECK(Refusal{"a.py:1", "aten::sort", "rank 5", "", "flatten"}.message() ==
        "a.py:1: aten::sort: rank 5; hint: flatten");
  CHECK(Refusal{"", "aten::sort", "rank 5", "rank 4", ""}.message() == "aten::sort: rank 5; needed: rank 4");
}

TEST_CASE("warnings keep their order") {
  Diagnostics diagnostics;
  diagnostics.warn("first");
  diagnostics.warn("second");
  CHECK(diagnostics.warnings == std::vector<std::string>{"first", "second"});
  CHECK(diagnostics.refusals.empty());
}
