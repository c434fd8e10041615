// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/export_guards.h"

#include <catch2/catch.hpp>

using namespace nnapi_convert;

namespace {

ExportedTensor::Size open_size(int64_t min, std::optional<int64_t> max = {}) {
  ExportedTensor::Size size;
  size.min = min;
  size.max = max;
  return size;
}

using Texts = std::vector<std::string>;

// Two inputs, x of [1, length, 8] and pair[0] of [length].
Texts conditions(const std::vector<std::string>& guards, int64_t least = 2) {
  ExportedTensor::Size one, eight;
  one.number = 1;
  eight.number = 8;
  const std::vector<ExportedTensor> stated = {{"x", at::kFloat, {one, open_size(least), eight}},
                                              {"pair[0]", at::kFloat, {open_size(2, 60)}}};
  const std::vector<TensorType> types = {{at::kFloat, {1, Dim::of_input(0, 1), 8}, {}},
                                         {at::kFloat, {Dim::of_input(1, 0)}, {}}};
  GuardConditions found = conditions_of(guards, stated, {"x", "pair[0]"}, types);
  Texts texts;
  for (const SizeCondition& condition : found.checked) {
    const char* is[] = {" == ", " >= ", " <= "};
    texts.push_back(condition.left.text() + is[static_cast<size_t>(condition.kind)] + condition.right.text());
  }
  for (const std::string& told : found.told) texts.push_back("told: " + told);
  return texts;
}

}  // namespace

TEST_CASE("A guard that doesn't hold for each size is checked at each call", "[export_guards]") {
  CHECK(conditions({"(L['x'].size()[1] % 2) == 0"}) == Texts{"x0.1 == 2 * (x0.1 // 2)"});
  CHECK(conditions({"3*L['x'].size()[1] <= 50"}) == Texts{"3 * x0.1 <= 50"});
  CHECK(conditions({"L['x'].size()[1] > L['pair'][0].size()[0]"}) == Texts{"x0.1 >= x1.0 + 1"});
  CHECK(conditions({"9 >= L['x'].size()[1]"}) == Texts{"x0.1 <= 9"});
  CHECK(conditions({"2*L['x'].size()[1] == L['pair'][0].size()[0]"}) == Texts{"x1.0 == 2 * x0.1"});
  CHECK(conditions({"-L['x'].size()[1] + 4 < L['pair'][0].size()[0] - 2"}) == Texts{"-x0.1 + 4 <= x1.0 - 3"});
  CHECK(conditions({"(L['x'].size()[1] // 2) == 8", "L['x'].size()[1] < 9"}) == Texts{"(x0.1 // 2) == 8", "x0.1 <= 8"});
  CHECK(conditions({"L['x'].size()[1] * 6 / 3 < 9"}) == Texts{"2 * x0.1 <= 8"});
}

TEST_CASE("A guard that no expression over sizes says is told", "[export_guards]") {
  CHECK(conditions({"torch.sym_max(L['x'].size()[1], 3) == 8"}) == Texts{"told: torch.sym_max(size 1 of x, 3) == 8"});
  CHECK(conditions({"L['x'].size()[1] // L['pair'][0].size()[0] == 2"}) ==
        Texts{"told: size 1 of x // size 0 of pair[0] == 2"});
  std::string product = "L['x'].size()[1]";
  for (int i = 0; i < 40; ++i) product += " * L['pair'][0].size()[0]";
  CHECK(conditions({product + " <= 7"}).at(0).substr(0, 6) == "told: ");
  CHECK(conditions({}, 11).empty());
  CHECK(conditions({"L['x'].size()[1] > 10"}, 11).empty());
  CHECK(conditions({"L['pair'][0].size()[0] <= 60"}).empty());
}

TEST_CASE("Guards that always hold, that tell sizes apart or that aren't understood are left out", "[export_guards]") {
  for (const char* guard :
       {"(-1 + L['x'].size()[1]) // 2 >= 0",
        "(2*L['x'].size()[1]) == math.trunc(2.0*torch.sym_float(L['x'].size()[1]))",
        "torch.sym_max(1, L['x'].size()[1]) == L['x'].size()[1]", "math.ceil(L['x'].size()[1] / 3) >= 1",
        "L['x'].size()[1] != 7", "L['y'].size()[1] == 7", "L['x'].size()[5] == 7", "L['x'].numel() == 7", "", "((((",
        "L['x", "L['x'].size()[1] == 7 or True", "L['x'].size()[1] // 0 == 7", "1 == 99999999999999999999"}) {
    INFO(guard);
    CHECK(conditions({guard}).empty());
  }
  for (const char sign : {'(', '-'}) CHECK(conditions({std::string(100'000, sign)}).empty());
}
