// SPDX-License-Identifier: BSD-3-Clause
// The one-line text of a refusal.
#include "lib/base/diagnostics.h"

#include <catch2/catch.hpp>

#include "lib/base/refusal_groups.h"

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

TEST_CASE("refusals that differ by their lines alone are one line with their number and first lines") {
  std::vector<Refusal> refusals = {{"a.py:1", "aten::sort", "rank 5", "", ""}, {"b.py:2", "aten::topk", "k", "1", ""}};
  for (const char* place : {"a.py:2", "a.py:1", "a.py:3", "a.py:4", "a.py:5"}) {
    refusals.push_back({place, "aten::sort", "rank 5", "", ""});
  }
  const std::vector<RefusalGroup> groups = groups_of(refusals);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].message() == "a.py:1, a.py:2, a.py:3 and 2 more: aten::sort: rank 5, 6 times");
  CHECK(groups[0].members == std::vector<size_t>{0, 2, 3, 4, 5, 6});
  CHECK(groups[1].message() == "b.py:2: aten::topk: k; needed: 1");
  CHECK(groups_of({{"", "aten::sort", "rank 5", "", ""}})[0].message() == "aten::sort: rank 5");
}

TEST_CASE("warnings keep their order") {
  Diagnostics diagnostics;
  diagnostics.warn("first");
  diagnostics.warn("second");
  CHECK(messages_of(diagnostics.warnings) == std::vector<std::string>{"first", "second"});
  CHECK(summary_of(diagnostics.warnings) == std::vector<std::string>{"first", "second"});
  CHECK(diagnostics.refusals.empty());
}

TEST_CASE("a warning's message names place, sentence and detail") {
  CHECK(Warning{"weights requantised", "a.py:3", "aten::conv2d", "error 2", 2}.message() ==
        "a.py:3: weights requantised: error 2");
  CHECK(Warning{"weights requantised", "", "aten::conv2d", "", 2}.message() == "weights requantised");
}

TEST_CASE("warnings of one kind are one line with their number and the worst place") {
  const std::vector<Warning> warnings = {{"weights requantised", "a.py:3", "aten::conv2d", "error 2", 2},
                                         {"another", "b.py:1", "", "", 0},
                                         {"weights requantised", "a.py:4", "aten::linear", "error 5", 5},
                                         {"weights requantised", "", "aten::conv2d", "error 4", 4}};
  CHECK(summary_of(warnings) ==
        std::vector<std::string>{"weights requantised, 3 times, the worst at a.py:4 (aten::linear): error 5",
                                 "b.py:1: another"});
  CHECK(messages_of(warnings).size() == 4);
}

TEST_CASE("warnings of one kind without detail name the first place") {
  CHECK(summary_of({{"not printed", "a.py:3", "", "", 0}, {"not printed", "a.py:5", "", "", 0}}) ==
        std::vector<std::string>{"not printed, 2 times, first at a.py:3"});
  CHECK(summary_of({{"left out", "", "", "", 0}, {"left out", "", "", "", 0}}) ==
        std::vector<std::string>{"left out, 2 times"});
}
