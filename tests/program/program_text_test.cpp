// SPDX-License-Identifier: BSD-3-Clause
// Programs as text.
#include "lib/converter/report/program_text.h"

#include <string>

#include "tests/program/program_run.h"

// Catch's header defines macros that other headers must not see.
#include <catch2/catch.hpp>

using namespace nnapi_shim::program_testing;
using nnapi_convert::program_format::Opcode;

TEST_CASE("each instruction is a line, with its place in the source") {
  ProgramMaker make;
  make.add_segment(1, 1, 2);
  MadeMethod forward;
  forward.registers = 8;
  forward.arguments = {{"x", "Tensor"}, {"n", "int"}, {"is_deep", "bool"}};
  forward.result_type = "List[Tensor]";
  forward.result = 4;
  const Code body = make.segment(0, {3}, {3}) + make.op("aten::lt.int", {6, 1}, {7});
  forward.code = make.op("aten::relu", {0}, {3}, "net.py:7") +
                 make.if_(2, {3}, make.segment(0, {3}, {5}), {5}, make.raise(make.text("no"), "net.py:9"), {0}) +
                 make.loop(make.integer(4), make.boolean(true), {3}, {3}, {6, 3}, 7, {3}, body) +
                 make.make(Opcode::kList, {3, make.floats({2, 3}, std::vector<float>(6, 1))}, 4) + make.drop({3});
  make.add_method(forward);
  MadeMethod on_cpu;
  on_cpu.name = "segment 0";
  on_cpu.registers = 2;
  on_cpu.arguments = {{"0", "Tensor"}};
  on_cpu.result_type = "Tuple[Tensor]";
  on_cpu.result = 1;
  on_cpu.code = make.make(Opcode::kTuple, {0}, 1);
  make.add_method(on_cpu);
  const OpenProgram open(make);
  REQUIRE(open.error().empty());
  CHECK(nnapi_convert::to_text(open.program()) ==
        "forward(r0 x: Tensor, r1 n: int, r2 is_deep: bool) -> List[Tensor]\n"
        "  r3 = aten::relu(r0)  # net.py:7\n"
        "  if r2:\n"
        "    r5 = segment 0(r3)\n"
        "    r3 = r5\n"
        "  else:\n"
        "    raise \"no\"  # net.py:9\n"
        "    r3 = r0\n"
        "  r3 = r3\n"
        "  for r6 below 4, while True:\n"
        "    r3 = segment 0(r3)\n"
        "    r7 = aten::lt.int(r6, r1)\n"
        "    r3 = r3\n"
        "    go on while r7\n"
        "  r3 = r3\n"
        "  r4 = [r3, float32[2, 3]]\n"
        "  return r4\n"
        "where NNAPI fails, segment 0(r0 0: Tensor) -> Tuple[Tensor]\n"
        "  r1 = (r0)\n"
        "  return r1\n");
}

// As text in full it would have 8 to the power of 40 numbers.
TEST_CASE("constants that hold others many times over have a short text") {
  ProgramMaker make;
  uint32_t list = make.list(std::vector<uint32_t>(8, make.integer(1)));
  for (int i = 0; i < 39; ++i) list = make.list(std::vector<uint32_t>(8, list));
  MadeMethod forward;
  forward.registers = 1;
  forward.arguments = {{"x", "int"}};
  forward.result_type = "int";
  forward.code = make.make(Opcode::kTuple, {list}, 0);
  make.add_method(forward);
  const OpenProgram open(make);
  REQUIRE(open.error().empty());
  const std::string text = nnapi_convert::to_text(open.program());
  CHECK(text.size() < 10000);
  CHECK(text.find("[...") != std::string::npos);
}
