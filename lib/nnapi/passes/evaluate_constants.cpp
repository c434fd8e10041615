#include "lib/nnapi/passes/evaluate_constants.h"

#include <utility>

namespace nnapi_convert::nnapi {

void evaluate_constants(Model& model) {
  for (Operand& operand : model.operands) {
    if (auto* constant = std::get_if<Constant>(&operand.value)) *constant = std::move(*constant).evaluated();
  }
}

}  // namespace nnapi_convert::nnapi
