// SPDX-License-Identifier: BSD-3-Clause
// The table that leads from an archive's code, which PyTorch generated, back to the lines that somebody wrote.
#pragma once

#include <torch/csrc/jit/frontend/source_range.h>
#include <torch/csrc/jit/serialization/source_range_serialization.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "lib/converter/load/pickle.h"

namespace nnapi_convert {

// The table of one file of code, NAME.py.debug_pkl. It is read when a line is asked for: messages name lines. A table
// that is damaged has no lines.
class SourceLines : public torch::jit::SourceRangeUnpickler {
 public:
  explicit SourceLines(std::shared_ptr<const std::string> pickle) : bytes_(std::move(pickle)) {}

  // Returns what the part of the code was generated from. Threads may call it together.
  c10::optional<torch::jit::SourceRange> findSourceRangeThatGenerated(const torch::jit::SourceRange& range) override;

  // Returns the table as PyTorch wrote it before 1.12: lines with whole sources, without a table of texts. All releases
  // read that form; 1.9 to 1.11 end at a text in place of a line, also when they only mean to show an error's place.
  // Lines whose source is damaged are left out.
  std::string with_whole_sources();

 private:
  using SourcePtr = std::shared_ptr<torch::jit::Source>;
  struct Line {
    int64_t place;  // place in the code from which on the line holds
    PickleId source;
    int64_t begin, end;  // in the source
    int64_t tag;         // tag by which bytecode calls the line; -1: none
  };

  void read();
  std::vector<Line> lines_of(PickleId records) const;
  SourcePtr source_of(PickleId id);

  std::mutex mutex_;
  std::shared_ptr<const std::string> bytes_;
  bool is_read_ = false;
  Pickle pickle_;
  std::vector<std::string_view> texts_;  // parts of sources; none in tables of before PyTorch 1.12
  std::vector<Line> lines_;              // in the order of their places
  std::map<PickleId, SourcePtr> sources_;
  // The addresses at which the pieces of a source's text begin, the name of its file and the number of its first line.
  using SourceKey = std::tuple<std::vector<const char*>, std::optional<std::string>, size_t>;
  std::map<SourceKey, SourcePtr> sources_by_pieces_;
};

}  // namespace nnapi_convert
