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

// Two inputs, x of [1, length, 8] and pair[0] of [length].
std::vector<std::string> conditions(const std::vector<std::string>& guards, int64_t least = 2) {
  ExportedTensor::Size one, eight;
  one.number = 1;
  eight.number = 8;
  const std::vector<ExportedTensor> stated = {{"x", at::kFloat, {one, open_size(least), eight}},
                                              {"pair[0]", at::kFloat, {open_size(2, 60)}}};
  const std::vector<TensorType> types = {{at::kFloat, {1, Dim::of_input(0, 1), 8}, {}},
                                         {at::kFloat, {Dim::of_input(1, 0)}, {}}};
  return conditions_on_sizes(guards, stated, {"x", "pair[0]"}, types);
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("A guard that doesn't hold for each size is a condition", "[export_guards]") {
  CHECK(conditions({"(L['x'].size()[1] % 2) == 0"}) == Texts{"(size 1 of x % 2) == 0"});
  CHECK(conditions({"3*L['x'].size()[1] <= 50"}) == Texts{"3*size 1 of x <= 50"});
  CHECK(conditions({"L['x'].size()[1] > L['pair'][0].size()[0]"}) == Texts{"size 1 of x > size 0 of pair[0]"});
  CHECK(conditions({"(L['x'].size()[1] // 2) == 8", "L['x'].size()[1] < 9"}) ==
        Texts{"size 1 of x < 9", "(size 1 of x // 2) == 8"});
}

TEST_CASE("A range that leaves out more than 0 and 1 is a condition", "[export_guards]") {
  CHECK(conditions({}, 11) == Texts{"size 1 of x >= 11"});
  CHECK(conditions({"L['x'].size()[1] > 10"}, 11) == Texts{"size 1 of x >= 11"});
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
