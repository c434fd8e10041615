// SPDX-License-Identifier: BSD-3-Clause
// Each instruction, and what calls leave behind.
#include <string>

#include "tests/program/program_run.h"

// Catch's header defines macros that other headers must not see.
#include <catch2/catch.hpp>

using namespace nnapi_shim::program_testing;
using namespace nnapi_shim::program;
using nnapi_convert::program_format::Opcode;

namespace {

// The method of this code, whose arguments are in the first registers.
MadeMethod method_of(Code code, uint32_t result, uint32_t arguments, const std::string& type = "int") {
  MadeMethod method;
  method.registers = 32;
  for (uint32_t i = 0; i < arguments; ++i) method.arguments.push_back({"x" + std::to_string(i), type});
  method.result = result;
  method.result_type = "int";
  method.code = std::move(code);
  return method;
}

Value number(int64_t value) {
  return Value(value);
}

}  // namespace

TEST_CASE("operators read registers and constants") {
  ProgramMaker make;
  const Code code = make.op("aten::add.int", {0, make.integer(5)}, {1}) + make.op("aten::mul.int", {1, 0}, {1});
  make.add_method(method_of(code, 1, 1));
  OpenProgram open(make);
  INFO(open.error());
  REQUIRE(open.is_good());
  CHECK(open.text({number(2)}) == "14");
  CHECK(open.text({number(-5)}) == "0");
  CHECK(open.context.pool.bytes_in_use() > 0);  // the state alone
}

TEST_CASE("branches give the values of the block that ran") {
  ProgramMaker make;
  const uint32_t zero = make.integer(0);
  const Code inner = make.if_(2, {5}, make.op("aten::neg.int", {0}, {6}), {6}, {}, {0});
  const Code code = make.op("aten::lt.int", {0, zero}, {2}) + inner + make.if_(2, {3, 4}, {}, {0, 5}, {}, {5, 0}) +
                    make.make(Opcode::kTuple, {3, 4}, 7);
  make.add_method(method_of(code, 7, 1));
  OpenProgram open(make);
  INFO(open.error());
  REQUIRE(open.is_good());
  CHECK(open.text({number(-3)}) == "(-3, 3)");
  CHECK(open.text({number(3)}) == "(3, 3)");
  CHECK(open.text({Value(2.5)}) == "(2.5, 2.5)");
}

TEST_CASE("a branch may swap values") {
  ProgramMaker make;
  const Code code = make.if_(make.boolean(true), {0, 1}, {}, {1, 0}, {}, {0, 1}) + make.make(Opcode::kList, {0, 1}, 2);
  make.add_method(method_of(code, 2, 2));
  OpenProgram open(make);
  CHECK(open.text({number(1), number(2)}) == "[2, 1]");
}

TEST_CASE("loops carry values, end by count and by condition") {
  ProgramMaker make;
  const uint32_t yes = make.boolean(true), one = make.integer(1), zero = make.integer(0),
                 most = make.integer(INT64_MAX);
  // Fibonacci's numbers: the carried values change places.
  const Code sum = make.op("aten::add.int", {5, 6}, {7});
  MadeMethod counted = method_of(make.loop(0, yes, {zero, one}, {2, 3}, {4, 5, 6}, yes, {6, 7}, sum), 2, 1);
  make.add_method(counted);
  const Code halve = make.op("aten::floordiv.int", {5, make.integer(2)}, {6}) + make.op("aten::gt.int", {6, one}, {7});
  MadeMethod conditional =
      method_of(make.op("aten::gt.int", {0, one}, {1}) + make.loop(most, 1, {0}, {2}, {4, 5}, 7, {6}, halve), 2, 1);
  conditional.name = "halve";
  make.add_method(conditional);
  OpenProgram open(make);
  INFO(open.error());
  REQUIRE(open.is_good());
  CHECK(open.text({number(0)}) == "0");
  CHECK(open.text({number(1)}) == "1");
  CHECK(open.text({number(10)}) == "55");
  CHECK(open.text({number(-1)}) == "0");
  CHECK(open.text({number(100)}, "halve") == "1");
  CHECK(open.text({number(0)}, "halve") == "0");
}

TEST_CASE("the number of the round is an int") {
  ProgramMaker make;
  const uint32_t yes = make.boolean(true);
  const Code body = make.op("aten::append.t", {1, 3}, {4});
  const Code code = make.make(Opcode::kList, {}, 1) + make.loop(0, yes, {}, {}, {3}, yes, {}, body);
  make.add_method(method_of(code, 1, 1));
  OpenProgram open(make);
  CHECK(open.text({number(4)}) == "[0, 1, 2, 3]");
}

TEST_CASE("lists, tuples, dicts and objects are made and taken apart") {
  ProgramMaker make;
  const uint32_t a = make.text("a"), b = make.text("b");
  const Code code = make.make(Opcode::kDict, {a, 0, b, 1, a, 1}, 2) +
                    make.op("aten::__getitem__.Dict_str", {2, a}, {3}) + make.op("aten::len.Dict_str", {2}, {4}) +
                    make.make_object(2, 5) + make.set_field(5, 1, 3) + make.get_field(5, 1, 6) +
                    make.get_field(5, 0, 7) + make.make(Opcode::kTuple, {3, 4, 6, 7}, 8) +
                    make.unpack(8, {10, 11, 12, 13}) + make.make(Opcode::kList, {13, 12, 11, 10}, 9);
  make.add_method(method_of(code, 9, 2));
  OpenProgram open(make);
  INFO(open.error());
  REQUIRE(open.is_good());
  CHECK(open.text({number(1), number(2)}) == "[None, 2, 2, 2]");
}

TEST_CASE("containers are shared by reference") {
  ProgramMaker make;
  const Code code =
      make.make(Opcode::kList, {}, 1) + make.make(Opcode::kTuple, {1, 1}, 2) + make.op("aten::append.t", {1, 0}, {3});
  make.add_method(method_of(code, 2, 1));
  OpenProgram open(make);
  CHECK(open.text({number(4)}) == "([4], [4])");
}

TEST_CASE("segments run on tensors") {
  ProgramMaker make;
  make.add_segment(1, 1);
  make.add_segment(1, 1);
  make.add_method(method_of(make.segment(1, {0}, {1}) + make.segment(0, {1}, {1}), 1, 1, "Tensor"));
  OpenProgram open(make);
  INFO(open.error());
  REQUIRE(open.is_good());
  CHECK(open.text({open.floats({2}, {1, 2})}) == "<3 4>");
  CHECK(open.segments.ran == std::vector<uint32_t>{1, 0});
  ProgramMaker raw;
  raw.add_segment(2, 1);
  raw.add_method(method_of({static_cast<uint32_t>(Opcode::kRawSegment), 0, 2, 1, 1, 1, 1, 0, 2}, 2, 2, "Tensor"));
  OpenProgram open_raw(raw);
  INFO(open_raw.error());
  REQUIRE(open_raw.is_good());
  CHECK(open_raw.text({open_raw.floats({1}, {1}), open_raw.floats({1}, {5})}) == "<2>");
  CHECK(open.text({number(3)}) == "error");
  CHECK(open.error() == "NNAPI segment: a tensor is needed");
}

TEST_CASE("errors name operator and place") {
  ProgramMaker make;
  const Code code = make.if_(0, {}, make.raise(make.text("too {small}"), "net.py:7"), {},
                             make.op("aten::__getitem__.t", {make.list({}), make.integer(2)}, {1}, "net.py:9"), {});
  make.add_method(method_of(code, make.integer(0), 1, "bool"));
  OpenProgram open(make);
  INFO(open.error());
  REQUIRE(open.is_good());
  CHECK(open.text({Value(true)}) == "error");
  CHECK(open.error() == "at net.py:7: too {small}");
  CHECK(open.text({Value(false)}) == "error");
  CHECK(open.error() == "aten::__getitem__.t: at net.py:9: the list has 0 elements, no element 2");
  CHECK(open.text({number(1)}) == "error");
  CHECK(open.error() == "a condition is an int, a bool is needed");
}

TEST_CASE("a wrong value where an instruction needs another one is an error") {
  const auto refuses = [](const Code& code, ProgramMaker& make) {
    make.add_method(method_of(code, make.integer(0), 1));
    OpenProgram open(make);
    INFO(open.error());
    REQUIRE(open.is_good());
    CHECK(open.text({number(1)}) == "error");
    return open.error();
  };
  {
    ProgramMaker make;
    CHECK(refuses(make.unpack(make.list({make.integer(1)}), {1, 2}), make) ==
          "a list of 1 values is unpacked, a list or tuple of 2 is needed");
  }
  {
    ProgramMaker make;
    CHECK(refuses(make.unpack(0, {1}), make) == "an int of 1 values is unpacked, a list or tuple of 1 is needed");
  }
  {
    ProgramMaker make;
    CHECK(refuses(make.get_field(0, 0, 1), make) == "field 0 of an int is asked for, an object that has it is needed");
  }
  {
    ProgramMaker make;
    CHECK(refuses(make.make_object(1, 1) + make.set_field(1, 1, 0), make) ==
          "field 1 of an object is asked for, an object that has it is needed");
  }
  {
    ProgramMaker make;
    CHECK(refuses(make.set_field(make.object({make.none()}), 0, 0), make) ==
          "an object that is a constant can't be changed");
  }
  {
    ProgramMaker make;
    CHECK(refuses(make.op("aten::append.t", {make.list({}), 0}, {1}), make) ==
          "aten::append.t: a list or dict that is a constant, or a default, can't be changed");
  }
  {
    ProgramMaker make;
    CHECK(refuses(make.loop(make.boolean(true), make.boolean(true), {}, {}, {1}, make.boolean(true), {}, {}), make) ==
          "a loop's rounds are a bool and its condition a bool, an int and a bool are needed");
  }
  {
    ProgramMaker make;
    CHECK(refuses(make.loop(make.integer(3), make.boolean(true), {}, {}, {1}, make.none(), {}, {}), make) ==
          "a loop's condition is None, a bool is needed");
  }
  {
    ProgramMaker make;
    CHECK(refuses(make.make(Opcode::kDict, {make.list({}), 0}, 1), make) ==
          "a key of a dict is a list, a number or text is needed");
  }
  {
    ProgramMaker make;
    CHECK(refuses(make.raise(make.none()), make) == "the model raises an error");
  }
}

TEST_CASE("state stays from call to call, and starts as the constant says") {
  ProgramMaker make;
  const uint32_t values = make.floats({2}, {1, 2});
  make.set_state(make.object({make.integer(10), values, values, make.list({make.integer(1)})}));
  Code code = make.get_state(1) + make.get_field(1, 0, 2) + make.op("aten::add.int", {2, 0}, {3}) +
              make.set_field(1, 0, 3) + make.get_field(1, 3, 4) + make.op("aten::append.t", {4, 3}, {5});
  make.add_method(method_of(code, 4, 1));
  MadeMethod reset = method_of(make.get_state(1) + make.set_field(1, 0, make.integer(0)) +
                                   make.make(Opcode::kList, {}, 2) + make.set_field(1, 3, 2),
                               make.none(), 0);
  reset.name = "reset";
  make.add_method(reset);
  OpenProgram open(make);
  INFO(open.error());
  REQUIRE(open.is_good());
  REQUIRE(open.program().has_state());
  CHECK(open.text({number(1)}) == "[1, 11]");
  CHECK(open.text({number(2)}) == "[1, 11, 13]");
  CHECK(open.text({}, "reset") == "None");
  CHECK(open.text({number(5)}) == "[5]");
  OpenProgram other(make);
  CHECK(other.text({number(1)}) == "[1, 11]");
}

TEST_CASE("registers that are dropped free their values") {
  ProgramMaker make;
  const Code code = make.make(Opcode::kList, {0, 0}, 1) + make.op("aten::len.t", {1}, {2}) + make.drop({1, 0});
  make.add_method(method_of(code, 2, 1));
  OpenProgram open(make);
  CHECK(open.text({number(4)}) == "2");
}

TEST_CASE("calls whose sizes repeat take no new memory, and none is left") {
  ProgramMaker make;
  make.add_segment(1, 1);
  const uint32_t yes = make.boolean(true);
  const Code body = make.segment(0, {3}, {4}) + make.op("aten::append.t", {1, 4}, {5}) +
                    make.op("aten::format", {make.text("{} of {}"), 2, 4}, {6});
  const Code code =
      make.make(Opcode::kList, {}, 1) + make.loop(make.integer(20), yes, {0}, {7}, {2, 3}, yes, {4}, body);
  make.add_method(method_of(code, 1, 1, "Tensor"));
  OpenProgram open(make);
  INFO(open.error());
  REQUIRE(open.is_good());
  const size_t before = open.context.pool.bytes_in_use();
  const auto call = [&] {
    Value result;
    REQUIRE(open.run("forward", {open.floats({100}, std::vector<float>(100))}, &result));
    CHECK(result.sequence().count == 20);
  };
  call();
  call();
  const size_t reserved = open.context.pool.bytes_reserved();
  for (int i = 0; i < 10; ++i) call();
  CHECK(open.context.pool.bytes_reserved() == reserved);
  CHECK(open.context.pool.bytes_in_use() == before);
}

TEST_CASE("values nested a million deep end without a stack as deep") {
  ProgramMaker make;
  const uint32_t yes = make.boolean(true);
  const Code code =
      make.make(Opcode::kList, {}, 1) + make.loop(0, yes, {1}, {2}, {3, 4}, yes, {5}, make.make(Opcode::kList, {4}, 5));
  make.add_method(method_of(code + make.op("aten::str", {2}, {6}), make.integer(1), 1));
  MadeMethod silent = method_of(code, make.integer(1), 1);
  silent.name = "silent";
  make.add_method(silent);
  OpenProgram open(make);
  CHECK(open.text({number(1000000)}, "silent") == "1");
  CHECK(open.text({number(1000000)}) == "error");
  CHECK(open.error() == "aten::str: values are nested deeper than 64");
}

TEST_CASE("a list that holds itself is freed with its context") {
  ProgramMaker make;
  const Code code = make.make(Opcode::kList, {}, 1) + make.op("aten::append.t", {1, 1}, {2});
  make.add_method(method_of(code, make.integer(1), 0));
  OpenProgram open(make);
  CHECK(open.text() == "1");
}

TEST_CASE("a call may be given a number of steps") {
  ProgramMaker make;
  const uint32_t yes = make.boolean(true);
  make.add_method(method_of(make.loop(make.integer(INT64_MAX), yes, {}, {}, {1}, yes, {}, {}), make.integer(1), 0));
  OpenProgram open(make);
  open.context.steps_left = 1000;
  CHECK(open.text() == "error");
  CHECK(open.error() == "the program takes more steps than it may");
}
