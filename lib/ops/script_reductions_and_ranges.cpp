// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/script_forms.h"

namespace nnapi_convert {
namespace {

// Squeezes the highest dimension first, so that the others keep their numbers.
constexpr const char* kSqueeze = R"(
def squeeze(self: Tensor, dim: List[int]) -> Tensor:
  rank = max(self.dim(), 1)
  places = sorted([d % rank for d in dim])
  result = self
  for i in range(len(dim)):
    result = torch.squeeze(result, places[len(dim) - 1 - i])
  return result
)";

constexpr const char* kSqueezeInPlace = R"(
def squeeze_(self: Tensor, dim: List[int]) -> Tensor:
  rank = max(self.dim(), 1)
  places = sorted([d % rank for d in dim])
  for i in range(len(dim)):
    self.squeeze_(places[len(dim) - 1 - i])
  return self
)";

// With an empty list of dimensions, each element is true or false by itself.
constexpr const char* kAny = R"(
def any(self: Tensor, dim: Optional[List[int]], keepdim: bool) -> Tensor:
  if dim is None:
    result = torch.any(self)
    if keepdim:
      result = torch.reshape(result, [1 for i in range(self.dim())])
  elif len(dim) == 0:
    result = torch.ne(self, 0)
  else:
    rank = max(self.dim(), 1)
    places = sorted([d % rank for d in dim])
    result = self
    for i in range(len(dim)):
      result = torch.any(result, places[len(dim) - 1 - i], keepdim)
  return result
)";

constexpr const char* kAll = R"(
def all(self: Tensor, dim: Optional[List[int]], keepdim: bool) -> Tensor:
  if dim is None:
    result = torch.all(self)
    if keepdim:
      result = torch.reshape(result, [1 for i in range(self.dim())])
  elif len(dim) == 0:
    result = torch.ne(self, 0)
  else:
    rank = max(self.dim(), 1)
    places = sorted([d % rank for d in dim])
    result = self
    for i in range(len(dim)):
      result = torch.all(result, places[len(dim) - 1 - i], keepdim)
  return result
)";

// The difference of two bools is whether they aren't equal.
constexpr const char* kDifference = R"(
def diff(self: Tensor, n: int, dim: int, prepend: Optional[Tensor], append: Optional[Tensor]) -> Tensor:
  result = self
  if prepend is not None:
    result = torch.cat([prepend, result], dim)
  if append is not None:
    result = torch.cat([result, append], dim)
  for i in range(n):
    later = torch.slice(result, dim, 1)
    sooner = torch.slice(result, dim, 0, -1)
    if result.dtype == 11:
      result = torch.ne(later, sooner)
    else:
      result = torch.sub(later, sooner)
  return result
)";

// Corrects the mean square from n to n - correction elements.
constexpr const char* kVar = R"(
def var(self: Tensor, dim: Optional[List[int]], correction: Optional[number], keepdim: bool) -> Tensor:
  count = 1
  if dim is None or len(dim) == 0:
    count = self.numel()
  else:
    for d in dim:
      count = count * self.size(d)
  free = float(count) - 1.
  if correction is not None:
    free = float(count) - float(correction)
  factor = float("inf")
  if free > 0.:
    factor = float(count) / free
  return torch.var(self, dim, False, keepdim) * factor
)";

constexpr const char* kStd = R"(
def std(self: Tensor, dim: Optional[List[int]], correction: Optional[number], keepdim: bool) -> Tensor:
  return torch.sqrt(torch.var(self, dim, correction=correction, keepdim=keepdim))
)";

constexpr const char* kVarMean = R"(
def var_mean(self: Tensor, dim: Optional[List[int]], correction: Optional[number],
             keepdim: bool) -> Tuple[Tensor, Tensor]:
  return torch.var(self, dim, correction=correction, keepdim=keepdim), torch.mean(self, dim, keepdim)
)";

constexpr const char* kStdMean = R"(
def std_mean(self: Tensor, dim: Optional[List[int]], correction: Optional[number],
             keepdim: bool) -> Tuple[Tensor, Tensor]:
  return torch.std(self, dim, correction=correction, keepdim=keepdim), torch.mean(self, dim, keepdim)
)";

// Integers, the dtypes below 5, are cut from numbers that are counted from both ends to the middle, as PyTorch does it.
constexpr const char* kLinspaceOfTensors = R"(
def linspace(start: Tensor, end: Tensor, steps: int, dtype: Optional[int], layout: Optional[int],
             device: Optional[Device], pin_memory: Optional[bool]) -> Tensor:
  places = torch.arange(steps, dtype=6) / float(max(steps - 1, 1))
  result = start + places * (end - start)
  if dtype is not None:
    if dtype < 5:
      half = steps // 2 if steps > 1 else 1
      counted = torch.arange(steps, dtype=6)
      step = (end - start) / float(max(steps - 1, 1))
      result = torch.where(counted < float(half), start + counted * step, end - (float(steps - 1) - counted) * step)
    result = result.to(dtype)
  return result
)";

constexpr const char* kLinspaceToNumber = R"(
def linspace(start: Tensor, end: number, steps: int, dtype: Optional[int], layout: Optional[int],
             device: Optional[Device], pin_memory: Optional[bool]) -> Tensor:
  places = torch.arange(steps, dtype=6) / float(max(steps - 1, 1))
  result = start + places * (float(end) - start)
  if dtype is not None:
    if dtype < 5:
      half = steps // 2 if steps > 1 else 1
      counted = torch.arange(steps, dtype=6)
      step = (float(end) - start) / float(max(steps - 1, 1))
      result = torch.where(counted < float(half), start + counted * step, float(end) - (float(steps - 1) - counted) * step)
    result = result.to(dtype)
  return result
)";

constexpr const char* kLinspaceFromNumber = R"(
def linspace(start: number, end: Tensor, steps: int, dtype: Optional[int], layout: Optional[int],
             device: Optional[Device], pin_memory: Optional[bool]) -> Tensor:
  places = torch.arange(steps, dtype=6) / float(max(steps - 1, 1))
  result = places * (end - float(start)) + float(start)
  if dtype is not None:
    if dtype < 5:
      half = steps // 2 if steps > 1 else 1
      counted = torch.arange(steps, dtype=6)
      step = (end - float(start)) / float(max(steps - 1, 1))
      result = torch.where(counted < float(half), float(start) + counted * step, end - (float(steps - 1) - counted) * step)
    result = result.to(dtype)
  return result
)";

constexpr const char* kLogspaceOfTensors = R"(
def logspace(start: Tensor, end: Tensor, steps: int, base: float, dtype: Optional[int], layout: Optional[int],
             device: Optional[Device], pin_memory: Optional[bool]) -> Tensor:
  places = torch.arange(steps, dtype=6) / float(max(steps - 1, 1))
  result = torch.pow(base, start + places * (end - start))
  if dtype is not None:
    result = result.to(dtype)
  return result
)";

constexpr const char* kLogspaceToNumber = R"(
def logspace(start: Tensor, end: number, steps: int, base: float, dtype: Optional[int], layout: Optional[int],
             device: Optional[Device], pin_memory: Optional[bool]) -> Tensor:
  places = torch.arange(steps, dtype=6) / float(max(steps - 1, 1))
  result = torch.pow(base, start + places * (float(end) - start))
  if dtype is not None:
    result = result.to(dtype)
  return result
)";

constexpr const char* kLogspaceFromNumber = R"(
def logspace(start: number, end: Tensor, steps: int, base: float, dtype: Optional[int], layout: Optional[int],
             device: Optional[Device], pin_memory: Optional[bool]) -> Tensor:
  places = torch.arange(steps, dtype=6) / float(max(steps - 1, 1))
  result = torch.pow(base, places * (end - float(start)) + float(start))
  if dtype is not None:
    result = result.to(dtype)
  return result
)";

constexpr const char* kIndex = R"(
def _unsafe_index(self: Tensor, indices: List[Optional[Tensor]]) -> Tensor:
  return torch.index(self, indices)
)";

constexpr const char* kIndexOfAll = R"(
def _unsafe_index(self: Tensor, indices: List[Tensor]) -> Tensor:
  return torch.index(self, indices)
)";

constexpr const char* kIndexPut = R"(
def _unsafe_index_put(self: Tensor, indices: List[Optional[Tensor]], values: Tensor, accumulate: bool) -> Tensor:
  return torch.index_put(self, indices, values, accumulate)
)";

constexpr const char* kIndexPutOfAll = R"(
def _unsafe_index_put(self: Tensor, indices: List[Tensor], values: Tensor, accumulate: bool) -> Tensor:
  return torch.index_put(self, indices, values, accumulate)
)";

constexpr const char* kIsAllTrue = R"(
def _is_all_true(self: Tensor) -> Tensor:
  return torch.all(self)
)";

constexpr const char* kIsAnyTrue = R"(
def _is_any_true(self: Tensor) -> Tensor:
  return torch.any(self)
)";

constexpr const char* kEmptyPermuted = R"(
def empty_permuted(size: List[int], physical_layout: List[int], dtype: Optional[int], layout: Optional[int],
                   device: Optional[Device], pin_memory: Optional[bool]) -> Tensor:
  return torch.empty(size, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
)";

constexpr const char* kNonzeroStatic = R"(
def nonzero_static(self: Tensor, size: int, fill_value: int) -> Tensor:
  found = torch.nonzero(self)
  filling = torch.full([size, self.dim()], fill_value, dtype=4, device=self.device)
  return torch.slice(torch.cat([found, filling], 0), 0, 0, size)
)";

}  // namespace

ScriptForms reduction_and_range_scripts() {
  return {
      {"aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", "2.0", kSqueeze},
      {"aten::squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)", "2.0", kSqueezeInPlace},
      {"aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", "2.2", kAny},
      {"aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", "2.2", kAll},
      {"aten::var.correction_number(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> "
       "Tensor",
       "2.0", kVar},
      {"aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor", kOldRelease,
       kDifference},
      {"aten::std.correction_number(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> "
       "Tensor",
       "2.0", kStd},
      {"aten::var_mean.correction_number(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
       "keepdim=False) -> (Tensor, Tensor)",
       "2.0", kVarMean},
      {"aten::std_mean.correction_number(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
       "keepdim=False) -> (Tensor, Tensor)",
       "2.0", kStdMean},
      {"aten::linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? "
       "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
       "2.1", kLinspaceOfTensors},
      {"aten::linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? "
       "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
       "2.1", kLinspaceToNumber},
      {"aten::linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? "
       "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
       "2.1", kLinspaceFromNumber},
      {"aten::logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, "
       "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
       "2.1", kLogspaceOfTensors},
      {"aten::logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, "
       "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
       "2.1", kLogspaceToNumber},
      {"aten::logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, "
       "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
       "2.1", kLogspaceFromNumber},
      {"aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", "2.1", kIndex},
      {"aten::_unsafe_index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor", "2.1", kIndexOfAll},
      {"aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor", "2.1",
       kIndexPut},
      {"aten::_unsafe_index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> "
       "Tensor",
       "2.1", kIndexPutOfAll},
      {"aten::_is_all_true(Tensor self) -> Tensor", "2.0", kIsAllTrue},
      {"aten::_is_any_true(Tensor self) -> Tensor", "2.0", kIsAnyTrue},
      {"aten::empty_permuted(int[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, "
       "Device? device=None, bool? pin_memory=None) -> Tensor",
       "2.1", kEmptyPermuted},
      {"aten::nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor", "2.1", kNonzeroStatic},
  };
}

}  // namespace nnapi_convert
