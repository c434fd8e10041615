// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/choose_layout.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "lib/format/operation_table.h"
#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/axis_arguments.h"
#include "lib/nnapi/passes/move_chain.h"
#include "lib/nnapi/passes/moved_operand.h"
#include "lib/nnapi/passes/moves.h"
#include "lib/nnapi/permutation.h"
#include "lib/nnapi/signature.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr OperandId kNone = -1;

class LayoutChooser {
 public:
  explicit LayoutChooser(Model& model) : model_(model), builder_(model), copies_(model.operands.size()) {}

  void run() {
    place_operations();
    for (Boundary& output : model_.outputs) place_output(output);
  }

 private:
  // The new operands that hold a value of the original model, in NCHW, in NHWC or both.
  struct Copies {
    OperandId nchw = kNone;
    OperandId nhwc = kNone;
  };

  // The moves from an NHWC operand to an operand of the original model.
  struct NhwcChain {
    OperandId source;
    MoveChain moves;
  };

  void place_operations() {
    for (size_t i = 0; i < copies_.size(); ++i) copies_[i].nchw = static_cast<OperandId>(i);
    for (const Boundary& input : model_.inputs) {
      if (input.nhwc) becomes_nhwc(input.operand);
    }
    operations_ = std::move(model_.operations);
    model_.operations.clear();
    for (const Operation& operation : operations_) place(operation);
  }

  Copies& copies(OperandId id) { return copies_[static_cast<size_t>(id)]; }
  bool is_nhwc(OperandId id) { return copies(id).nhwc != kNone && !model_.at(id).is_constant(); }
  size_t rank(OperandId id) { return model_.at(id).dims.size(); }

  void becomes_nhwc(OperandId id) {
    model_.at(id).dims = permute(model_.at(id).dims, kToNhwc);
    model_.at(id).is_nhwc = true;
    copies(id) = {kNone, id};
  }

  // Gives `copy` the name of `original`, whose value it holds, and notes its order.
  OperandId named_as(OperandId original, OperandId copy, bool is_nhwc) {
    model_.at(copy).name = model_.at(original).name;
    model_.at(copy).is_nhwc = is_nhwc;
    return copy;
  }

  OperandId in_nchw(OperandId id) {
    const OperandId nhwc = copies(id).nhwc;
    if (copies(id).nchw == kNone) copies(id).nchw = named_as(nhwc, moved(builder_, nhwc, kToNchw), false);
    return copies(id).nchw;
  }

  OperandId in_nhwc(OperandId id) {
    const OperandId nchw = copies(id).nchw;
    if (copies(id).nhwc == kNone) copies(id).nhwc = named_as(nchw, moved(builder_, nchw, kToNhwc), true);
    return copies(id).nhwc;
  }

  void place(const Operation& operation) {
    builder_.set_source(operation.source);
    if (has_trait(operation.code, OperationTrait::kControlFlow)) {
      return place_control_flow(operation);
    }
    // Layouts change no rank and no type, so the rewritten operands match the same signature.
    const SignatureMatch match = match_signature(model_, operation);
    if (match.signature == nullptr) return place_in_nchw(operation);  // validate will report it
    const AxisArguments arguments(*match.signature, operation);
    if (arguments.layout_flag() >= 0) return place_with_layout_flag(operation, arguments);
    if (has_trait(operation.code, OperationTrait::kElementwise)) return place_elementwise(operation);
    if (is_along_axes(operation.code)) return place_along_axes(operation, arguments);
    const bool is_transpose =
        operation.code == OperationCode::TRANSPOSE && model_.at(operation.inputs[1]).ints() != nullptr;
    if (is_transpose || operation.code == OperationCode::RESHAPE) return place_move(operation, is_transpose);
    place_in_nchw(operation);
  }

  // Places a move. If it is no more than a RESHAPE from NHWC to NHWC, as between planes and columns of volumes, readers
  // may take the result in NHWC. A later step drops operations that nothing reads.
  void place_move(const Operation& operation, bool is_transpose) {
    const OperandId input = operation.inputs[0];
    const OperandId output = operation.outputs[0];
    std::optional<NhwcChain> chain = chain_to(input);
    if (chain) {
      if (is_transpose) {
        chain->moves.transpose(fixed_values(*model_.at(operation.inputs[1]).ints()));
      } else if (!chain->moves.reshape(model_.at(output).dims)) {
        chain.reset();
      }
    }
    if (is_transpose && is_nhwc(input)) {
      place_transpose(operation);
    } else if (!is_transpose && is_nhwc(input)) {
      place_reshape(operation);
    } else {
      place_in_nchw(operation);
    }
    if (!chain) return;
    if (rank(output) == 4 && copies(output).nhwc == kNone) give_nhwc(output, *chain);
    chains_.emplace(output, std::move(*chain));
  }

  std::optional<NhwcChain> chain_to(OperandId id) {
    const auto found = chains_.find(id);
    if (found != chains_.end()) return found->second;
    if (rank(id) != 4 || !is_nhwc(id) || model_.at(id).type == OperandCode::TENSOR_BOOL8) return std::nullopt;
    NhwcChain chain{copies(id).nhwc, MoveChain(model_.at(copies(id).nhwc).dims)};
    chain.moves.transpose(kToNchw);
    return chain;
  }

  void give_nhwc(OperandId id, NhwcChain chain) {
    const auto as_it_was = chain.moves.shortest();
    if (as_it_was && as_it_was->empty()) return;  // the operand is the chain's source itself
    chain.moves.transpose(kToNhwc);
    const auto moves = chain.moves.shortest();
    if (!moves || moves->size() != 1 || !moves->front().order.empty()) return;
    Operand result = model_.at(id);
    result.dims = moves->front().dims;
    copies(id).nhwc =
        builder_.add(OperationCode::RESHAPE, {chain.source, builder_.int32_tensor(moves->front().dims)}, result);
  }

  void place_in_nchw(Operation operation) {
    for (OperandId& id : operation.inputs) id = in_nchw(id);
    model_.operations.push_back(std::move(operation));
  }

  void append_in_nhwc(Operation operation) {
    for (const OperandId id : operation.outputs) {
      if (rank(id) == 4) becomes_nhwc(id);
    }
    model_.operations.push_back(std::move(operation));
  }

  // Places an operation with a layout flag. If its flag says NHWC, its operands have that order already
  // (passes/group_products.h).
  void place_with_layout_flag(Operation operation, const AxisArguments& arguments) {
    const auto flag = static_cast<size_t>(arguments.layout_flag());
    const bool* is_nchw = std::get_if<bool>(&model_.at(operation.inputs[flag]).value);
    if (is_nchw != nullptr && !*is_nchw) return place_in_nchw(std::move(operation));
    operation.inputs[0] = in_nhwc(operation.inputs[0]);
    for (size_t i = 1; i < operation.inputs.size(); ++i) {  // weights have an order of their own
      if (!model_.at(operation.inputs[i]).is_constant()) operation.inputs[i] = in_nchw(operation.inputs[i]);
    }
    arguments.rewrite_for_nhwc(builder_, operation);
    if (arguments.layout_flag_is_optional() && flag + 1 == operation.inputs.size()) {
      operation.inputs.pop_back();  // NHWC is the default, and below feature level 3 the only layout
    } else {
      operation.inputs[flag] = builder_.boolean(false);
    }
    append_in_nhwc(std::move(operation));
  }

  // Returns an operand of lower rank with leading axes of size 1.
  OperandId with_rank_4(OperandId id) {
    const Operand operand = model_.at(id);
    if (operand.constant() == nullptr) return variable_with_rank_4(id);
    std::vector<int64_t> shape = operand.constant()->shape();
    shape.insert(shape.begin(), 4 - shape.size(), 1);
    return builder_.tensor(operand.constant()->then(Reshape{shape}).then(Permute{kToNhwc}), operand.scale,
                           operand.zero_point);
  }

  OperandId variable_with_rank_4(OperandId id) {
    Operand result = model_.at(id);
    result.dims.insert(result.dims.begin(), 4 - result.dims.size(), Dim(1));
    const bool is_reshape = keeps_sequence(result.dims, kToNhwc);
    if (is_reshape) result.dims = permute(result.dims, kToNhwc);
    const OperandId full = builder_.add(OperationCode::RESHAPE, {id, builder_.int32_tensor(result.dims)}, result);
    return is_reshape ? full : moved(builder_, full, kToNhwc);
  }

  // Returns true if an operand of lower rank can take the order of the other operands.
  bool can_broadcast(OperandId id) {
    const Operand& operand = model_.at(id);
    const bool is_movable = operand.type == OperandCode::TENSOR_FLOAT32 || is_quant8(operand.type);
    return operand.constant() != nullptr || is_single_value(model_, id) || (is_movable && rank(id) < 4);
  }

  void place_elementwise(Operation operation) {
    bool any_nhwc = false;
    bool all_can = true;
    for (const OperandId id : operation.inputs) {
      any_nhwc = any_nhwc || is_nhwc(id);
      all_can = all_can && (rank(id) == 4 || can_broadcast(id));
    }
    if (!any_nhwc || !all_can) return place_in_nchw(std::move(operation));
    for (OperandId& id : operation.inputs) {
      if (rank(id) == 4) {
        id = in_nhwc(id);
      } else if (!is_single_value(model_, id)) {
        id = with_rank_4(id);
      }
    }
    append_in_nhwc(std::move(operation));
  }

  // Returns true if the axes that the operation keeps have the same order in NHWC and NCHW.
  bool keeps_order_of_rest(const std::vector<int64_t>& removed) {
    std::vector<int64_t> rest;
    for (const int64_t axis : kToNhwc) {
      if (std::find(removed.begin(), removed.end(), axis) == removed.end()) rest.push_back(axis);
    }
    return std::is_sorted(rest.begin(), rest.end());
  }

  void place_along_axes(Operation operation, const AxisArguments& arguments) {
    bool any_nhwc = false;
    for (const OperandId id : operation.inputs) any_nhwc = any_nhwc || is_nhwc(id);
    if (!any_nhwc || !arguments.has_axes() || !arguments.are_constant(model_, operation)) {
      return place_in_nchw(std::move(operation));
    }
    if (rank(operation.inputs[0]) != 4 || rank(operation.outputs[0]) > 4) return place_in_nchw(std::move(operation));
    const bool removes_axes = rank(operation.outputs[0]) < 4;
    if (removes_axes && !keeps_order_of_rest(arguments.named_axes(model_, operation))) {
      return place_in_nchw(std::move(operation));
    }
    arguments.rewrite_for_nhwc(builder_, operation);
    for (OperandId& id : operation.inputs) {
      if (static_cast<size_t>(id) < copies_.size() && rank(id) == 4 && model_.at(id).ints() == nullptr)
        id = in_nhwc(id);
    }
    append_in_nhwc(std::move(operation));
  }

  // Places a TRANSPOSE. Its permutation and the permutation of its input to NHWC may cancel each other.
  void place_transpose(const Operation& operation) {
    const OperandId input = copies(operation.inputs[0]).nhwc;
    const std::vector<int64_t> position = inverse(kToNhwc);
    std::vector<int64_t> order;
    for (const int64_t axis : fixed_values(*model_.at(operation.inputs[1]).ints())) {
      order.push_back(position[static_cast<size_t>(axis)]);
    }
    const bool is_same = std::is_sorted(order.begin(), order.end());
    copies(operation.outputs[0]) = {
        is_same ? input : named_as(operation.outputs[0], moved(builder_, input, order), false), kNone};
  }

  void place_reshape(Operation operation) {
    const OperandId input = copies(operation.inputs[0]).nhwc;
    if (!keeps_sequence(model_.at(input).dims, kToNchw)) {
      if (!readers_take_flat_nhwc(operation)) return place_in_nchw(std::move(operation));
      permute_weights_of_readers(operation);
      model_.at(operation.outputs[0]).name.clear();  // the same elements in another order
    }
    operation.inputs[0] = input;
    model_.operations.push_back(std::move(operation));
  }

  // Returns true if the operation flattens [N, C, H, W] to [N, C*H*W] and only FULLY_CONNECTED operations with constant
  // weights read the result: reordering the weights' columns to NHWC once saves a TRANSPOSE in every run.
  bool readers_take_flat_nhwc(const Operation& reshape) {
    const Dims& from = model_.at(copies(reshape.inputs[0]).nhwc).dims;
    const Dims& to = model_.at(reshape.outputs[0]).dims;
    const bool flattens =
        to.size() == 2 && to[0] == from[0] && to[1].is_fixed() && all_fixed({from[1], from[2], from[3]});
    if (!flattens || is_model_output(reshape.outputs[0])) return false;
    return std::all_of(operations_.begin(), operations_.end(), [&](const Operation& reader) {
      const bool reads = std::count(reader.inputs.begin(), reader.inputs.end(), reshape.outputs[0]) != 0;
      return !reads || (reader.code == OperationCode::FULLY_CONNECTED && reader.inputs[0] == reshape.outputs[0] &&
                        model_.at(reader.inputs[1]).constant() != nullptr);
    });
  }

  void permute_weights_of_readers(const Operation& reshape) {
    const std::vector<int64_t> nhwc = fixed_values(Dims(model_.at(copies(reshape.inputs[0]).nhwc).dims.begin() + 1,
                                                        model_.at(copies(reshape.inputs[0]).nhwc).dims.end()));
    for (Operation& reader : operations_) {
      if (reader.inputs[0] != reshape.outputs[0]) continue;
      const Operand weights = model_.at(reader.inputs[1]);
      const std::vector<int64_t> shape = weights.constant()->shape();
      const Constant permuted = weights.constant()
                                    ->then(Reshape{{shape[0], nhwc[2], nhwc[0], nhwc[1]}})
                                    .then(Permute{kToNhwc})
                                    .then(Reshape{shape});
      reader.inputs[1] = builder_.tensor(permuted, weights.scale, weights.zero_point);
      copies_.resize(model_.operands.size());
      copies(reader.inputs[1]).nchw = reader.inputs[1];
    }
  }

  bool is_model_output(OperandId id) {
    return std::any_of(model_.outputs.begin(), model_.outputs.end(),
                       [id](const Boundary& output) { return output.operand == id; });
  }

  bool is_model_input(OperandId id) {
    return std::any_of(model_.inputs.begin(), model_.inputs.end(),
                       [id](const Boundary& input) { return input.operand == id; });
  }

  void place_output(Boundary& output) {
    const Copies& places = copies(output.operand);
    output.nhwc = places.nchw == kNone;
    output.operand = output.nhwc ? places.nhwc : places.nchw;
    const bool is_repeated = std::any_of(model_.outputs.data(), &output,
                                         [&](const Boundary& earlier) { return earlier.operand == output.operand; });
    if (!is_model_input(output.operand) && !is_repeated) return;
    // Copies the output: if its permutation moved nothing, it may be an input or another output, which NNAPI refuses.
    const Operand copy = model_.at(output.operand);
    output.operand = builder_.add(OperationCode::RESHAPE, {output.operand, builder_.int32_tensor(copy.dims)}, copy);
  }

  // Places IF or WHILE. Subgraphs take their inputs in the order that the operation's inputs have. The state of a loop
  // keeps its order; a result of branches is NHWC if one branch would leave it in NHWC.
  void place_control_flow(Operation operation) {
    const bool is_loop = operation.code == OperationCode::WHILE;
    const size_t first = is_loop ? 0 : 1;
    std::vector<bool> nhwc;  // by input of the subgraphs
    for (size_t i = first + 2; i < operation.inputs.size(); ++i) {
      OperandId& id = operation.inputs[i];
      nhwc.push_back(rank(id) == 4 && is_nhwc(id));
      id = nhwc.back() ? in_nhwc(id) : in_nchw(id);
    }
    if (!is_loop) operation.inputs[0] = in_nchw(operation.inputs[0]);
    LayoutChooser one(subgraph_with(operation.inputs[first], nhwc));
    LayoutChooser other(subgraph_with(operation.inputs[first + 1], nhwc));
    one.place_operations();
    other.place_operations();
    std::vector<bool> outputs_nhwc = nhwc;  // a loop's body returns the loop's state
    if (!is_loop) {
      outputs_nhwc.clear();
      for (size_t i = 0; i < operation.outputs.size(); ++i) {
        outputs_nhwc.push_back(one.leaves_nhwc(i) || other.leaves_nhwc(i));
      }
    }
    for (size_t i = 0; i < operation.outputs.size(); ++i) {
      if (outputs_nhwc[i]) becomes_nhwc(operation.outputs[i]);
    }
    one.place_edges(is_loop ? std::vector<bool>{false} : outputs_nhwc);
    other.place_edges(outputs_nhwc);
    model_.operations.push_back(std::move(operation));
  }

  Model& subgraph_with(OperandId id, const std::vector<bool>& nhwc) {
    Model& subgraph = **model_.at(id).subgraph();
    for (size_t i = 0; i < nhwc.size(); ++i) subgraph.inputs[i].nhwc = nhwc[i];
    return subgraph;
  }

  bool leaves_nhwc(size_t output) { return copies(model_.outputs[output].operand).nchw == kNone; }

  // Fixes the order of a subgraph's inputs and outputs: no caller permutes them.
  void place_edges(const std::vector<bool>& nhwc) {
    for (size_t i = 0; i < model_.outputs.size(); ++i) {
      OperandId& id = model_.outputs[i].operand;
      id = nhwc[i] ? in_nhwc(id) : in_nchw(id);
    }
    for (Boundary& input : model_.inputs) input.nhwc = false;
  }

  Model& model_;
  Builder builder_;
  std::vector<Operation> operations_;  // of the original model
  std::vector<Copies> copies_;         // by operand of the original model
  std::unordered_map<OperandId, NhwcChain> chains_;
};

}  // namespace

void choose_layout(Model& model, bool nhwc) {
  const bool any_nhwc =
      std::any_of(model.inputs.begin(), model.inputs.end(), [](const Boundary& input) { return input.nhwc; });
  if (any_nhwc || nhwc) LayoutChooser(model).run();
}

}  // namespace nnapi_convert::nnapi
