// SPDX-License-Identifier: BSD-3-Clause
// Names the place of a node in the model's control flow: the branches and loops around the node.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace nnapi_convert {

struct BlockPlace {
  enum class Kind { kLoop, kIf, kElse };
  Kind kind;
  std::string where;  // source line of the branch or loop; may be empty
};

// Returns "loop", "if" or "else".
const char* name_of(BlockPlace::Kind kind);

BlockPlace place_of(const torch::jit::Block& block);
// Returns the branches and loops around the nodes of the block, the outermost first; none for a graph's own block.
std::vector<BlockPlace> places_of(const torch::jit::Block& block);

// Returns for example "loop at model.py:12": the file without its folder.
std::string to_text(const BlockPlace& place);
// Returns for example "in the loop at model.py:12, in the else of model.py:14"; empty without places.
std::string to_text(const std::vector<BlockPlace>& places);
// Returns the places in the form of `inside` in schemas/report.schema.json.
nlohmann::json to_json(const std::vector<BlockPlace>& places);

}  // namespace nnapi_convert
