// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/script_forms.h"

namespace nnapi_convert {
namespace {

// Checks of inputs that an export adds. They compute nothing, and are removed.
constexpr const char* kAssertScalar = R"(
def _assert_scalar(self: number, assert_msg: str) -> None:
  return None
)";
constexpr const char* kAssertAsync = R"(
def _assert_async(self: Tensor, assert_msg: str) -> None:
  return None
)";
constexpr const char* kAssertMetadata = R"(
def _assert_tensor_metadata(a: Tensor, size: Optional[List[int]], stride: Optional[List[int]], dtype: Optional[int],
                            device: Optional[Device], layout: Optional[int]) -> None:
  return None
)";
constexpr const char* kConstrain = R"(
def sym_constrain_range(size: number, min: Optional[int], max: Optional[int]) -> None:
  return None
)";
constexpr const char* kConstrainSize = R"(
def sym_constrain_range_for_size(size: number, min: Optional[int], max: Optional[int]) -> None:
  return None
)";

constexpr const char* kBytes = R"(
def nbytes(a: Tensor) -> int:
  return torch.numel(a) * torch.element_size(a)
)";
constexpr const char* kElementBytes = R"(
def itemsize(a: Tensor) -> int:
  return torch.element_size(a)
)";
constexpr const char* kIsXla = R"(
def is_xla(a: Tensor) -> bool:
  return False
)";
constexpr const char* kIsContiguous = R"(
def sym_is_contiguous(self: Tensor, memory_format: int) -> bool:
  return self.is_contiguous(memory_format=memory_format)
)";
// The autocast dtype on a CPU is bfloat16.
constexpr const char* kAutocastDtype = R"(
def get_autocast_dtype(device_type: str) -> int:
  return 15
)";
constexpr const char* kDevice = R"(
def device(type: str, index: int) -> Device:
  return torch.device(type + ":" + str(index))
)";

// Checks that an export writes in a form without side effects. They compute nothing but hand on the token.
constexpr const char* kToken = R"(
def _make_dep_token(dtype: Optional[int], layout: Optional[int], device: Optional[Device], pin_memory: Optional[bool],
                    memory_format: Optional[int]) -> Tensor:
  return torch.zeros([0])
)";
constexpr const char* kFunctionalAssertAsync = R"(
def _functional_assert_async(self: Tensor, assert_msg: str, dep_token: Tensor) -> Tensor:
  return dep_token
)";
constexpr const char* kFunctionalAssertScalar = R"(
def _functional_assert_scalar(self: number, assert_msg: str, dep_token: Tensor) -> Tensor:
  return dep_token
)";

constexpr const char* kIsMaia = R"(
def is_maia(a: Tensor) -> bool:
  return False
)";
constexpr const char* kBroadcastShapes = R"(
def broadcast_shapes(a: List[int], b: List[int]) -> List[int]:
  return torch.zeros(a).add(torch.zeros(b)).size()
)";

}  // namespace

ScriptForms check_and_attribute_scripts() {
  return {
      {"aten::_assert_scalar(Scalar self, str assert_msg) -> ()", "2.3", kAssertScalar},
      {"aten::_assert_async.msg(Tensor self, str assert_msg) -> ()", "2.1", kAssertAsync},
      {"aten::_assert_tensor_metadata.with_device(Tensor a, int[]? size=None, int[]? stride=None, ScalarType? "
       "dtype=None, *, Device? device=None, Layout? layout=None) -> ()",
       "2.7", kAssertMetadata},
      {"aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()", "2.1", kConstrain},
      {"aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()", "2.1", kConstrainSize},
      {"prim::nbytes(Tensor a) -> int", "2.1", kBytes},
      {"prim::itemsize(Tensor a) -> int", "2.1", kElementBytes},
      {"prim::is_xla(Tensor a) -> bool", "2.0", kIsXla},
      {"aten::sym_is_contiguous(Tensor self, MemoryFormat memory_format=0) -> bool", "", kIsContiguous},
      {"aten::get_autocast_dtype(str device_type) -> ScalarType", "2.4", kAutocastDtype},
      {"aten::device.with_index(str type, int index) -> Device", "2.0", kDevice},
      {"aten::_make_dep_token(*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
       "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
       "2.1", kToken},
      {"aten::_functional_assert_async.msg(Tensor self, str assert_msg, Tensor dep_token) -> Tensor", "2.1",
       kFunctionalAssertAsync},
      {"aten::_functional_assert_scalar(Scalar self, str assert_msg, Tensor dep_token) -> Tensor", "2.3",
       kFunctionalAssertScalar},
      {"prim::is_maia(Tensor a) -> bool", "2.5", kIsMaia},
      {"aten::broadcast_shapes(int[] a, int[] b) -> int[]", "2.14", kBroadcastShapes},
  };
}

}  // namespace nnapi_convert
