// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/program_forms.h"

#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <map>
#include <string>
#include <vector>

#include "lib/converter/graph/insert_form.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

constexpr const char* kChannelShuffle = R"(
def form(self, groups: int):
    sizes = self.size()
    groups_first = self.reshape([sizes[0], groups, sizes[1] // groups] + sizes[2:])
    return groups_first.transpose(1, 2).reshape(sizes)
)";

// Returns the form of a loss: `elements`, reduced as `reduction` says: 0 not at all, 1 to the mean, 2 to the sum.
std::string loss(const std::string& elements) {
  return "def form(self, target, reduction: int):\n    result = " + elements + R"(
    if reduction == 1:
        result = result.mean()
    elif reduction == 2:
        result = result.sum()
    return result
)";
}

// Returns the forms by the operators' names and overloads. A form may use operators that have one. The functions take
// the operators' arguments in the schemas' order.
const std::map<std::string, std::string>& forms() {
  static const std::map<std::string, std::string> all = {
      {"aten::channel_shuffle", kChannelShuffle},
      {"aten::native_channel_shuffle", kChannelShuffle},
      {"aten::zero", R"(
def form(self):
    return torch.zeros_like(self)
)"},
      {"aten::_unsafe_view", R"(
def form(self, size: List[int]):
    return self.reshape(size)
)"},
      {"aten::unsafe_chunk", R"(
def form(self, chunks: int, dim: int):
    return self.chunk(chunks, dim)
)"},
      {"aten::unsafe_split.Tensor", R"(
def form(self, split_size: int, dim: int):
    return self.split(split_size, dim)
)"},
      {"aten::unsafe_split_with_sizes", R"(
def form(self, split_sizes: List[int], dim: int):
    return self.split_with_sizes(split_sizes, dim)
)"},
      {"aten::_adaptive_avg_pool2d", R"(
def form(self, output_size: List[int]):
    return torch.adaptive_avg_pool2d(self, output_size)
)"},
      {"aten::glu", R"(
def form(self, dim: int):
    half = self.size(dim) // 2
    halves = self.split([half, half], dim)
    return halves[0] * torch.sigmoid(halves[1])
)"},
      {"aten::cosine_similarity", R"(
def form(x1, x2, dim: int, eps: float):
    tensors = torch.broadcast_tensors([x1, x2])
    a = tensors[0]
    b = tensors[1]
    first = torch.sqrt(torch.clamp_min((a * a).sum([dim], True), eps * eps))
    second = torch.sqrt(torch.clamp_min((b * b).sum([dim], True), eps * eps))
    return ((a / first) * (b / second)).sum([dim])
)"},
      {"aten::linalg_cross", R"(
def form(self, other, dim: int):
    a = self.split([1, 1, 1], dim)
    b = other.split([1, 1, 1], dim)
    return torch.cat([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dim)
)"},
      {"aten::cross", R"(
def form(self, other, dim: Optional[int]):
    axis = 0
    if dim is None:
        while self.size(axis) != 3:
            axis += 1
    else:
        axis = dim
    return torch.linalg_cross(self, other, dim=axis)
)"},
      {"aten::trace", R"(
def form(self):
    return self.diagonal(0, 0, 1).sum()
)"},
      {"aten::rot90", R"(
def form(self, k: int, dims: List[int]):
    turns = k % 4
    if turns == 1:
        result = self.flip([dims[1]]).transpose(dims[0], dims[1])
    elif turns == 2:
        result = self.flip(dims)
    elif turns == 3:
        result = self.flip([dims[0]]).transpose(dims[0], dims[1])
    else:
        result = self.clone()
    return result
)"},
      {"aten::mse_loss", loss("(self - target) * (self - target)")},
      {"aten::l1_loss", loss("torch.abs(self - target)")},
      {"aten::max_unpool2d", R"(
def form(self, indices, output_size: List[int]):
    sizes = self.size()[:-2]
    flat = torch.zeros(sizes + [output_size[0] * output_size[1]], dtype=self.dtype)
    return flat.scatter(-1, indices.flatten(-2), self.flatten(-2)).reshape(sizes + output_size)
)"},
      {"aten::im2col", R"(
def form(self, kernel_size: List[int], dilation: List[int], padding: List[int], stride: List[int]):
    image = self.unsqueeze(0) if self.dim() == 3 else self
    padded = torch.constant_pad_nd(image, [padding[1], padding[1], padding[0], padding[0]], 0)
    rows = (padded.size(2) - dilation[0] * (kernel_size[0] - 1) - 1) // stride[0] + 1
    columns = (padded.size(3) - dilation[1] * (kernel_size[1] - 1) - 1) // stride[1] + 1
    parts: List[Tensor] = []
    for i in range(kernel_size[0]):
        top = i * dilation[0]
        for j in range(kernel_size[1]):
            left = j * dilation[1]
            part = padded[:, :, top:top + (rows - 1) * stride[0] + 1:stride[0]]
            parts.append(part[:, :, :, left:left + (columns - 1) * stride[1] + 1:stride[1]])
    result = torch.stack(parts, 2).reshape([image.size(0), image.size(1) * len(parts), rows * columns])
    return result.squeeze(0) if self.dim() == 3 else result
)"},
  };
  return all;
}

const std::string* form_of(const Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return nullptr;
  const auto found = forms().find(c10::toString(schema->operator_name()));
  return found == forms().end() ? nullptr : &found->second;
}

// Replaces operators by their forms, also within forms: goes on with the first node that a form inserted.
void use_forms(Block& block) {
  for (Node* node = *block.nodes().begin(); node != block.return_node();) {
    for (Block* inner : node->blocks()) use_forms(*inner);
    const std::string* form = form_of(*node);
    Node* const before = node->prev();
    if (form != nullptr) {
      const std::vector<Value*> results = insert_form(*node, form->c_str());
      for (size_t i = 0; i < results.size(); ++i) node->outputs()[i]->replaceAllUsesWith(results[i]);
      node->destroy();
      node = before;
    }
    node = node->next();
  }
}

}  // namespace

void use_program_forms(const std::shared_ptr<torch::jit::Graph>& graph) {
  use_forms(*graph->block());
  torch::jit::EliminateDeadCode(graph);
}

}  // namespace nnapi_convert
