// SPDX-License-Identifier: BSD-3-Clause
// Changes to the fuzzer's programs that keep most of them meaningful, which single bytes seldom do.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <random>

#include "lib/format/operation_table.h"
#include "tests/host_runtime/fuzz_program.h"

namespace fuzz {
namespace {

using nnapi_convert::all_operations;
using nnapi_convert::ArgumentInfo;
using nnapi_convert::OperandCode;
using nnapi_convert::OperationInfo;
using nnapi_convert::SignatureInfo;
using nnapi_convert::TypeCombination;

constexpr int32_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::array<int32_t, 18> kIntegers = {0,   1,   2,     3,       4,     5,  7,  8,    100,
                                               255, 256, 65536, 1 << 30, kMost, -1, -2, -128, kLeast};
constexpr std::array<float, 14> kReals = {0,      -0.0f, 1,     -1,     0.5f, 2,         6,
                                          1e-30f, 1e-3f, 1e30f, -1e30f, 255,  kInfinity, kNan};

class Mutation {
 public:
  Mutation(Program& program, unsigned seed) : program_(program), random_(seed) {}

  void apply() {
    Graph& graph = program_.graphs[below(program_.graphs.size())];
    const unsigned choice = below(32);
    if (choice < 3) return frame();
    if (choice < 6) return add_by_table(graph);
    if (choice == 6) return replace_by_table(graph);
    if (choice < 10) return lists(graph);
    if (choice < 15 && !graph.operations.empty()) return operation(graph);
    if (!graph.operands.empty()) operand(graph.operands[below(graph.operands.size())]);
  }

 private:
  unsigned below(std::size_t count) { return static_cast<unsigned>(random_() % std::max<std::size_t>(1, count)); }
  bool one_in(unsigned count) { return below(count) == 0; }
  template <typename List>
  typename List::value_type any_of(const List& list) {
    return list[below(list.size())];
  }
  uint32_t any_type() { return below(17); }

  void frame() {
    if (one_in(6)) {
      program_.level = static_cast<uint8_t>(1 + below(8));
    } else if (one_in(3)) {
      program_.way = static_cast<Way>(below(static_cast<std::size_t>(Way::kCount)));
    } else {
      const std::array<bool*, 6> flags = {&program_.relaxed, &program_.padded, &program_.unaligned,
                                          &program_.half,    &program_.traced, &program_.misused};
      bool& flag = *any_of(flags);
      flag = !flag;
    }
  }

  uint32_t extent(uint32_t old) {
    if (one_in(3)) return old + 1;
    if (one_in(3)) return old - 1;
    return one_in(8) ? static_cast<uint32_t>(any_of(kIntegers)) : below(9);
  }

  void dims(std::vector<uint32_t>& list) {
    if (one_in(5) && list.size() < kMaxRank) {
      list.insert(list.begin() + below(list.size() + 1), 1 + below(3));
    } else if (one_in(5) && !list.empty()) {
      list.erase(list.begin() + below(list.size()));
    } else if (!list.empty()) {
      uint32_t& changed = list[below(list.size())];
      changed = extent(changed);
    }
  }

  template <typename Number>
  void put(Bytes& pattern, Number number) {
    if (pattern.size() < sizeof number) pattern.resize(sizeof number);
    const std::size_t at = below(pattern.size() / sizeof number) * sizeof number;
    std::memcpy(pattern.data() + at, &number, sizeof number);
  }

  void value(Operand& operand) {
    const auto type = static_cast<OperandCode>(operand.type);
    if (type == OperandCode::FLOAT32 || type == OperandCode::TENSOR_FLOAT32)
      return put(operand.pattern, any_of(kReals));
    if (element_size(operand.type) == 4) return put(operand.pattern, any_of(kIntegers));
    if (element_size(operand.type) == 2) return put(operand.pattern, static_cast<uint16_t>(random_()));
    put(operand.pattern, static_cast<uint8_t>(one_in(2) ? below(3) : below(256)));
  }

  void operand(Operand& changed) {
    switch (below(12)) {
      case 0:
        changed.type = any_type();
        break;
      case 1:
        changed.scale = one_in(2) ? any_of(kReals) : changed.scale * 2;
        break;
      case 2:
        changed.zero_point = one_in(2) ? any_of(kIntegers) : static_cast<int32_t>(below(256));
        break;
      case 3:
        changed.source = static_cast<Source>(below(static_cast<std::size_t>(Source::kCount)));
        break;
      case 4:
        channels(changed);
        break;
      case 5:
      case 6:
      case 7:
        dims(changed.dims);
        break;
      default:
        value(changed);
    }
  }

  void channels(Operand& changed) {
    if (!changed.dims.empty() && one_in(2)) changed.channel_dim = below(changed.dims.size());
    const std::size_t extent = changed.channel_dim < changed.dims.size() ? changed.dims[changed.channel_dim] : 1;
    changed.channel_scales.assign(std::min<std::size_t>(extent, 64), one_in(8) ? any_of(kReals) : 0.5f);
  }

  void indices(std::vector<uint32_t>& list, std::size_t count) {
    if (one_in(6) && list.size() < kMaxArguments) {
      list.push_back(below(count));
    } else if (one_in(6) && !list.empty()) {
      list.pop_back();
    } else if (!list.empty()) {
      list[below(list.size())] = one_in(20) ? static_cast<uint32_t>(any_of(kIntegers)) : below(count);
    }
  }

  void lists(Graph& graph) { indices(one_in(2) ? graph.inputs : graph.outputs, graph.operands.size()); }

  void operation(Graph& graph) {
    Operation& changed = graph.operations[below(graph.operations.size())];
    if (one_in(8)) {
      graph.operations.erase(graph.operations.begin() + below(graph.operations.size()));
    } else if (one_in(4)) {
      changed.code = static_cast<uint32_t>(all_operations()[below(all_operations().size())].code);
    } else {
      indices(one_in(5) ? changed.outputs : changed.inputs, graph.operands.size());
    }
  }

  Operand operand_for(const ArgumentInfo& argument, const TypeCombination& types) {
    Operand made;
    made.type =
        argument.type_variable == nnapi_convert::kAnyType ? any_type() : static_cast<uint32_t>(argument.type_in(types));
    const auto type = static_cast<OperandCode>(made.type);
    if (argument.max_rank > 0) {
      const unsigned most = std::min<unsigned>(argument.max_rank, 4);
      const unsigned rank = argument.min_rank + below(most >= argument.min_rank ? most - argument.min_rank + 1 : 1);
      for (unsigned i = 0; i < rank; ++i) made.dims.push_back(1 + below(4));
    }
    const bool quantized = type == OperandCode::TENSOR_QUANT8_ASYMM ||
                           type == OperandCode::TENSOR_QUANT8_ASYMM_SIGNED ||
                           type == OperandCode::TENSOR_QUANT16_SYMM || type == OperandCode::TENSOR_QUANT16_ASYMM ||
                           type == OperandCode::TENSOR_QUANT8_SYMM;
    if (quantized) made.scale = 0.5f;
    made.pattern.resize(16);
    for (uint8_t& byte : made.pattern) byte = one_in(3) ? 1 : 0;
    return made;
  }

  // The first input comes from the model where its types and ranks allow, others are constants or model inputs.
  void add_by_table(Graph& graph) {
    if (graph.operations.size() >= kMaxOperations || graph.operands.size() + kMaxArguments > kMaxOperands) return;
    const OperationInfo& info = all_operations()[below(all_operations().size())];
    if (info.signatures.empty()) return;
    const SignatureInfo& signature = info.signatures[below(info.signatures.size())];
    const TypeCombination& types = signature.combinations[below(signature.combinations.size())];
    Operation added;
    added.code = static_cast<uint32_t>(info.code);
    for (const ArgumentInfo& argument : signature.inputs) {
      if (argument.optional && one_in(2)) break;
      Operand made = operand_for(argument, types);
      const uint32_t reused = below(graph.operands.size());
      if (one_in(3) && !graph.operands.empty() && graph.operands[reused].type == made.type) {
        added.inputs.push_back(reused);
        continue;
      }
      const auto index = static_cast<uint32_t>(graph.operands.size());
      made.source = argument.omittable && one_in(2) ? Source::kOmitted : Source::kConstant;
      if (one_in(3) || added.inputs.empty()) {
        made.source = Source::kNone;
        graph.inputs.push_back(index);
      }
      graph.operands.push_back(made);
      added.inputs.push_back(index);
    }
    for (const ArgumentInfo& argument : signature.outputs) {
      Operand made = operand_for(argument, types);
      if (one_in(2)) made.dims.clear();
      const auto index = static_cast<uint32_t>(graph.operands.size());
      graph.operands.push_back(made);
      graph.outputs.push_back(index);
      added.outputs.push_back(index);
    }
    graph.operations.push_back(added);
  }

  void replace_by_table(Graph& graph) {
    graph = Graph();
    add_by_table(graph);
  }

  Program& program_;
  std::minstd_rand random_;
};

}  // namespace

void mutate(Program& program, unsigned seed) {
  Mutation(program, seed).apply();
}

}  // namespace fuzz
