// Operators on numbers.
#include <iterator>

#include "lib/program/operators.h"

namespace nnapi_shim::program {
namespace {

bool give_input(Call& call) {
  call.outputs[0] = call.input(0);
  return true;
}

constexpr OperatorRow kRows[] = {
    {"prim::unchecked_cast", 1, 1, give_input},
    {"prim::unchecked_unwrap_optional", 1, 1, give_input},
};

}  // namespace

const OperatorTable scalar_operators = {kRows, std::size(kRows)};

}  // namespace nnapi_shim::program
