// SPDX-License-Identifier: BSD-3-Clause
// Removes lists and dicts whose elements are known: readers of an element read its value directly.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <memory>

namespace nnapi_convert {

// If a list or dict is filled before any node reads it, one node makes it with all elements. If no node changes it, its
// length, keys, elements and membership are known; loops over it are unrolled, and branches on known values chosen.
// Nodes with effects stay. True if the graph changed.
bool simplify_containers(std::shared_ptr<torch::jit::Graph>& graph);

}  // namespace nnapi_convert
