// SPDX-License-Identifier: BSD-3-Clause
// The cheapest way to part a network in two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nnapi_convert::quantise {

// Directed edges with capacities, between a source (node 0) and a sink (node 1).
class FlowNetwork {
 public:
  static constexpr size_t kSource = 0, kSink = 1;
  static constexpr int64_t kEndless = int64_t{1} << 60;

  explicit FlowNetwork(size_t nodes) : edges_(nodes) {}

  size_t add_node();
  void add_edge(size_t from, size_t to, int64_t capacity);

  // Returns by node whether it is on the source's side of the minimum cut that leaves the fewest nodes there. Uses up
  // the edges.
  std::vector<bool> source_side();

 private:
  struct Edge {
    size_t to = 0, back = 0;  // the number of the opposite edge at `to`
    int64_t left = 0;
  };

  bool measure_levels();
  int64_t push(size_t from, int64_t most);

  std::vector<std::vector<Edge>> edges_;  // by node
  std::vector<int> levels_;               // by node: its distance from the source, in edges
  std::vector<size_t> next_;              // the edge of each node to try next
};

}  // namespace nnapi_convert::quantise
