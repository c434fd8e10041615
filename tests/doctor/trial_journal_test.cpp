// SPDX-License-Identifier: BSD-3-Clause
// The doctor's journal: what a doctor that was ended leaves to the next one. The file is an input, too.
#include "tools/nnapi-probe/doctor/trial_journal.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "tests/temporary_folder.h"

using namespace nnapi_doctor;
using nnapi_convert::test::TemporaryFolder;

namespace {

TrialResult wrong_result() {
  TrialResult result;
  result.finding = Finding::kWrong;
  result.nnapi_code = 5;
  result.median_ns = 123456789;
  result.runs = 8;
  result.wrong_runs = 3;
  result.worst_operand = 17;
  result.worst.worst = 0.25;
  result.worst.elements = 1000;
  result.worst.channels = 32;
  result.worst.wrong_channels = 2;
  result.worst.first_wrong[1] = 9;
  result.message = "wrong\tby\nmuch";
  return result;
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a journal gives back what it was told, and which trial was at work") {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  {
    TrialJournal journal;
    REQUIRE(journal.open(path, "file alpha 1").empty());
    journal.begin("one");
    journal.end("one", wrong_result());
    journal.begin("two");
  }
  TrialJournal journal;
  REQUIRE(journal.open(path, "file alpha 1").empty());
  TrialResult found;
  REQUIRE(journal.find("one", &found));
  CHECK(found.finding == Finding::kWrong);
  CHECK(found.nnapi_code == 5);
  CHECK(found.median_ns == 123456789);
  CHECK(found.worst.worst == 0.25);
  CHECK(found.worst.first_wrong[1] == 9);
  CHECK(found.message == "wrong by much");
  REQUIRE(journal.find("two", &found));
  CHECK(found.finding == Finding::kCrash);
  CHECK(!journal.find("three", &found));
  journal.finish();
  CHECK(text_of(path + "/doctor.journal").empty());
}

TEST_CASE("a journal of another file or driver is not read") {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  {
    TrialJournal journal;
    REQUIRE(journal.open(path, "file alpha 1").empty());
    journal.end("one", wrong_result());
  }
  TrialJournal journal;
  REQUIRE(journal.open(path, "file alpha 2").empty());
  TrialResult found;
  CHECK(!journal.find("one", &found));
}

TEST_CASE("a damaged journal is read as far as it says something") {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  {
    TrialJournal journal;
    REQUIRE(journal.open(path, "subject").empty());
    for (int i = 0; i < 20; ++i) journal.end("key " + std::to_string(i), wrong_result());
  }
  const std::string whole = text_of(path + "/doctor.journal");
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::string text = whole;
    for (int i = 0; i < 8; ++i) text[random() % text.size()] = static_cast<char>(random());
    text.resize(random() % text.size());
    std::ofstream(path + "/doctor.journal") << text;
    TrialJournal journal;
    REQUIRE(journal.open(path, "subject").empty());
    TrialResult found;
    for (int i = 0; i < 20; ++i) {
      if (!journal.find("key " + std::to_string(i), &found)) continue;
      CHECK(static_cast<int>(found.finding) > 0);
      CHECK(static_cast<int>(found.finding) < kFindings);
    }
  }
}

TEST_CASE("a folder that can't be written is said") {
  TrialJournal journal;
  CHECK(journal.open("/nowhere", "subject").find("can't write /nowhere/doctor.journal: ") == 0);
}
