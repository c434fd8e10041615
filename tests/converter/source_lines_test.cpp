// SPDX-License-Identifier: BSD-3-Clause
// Tables of source lines, whole and damaged ones.
#include "lib/converter/load/source_lines.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>

using namespace nnapi_convert;

namespace {

// Opcodes of pickle. Texts and numbers are short ones.
std::string text(const std::string& bytes) {
  return std::string("X") + static_cast<char>(bytes.size()) + std::string(3, '\0') + bytes;
}

std::string number(int value) {
  return std::string("J") + static_cast<char>(value & 255) + static_cast<char>(value >> 8 & 255) +
         static_cast<char>(value >> 16 & 255) + static_cast<char>(value >> 24 & 255);
}

std::string tuple(const std::string& elements) {
  return "(" + elements + "t";
}

std::string pieces(const std::string& numbers) {
  return "ctorch.jit._pickle\nbuild_intlist\n" + tuple("](" + numbers + "e") + "R";
}

std::string pickle(const std::string& value) {
  return "\x80\x02" + value + ".";
}

// The file, line and column of a part of the code.
std::optional<std::string> line_at(const std::string& table, size_t place) {
  SourceLines lines(std::make_shared<const std::string>(table));
  const auto code = std::make_shared<torch::jit::Source>(std::string(100, 'c'));
  const auto found = lines.findSourceRangeThatGenerated(torch::jit::SourceRange(code, place, place + 1));
  if (!found) return std::nullopt;
  const auto where = found->file_line_col();
  if (!where) return "no file";
  const auto& [file, line, column] = *where;
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

// A source of two lines, joined of two texts. What begins at byte 5 of the code was generated from the second line.
std::string table_with(const std::string& source, const std::string& begin, const std::string& end) {
  const std::string texts = tuple(text("a = 1\n") + text("b = a\n") + text("model.py"));
  const std::string first = tuple(number(5) + tuple(source + begin + end));
  return pickle(tuple(text("FORMAT_WITH_STRING_TABLE") + texts + tuple(first)));
}

const std::string kSource = tuple(pieces(number(0) + number(1)) + number(2) + number(10));

}  // namespace

TEST_CASE("source lines: the last line that begins before a place") {
  const std::string table = table_with(kSource, number(6), number(11));
  CHECK(line_at(table, 4) == std::nullopt);
  CHECK(line_at(table, 5) == "model.py:11:0");
  CHECK(line_at(table, 50) == "model.py:11:0");
}

TEST_CASE("source lines: tables of before PyTorch 1.12 hold whole sources") {
  const auto table = [](const std::string& file) {
    const std::string source = tuple(text("a = 1\nb = a\n") + file + number(7));
    return pickle(tuple(tuple(number(0) + tuple(source + number(10) + number(11)))));
  };
  CHECK(line_at(table(text("old.py")), 3) == "old.py:8:4");
  CHECK(line_at(table("N"), 3) == "no file");
}

TEST_CASE("source lines: a table with whole sources has no table of texts, and the same lines") {
  const std::string table = table_with(kSource, number(6), number(11));
  const std::string whole = SourceLines(std::make_shared<const std::string>(table)).with_whole_sources();
  CHECK(whole.find("FORMAT_WITH_STRING_TABLE") == std::string::npos);
  for (const size_t place : {4, 5, 50}) CHECK(line_at(whole, place) == line_at(table, place));
  // The form is the same after another round.
  CHECK(SourceLines(std::make_shared<const std::string>(whole)).with_whole_sources() == whole);
  const std::string damaged = table_with(number(3), number(6), number(11));
  CHECK(line_at(SourceLines(std::make_shared<const std::string>(damaged)).with_whole_sources(), 5) == std::nullopt);
}

TEST_CASE("source lines: ranges behind the end of a source are cut off") {
  CHECK(line_at(table_with(kSource, number(6), number(1000)), 5) == "model.py:11:0");
  CHECK(line_at(table_with(kSource, number(900), number(1000)), 5).has_value());
}

TEST_CASE("source lines: a source that a small table makes too large has no lines") {
  const auto joined = [](size_t times) {
    std::string numbers;
    for (size_t i = 0; i < times; ++i) numbers += number(0);
    const std::string half_megabyte = std::string("X\0\0\x08\0", 5) + std::string(size_t{1} << 19, 'a');
    const std::string source = tuple(pieces(numbers) + number(1) + number(10));
    const std::string line = tuple(number(0) + tuple(source + number(0) + number(1)));
    return pickle(tuple(text("FORMAT_WITH_STRING_TABLE") + tuple(half_megabyte + text("model.py")) + tuple(line)));
  };
  CHECK(line_at(joined(4), 5) == "model.py:10:0");
  CHECK(line_at(joined(40), 5) == std::nullopt);
}

TEST_CASE("source lines: damaged tables have no lines") {
  const std::string whole = table_with(kSource, number(6), number(11));
  for (size_t size = 0; size < whole.size(); ++size) CHECK(line_at(whole.substr(0, size), 5) == std::nullopt);
  const std::string text_7 = tuple(pieces(number(7)) + number(2) + number(10));
  const std::string file_7 = tuple(pieces(number(0)) + number(7) + number(10));
  const std::string line_before = tuple(pieces(number(0)) + number(2) + number(-1));
  const std::string no_pieces = tuple(number(0) + number(2) + number(10));
  for (const std::string& source : {text_7, file_7, line_before, no_pieces, number(3)}) {
    CHECK(line_at(table_with(source, number(0), number(1)), 5) == std::nullopt);
  }
  CHECK(line_at(table_with(kSource, number(-1), number(1)), 5) == std::nullopt);
  CHECK(line_at(table_with(kSource, number(3), number(1)), 5) == std::nullopt);
  CHECK(line_at(table_with(kSource, "N", "N"), 5) == std::nullopt);
  CHECK(line_at(pickle(tuple(text("ANOTHER_FORMAT") + "))")), 5) == std::nullopt);
  CHECK(line_at(pickle("N"), 5) == std::nullopt);
}
