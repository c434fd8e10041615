// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/minimum_cut.h"

#include <algorithm>

namespace nnapi_convert::quantise {

size_t FlowNetwork::add_node() {
  edges_.emplace_back();
  return edges_.size() - 1;
}

void FlowNetwork::add_edge(size_t from, size_t to, int64_t capacity) {
  if (from == to || capacity <= 0) return;
  edges_[from].push_back({to, edges_[to].size(), capacity});
  edges_[to].push_back({from, edges_[from].size() - 1, 0});
}

// Dinic's algorithm: rounds of flows along the shortest paths that are left.
std::vector<bool> FlowNetwork::source_side() {
  while (measure_levels()) {
    next_.assign(edges_.size(), 0);
    while (push(kSource, kEndless) > 0) {
    }
  }
  std::vector<bool> result;
  for (const int level : levels_) result.push_back(level >= 0);
  return result;
}

bool FlowNetwork::measure_levels() {
  levels_.assign(edges_.size(), -1);
  levels_[kSource] = 0;
  std::vector<size_t> reached = {kSource};
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const Edge& edge : edges_[reached[i]]) {
      if (edge.left == 0 || levels_[edge.to] >= 0) continue;
      levels_[edge.to] = levels_[reached[i]] + 1;
      reached.push_back(edge.to);
    }
  }
  return levels_[kSink] >= 0;
}

// Walks without recursion: chains of operations are as long as models.
int64_t FlowNetwork::push(size_t from, int64_t most) {
  std::vector<size_t> way = {from};
  while (!way.empty() && way.back() != kSink) {
    const size_t node = way.back();
    std::vector<Edge>& edges = edges_[node];
    size_t& next = next_[node];
    while (next < edges.size() && (edges[next].left == 0 || levels_[edges[next].to] != levels_[node] + 1)) ++next;
    if (next < edges.size()) {
      way.push_back(edges[next].to);
      continue;
    }
    way.pop_back();
    if (!way.empty()) ++next_[way.back()];
  }
  if (way.empty()) return 0;
  for (size_t i = 0; i + 1 < way.size(); ++i) most = std::min(most, edges_[way[i]][next_[way[i]]].left);
  for (size_t i = 0; i + 1 < way.size(); ++i) {
    Edge& edge = edges_[way[i]][next_[way[i]]];
    edge.left -= most;
    edges_[edge.to][edge.back].left += most;
  }
  return most;
}

}  // namespace nnapi_convert::quantise
