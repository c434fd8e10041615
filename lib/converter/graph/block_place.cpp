// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/block_place.h"

#include <algorithm>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

const char* name_of(BlockPlace::Kind kind) {
  switch (kind) {
    case BlockPlace::Kind::kLoop:
      return "loop";
    case BlockPlace::Kind::kIf:
      return "if";
    case BlockPlace::Kind::kElse:
      return "else";
  }
  return "";
}

BlockPlace place_of(const torch::jit::Block& block) {
  const torch::jit::Node& owner = *block.owningNode();
  if (owner.kind() == c10::prim::Loop) return {BlockPlace::Kind::kLoop, source_of(owner)};
  const bool is_first = owner.blocks()[0] == &block;
  return {is_first ? BlockPlace::Kind::kIf : BlockPlace::Kind::kElse, source_of(owner)};
}

std::vector<BlockPlace> places_of(const torch::jit::Block& block) {
  std::vector<BlockPlace> places;
  for (const torch::jit::Block* at = &block; at->owningNode() != nullptr; at = at->owningNode()->owningBlock()) {
    if (at->owningNode()->owningBlock() == nullptr) break;
    places.push_back(place_of(*at));
  }
  std::reverse(places.begin(), places.end());
  return places;
}

std::string to_text(const BlockPlace& place) {
  std::string text = name_of(place.kind);
  if (place.where.empty()) return text;
  text += place.kind == BlockPlace::Kind::kElse ? " of " : " at ";
  return text + place.where.substr(place.where.rfind('/') + 1);
}

std::string to_text(const std::vector<BlockPlace>& places) {
  std::string text;
  for (const BlockPlace& place : places) text += (text.empty() ? "in the " : ", in the ") + to_text(place);
  return text;
}

nlohmann::json to_json(const std::vector<BlockPlace>& places) {
  nlohmann::json form = nlohmann::json::array();
  for (const BlockPlace& place : places) form.push_back({{"kind", name_of(place.kind)}, {"where", place.where}});
  return form;
}

}  // namespace nnapi_convert
