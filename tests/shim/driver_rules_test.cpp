// SPDX-License-Identifier: BSD-3-Clause
// Rules about drivers that are known to be wrong: their text, their conditions, and which devices are left.
#include "lib/shim/driver_rules.h"

#include <catch2/catch.hpp>
#include <random>

#include "lib/format/driver_match.h"
#include "tests/shim/archive_files.h"
#include "tests/shim/session.h"

using namespace nnapi_shim;
using namespace nnapi_shim::testing;
using fake_nnapi::Settings;
using nnapi_convert::compare_versions;
using nnapi_convert::fits_pattern;

namespace {

constexpr int kAdd = 0, kMul = 18;

std::string rules_of(const std::string& members) {
  return R"({"version": 1, "rules": [{"reason": "it adds wrongly", )" + members + "}]}";
}

std::string refusal(const std::string& text) {
  DriverRules rules;
  nnapi_shim_error error{};
  CHECK(rules.read("rules", text.data(), text.size(), &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(rules.is_empty());
  return error.message;
}

DriverRules read(const std::string& text) {
  DriverRules rules;
  nnapi_shim_error error{};
  const int status = rules.read("rules", text.data(), text.size(), &error);
  INFO(error.message);
  REQUIRE(status == NNAPI_SHIM_OK);
  return rules;
}

Settings phone() {
  Settings settings;
  settings.devices = {{"npu", 4, 31, {}}, {"gpu", 3, 31, {}}, {"nnapi-reference", 2, 31, {}}};
  return settings;
}

struct Start {
  int status;
  std::vector<std::string> devices;
  std::string message, last_failure;
};

Start start(const std::string& rules, nnapi_shim_options options = {}, const std::string& library = "level5") {
  fake_nnapi::Fake& nnapi = fresh_fake(library, phone());
  options.driver_rules = rules.c_str();
  Session session(three_operations());
  Start result{session.configure(library, options), {}, "", ""};
  if (result.status == NNAPI_SHIM_OK) result.status = session.warm_up({{{2, 64}}});
  result.devices = nnapi.record().compiled_for;
  result.message = session.message();
  result.last_failure = session.last_failure().message;
  return result;
}

using Names = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("driver rules: patterns") {
  CHECK(fits_pattern("qti-dsp", "qti-dsp"));
  CHECK(fits_pattern("qti-dsp", "qti-*"));
  CHECK(fits_pattern("qti-dsp", "*dsp"));
  CHECK(fits_pattern("qti-dsp", "*"));
  CHECK(fits_pattern("", "*"));
  CHECK(fits_pattern("abcabd", "*ab*d"));
  CHECK(fits_pattern("1.3-21:build_lahaina", "*build_lahaina"));
  CHECK_FALSE(fits_pattern("qti-dsp", "qti-ds"));
  CHECK_FALSE(fits_pattern("qti-ds", "qti-dsp"));
  CHECK_FALSE(fits_pattern("", "a*"));
  CHECK_FALSE(fits_pattern("abcabe", "*ab*d"));
}

TEST_CASE("driver rules: versions") {
  const Names ascending = {"",  "1",           "1.2", "1.9", "1.10", "1.10-3:build_a", "1.10-12:build_a",
                           "2", "ACCELERATOR", "v1"};
  for (size_t i = 0; i < ascending.size(); ++i) {
    for (size_t j = 0; j < ascending.size(); ++j) {
      const int order = compare_versions(ascending[i].c_str(), ascending[j].c_str());
      CHECK((order < 0) == (i < j));
      CHECK((order == 0) == (i == j));
    }
  }
  CHECK(compare_versions("1.02", "1.2") == 0);
}

TEST_CASE("driver rules: the range and the pattern of a driver's version") {
  const DriverRules range = read(rules_of(R"("device": "npu", "from": "1.2", "before": "1.10")"));
  CHECK(range.find("npu", "1.2", nullptr));
  CHECK(range.find("npu", "1.9.9", nullptr));
  CHECK_FALSE(range.find("npu", "1.1", nullptr));
  CHECK_FALSE(range.find("npu", "1.10", nullptr));
  CHECK_FALSE(range.find("gpu", "1.2", nullptr));
  const DriverRules pattern = read(rules_of(R"("device": "n*", "driver": "*_a")"));
  CHECK(pattern.find("npu", "1_a", nullptr));
  CHECK_FALSE(pattern.find("npu", "1_b", nullptr));
}

TEST_CASE("driver rules: the library's own can be read") {
  CHECK_FALSE(DriverRules::shipped().is_empty());
}

TEST_CASE("driver rules: texts that are refused") {
  CHECK(refusal("") == "rules: before byte 0: JSON of driver rules needed");
  CHECK(refusal("[]") == "rules: before byte 0: JSON of driver rules needed");
  CHECK(contains(refusal("{}"), "version 1 and rules needed"));
  CHECK(contains(refusal(R"({"version": 2, "rules": []})"), "version 1 needed"));
  CHECK(contains(refusal(R"({"version": 1, "rules": []} x)"), "needed"));
  CHECK(contains(refusal(R"({"version": 1, "rules": [{"device": "a"}]})"), "device and reason needed"));
  CHECK(contains(refusal(rules_of(R"("devices": "a")")), "another key needed"));
  CHECK(contains(refusal(rules_of(R"("device": "a", "sizes": [])")), "a list of sizes needed"));
  CHECK(contains(refusal(rules_of(R"("device": "a", "sizes": [1])")), "a list of sizes needed"));
  CHECK(contains(refusal(rules_of(R"("device": "a", "sizes": [[0]])")), "a list of sizes needed"));
  // No UTF-8: a sign of Latin-1, one that ends early, one in too many bytes, and half a surrogate pair.
  for (const char* text : {"\xE9", "\xE2\x82", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    CHECK(contains(refusal(rules_of(std::string("\"device\": \"") + text + "\"")), "needed"));
  }
  CHECK_FALSE(read(rules_of("\"device\": \"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\"")).is_empty());
  CHECK(contains(refusal(rules_of(R"("device": "a", "operations": ["ADDITION"])")), "name of an NNAPI operation"));
  CHECK(contains(refusal(rules_of(R"("device": "a", "operations": [])")), "a name needed"));
  CHECK(contains(refusal(rules_of(R"("device": "a", "types": ["FLOAT32"])")), "or of a tensor's type"));
  CHECK(contains(refusal(rules_of(R"("device": "a", "elements": 0)")), "a number above 0"));
  CHECK(contains(refusal(rules_of(R"("device": "a", "elements": 9999999999999999999)")), "a number above 0"));
  CHECK(contains(refusal(rules_of(R"("device": "")")), "a text needed"));
  CHECK(contains(refusal(rules_of("\"device\": \"a\nb\"")), "a text needed"));
  CHECK(contains(refusal(rules_of(R"("device": "\u0000")")), "a text needed"));
  const std::string long_text(DriverRules::kMostBytes + 1, ' ');
  CHECK(contains(refusal(long_text), "more than 65536 bytes found"));
}

TEST_CASE("driver rules: escapes") {
  const DriverRules rules = read(rules_of(R"("device": "\u0041\u004a\u004B\u007F\"\\\/\nä")"));
  CHECK(rules.find("AJK\x7F\"\\/\n\xC3\xA4", "1", nullptr));
  for (const char* text : {"\\u0000", "\\u00e4", "\\u20ac", "\\u004", "\\u004g", "\\u004:", "\\u004`", "\\x", "\\"}) {
    INFO(text);
    CHECK(contains(refusal(rules_of(std::string("\"device\": \"a") + text + "\"")), "a text needed"));
  }
}

TEST_CASE("driver rules: changed texts are read or refused") {
  const std::string whole =
      rules_of(R"("device": "a\u0041*", "driver": "*", "from": "1", "before": "2", "operations": ["ADD", "MUL"],)"
               R"("types": ["TENSOR_FLOAT32"], "elements": 12, "after": ["INPUT"], "sources": ["https://a"])");
  read(whole);
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text = whole;
    for (uint32_t change = random() % 4; change != ~uint32_t{0}; --change) {
      const size_t at = random() % text.size();
      const char letter = static_cast<char>(random() % 3 == 0 ? random() : "\"\\{}[],:u0"[random() % 10]);
      if (random() % 2 == 0) text[at] = letter;
      if (random() % 3 == 0) text.erase(at, 1 + random() % 5);
      if (random() % 3 == 0) text.insert(at, 1, letter);
      if (text.empty()) text = "{";
    }
    // In a buffer of its own size: what reads beyond the end is seen by the address sanitizer.
    const std::vector<char> exact(text.begin(), text.end());
    DriverRules rules;
    nnapi_shim_error error{};
    const int status = rules.read("rules", exact.data(), exact.size(), &error);
    CHECK((status == NNAPI_SHIM_OK || (status == NNAPI_SHIM_BAD_ARGUMENT && rules.is_empty())));
  }
}

TEST_CASE("driver rules: a whole device is left out") {
  Start result = start(rules_of(R"("device": "np*")"));
  CHECK(result.status == NNAPI_SHIM_OK);
  CHECK(result.devices == Names{"gpu", "nnapi-reference"});
  CHECK(contains(result.last_failure, "npu (driver "));
  CHECK(contains(result.last_failure, "is not used, as its driver is known to be wrong: it adds wrongly"));
  result = start(rules_of(R"("device": "tpu")"));
  CHECK(result.devices.empty());
  CHECK(result.last_failure.empty());
}

TEST_CASE("driver rules: an operation keeps its device away from models that have it") {
  CHECK(start(rules_of(R"("device": "npu", "operations": ["MUL"])")).devices == Names{"gpu", "nnapi-reference"});
  CHECK(start(rules_of(R"("device": "npu", "operations": ["CONV_2D"])")).devices.empty());
  CHECK(start(rules_of(R"("device": "npu", "types": ["TENSOR_FLOAT32"])")).devices.size() == 2);
  CHECK(start(rules_of(R"("device": "npu", "types": ["TENSOR_FLOAT16"])")).devices.empty());
  CHECK(start(rules_of(R"("device": "npu", "elements": 128)")).devices.size() == 2);
  CHECK(start(rules_of(R"("device": "npu", "elements": 129)")).devices.empty());
  CHECK(start(rules_of(R"("device": "npu", "sizes": [[3], [2, 64]])")).devices.size() == 2);
  CHECK(start(rules_of(R"("device": "npu", "sizes": [[64, 2], [2, 64, 1], [2]])")).devices.empty());
  CHECK(start(rules_of(R"("device": "npu", "operations": ["MUL"], "after": ["ADD"])")).devices.size() == 2);
  CHECK(start(rules_of(R"("device": "npu", "operations": ["MUL"], "after": ["INPUT"])")).devices.empty());
  CHECK(start(rules_of(R"("device": "npu", "operations": ["ADD"], "after": ["MUL"])")).devices.size() == 2);
  CHECK(start(rules_of(R"("device": "npu", "after": ["INPUT"])")).devices.size() == 2);
}

TEST_CASE("driver rules: no device is left") {
  const std::string all = rules_of(R"("device": "*")");
  Start result = start(all);
  CHECK(result.status == NNAPI_SHIM_NO_DEVICE);
  CHECK(contains(result.message, "no NNAPI device is left: npu (driver "));
  nnapi_shim_options options{};
  options.device = "npu";
  result = start(rules_of(R"("device": "npu")"), options);
  CHECK(result.status == NNAPI_SHIM_NO_DEVICE);
  CHECK(contains(result.message, "known to be wrong: it adds wrongly"));
  options.device = "gpu";
  CHECK(start(rules_of(R"("device": "npu")"), options).devices == Names{"gpu"});
  options.device = nullptr;
  options.device_kind = NNAPI_SHIM_ACCELERATOR;
  CHECK(start(rules_of(R"("device": "npu")"), options).status == NNAPI_SHIM_NO_DEVICE);
}

TEST_CASE("driver rules: where devices can't be listed or chosen, NNAPI chooses") {
  for (const char* library : {"level1", "level2"}) {
    const Start result = start(rules_of(R"("device": "*")"), {}, library);
    CHECK(result.status == NNAPI_SHIM_OK);
    CHECK(result.devices.empty());
  }
  CHECK(start(rules_of(R"("device": "npu")"), {}, "support_library").devices == Names{"gpu", "nnapi-reference"});
}

TEST_CASE("driver rules: operations that a rule is about are reported as not taken") {
  fresh_fake("level5", phone());
  Session session(three_operations());
  nnapi_shim_options options{};
  const std::string rules = rules_of(R"("device": "npu", "operations": ["MUL"])");
  options.driver_rules = rules.c_str();
  REQUIRE(session.configure("level5", options) == NNAPI_SHIM_OK);
  const int64_t sizes[] = {2, 64};
  const nnapi_shim_shape shape = {2, sizes};
  for (const char* device : {"npu", "gpu", static_cast<const char*>(nullptr)}) {
    std::vector<int> answers;
    const auto visit = [](void* user, uint32_t, int32_t code, const char*, const char*, int32_t is_supported) {
      CHECK((code == kAdd || code == kMul));
      static_cast<std::vector<int>*>(user)->push_back(is_supported);
    };
    REQUIRE(nnapi_shim_visit_operations(session.model(), &shape, 1, device, visit, &answers, nullptr) == 0);
    CHECK(answers == (device && std::string(device) == "npu" ? std::vector<int>{1, 0, 1} : std::vector<int>{1, 1, 1}));
  }
}

TEST_CASE("driver rules: from a file, or not at all") {
  const std::string text = rules_of(R"("device": "npu")");
  const TemporaryFile file({text.begin(), text.end()}), empty({});
  fake_nnapi::Fake& nnapi = fresh_fake("level5", phone());
  nnapi_shim_options options{};
  options.driver_rules_file = file.path();
  {
    Session session(three_operations());
    REQUIRE(session.configure("level5", options) == NNAPI_SHIM_OK);
    REQUIRE(session.warm_up({{{2, 64}}}) == NNAPI_SHIM_OK);
    CHECK(nnapi.record().compiled_for == Names{"gpu", "nnapi-reference"});
  }
  Session session(three_operations());
  options.driver_rules = text.c_str();
  CHECK(session.configure("level5", options) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(contains(session.message(), "both driver_rules and driver_rules_file"));
  options.driver_rules = nullptr;
  options.driver_rules_file = "/nowhere/rules.json";
  CHECK(session.configure("level5", options) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(contains(session.message(), "/nowhere/rules.json can't be read: No such file"));
  options.driver_rules_file = empty.path();
  CHECK(session.configure("level5", options) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(contains(session.message(), std::string(empty.path()) + ": before byte 0"));
}
