// What run_decompositions() leaves in an exported program: forms of operators of PyTorch 1.13.1 that models seldom call
// themselves, as the forms that they call.
#include "lib/converter/load/newer_operator_table.h"

namespace nnapi_convert {
namespace {

constexpr const char* kSoftmax = R"(
def _softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
  return torch.softmax(self, dim)
)";

constexpr const char* kLogSoftmax = R"(
def _log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
  return torch.log_softmax(self, dim)
)";

}  // namespace

NewerOperators core_operators() {
  return {
      {"aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", "", kSoftmax},
      {"aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", "", kLogSoftmax},
  };
}

}  // namespace nnapi_convert
