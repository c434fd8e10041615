// SPDX-License-Identifier: BSD-3-Clause
// The ways of operators: those of known operators, and that no name is misspelt.
#include "lib/ops/ways.h"

#include <torch/csrc/jit/runtime/operator.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

namespace nnapi_convert {
namespace {

std::string text_of(Way way) {
  switch (way) {
    case Way::kScript:
      return "script";
    case Way::kNewerRefusal:
      return "newer refusal";
    case Way::kPattern:
      return "pattern";
    case Way::kDecomposition:
      return "decomposition";
    case Way::kFormula:
      return "formula";
    case Way::kRow:
      return "row";
    case Way::kRefusal:
      return "refusal";
  }
  return "";
}

std::string kinds_of(const std::string& name) {
  std::string kinds;
  for (const OperatorWay& way : ways_of(name)) {
    if (way.name == name) kinds += (kinds.empty() ? "" : ", ") + text_of(way.way);
  }
  return kinds;
}

std::set<std::string> names_of_libtorch() {
  std::set<std::string> names;
  for (const auto& known : torch::jit::getAllOperators()) {
    names.insert(known->schema().name());
    names.insert(c10::toString(known->schema().operator_name()));
  }
  return names;
}

}  // namespace

TEST_CASE("operators have their ways in the order in which they are tried") {
  CHECK(kinds_of("aten::hardswish") == "row");
  CHECK(kinds_of("aten::var.correction") == "row");
  CHECK(kinds_of("aten::var.correction_number") == "script");
  CHECK(kinds_of("aten::convolution") == "script");
  CHECK(kinds_of("aten::einsum") == "decomposition, row");
  CHECK(kinds_of("aten::embedding_bag") == "decomposition, formula");
  CHECK(kinds_of("quantized::matmul") == "decomposition");
  CHECK(kinds_of("aten::stft") == "formula");
  CHECK(kinds_of("aten::div.Tensor") == "formula, row");
  CHECK(kinds_of("aten::div") == "pattern");
  CHECK(kinds_of("aten::nonzero") == "refusal");
  CHECK(kinds_of("aten::pad_sequence.padding_side") == "newer refusal");
  CHECK(kinds_of("aten::hstack") == "");
}

TEST_CASE("a name without overload has the ways of all overloads, and of no other operator") {
  const std::vector<OperatorWay> ways = ways_of("aten::var");
  CHECK(ways.size() > 3);
  for (const OperatorWay& way : ways) CHECK((way.name == "aten::var" || way.name.rfind("aten::var.", 0) == 0));
}

TEST_CASE("no way has a misspelt name") {
  const std::set<std::string> known = names_of_libtorch();
  for (const OperatorWay& way : ways_of("")) {
    const bool is_of_others = way.way == Way::kScript || way.way == Way::kNewerRefusal ||
                              way.name.rfind("torchvision::", 0) == 0 || way.name.rfind("nnapi_convert::", 0) == 0;
    INFO(way.name);
    CHECK((is_of_others || known.count(way.name) != 0));
  }
}

}  // namespace nnapi_convert
