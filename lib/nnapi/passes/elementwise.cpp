// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/elementwise.h"

namespace nnapi_convert::nnapi {

bool is_elementwise(OperationCode code) {
  switch (code) {
    case OperationCode::ADD:
    case OperationCode::SUB:
    case OperationCode::MUL:
    case OperationCode::DIV:
    case OperationCode::RELU:
    case OperationCode::RELU1:
    case OperationCode::RELU6:
    case OperationCode::LOGISTIC:
    case OperationCode::TANH:
    case OperationCode::FLOOR:
    case OperationCode::QUANTIZE:
    case OperationCode::DEQUANTIZE:
    case OperationCode::PRELU:
    case OperationCode::ABS:
    case OperationCode::CAST:
    case OperationCode::EXP:
    case OperationCode::LOG:
    case OperationCode::NEG:
    case OperationCode::SQRT:
    case OperationCode::RSQRT:
    case OperationCode::SIN:
    case OperationCode::POW:
    case OperationCode::MAXIMUM:
    case OperationCode::MINIMUM:
    case OperationCode::ELU:
    case OperationCode::HARD_SWISH:
    case OperationCode::EQUAL:
    case OperationCode::NOT_EQUAL:
    case OperationCode::LESS:
    case OperationCode::LESS_EQUAL:
    case OperationCode::GREATER:
    case OperationCode::GREATER_EQUAL:
    case OperationCode::LOGICAL_AND:
    case OperationCode::LOGICAL_OR:
    case OperationCode::LOGICAL_NOT:
    case OperationCode::SELECT:
      return true;
    default:
      return false;
  }
}

}  // namespace nnapi_convert::nnapi
