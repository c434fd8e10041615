// Where in a model's control flow something is: the branches and loops around it.
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

// "loop", "if", "else".
const char* name_of(BlockPlace::Kind kind);

BlockPlace place_of(const torch::jit::Block& block);
// Those around what is in the block, the outermost first; none for a graph's own block.
std::vector<BlockPlace> places_of(const torch::jit::Block& block);

// "loop at model.py:12": the file without its folder.
std::string to_text(const BlockPlace& place);
// "in the loop at model.py:12, in the else of model.py:14". Empty for none.
std::string to_text(const std::vector<BlockPlace>& places);
// By `inside` of schemas/report.schema.json.
nlohmann::json to_json(const std::vector<BlockPlace>& places);

}  // namespace nnapi_convert
