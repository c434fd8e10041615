// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/speed_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lib/format/operation_table.h"
#include "lib/nnapi/cost.h"
#include "lib/nnapi/device_profile.h"
#include "lib/nnapi/signature.h"

namespace nnapi_convert::nnapi {
namespace {

bool is_float(OperandCode type) {
  return type == OperandCode::TENSOR_FLOAT32 || type == OperandCode::TENSOR_FLOAT16;
}

class SpeedRules {
 public:
  explicit SpeedRules(const Model& model) : model_(model), uses_(model) { trace(); }

  std::vector<SpeedFinding> run() {
    for (const Operation& operation : model_.operations) {
      check_padding(operation);
      check_rank(operation);
      check_move(operation);
      check_float_island(operation);
      check_weights(operation);
      check_depth_multiplier(operation);
      check_activation(operation);
      check_layout(operation);
    }
    return std::move(findings_);
  }

 private:
  // The kinds of operations before and after an operand.
  struct Around {
    bool after_convolution = false, before_convolution = false;
    bool after_dequantize = false, before_quantize = false;
  };

  void trace() {
    around_.resize(model_.operands.size());
    for (const Operation& operation : model_.operations) {
      Around sum;
      for (const OperandId input : operation.inputs) {
        sum.after_convolution |= around(input).after_convolution;
        sum.after_dequantize |= around(input).after_dequantize;
      }
      sum.after_convolution |= has_trait(operation.code, OperationTrait::kConvolution);
      sum.after_dequantize |= operation.code == OperationCode::DEQUANTIZE;
      sum.after_dequantize &= operation.code != OperationCode::QUANTIZE;
      for (const OperandId output : operation.outputs) {
        around(output).after_convolution = sum.after_convolution;
        around(output).after_dequantize = sum.after_dequantize;
      }
    }
    for (auto operation = model_.operations.rbegin(); operation != model_.operations.rend(); ++operation) {
      Around sum;
      for (const OperandId output : operation->outputs) {
        sum.before_convolution |= around(output).before_convolution;
        sum.before_quantize |= around(output).before_quantize;
      }
      sum.before_convolution |= has_trait(operation->code, OperationTrait::kConvolution);
      sum.before_quantize |= operation->code == OperationCode::QUANTIZE;
      sum.before_quantize &= operation->code != OperationCode::DEQUANTIZE;
      for (const OperandId input : operation->inputs) {
        around(input).before_convolution |= sum.before_convolution;
        around(input).before_quantize |= sum.before_quantize;
      }
    }
  }

  Around& around(OperandId id) { return around_[static_cast<size_t>(id)]; }
  const Operand& input(const Operation& operation, size_t index = 0) const {
    return model_.at(operation.inputs[index]);
  }
  const Operand& output(const Operation& operation) const { return model_.at(operation.outputs[0]); }

  // Returns the operand of a named argument; null if the argument was left off.
  const Operand* argument(const Operation& operation, const std::string& name) const {
    const SignatureInfo* signature = match_signature(model_, operation).signature;
    for (size_t i = 0; signature != nullptr && i < operation.inputs.size(); ++i) {
      if (name == argument_of_input(*signature, i, operation.inputs.size()).name) return &input(operation, i);
    }
    return nullptr;
  }

  std::string number(const Operation& operation, const std::string& name) const {
    const Operand* operand = argument(operation, name);
    return operand == nullptr || operand->ints() == nullptr ? "?" : operand->ints()->front().text();
  }

  // Returns the bytes that an operation reads and writes, without constants.
  int64_t traffic(const Operation& operation) const {
    Count bytes = byte_count(output(operation));
    for (const OperandId id : operation.inputs) {
      if (!model_.at(id).is_constant()) bytes += byte_count(model_.at(id));
    }
    return bytes.value_or(0);
  }

  void add(const char* rule, const Operation& operation, std::string found, std::string fix, int64_t bytes) {
    findings_.push_back({rule, operation.source, fmt::format("{} {}", name_of(operation.code), found), std::move(fix),
                         multiply_adds(model_, operation).value_or(0), bytes});
  }

  void check_padding(const Operation& operation) {
    if (padding_style(model_, operation) != PaddingStyle::kExplicit) return;
    add("padding-explicit", operation,
        fmt::format("with padding {}, {}, {}, {} (top, bottom, left, right) on {}", number(operation, "padding_top"),
                    number(operation, "padding_bottom"), number(operation, "padding_left"),
                    number(operation, "padding_right"), to_text(input(operation).dims)),
        "pad as SAME does, the odd row and column last, for example F.pad(x, (0, 1, 0, 1)) before a 3x3 convolution of "
        "stride 2 without padding, or give the input an odd size",
        0);
  }

  void check_rank(const Operation& operation) {
    const Operand& first = input(operation);
    const size_t rank = first.dims.size();
    const bool is_of_interest =
        is_tensor(first.type) && !first.is_constant() && !has_trait(operation.code, OperationTrait::kViews);
    if (!is_of_interest || (rank != 1 && rank != 3)) return;
    add("rank-not-4", operation, fmt::format("on {}, of rank {}", to_text(first.dims), rank),
        "keep tensors as [N, C, H, W], or [N, C] for vectors; axes of size 1 cost nothing", traffic(operation));
  }

  void check_move(const Operation& operation) {
    if (!has_trait(operation.code, OperationTrait::kViews)) return;
    if (!around(operation.inputs[0]).after_convolution || !around(operation.outputs[0]).before_convolution) return;
    add("move-between-convolutions", operation,
        fmt::format("of {} to {} between convolutions", to_text(input(operation).dims),
                    to_text(output(operation).dims)),
        "keep [N, C, H, W] from one convolution to the next: write views, permutations and channel shuffles as "
        "convolutions, or move them to the end",
        traffic(operation));
  }

  void check_float_island(const Operation& operation) {
    if (operation.code == OperationCode::DEQUANTIZE || operation.code == OperationCode::QUANTIZE) return;
    if (!is_float(output(operation).type)) return;
    if (!around(operation.outputs[0]).after_dequantize || !around(operation.outputs[0]).before_quantize) return;
    add("float-island", operation, "in float32, between a DEQUANTIZE and a QUANTIZE",
        "use a form that has a quantised kernel (torch.nn.quantized.FloatFunctional for ADD, MUL and cat), or keep the "
        "rest of the model float from here on",
        traffic(operation));
  }

  void check_weights(const Operation& operation) {
    if (!has_trait(operation.code, OperationTrait::kWeighted)) return;
    if (input(operation, 1).is_constant()) return;
    add("run-time-weights", operation, "with weights that are computed as the model runs",
        "make the weights a parameter of the module; drivers prepare constant weights once, and many take no others",
        byte_count(input(operation, 1)).value_or(0));
  }

  void check_depth_multiplier(const Operation& operation) {
    if (operation.code != OperationCode::DEPTHWISE_CONV_2D) return;
    const std::string multiplier = number(operation, "depth_multiplier");
    if (multiplier == "1") return;
    add("depth-multiplier", operation, fmt::format("with depth multiplier {}", multiplier),
        "give a depthwise convolution as many channels as it reads, and widen with a 1x1 convolution", 0);
  }

  void check_activation(const Operation& operation) {
    if (!has_trait(operation.code, OperationTrait::kActivation)) return;
    const int producer = uses_.producer[static_cast<size_t>(operation.inputs[0])];
    if (producer < 0 || !find_operation(model_.operations[static_cast<size_t>(producer)].code)->takes_activation())
      return;
    const bool is_relu = find_operation(operation.code)->fused_as != FuseCode::NONE;
    const char* before = name_of(model_.operations[static_cast<size_t>(producer)].code);
    add("activation-not-fused", operation, fmt::format("after {} is an operation of its own", before),
        is_relu ? "read the result of the operation before it only through the activation"
                : "use ReLU or ReLU6, which the operation before takes into itself",
        traffic(operation));
  }

  void check_layout(const Operation& operation) {
    if (!runs_in_nchw(model_, operation)) return;
    add("nchw", operation, "in NCHW", "convert with --nhwc; drivers run NCHW slower or not at all", traffic(operation));
  }

  const Model& model_;
  const Uses uses_;
  std::vector<Around> around_;
  std::vector<SpeedFinding> findings_;
};

}  // namespace

std::vector<SpeedFinding> speed_findings(const Model& model) {
  std::vector<SpeedFinding> findings;
  for (const Model* each : with_subgraphs(model)) {
    std::vector<SpeedFinding> more = SpeedRules(*each).run();
    findings.insert(findings.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  return findings;
}

}  // namespace nnapi_convert::nnapi
