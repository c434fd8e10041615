// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/source_lines.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

using Kind = PickleValue::Kind;
using torch::jit::Source;
using torch::jit::SourceRange;

// Limit for a source: a small table may join one text many times.
constexpr size_t kMostSourceBytes = size_t{16} << 20;

[[noreturn]] void fail() {
  throw ConvertError(ExitCode::kBadFile, "a damaged table of source lines");
}

size_t index_at(const Pickle& pickle, PickleId id) {
  const int64_t number = pickle.at(id, Kind::kInt).number;
  if (number < 0 || number > INT32_MAX) fail();
  return static_cast<size_t>(number);
}

std::string_view text_at(const std::vector<std::string_view>& texts, size_t index) {
  if (index >= texts.size()) fail();
  return texts[index];
}

// Returns the numbers in build_intlist([...]): those of the texts that a source is joined of.
const std::vector<PickleId>& pieces_of(const Pickle& pickle, PickleId id) {
  const auto& call = pickle.at(id, Kind::kCall, 2).elements;
  if (pickle.at(call[0]).text != "torch.jit._pickle\nbuild_intlist") fail();
  const auto& arguments = pickle.at(call[1], Kind::kTuple, 1).elements;
  return pickle.at(arguments[0], Kind::kList).elements;
}

std::optional<std::string> file_name(const Pickle& pickle, PickleId id, const std::vector<std::string_view>& texts) {
  const PickleValue& name = pickle.at(id);
  if (name.kind == Kind::kInt) return std::string(text_at(texts, index_at(pickle, id)));
  if (name.kind == Kind::kString) return std::string(name.text);
  if (name.kind != Kind::kNone) fail();
  return std::nullopt;
}

}  // namespace

c10::optional<SourceRange> SourceLines::findSourceRangeThatGenerated(const SourceRange& range) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!is_read_) read();
  const auto after = std::upper_bound(lines_.begin(), lines_.end(), static_cast<int64_t>(range.start()),
                                      [](int64_t place, const Line& line) { return place < line.place; });
  if (after == lines_.begin()) return c10::nullopt;
  const Line& line = *std::prev(after);
  try {
    const SourcePtr source = source_of(line.source);
    const size_t size = source->size();
    // PyTorch writes ranges that end behind the source for code that has none.
    return SourceRange(source, std::min(static_cast<size_t>(line.begin), size),
                       std::min(static_cast<size_t>(line.end), size));
  } catch (const ConvertError&) {
    return c10::nullopt;
  }
}

std::string SourceLines::with_whole_sources() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!is_read_) read();
  using Content = std::tuple<std::string, c10::optional<std::string>, size_t>;
  std::map<const Source*, c10::IValue> tuples;  // a tuple that several lines hold is pickled once
  std::map<Content, c10::IValue> sources;
  std::vector<c10::IValue> records;
  for (const Line& line : lines_) {
    try {
      const SourcePtr source = source_of(line.source);
      c10::IValue& tuple = tuples[source.get()];
      if (tuple.isNone()) {
        const Content content(source->text_str().str(), source->filename(), source->starting_line_no());
        c10::IValue& of_content = sources[content];
        if (of_content.isNone()) {
          const auto& [text, file, first_line] = content;
          of_content = c10::ivalue::Tuple::create({text, file, static_cast<int64_t>(first_line)});
        }
        tuple = of_content;
      }
      records.emplace_back(c10::ivalue::Tuple::create(
          {line.place, c10::ivalue::Tuple::create({tuple, line.begin, line.end}), line.tag}));
    } catch (const ConvertError&) {
      continue;
    }
  }
  const std::vector<char> bytes = torch::jit::pickle(c10::ivalue::Tuple::create(std::move(records)));
  return {bytes.begin(), bytes.end()};
}

// Reads the table. It is ("FORMAT_WITH_STRING_TABLE", texts, lines); before PyTorch 1.12 it is the lines alone.
void SourceLines::read() {
  is_read_ = true;
  try {
    pickle_ = read_pickle(*bytes_);
    const auto& parts = pickle_.at(pickle_.root, Kind::kTuple, 1).elements;
    if (pickle_.at(parts[0]).kind != Kind::kString) {
      lines_ = lines_of(pickle_.root);
    } else if (parts.size() >= 3 && pickle_.at(parts[0]).text == "FORMAT_WITH_STRING_TABLE") {
      for (const PickleId text : pickle_.at(parts[1], Kind::kTuple).elements) {
        texts_.push_back(pickle_.at(text, Kind::kString).text);
      }
      lines_ = lines_of(parts[2]);
    }
  } catch (const ConvertError&) {
    lines_.clear();
  }
}

// Reads lines. Each is (place in the code, (source, begin, end), tag); PyTorch 1.8 and before wrote no tag.
std::vector<SourceLines::Line> SourceLines::lines_of(PickleId records) const {
  std::vector<Line> lines;
  for (const PickleId record : pickle_.at(records, Kind::kTuple).elements) {
    const auto& parts = pickle_.at(record, Kind::kTuple, 2).elements;
    const auto& range = pickle_.at(parts[1], Kind::kTuple, 3).elements;
    lines.push_back({static_cast<int64_t>(index_at(pickle_, parts[0])), range[0],
                     static_cast<int64_t>(index_at(pickle_, range[1])),
                     static_cast<int64_t>(index_at(pickle_, range[2])),
                     parts.size() > 2 ? pickle_.at(parts[2], Kind::kInt).number : -1});
    if (lines.back().end < lines.back().begin) fail();
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.place < b.place; });
  return lines;
}

// Reads a source. It is (text, file, number of its first line); with a table of texts (numbers of texts, number of a
// text, line).
SourceLines::SourcePtr SourceLines::source_of(PickleId id) {
  SourcePtr& source = sources_[id];
  if (source != nullptr) return source;
  const auto& parts = pickle_.at(id, Kind::kTuple, 3).elements;
  const std::optional<std::string> name = file_name(pickle_, parts[1], texts_);
  const size_t first_line = index_at(pickle_, parts[2]);
  std::vector<std::string_view> pieces;
  if (texts_.empty()) {
    pieces.push_back(pickle_.at(parts[0], Kind::kString).text);
  } else {
    for (const PickleId piece : pieces_of(pickle_, parts[0])) {
      pieces.push_back(text_at(texts_, index_at(pickle_, piece)));
    }
  }
  // Each line may name the pieces of its source anew. Pieces are views of the pickle: the same place is the same text.
  SourceKey key{{}, name, first_line};
  for (const std::string_view piece : pieces) std::get<0>(key).push_back(piece.data());
  SourcePtr& same = sources_by_pieces_[key];
  if (same == nullptr) {
    std::string text;
    for (const std::string_view piece : pieces) {
      text += piece;
      if (text.size() > kMostSourceBytes && !texts_.empty()) fail();
    }
    same = std::make_shared<Source>(text, name ? c10::optional<std::string>(*name) : c10::nullopt, first_line);
  }
  source = same;
  return source;
}

}  // namespace nnapi_convert
