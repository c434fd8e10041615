// SPDX-License-Identifier: BSD-3-Clause
// What the reader refuses, each with a sentence that names the problem.
#include <cstring>
#include <functional>
#include <string>

#include "lib/program/type_text.h"
#include "tests/program/program_run.h"

// Catch's header defines macros that other headers must not see.
#include <catch2/catch.hpp>

using namespace nnapi_shim::program_testing;
using namespace nnapi_shim::program;
using Catch::Contains;
using nnapi_convert::program_format::Opcode;

namespace {

// Why a program with this method is refused; "" if it is not.
std::string refusal(ProgramMaker& make, const Code& code, uint32_t result = 0, uint32_t registers = 8) {
  MadeMethod method;
  method.registers = registers;
  method.arguments = {{"x", "int"}};
  method.result_type = "int";
  method.result = result;
  method.code = code;
  make.add_method(method);
  OpenProgram open(make);
  return open.error();
}

std::string refusal_of(const std::function<Code(ProgramMaker&)>& code, uint32_t result = 0, uint32_t registers = 8) {
  ProgramMaker make;
  return refusal(make, code(make), result, registers);
}

// Why a good record is refused whose words are changed, with a checksum that is good again.
std::string changed(const std::function<void(std::vector<uint32_t>&)>& change) {
  ProgramMaker make;
  make.floats({2}, {1, 2});
  MadeMethod method;
  method.registers = 1;
  method.arguments = {{"x", "int"}};
  make.add_method(method);
  std::vector<uint8_t> record = make.make_record();
  std::vector<uint32_t> words(record.size() / 4);
  std::memcpy(words.data(), record.data(), record.size());
  change(words);
  record.resize(words.size() * 4);
  std::memcpy(record.data(), words.data(), record.size());
  ProgramMaker::set_checksum(&record);
  return OpenProgram(record).error();
}

uint32_t constant(uint32_t number) {
  return number | format::kConstantBit;
}

}  // namespace

TEST_CASE("a good program is taken") {
  CHECK(refusal_of([](ProgramMaker& make) { return make.op("aten::neg.int", {0}, {1}); }, 1) == "");
  CHECK(changed([](std::vector<uint32_t>&) {}) == "");
}

TEST_CASE("headers that are refused") {
  CHECK_THAT(OpenProgram(std::vector<uint8_t>{}).error(), Contains("shorter than its header"));
  CHECK_THAT(changed([](std::vector<uint32_t>& words) { words[0] = 7; }), Contains("holds something else"));
  CHECK_THAT(changed([](std::vector<uint32_t>& words) { words[1] = 2; }),
             Contains("of version 2, this runtime knows 1; use a newer runtime"));
  CHECK_THAT(changed([](std::vector<uint32_t>& words) { words[3] += 1000; }), Contains("don't fit into its record"));
  CHECK_THAT(changed([](std::vector<uint32_t>& words) { words[3] = 3; }), Contains("don't fit into its record"));
  CHECK_THAT(changed([](std::vector<uint32_t>& words) { words[4] += 4; }), Contains("data don't fit"));
  CHECK_THAT(changed([](std::vector<uint32_t>& words) { words[5] = 1; }), Contains("data don't fit"));
  CHECK_THAT(changed([](std::vector<uint32_t>& words) { words[6] += 64; }), Contains("data don't fit"));
  CHECK_THAT(changed([](std::vector<uint32_t>& words) { words[6] = 4; }), Contains("outside of the data"));
  ProgramMaker make;
  make.add_method({});
  std::vector<uint8_t> record = make.make_record();
  record[40] ^= 1;
  CHECK_THAT(OpenProgram(record).error(), Contains("checksum is wrong"));
}

TEST_CASE("sections that are refused") {
  const auto first_string = [](std::vector<uint32_t>& words) -> uint32_t& { return words[8 + 1 + words[8]]; };
  CHECK_THAT(changed([](std::vector<uint32_t>& words) { words[8] = 1u << 30; }), Contains("strings don't fit"));
  CHECK_THAT(changed([](std::vector<uint32_t>& words) { words[9] = 1u << 30; }), Contains("longer than the words"));
  CHECK_THAT(changed([&](std::vector<uint32_t>& words) { first_string(words) = 0xffffffff; }), Contains("not UTF-8"));
  CHECK_THAT(changed([&](std::vector<uint32_t>& words) { first_string(words) = 0; }), Contains("not UTF-8"));
  {
    ProgramMaker make;
    MadeMethod method;
    method.result = make.none();
    make.add_method(method);
    make.add_method(method);
    CHECK_THAT(OpenProgram(make).error(), Contains("two methods have the name forward"));
  }
  {
    ProgramMaker make;
    CHECK_THAT(OpenProgram(make).error(), Contains("no method"));
  }
  {
    ProgramMaker make;
    make.set_state(make.integer(1));
    CHECK_THAT(refusal(make, {}), Contains("the state is no object"));
  }
  {
    ProgramMaker make;
    make.set_state(constant(9));
    CHECK_THAT(refusal(make, {}), Contains("the state 9 found, below 1 needed"));
  }
  CHECK_THAT(refusal_of([](ProgramMaker&) { return Code{}; }, 0, 0),
             Contains("1 arguments are more than the registers"));
  CHECK_THAT(refusal_of([](ProgramMaker&) { return Code{}; }, 0, format::kMostRegisters + 1),
             Contains("a method's registers"));
  {
    ProgramMaker make;
    MadeMethod method;
    method.registers = 1;
    method.arguments = {{"x", "List[", 0}};
    make.add_method(method);
    CHECK_THAT(OpenProgram(make).error(), Contains("type List[ can't be read"));
  }
  {
    ProgramMaker make;
    MadeMethod method;
    method.registers = 1;
    method.arguments = {{"x", "int", 5}};
    make.add_method(method);
    CHECK_THAT(OpenProgram(make).error(), Contains("a default 5 found"));
  }
}

TEST_CASE("constants that are refused") {
  const auto refuses = [](const Code& words) {
    ProgramMaker make;
    make.integer(1);
    make.add(words);
    return refusal(make, {});
  };
  CHECK(refuses({0}) == "");
  CHECK_THAT(refuses({11}), Contains("a constant's kind 11 found"));
  CHECK_THAT(refuses({1, 2}), Contains("a bool 2 found"));
  CHECK_THAT(refuses({4, 1000}), Contains("a string 1000 found"));
  CHECK_THAT(refuses({6, 1, 2}), Contains("an earlier constant 2 found, below 2 needed"));
  CHECK_THAT(refuses({6, 1u << 31}), Contains("elements don't fit"));
  CHECK_THAT(refuses({8, 1u << 31}), Contains("elements don't fit"));
  CHECK_THAT(refuses({8, 1, 0, 1}), Contains("a key of a dict is an object"));
  CHECK_THAT(refuses({5, 8, 0, 0, 0}), Contains("dtype 8 is none"));
  CHECK_THAT(refuses({5, 12, 0, 0, 0}), Contains("a dtype 12 found"));
  CHECK_THAT(refuses({5, 6, 9}), Contains("a tensor's rank 9 found"));
  CHECK_THAT(refuses({5, 6, 1, 0xffffffff, 0xffffffff, 0, 0}), Contains("larger than memory"));
  CHECK_THAT(refuses({5, 6, 2, 0, 0x40000000, 16, 0, 0, 0}), Contains("larger than memory"));
  CHECK_THAT(refuses({5, 6, 0, 0, 0}), Contains("outside of the data"));
  CHECK_THAT(refuses({5, 6, 1, 0, 0, 64, 0}), Contains("outside of the data"));
  {
    ProgramMaker make;
    const uint8_t two = 2;
    make.tensor(format::ScalarType::kBool, {1}, &two, 1);
    CHECK_THAT(refusal(make, {}), Contains("a bool tensor holds 2"));
  }
  {
    ProgramMaker make;
    uint32_t inner = make.list({});
    for (uint32_t i = 0; i < format::kMostDepth; ++i) inner = make.list({inner});
    CHECK(refusal(make, {}) == "");
    ProgramMaker deeper;
    inner = deeper.list({});
    for (uint32_t i = 0; i <= format::kMostDepth; ++i) inner = deeper.list({inner});
    CHECK_THAT(refusal(deeper, {}), Contains("nested deeper than 64"));
  }
}

TEST_CASE("an operator that the runtime does not know is named") {
  const std::string problem = refusal_of([](ProgramMaker& make) { return make.op("aten::newest.of_all", {0}, {1}); });
  CHECK_THAT(problem, Contains("the model calls aten::newest.of_all") && Contains("use a newer runtime"));
}

TEST_CASE("code that is refused") {
  const auto yes = [](ProgramMaker& make) { return make.boolean(true); };
  CHECK_THAT(refusal_of([](ProgramMaker&) { return Code{200}; }), Contains("opcode 200 is unknown"));
  CHECK_THAT(refusal_of([](ProgramMaker&) { return Code{0xffffff00 | 10, 1}; }), Contains("place is no string"));
  CHECK_THAT(refusal_of([](ProgramMaker&) { return Code{0, 0, 1, 1, 0, 1}; }), Contains("an operator 0 found"));
  CHECK_THAT(refusal_of([](ProgramMaker& make) {
               return make.op("aten::neg.int", {0, 0}, {1});
             }),
             Contains("aten::neg.int has 1 inputs and 1 outputs, 2 and 1 found"));
  CHECK_THAT(refusal_of([](ProgramMaker& make) { return make.op("aten::neg.int", {0}, {}); }),
             Contains("1 and 0 found"));
  CHECK_THAT(refusal_of([](ProgramMaker& make) { return make.op("aten::neg.int", {1}, {1}); }),
             Contains("register 1 is read before it is written"));
  CHECK_THAT(refusal_of([](ProgramMaker& make) { return make.op("aten::neg.int", {8}, {1}); }),
             Contains("register 8 found, below 8 needed"));
  CHECK_THAT(refusal_of([](ProgramMaker& make) { return make.op("aten::neg.int", {0}, {8}); }),
             Contains("a register 8 found, below 8 needed"));
  CHECK_THAT(refusal_of([](ProgramMaker& make) { return make.op("aten::neg.int", {constant(1)}, {1}); }),
             Contains("constant 1 found, below 1 needed"));
  CHECK_THAT(refusal_of([](ProgramMaker&) { return Code{}; }, 1), Contains("register 1 is read before"));
  CHECK_THAT(refusal_of([](ProgramMaker& make) { return make.drop({0}) + make.make_object(0, 1); }),
             Contains("register 0 is read before"));
  CHECK_THAT(refusal_of([](ProgramMaker&) { return Code{3, 0, 0, 0}; }), Contains("a segment 0 found"));
  CHECK_THAT(refusal_of([](ProgramMaker& make) {
               make.add_segment(1, 2);
               return make.segment(0, {0}, {1});
             }),
             Contains("segment 0 has 1 inputs and 2 outputs, 1 and 1 found"));
  CHECK_THAT(refusal_of([](ProgramMaker&) { return Code{4, 1u << 31, 0}; }), Contains("elements don't fit"));
  CHECK_THAT(refusal_of([](ProgramMaker&) { return Code{10}; }),
             Contains("a block ends within an instruction") || Contains("behind the end"));
  // What a block writes counts within it only.
  CHECK_THAT(refusal_of([&](ProgramMaker& make) {
               const Code write = make.make_object(0, 1);
               return make.if_(yes(make), {}, write, {}, write, {}) + make.op("aten::len.t", {1}, {2});
             }),
             Contains("register 1 is read before"));
  CHECK_THAT(
      refusal_of([&](ProgramMaker& make) { return make.if_(yes(make), {2}, make.make_object(0, 1), {1}, {}, {1}); }),
      Contains("register 1 is read before"));
  // What one branch drops is gone behind both.
  CHECK_THAT(refusal_of([&](ProgramMaker& make) {
               return make.if_(yes(make), {}, {}, {}, make.drop({0}), {}) + make.op("aten::neg.int", {0}, {1});
             }),
             Contains("register 0 is read before"));
  CHECK(refusal_of([&](ProgramMaker& make) {
          return make.if_(yes(make), {0}, make.drop({0}), {make.integer(1)}, {}, {0}) +
                 make.op("aten::neg.int", {0}, {1});
        }) == "");
  CHECK_THAT(refusal_of([&](ProgramMaker& make) {
               return make.loop(0, yes(make), {}, {}, {1}, yes(make), {}, make.drop({0}));
             }),
             Contains("a loop's body drops register 0"));
  CHECK_THAT(refusal_of([&](ProgramMaker& make) {
               return make.loop(0, yes(make), {0}, {1}, {2, 3}, yes(make), {4}, {});
             }),
             Contains("register 4 is read before"));
  CHECK_THAT(
      refusal_of([&](ProgramMaker& make) {
        return make.loop(0, yes(make), {0}, {1}, {2, 3}, yes(make), {3}, {}) + make.op("aten::neg.int", {2}, {4});
      }),
      Contains("register 2 is read before"));
  // Lengths of blocks.
  CHECK_THAT(refusal_of([&](ProgramMaker& make) {
               Code code = make.if_(yes(make), {}, make.make_object(0, 1), {}, {}, {});
               code[3] = 2;
               return code;
             }),
             Contains("a block ends within an instruction"));
  CHECK_THAT(refusal_of([&](ProgramMaker& make) {
               Code code = make.if_(yes(make), {}, {}, {}, {}, {});
               code[4] = 0xffffffff;
               return code;
             }),
             Contains("a block is longer than the words"));
  CHECK_THAT(refusal_of([&](ProgramMaker&) { return Code{1, 0, 1u << 30, 0, 0}; }), Contains("outputs don't fit"));
  CHECK_THAT(refusal_of([&](ProgramMaker&) {
               return Code{2, 0, 0, 1u << 30, 0};
             }),
             Contains("carried values don't fit"));
  CHECK_THAT(refusal_of([&](ProgramMaker& make) {
               Code code;
               for (uint32_t i = 0; i <= format::kMostDepth; ++i) code = make.if_(yes(make), {}, code, {}, {}, {});
               return code;
             }),
             Contains("blocks are nested deeper than 64"));
}

TEST_CASE("a segment's method for the CPU calls no segments") {
  const auto refusal_of_method = [](const std::function<Code(ProgramMaker&)>& code, uint32_t arguments,
                                    uint32_t fallback_plus_1) {
    ProgramMaker make;
    make.add_segment(1, 1, fallback_plus_1);
    MadeMethod forward;
    forward.name = "forward";
    forward.registers = 2;
    forward.arguments = {{"x", "Tensor"}};
    forward.result_type = "Tensor";
    forward.result = 1;
    forward.code = make.segment(0, {0}, {1});
    make.add_method(forward);
    MadeMethod method = forward;
    method.name = "segment 0";
    method.arguments.resize(arguments, {"y", "Tensor"});
    method.result = 0;
    method.code = code(make);
    make.add_method(method);
    return OpenProgram(make).error();
  };
  const auto nothing = [](ProgramMaker&) { return Code(); };
  CHECK(refusal_of_method(nothing, 1, 2).empty());
  CHECK_THAT(refusal_of_method(nothing, 1, 3), Contains("a segment's method is not there"));
  CHECK_THAT(refusal_of_method(nothing, 1, 1), Contains("the program has no method"));
  CHECK_THAT(refusal_of_method(nothing, 2, 2), Contains("a segment's method has 2 arguments, 1 needed"));
  const auto segment = [](ProgramMaker& make) { return make.segment(0, {0}, {1}); };
  CHECK_THAT(refusal_of_method(segment, 1, 2), Contains("a segment's method calls segments"));
  const auto raw = [](ProgramMaker&) { return Code{14, 0, 1, 1, 1, 0, 0, 1}; };
  CHECK_THAT(refusal_of_method(raw, 1, 2), Contains("a segment's method calls segments"));
}

TEST_CASE("every cut and every changed word is refused or runs") {
  ProgramMaker make;
  make.floats({2}, {1, 2});
  const uint32_t yes = make.boolean(true);
  const Code code = make.loop(0, yes, {0}, {1}, {2, 3}, yes, {3}, make.op("aten::neg.int", {3}, {3})) +
                    make.if_(yes, {4}, {}, {1}, {}, {0}) + make.make(Opcode::kList, {4, 1}, 5) +
                    make.unpack(5, {6, 7}) + make.make(Opcode::kDict, {make.text("a"), 6}, 5);
  MadeMethod method;
  method.registers = 8;
  method.arguments = {{"x", "int"}};
  method.result_type = "int";
  method.result = 6;
  method.code = code;
  make.add_method(method);
  const std::vector<uint8_t> record = make.make_record();
  for (size_t length = 0; length < record.size(); length += 4) {
    std::vector<uint8_t> cut(record.begin(), record.begin() + static_cast<ptrdiff_t>(length));
    const OpenProgram open(cut);
    CHECK(!open.is_good());
    CHECK(!open.error().empty());
  }
  for (size_t at = 8; at < record.size() / 4; ++at) {
    for (const uint32_t value : {0u, 1u, 2u, 7u, 8u, 0x80000000u, 0xffffffffu}) {
      std::vector<uint8_t> changed_record = record;
      std::memcpy(changed_record.data() + at * 4, &value, 4);
      ProgramMaker::set_checksum(&changed_record);
      OpenProgram open(changed_record);
      CHECK(open.is_good() == open.error().empty());
      if (!open.is_good() || open.program().find_method("forward") == nullptr) continue;
      open.context.steps_left = 1000;
      open.context.pool.set_limit(1 << 24);
      open.text({Value(int64_t{2})});
    }
  }
}

TEST_CASE("types are read from their texts") {
  Type type;
  CHECK(parse_type("Optional[List[Dict[str, Tuple[Tensor, int]]]]", &type));
  CHECK(type.kind == Type::Kind::kOptional);
  CHECK(type.parts[0].parts[0].parts[1].parts[1].kind == Type::Kind::kInt);
  Type named;
  REQUIRE(parse_type("NamedTuple[boxes: Tensor, label : Optional[str]]", &named));
  CHECK(named.names == std::vector<std::string>{"boxes", "label"});
  CHECK(parse_type("Tuple[()]", &type));
  std::string deep = "Tensor";
  for (uint32_t i = 0; i < format::kMostDepth; ++i) deep = "List[" + deep + "]";
  CHECK(parse_type(deep.c_str(), &type));
  CHECK(!parse_type(("List[" + deep + "]").c_str(), &type));
  for (const char* text :
       {"", "Tensor[int]", "List", "List[", "List[]", "List[int, int]", "Dict[int]", "Tuple[]", "Tuple[int", "int]",
        "int int", "NamedTuple[int]", "NamedTuple[: int]", "Union[int, str]", "tensor", "List[int]]"}) {
    INFO(text);
    CHECK(!parse_type(text, &type));
  }
}
