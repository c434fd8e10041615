#include "lib/nnapi/passes/evaluate_constants.h"

namespace nnapi_convert::nnapi {

void evaluate_constants(Model& model) {
  for (Operand& operand : model.operands) {
    if (auto* constant = std::get_if<Constant>(&operand.value)) *constant = constant->evaluated();
  }
}

}  // namespace nnapi_convert::nnapi
