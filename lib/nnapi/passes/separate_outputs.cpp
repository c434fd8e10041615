#include "lib/nnapi/passes/separate_outputs.h"

#include <set>

#include "lib/nnapi/builder.h"

namespace nnapi_convert::nnapi {

void separate_outputs(Model& model) {
  if (!model.is_subgraph) return;
  Builder builder(model);
  std::set<OperandId> taken;
  for (const Boundary& input : model.inputs) taken.insert(input.operand);
  for (Boundary& output : model.outputs) {
    const bool is_taken = !taken.insert(output.operand).second || model.at(output.operand).is_constant();
    if (!is_taken) continue;
    Operand copy = model.at(output.operand);
    copy.value = {};
    output.operand = builder.add(OperationCode::CAST, {output.operand}, copy);  // of the same type: no conversion
  }
}

}  // namespace nnapi_convert::nnapi
