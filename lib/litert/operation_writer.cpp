// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/operation_writer.h"

#include <fmt/format.h>

#include <cstring>

#include "lib/base/error.h"

namespace nnapi_convert::litert {

OperationWriter::OperationWriter(Graph& in_graph, const nnapi::Operation& of, SubgraphWriter& in_subgraphs)
    : graph(in_graph),
      operation(of),
      subgraphs(in_subgraphs),
      signature_(nnapi::match_signature(in_graph.model(), of).signature) {}

const nnapi::Operand* OperationWriter::operand_of(const char* name) const {
  NNC_ASSERT(signature_ != nullptr, "the model was validated");
  for (size_t i = 0; i < operation.inputs.size(); ++i) {
    if (std::strcmp(nnapi::argument_of_input(*signature_, i, operation.inputs.size()).name, name) != 0) continue;
    const nnapi::Operand& operand = input_operand(i);
    return operand.is_omitted() ? nullptr : &operand;
  }
  return nullptr;
}

TensorId OperationWriter::tensor(const char* name) {
  const nnapi::Operand* operand = operand_of(name);
  if (operand == nullptr) return kLeftOut;
  return graph.of(static_cast<nnapi::OperandId>(operand - graph.model().operands.data()));
}

const nnapi::Operand& OperationWriter::known(const char* name) const {
  const nnapi::Operand* operand = operand_of(name);
  if (operand == nullptr || !operand->is_constant()) {
    refuse(fmt::format("{} is computed by the model", name), fmt::format("a constant {}", name));
  }
  return *operand;
}

std::vector<int32_t> OperationWriter::integers(const char* name) const {
  const nnapi::Operand& operand = known(name);
  std::vector<int32_t> result;
  if (const nnapi::Constant* constant = operand.constant()) {
    const std::vector<uint8_t> bytes = constant->bytes();
    result.resize(bytes.size() / sizeof(int32_t));
    if (!result.empty()) std::memcpy(result.data(), bytes.data(), result.size() * sizeof(int32_t));
    return result;
  }
  for (const Dim& value : *operand.ints()) {
    if (!value.is_fixed()) {
      refuse(fmt::format("{} depends on an open size ({})", name, value.text()),
             "a number that is known when the file is written", "fix the sizes by --input");
    }
    result.push_back(static_cast<int32_t>(value.value()));
  }
  return result;
}

int64_t OperationWriter::integer(const char* name) const {
  return integers(name).at(0);
}

int64_t OperationWriter::integer(const char* name, int64_t value_if_absent) const {
  return has(name) ? integer(name) : value_if_absent;
}

float OperationWriter::number(const char* name) const {
  return std::get<float>(known(name).value);
}

bool OperationWriter::flag(const char* name, bool value_if_absent) const {
  return has(name) ? std::get<bool>(known(name).value) : value_if_absent;
}

int32_t OperationWriter::axis(const char* name, size_t rank) const {
  const auto value = static_cast<int32_t>(integer(name));
  return value < 0 ? value + static_cast<int32_t>(rank) : value;
}

void OperationWriter::refuse_nchw() const {
  if (flag("layout")) refuse("the layout NCHW", "NHWC, the only one that LiteRT has", "add --nhwc");
}

Table OperationWriter::activation_options(int id, int64_t activation) {
  Table options;
  options.set(id, static_cast<int8_t>(activation));
  return options;
}

}  // namespace nnapi_convert::litert
