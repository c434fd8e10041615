// SPDX-License-Identifier: BSD-3-Clause
// Pickles: what torch.save writes is read without running anything, and what is hostile is refused.
#include "lib/converter/load/pickle.h"

#include <catch2/catch.hpp>
#include <string>

#include "lib/base/damaged_file.h"
#include "lib/base/error.h"

using namespace nnapi_convert;
using Catch::Contains;
using namespace std::string_literals;

namespace {

std::string refusal(const std::string& bytes, PickledBy by = PickledBy::kTorchSave) {
  try {
    read_pickle(bytes, by);
  } catch (const ConvertError& error) {
    CHECK(error.exit_code() == ExitCode::kBadFile);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("values of a pickle are read") {
  const std::string bytes =
      "\x80\x02}q\x00(X\x01\x00\x00\x00"s + "aK\x05X\x01\x00\x00\x00"s + "b]q\x01(K\x01K\x02"s + "eu."s;
  const Pickle pickle = read_pickle(bytes, PickledBy::kTorchSave);
  const PickleValue& root = pickle.at(pickle.root);
  REQUIRE(root.kind == PickleValue::Kind::kDict);
  REQUIRE(root.elements.size() == 4);
  CHECK(pickle.at(root.elements[0]).text == "a");
  CHECK(pickle.at(root.elements[1]).number == 5);
  CHECK(pickle.at(root.elements[3]).elements.size() == 2);
}

TEST_CASE("an ordered dict is a dict only as torch.save writes it") {
  const std::string bytes = "\x80\x02"s + "ccollections\nOrderedDict\n)R."s;
  const Pickle saved = read_pickle(bytes, PickledBy::kTorchSave);
  CHECK(saved.at(saved.root).kind == PickleValue::Kind::kDict);
  const Pickle script = read_pickle(bytes, PickledBy::kTorchScript);
  CHECK(script.at(script.root).kind == PickleValue::Kind::kCall);
}

TEST_CASE("a value that holds itself is refused") {
  CHECK(!refusal("\x80\x02]q\x00h\x00"s + "a."s).empty());                          // a list in itself
  CHECK(!refusal("\x80\x02}q\x00K\x01h\x00s."s).empty());                           // a dict in itself
  CHECK(!refusal("\x80\x02]q\x00]q\x01h\x00"s + "ah\x00h\x01"s + "a0."s).empty());  // two in each other
}

TEST_CASE("deep nesting is refused") {
  const size_t levels = 100000;
  CHECK_THAT(refusal("\x80\x02"s + std::string(levels, ']') + std::string(levels - 1, 'a') + "."),
             Contains("levels") || Contains("deep"));
}

TEST_CASE("a pickle that ends early is refused everywhere") {
  const std::string whole =
      "\x80\x02}q\x00(X\x03\x00\x00\x00"s + "abcG\x3f\xf0\x00\x00\x00\x00\x00\x00\x8a\x02\x01\x02"s + "u."s;
  for (size_t size = 0; size < whole.size(); ++size) {
    INFO(size);
    CHECK(!refusal(whole.substr(0, size)).empty());
  }
}

TEST_CASE("hostile sizes and numbers are refused") {
  CHECK_THAT(refusal("\x80\x02X\xff\xff\xff\x7f"s + "a."s), Contains("bytes needed"));
  CHECK_THAT(refusal("\x80\x02\x8a\x09"s + std::string(9, '\x01') + "."), Contains("an integer of 9 bytes"));
  CHECK_THAT(refusal("\x80\x02Nr\xff\xff\xff\x7f."s), Contains("kept"));
  CHECK_THAT(refusal("\x80\x02h\x07."s), Contains("never kept"));
  CHECK(!refusal("\x80\x02NN."s).empty());
  CHECK(!refusal("\x80\x02(N."s).empty());
}

TEST_CASE("calls of something else than a class, and other opcodes, are refused") {
  CHECK_THAT(refusal("\x80\x02K\x01)R."s), Contains("a function"));
  CHECK_THAT(refusal("\x80\x02"s + "cos\nsystem\nK\x01R."s), Contains("a tuple"));
  CHECK_THAT(refusal("\x80\x02i"s + "os\nsystem\n."s), Contains("opcode"));
  CHECK_THAT(refusal("\x80\x02"s + "cno name\n\n."s), Contains("no qualified name"));
}

TEST_CASE("protocols 4 and 5 are read") {
  // A frame, short texts, a name in two parts, and a value that is kept without a number.
  const std::string frame = "\x95"s + std::string(8, '\0');
  const std::string name = "\x8c\x0b"s + "collections\x94\x8c\x0b"s + "OrderedDict\x94\x93\x94)R\x94"s;
  const std::string key = "\x8d\x01"s + std::string(7, '\0') + "a";
  for (const char* protocol : {"\x04", "\x05"}) {
    const std::string bytes = "\x80"s + protocol + frame + name + key + "K\x07s."s;
    const Pickle saved = read_pickle(bytes, PickledBy::kTorchSave);
    const PickleValue& root = saved.at(saved.root);
    REQUIRE(root.kind == PickleValue::Kind::kDict);
    REQUIRE(root.elements.size() == 2);
    CHECK(saved.at(root.elements[0]).text == "a");
    CHECK(saved.at(root.elements[1]).number == 7);
  }
  const Pickle other = read_pickle("\x80\x04"s + name + "."s, PickledBy::kTorchScript);
  CHECK(other.at(other.at(other.root).elements[0]).text == "collections\nOrderedDict");
  const Pickle kept = read_pickle("\x80\x04K\x01\x94K\x02\x94\x86h\x00h\x01\x87."s, PickledBy::kTorchSave);
  const PickleValue& three = kept.at(kept.root);
  REQUIRE(three.elements.size() == 3);
  CHECK(kept.at(three.elements[1]).number == 1);
  CHECK(kept.at(three.elements[2]).number == 2);
}

TEST_CASE("an element of an enum is its class and its value") {
  const std::string bytes = "\x80\x02"s + "c__torch__.models\nWay\nK\x02R."s;
  const Pickle script = read_pickle(bytes, PickledBy::kTorchScript);
  const PickleValue& root = script.at(script.root);
  REQUIRE(root.kind == PickleValue::Kind::kCall);
  CHECK(script.at(root.elements[0]).text == "__torch__.models\nWay");
  CHECK(script.at(root.elements[1]).number == 2);
  CHECK_THAT(refusal(bytes), Contains("a tuple of arguments needed"));  // torch.save writes none
}

TEST_CASE("damaged is what no pickle is") {
  const auto is_damaged = [](const std::string& bytes) {
    try {
      read_pickle(bytes, PickledBy::kTorchSave);
    } catch (const DamagedFile&) {
      return true;
    } catch (const ConvertError&) {
      return false;
    }
    FAIL("it is read");
    return false;
  };
  CHECK(is_damaged("\x80\x02X\xff\xff\xff\x7f"s + "a."s));                // ends within a text
  CHECK(is_damaged("\x80\x02\xf0."s));                                    // no opcode
  CHECK(is_damaged("\x80\x02h\x07."s));                                   // a value that was never kept
  CHECK(is_damaged("\x80\x02NN."s));                                      // two values
  CHECK(is_damaged("\x80\x02t."s));                                       // a tuple without its beginning
  CHECK_FALSE(is_damaged("\x80\x02(I1\nl."s));                            // opcodes of protocol 0
  CHECK_FALSE(is_damaged("\x80\x04\x8f."s));                              // an empty set
  CHECK_FALSE(is_damaged("\x80\x02]q\x00h\x00"s + "a."s));                // a list in itself
  CHECK_FALSE(is_damaged("\x80\x02"s + "cm\xc3\xb6"s + "dul\nNet\n."s));  // letters beyond ASCII
}
