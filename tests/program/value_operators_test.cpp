// SPDX-License-Identifier: BSD-3-Clause
// Operators on numbers, texts, lists and dicts, compared with what TorchScript gives (value_cases.py).
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "lib/program/operators.h"
#include "tests/program/program_run.h"

// Catch's header defines macros that other headers must not see.
#include <catch2/catch.hpp>

using namespace nnapi_shim::program;

namespace {

// Reads the texts of the cases.
class Reader {
 public:
  Reader(Pool& pool, const char* text) : pool_(pool), at_(text) {}

  std::vector<Value> read_all(char end) {
    std::vector<Value> values;
    while (*at_ != end) {
      values.push_back(read());
      if (*at_ == ':') {
        at_ += 2;
        values.push_back(read());
      }
      if (*at_ == ',') at_ += 2;
    }
    if (end != '\0') ++at_;
    return values;
  }

 private:
  bool take(const char* word) {
    if (std::strncmp(at_, word, std::strlen(word)) != 0) return false;
    at_ += std::strlen(word);
    return true;
  }

  Value sequence(Tag tag, char end) {
    const std::vector<Value> values = read_all(end);
    Value made(make_sequence(pool_, tag, static_cast<uint32_t>(values.size())));
    for (size_t i = 0; i < values.size(); ++i) made.sequence().values[i] = values[i];
    return made;
  }

  Value read() {
    if (take("None")) return Value();
    if (take("True")) return Value(true);
    if (take("False")) return Value(false);
    if (take("[")) return sequence(Tag::kList, ']');
    if (take("(")) return sequence(Tag::kTuple, ')');
    if (take("{")) return sequence(Tag::kDict, '}');
    if (take("'")) {
      const char* end = std::strchr(at_, '\'');
      Value made(make_string(pool_, at_, static_cast<size_t>(end - at_)));
      at_ = end + 1;
      return made;
    }
    const size_t length = std::strcspn(at_, ",])}:");
    const std::string number(at_, length);
    at_ += length;
    const bool is_float = number.find_first_of(".enai") != std::string::npos;
    return is_float ? Value(std::strtod(number.c_str(), nullptr))
                    : Value(int64_t{std::strtoll(number.c_str(), nullptr, 10)});
  }

  Pool& pool_;
  const char* at_;
};

std::string text_of(const Value& value) {
  const auto elements = [&](const char* begin, const char* end) {
    std::string text = begin;
    for (uint32_t i = 0; i < value.sequence().count; ++i) {
      if (i > 0) text += value.tag() == Tag::kDict && i % 2 == 1 ? ": " : ", ";
      text += text_of(value.sequence().values[i]);
    }
    return text + end;
  };
  char number[64];
  switch (value.tag()) {
    case Tag::kFloat: {
      if (std::isnan(value.as_float())) return "nan";
      std::snprintf(number, sizeof number, "%.17g", value.as_float());
      const std::string text = number;
      return text.find_first_of(".enai") != std::string::npos ? text : text + ".0";
    }
    case Tag::kString:
      return std::string("'") + value.string().text() + "'";
    case Tag::kList:
      return elements("[", "]");
    case Tag::kTuple:
      return elements("(", ")");
    case Tag::kDict:
      return elements("{", "}");
    default:
      return nnapi_shim::program_testing::text_of(value);
  }
}

// Runs an operator on values in the form of the cases. Returns its results, and the first argument behind "->" if it
// has none.
std::string run(const std::string& name, const std::string& inputs) {
  Context context;
  std::string result;
  {
    Reader reader(context.pool, inputs.c_str());
    const std::vector<Value> values = reader.read_all('\0');
    const Operator found = find_operator(name.data(), name.size());
    if (found.table == nullptr) return "no operator";
    if (found.inputs != kAny && found.inputs != values.size()) return "another number of inputs";
    std::vector<const Value*> pointers;
    for (const Value& value : values) pointers.push_back(&value);
    std::vector<Value> outputs(found.outputs);
    Call call{context, pointers.data(), static_cast<uint32_t>(values.size()), outputs.data(), found.outputs};
    if (!found.run(call)) {
      CHECK(context.failure[0] != '\0');
      return "error";
    }
    CHECK(context.failure[0] == '\0');
    if (outputs.empty()) result = "-> " + text_of(values[0]);
    if (outputs.size() == 1) result = text_of(outputs[0]);
    if (outputs.size() == 2) result = "(" + text_of(outputs[0]) + ", " + text_of(outputs[1]) + ")";
  }
  CHECK(context.pool.bytes_in_use() == 0);
  return result;
}

struct Case {
  const char *name, *inputs, *result;
};

const Case kCases[] = {
#include "tests/program/value_cases.inc"
};

}  // namespace

TEST_CASE("operators on values give what TorchScript gives") {
  for (const Case& each : kCases) {
    const std::string found = run(each.name, each.inputs);
    if (found == each.result) continue;
    // The last bit of functions such as pow depends on the mathematical library.
    char* end = nullptr;
    const double expected = std::strtod(each.result, &end);
    const bool is_near = *end == '\0' &&
                         std::fabs(std::strtod(found.c_str(), nullptr) - expected) <= 1e-15 * std::fabs(expected) &&
                         std::isfinite(expected);
    INFO(each.name << " of " << each.inputs);
    if (!is_near) CHECK(found == each.result);
  }
}

TEST_CASE("operators that change lists and dicts") {
  CHECK(run("aten::append.t", "[1, 2], 3") == "[1, 2, 3]");
  CHECK(run("aten::extend.t", "[1], [2, 3]") == "-> [1, 2, 3]");
  CHECK(run("aten::add_.t", "[1], [2, 3]") == "[1, 2, 3]");
  CHECK(run("aten::insert.t", "[1, 2], 0, 5") == "-> [5, 1, 2]");
  CHECK(run("aten::insert.t", "[1, 2], -1, 5") == "-> [1, 5, 2]");
  CHECK(run("aten::insert.t", "[1, 2], 9, 5") == "-> [1, 2, 5]");
  CHECK(run("aten::pop.t", "[1, 2, 3], -1") == "3");
  CHECK(run("aten::pop.t", "[1, 2, 3], 0") == "1");
  CHECK(run("aten::pop.t", "[], -1") == "error");
  CHECK(run("aten::Delete.t", "[1, 2, 3], 1") == "-> [1, 3]");
  CHECK(run("aten::clear.t", "[1, 2, 3]") == "-> []");
  CHECK(run("aten::reverse.t", "[1, 2, 3]") == "-> [3, 2, 1]");
  CHECK(run("aten::sort.int", "[3, 1, 2], False") == "-> [1, 2, 3]");
  CHECK(run("aten::sort.float", "[3.0, 1.5, 2.0, 9.0, 0.5], True") == "-> [9.0, 3.0, 2.0, 1.5, 0.5]");
  CHECK(run("aten::sort.str", "['b', 'a'], False") == "-> ['a', 'b']");
  CHECK(run("aten::sort.any", "[(2, 'b'), (1, 'c'), (2, 'a')], False") == "-> [(1, 'c'), (2, 'a'), (2, 'b')]");
  CHECK(run("aten::sort.any", "[(0.5, (1, 2)), (0.5, (1, 3)), (0.75, (0, 0))], True") ==
        "-> [(0.75, (0, 0)), (0.5, (1, 3)), (0.5, (1, 2))]");
  CHECK(run("aten::sorted.any", "[(3, 1), (1, 9), (3, 0)]") == "[(1, 9), (3, 0), (3, 1)]");
  CHECK(run("aten::_set_item.t", "[1, 2], -1, 7") == "[1, 7]");
  CHECK(run("aten::_set_item.t", "[1, 2], 2, 7") == "error");
  CHECK(run("aten::remove.int", "[1, 2, 1], 1") == "-> [2, 1]");
  CHECK(run("aten::copy.t", "[1, [2]]") == "[1, [2]]");
  CHECK(run("aten::list.t", "[1, 2]") == "[1, 2]");
  CHECK(run("aten::_set_item.str", "{'a': 1}, 'b', 2") == "-> {'a': 1, 'b': 2}");
  CHECK(run("aten::_set_item.str", "{'a': 1, 'b': 3}, 'a', 2") == "-> {'a': 2, 'b': 3}");
  CHECK(run("aten::Delete.Dict_str", "{'a': 1, 'b': 2}, 'a'") == "-> {'b': 2}");
  CHECK(run("aten::Delete.Dict_str", "{'a': 1}, 'b'") == "error");
  CHECK(run("aten::pop.Dict_str", "{'a': 1, 'b': 2}, 'a'") == "1");
  CHECK(run("aten::pop.Dict_default_str", "{'a': 1}, 'b', 9") == "9");
  CHECK(run("aten::popitem.str", "{'a': 1, 'b': 2}") == "('b', 2)");
  CHECK(run("aten::setdefault.str", "{'a': 1}, 'b', 2") == "2");
  CHECK(run("aten::update.str", "{'a': 1}, {'a': 3, 'b': 2}") == "-> {'a': 3, 'b': 2}");
  CHECK(run("aten::items.str", "{'a': 1}") == "[('a', 1)]");
  CHECK(run("aten::copy.Dict_str", "{'a': 1}") == "{'a': 1}");
  CHECK(run("aten::clear.str", "{'a': 1}") == "-> {}");
  CHECK(run("aten::dict.str", "[('a', 1), ('b', 2)]") == "{'a': 1, 'b': 2}");
  CHECK(run("aten::keys.int", "{3: 1, 2: 2}") == "[3, 2]");
  CHECK(run("prim::TupleIndex", "(1, 'a'), -1") == "'a'");
  CHECK(run("prim::TupleSlice", "(1, 2, 3), 1, 3") == "(2, 3)");
  CHECK(run("prim::TupleSlice", "(1, 2, 3), 2, 1") == "error");
  CHECK(run("prim::rangelist", "3") == "[0, 1, 2]");
}

TEST_CASE("values of other kinds than an operator needs are refused") {
  CHECK(run("aten::add.int", "'a', 1") == "error");
  CHECK(run("aten::append.t", "1, 2") == "error");
  CHECK(run("aten::len.t", "{'a': 1}") == "error");
  CHECK(run("aten::__getitem__.Dict_str", "[1], 0") == "error");
  CHECK(run("aten::__getitem__.t", "[1], 'a'") == "error");
  CHECK(run("aten::sort.int", "[1, 'a'], False") == "error");
  CHECK(run("aten::sort.int", "[[1]], False") == "error");
  CHECK(run("aten::sort.any", "[(1, 2), (1, 'a')], False") == "error");
  CHECK(run("aten::sort.any", "[(1, 2), (1, 2, 3)], False") == "error");
  CHECK(run("aten::sort.any", "[(1, [2]), (1, [3])], False") == "error");
  CHECK(run("aten::__not__", "'a'") == "error");
  CHECK(run("aten::join", "'a', [1]") == "error");
  CHECK(run("aten::format", "") == "error");
  CHECK(run("aten::__lshift__.int", "1, 64") == "error");
  CHECK(run("aten::__rshift__.int", "1, -1") == "error");
  CHECK(run("aten::remainder.int", "1, 0") == "error");
  CHECK(run("aten::device", "'cuda'") == "error");
  CHECK(run("aten::_unwrap_optional", "None") == "error");
  CHECK(run("aten::slice.t", "[1], 0, 1, 0") == "error");
  CHECK(run("aten::_set_item.str", "{'a': 1}, [1], 2") == "error");
}

TEST_CASE("integers overflow as in C") {
  CHECK(run("aten::floordiv.int", "-9223372036854775808, -1") == "-9223372036854775808");
  CHECK(run("aten::remainder.int", "-9223372036854775808, -1") == "0");
  CHECK(run("prim::abs.int", "-9223372036854775808") == "-9223372036854775808");
  CHECK(run("aten::__range_length", "-9223372036854775808, 9223372036854775807, 1") == "-1");
  CHECK(run("aten::slice.t", "[1, 2, 3], None, None, -9223372036854775808") == "[3]");
  CHECK(run("aten::slice.t", "[1, 2, 3], -9223372036854775808, 9223372036854775807, 2") == "[1, 3]");
}

TEST_CASE("operators are found by name and overload") {
  const auto find = [](const std::string& name) { return find_operator(name.data(), name.size()); };
  const auto is_known = [&](const std::string& name) { return find(name).table != nullptr; };
  CHECK(is_known("aten::add"));
  CHECK(find("aten::add.int").table == find("aten::add").table);
  CHECK(find("aten::add.int").row == find("aten::add").row);
  CHECK(is_known("prim::abs.int"));
  CHECK_FALSE(is_known("abs.int"));
  CHECK_FALSE(is_known("add"));
  CHECK_FALSE(is_known("aten::prim::abs.int"));
  CHECK_FALSE(is_known("aten::add.in"));
  CHECK_FALSE(is_known("aten::add.intx"));
  CHECK_FALSE(is_known("aten::add."));
  CHECK_FALSE(is_known("aten::ad"));
  CHECK_FALSE(is_known("aten::addx"));
  CHECK_FALSE(is_known(""));
  CHECK_FALSE(is_known("aten::warn.x"));
  CHECK_FALSE(is_known("aten::add.int,float"));
}
