// SPDX-License-Identifier: BSD-3-Clause
// Tests the messages for LibTorch's exceptions.
#include "lib/converter/graph/torch_error.h"

#include <c10/util/Exception.h>

#include <catch2/catch.hpp>
#include <stdexcept>

#include "tests/converter/fixtures.h"

namespace nnapi_convert {
namespace {

using namespace test;

std::string reason_of_run(const std::string& source, const Tensors& inputs) {
  torch::jit::Module module = from_source(source).module;
  try {
    module.forward(std::vector<c10::IValue>(inputs.begin(), inputs.end()));
  } catch (const std::exception& error) {
    return torch_reason(error);
  }
  return "";
}

}  // namespace

TEST_CASE("the reason of a module's error stands behind the trace") {
  CHECK(reason_of_run("def forward(self, x: Tensor, y: Tensor):\n  return torch.matmul(x, y)\n",
                      {at::ones({2, 3}), at::ones({4, 5})}) ==
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
  CHECK(reason_of_run("def forward(self, x: Tensor):\n  return torch.add(x, torch.view(x, [7]))\n", {at::ones({2, 3})})
            .rfind("shape '[7]' is invalid for input of size 6", 0) == 0);
}

TEST_CASE("the reason of LibTorch's error has no backtrace") {
  try {
    at::ones({2, 3}).matmul(at::ones({4, 5}));
    FAIL("it runs");
  } catch (const std::exception& error) {
    CHECK(torch_reason(error) == "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
  }
}

TEST_CASE("other exceptions and errors of several lines are told on one line") {
  CHECK(torch_reason(std::runtime_error("")) == "");
  CHECK(torch_reason(std::runtime_error("one\n  two\n")) == "one");
  const std::string trace = "Traceback of TorchScript (most recent call last):\n  File \"a.py\", line 3\n    x: int\n";
  CHECK(torch_reason(std::runtime_error(trace + "RuntimeError: one\nBackend: two\n")) == "one");
  CHECK(torch_reason(std::runtime_error(trace + "builtins.ValueError: no good\n")) == "builtins.ValueError: no good");
  CHECK(torch_reason(std::runtime_error(trace + "no good\n")) == "no good");
}

TEST_CASE("a reason has no addresses and no places in LibTorch's sources") {
  const auto shown = [](const char* text) { return torch_reason(std::runtime_error(text)); };
  CHECK(shown("<__torch__.Net object at 0x55d0c8a1b2c0> has no rows") == "<__torch__.Net object> has no rows");
  CHECK(shown("a storage at: 0x7f10aa00 is gone") == "a storage is gone");
  CHECK(shown("x INTERNAL ASSERT FAILED at \"../torch/ir.cpp\":534, please report a bug to PyTorch. no type") ==
        "no type");
  CHECK(shown("r INTERNAL ASSERT FAILED at \"./aten/jit_type.h\":547, please report a bug to PyTorch. ") ==
        "an assertion within PyTorch fails");
  CHECK(shown("[enforce fail at inline_container.cc:148] . no version") == "no version");
  CHECK(shown("W20261126 15:16:28.319125   818 Copy.cpp:250] imaginary part (function operator())") ==
        "imaginary part");
  CHECK(shown("\n\nundefined value x:\n  File \"a.py\"") == "undefined value x:");
}

TEST_CASE("a long reason is cut between words") {
  std::string text;
  while (text.size() < 1000) text += "backend, ";
  const std::string found = torch_reason(std::runtime_error(text));
  CHECK(found.size() < 250);
  CHECK(found.substr(found.size() - 13) == " backend, ...");
}

}  // namespace nnapi_convert
