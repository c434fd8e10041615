#include "lib/converter/graph/memory_reads.h"

#include <set>
#include <string>

#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {

bool reads_memory_order(const torch::jit::Node& node) {
  static const std::set<std::string> kinds = {"aten::as_strided",
                                              "aten::as_strided_",
                                              "aten::as_strided_copy",
                                              "aten::is_contiguous",
                                              "aten::is_non_overlapping_and_dense",
                                              "aten::is_set_to",
                                              "aten::is_strides_like_format",
                                              "aten::resize",
                                              "aten::resize_",
                                              "aten::resize_as",
                                              "aten::resize_as_",
                                              "aten::set",
                                              "aten::set_",
                                              "aten::storage_offset",
                                              "aten::stride"};
  return kinds.count(node.kind().toQualString()) != 0;
}

bool reads_memory_order(torch::jit::Graph& graph) {
  bool reads = false;
  for_each_node(graph, [&](const torch::jit::Node& node) { reads = reads || reads_memory_order(node); });
  return reads;
}

}  // namespace nnapi_convert
