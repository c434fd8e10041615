// SPDX-License-Identifier: BSD-3-Clause
// rank_sweep [--only NAME] [--part I/N]: each operator with a rule or a formula on tensors of rank 0 to 6 and of
// unusual sizes and dtypes, with arguments that often make no sense. Each is converted or refused: no assertion, no
// signal, no endless loop. One process for each operator. --part takes one of N shares of the variants, another one for
// the next operator: each operator is swept in every part, and each variant is in every part for some operator. Exit
// codes: 0 all end well, 1 some don't, 2 usage.
#include <fmt/format.h>
#include <sys/wait.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/converter/convert.h"
#include "lib/converter/graph/quantised_engine.h"
#include "lib/ops/formulas.h"
#include "lib/ops/registry.h"
#include "tests/ops/torchvision_kernels.h"

namespace {

using namespace nnapi_convert;
using torch::jit::Graph;
using torch::jit::Value;

constexpr unsigned kSeconds = 20;  // for one model, which takes milliseconds
constexpr size_t kHighestRank = 6;

// PyTorch itself ends by a signal for some arguments of these, which the converter runs to find the types of results.
const std::set<std::string> kEndPytorch = {"aten::gru_cell", "aten::lstm_cell", "aten::native_batch_norm",
                                           "aten::native_channel_shuffle", "aten::topk"};

char current[512];  // what a signal's message names

extern "C" void report_signal(int signal) {
  const char* what = signal == SIGALRM ? "doesn't end: " : "ends by a signal: ";
  (void)!write(STDOUT_FILENO, what, std::strlen(what));
  (void)!write(STDOUT_FILENO, current, std::strlen(current));
  (void)!write(STDOUT_FILENO, "\n", 1);
  _exit(1);
}

// One set of arguments.
struct Variant {
  size_t rank;
  int64_t size;          // of each axis, or
  bool rises = false;    // 1, 2, 3...
  at::ScalarType dtype;  // of tensors
  int64_t number;        // for whole numbers without a default
  bool keeps_defaults;   // else numbers and tensors stand for those, too
  bool is_tensor_known;  // the tensors after the first one are constants

  std::vector<int64_t> sizes() const {
    std::vector<int64_t> result;
    for (size_t i = 0; i < rank; ++i) result.push_back(rises ? static_cast<int64_t>(i) + 1 : size);
    return result;
  }
  std::string text() const {
    return fmt::format("rank {}, size {}, {}, number {}, {}, {}", rank, rises ? 0 : size, dtype_name(dtype), number,
                       keeps_defaults ? "defaults" : "no defaults", is_tensor_known ? "constants" : "inputs");
  }
};

// Which of `count` shares of the variants is swept.
struct Part {
  size_t index = 0, count = 1;
};

std::vector<Variant> variants() {
  std::vector<Variant> result;
  for (size_t rank = 0; rank <= kHighestRank; ++rank) {
    for (const bool keeps : {true, false}) {
      for (const bool known : {true, false}) {
        result.push_back({rank, 3, false, at::kFloat, known ? 1 : -1, keeps, known});
      }
    }
    result.push_back({rank, 1, false, at::kFloat, 2, true, true});
    result.push_back({rank, 2, true, at::kFloat, 0, false, true});
    result.push_back({rank, 2, true, at::kFloat, 1, true, false});
    for (const at::ScalarType dtype : {at::kLong, at::kBool, at::kQUInt8})
      result.push_back({rank, 3, false, dtype, 1, true, false});
  }
  return result;
}

// The variants of the part for the operator of this number. Neighbouring ranks take other ones, too.
std::vector<Variant> variants_of(const Part& part, size_t operator_number) {
  std::vector<Variant> result;
  const std::vector<Variant> all = variants();
  for (size_t i = 0; i < all.size(); ++i) {
    if ((i + all[i].rank + operator_number) % part.count == part.index) result.push_back(all[i]);
  }
  return result;
}

// A graph of one node. Gives false where an argument is of a type that the sweep doesn't make.
class SweepGraph {
 public:
  SweepGraph(const c10::FunctionSchema& schema, const Variant& variant) : variant_(variant) {
    graph_->addInput("self");
    is_complete_ = add_node(schema);
  }

  bool is_complete() const { return is_complete_; }
  std::vector<InputSpec> specs() const { return specs_; }

  LoadedModel model() const {
    torch::jit::Module module("Sweep");
    module.register_attribute("training", c10::BoolType::get(), false);
    graph_->inputs()[0]->setType(module.type());
    const auto unit = module._ivalue()->compilation_unit();
    auto* function = unit->create_function(c10::QualifiedName(*module.type()->name(), "forward"), graph_);
    std::vector<c10::Argument> arguments{c10::Argument("self", module.type())};
    for (size_t i = 1; i < graph_->inputs().size(); ++i) {
      arguments.emplace_back("x" + std::to_string(i), c10::TensorType::get());
    }
    function->setSchema(
        c10::FunctionSchema("forward", "", std::move(arguments), {c10::Argument("", graph_->outputs()[0]->type())}));
    module.type()->addMethod(function);
    return {"sweep.pt", module, {}};
  }

 private:
  Value* constant(const c10::IValue& value) { return graph_->insertConstant(value); }

  // Rank 0 is an element of a vector, as forward takes no such tensor.
  Value* input() {
    Value* value = graph_->addInput("x" + std::to_string(graph_->inputs().size()));
    value->setType(c10::TensorType::get());
    InputSpec spec;
    for (const int64_t size : variant_.rank == 0 ? std::vector<int64_t>{2} : variant_.sizes())
      spec.sizes.emplace_back(size);
    spec.dtype = variant_.dtype;
    if (c10::isQIntType(variant_.dtype)) spec.quantization = Quantization{0.1, 128};
    specs_.push_back(spec);
    return variant_.rank == 0 ? graph_->insert(c10::aten::select, {value, 0, 0}) : value;
  }

  Value* tensor() {
    if (!variant_.is_tensor_known || specs_.empty()) return input();
    const bool is_whole = variant_.dtype == at::kLong;
    return constant(at::ones(variant_.sizes(), at::TensorOptions(is_whole ? at::kLong : at::kFloat)));
  }

  Value* list(const c10::TypePtr& element, const std::vector<Value*>& values) {
    return graph_->insertNode(graph_->createList(element, values))->output();
  }

  Value* argument(const c10::Argument& argument) {
    if (argument.default_value() && variant_.keeps_defaults) return constant(*argument.default_value());
    // PyTorch itself ends by a signal for a dtype that there isn't.
    if (argument.name() == "dtype")
      return constant(static_cast<int64_t>(variant_.rank % 2 == 0 ? at::kFloat : at::kLong));
    return of_type(argument.type(), argument.N().value_or(2));
  }

  Value* of_type(const c10::TypePtr& type, int64_t count) {
    switch (type->kind()) {
      case c10::TypeKind::TensorType:
        return tensor();
      case c10::TypeKind::IntType:
      case c10::TypeKind::SymIntType:
        return constant(variant_.number);
      case c10::TypeKind::BoolType:
        return constant(variant_.number > 0);
      case c10::TypeKind::FloatType:
      case c10::TypeKind::NumberType:
        return constant(0.5 + static_cast<double>(variant_.number));
      case c10::TypeKind::OptionalType:
        return variant_.keeps_defaults ? constant(c10::IValue()) : of_type(type->containedTypes()[0], count);
      case c10::TypeKind::ListType: {
        const c10::TypePtr element = type->containedTypes()[0];
        std::vector<Value*> values;
        for (int64_t i = 0; i < count; ++i) {
          Value* value = of_type(element, 1);
          if (value == nullptr) return nullptr;
          values.push_back(value);
        }
        return list(element, values);
      }
      default:
        return nullptr;
    }
  }

  bool add_node(const c10::FunctionSchema& schema) {
    std::vector<Value*> inputs;
    for (const c10::Argument& each : schema.arguments()) {
      Value* value = argument(each);
      if (value == nullptr) return false;
      inputs.push_back(value);
    }
    if (specs_.empty()) return false;
    torch::jit::Node* node =
        graph_->insertNode(graph_->create(c10::Symbol::fromQualString(schema.name()), inputs, schema.returns().size()));
    std::vector<Value*> outputs;
    for (size_t i = 0; i < schema.returns().size(); ++i) {
      node->output(i)->setType(schema.returns()[i].type());
      outputs.push_back(node->output(i));
    }
    if (node->maybeSchema() == nullptr) return false;
    graph_->registerOutput(outputs.size() == 1 ? outputs[0]
                                               : graph_->insertNode(graph_->createTuple(outputs))->output());
    return true;
  }

  Variant variant_;
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::vector<InputSpec> specs_;
  bool is_complete_ = false;
};

// True if the model is converted or refused.
bool ends_well(const SweepGraph& graph, int feature_level, Fallback fallback) {
  ConvertOptions options;
  options.inputs = graph.specs();
  options.feature_level = feature_level;
  options.fallback = fallback;
  options.segments.min_macs = 0;
  Diagnostics diagnostics;
  try {
    convert(graph.model(), options, diagnostics);
  } catch (const ConvertError&) {
    return true;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    std::cout << "ends by an error: " << current << ": " << text.substr(0, text.find('\n')) << std::endl;
    return false;
  }
  return true;
}

int sweep(const c10::FunctionSchema& schema, const std::vector<Variant>& chosen) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM}) std::signal(signal, report_signal);
  bool is_good = true;
  for (const Variant& variant : chosen) {
    const std::string text = fmt::format("{}: {}", c10::toString(schema.operator_name()), variant.text());
    std::strncpy(current, text.c_str(), sizeof current - 1);
    alarm(kSeconds);
    const SweepGraph graph(schema, variant);
    if (!graph.is_complete()) continue;
    const int feature_level = variant.keeps_defaults ? 3 : 8;
    is_good = ends_well(graph, feature_level, variant.size == 3 ? Fallback::kPartition : Fallback::kNone) && is_good;
  }
  alarm(0);
  return is_good ? 0 : 1;
}

bool ends_well_alone(const c10::FunctionSchema& schema, const std::vector<Variant>& chosen) {
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    const int code = sweep(schema, chosen);
    std::cout.flush();
    _exit(code);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// With their overloads.
std::set<std::string> swept_operators() {
  const std::vector<std::string> formulas = operators_with_formulas();
  std::set<std::string> names(formulas.begin(), formulas.end());
  for (const OpRule& rule : all_rules()) {
    const std::string text(rule.schema);
    names.insert(text.substr(0, text.find('(')));
  }
  return names;
}

struct Arguments {
  std::string only;
  Part part;
};

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; i += 2) {
    const std::string word = argv[i];
    if (i + 1 == argc) return std::nullopt;
    char more = 0;
    Part& part = arguments.part;
    if (word == "--only") {
      arguments.only = argv[i + 1];
    } else if (word != "--part" || std::sscanf(argv[i + 1], "%zu/%zu%c", &part.index, &part.count, &more) != 2 ||
               part.index >= part.count) {
      return std::nullopt;
    }
  }
  return arguments;
}

int run(const Arguments& arguments) {
  size_t failed = 0, count = 0, number = 0;
  for (const std::string& name : swept_operators()) {
    const std::vector<Variant> chosen = variants_of(arguments.part, number++);
    if (name.find(arguments.only) == std::string::npos || kEndPytorch.count(name) != 0) continue;
    const size_t dot = name.find('.');
    const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
    const auto found = torch::jit::findOperatorFor({name.substr(0, dot), overload});
    if (found == nullptr) continue;  // of a later PyTorch
    ++count;
    if (!ends_well_alone(found->schema(), chosen)) ++failed;
  }
  std::cout << fmt::format("{} operators, {} failed\n", count, failed);
  return failed == 0 && count > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Arguments> arguments = parse(argc, argv);
  if (!arguments) {
    std::cerr << "usage: rank_sweep [--only NAME] [--part I/N]\n";
    return 2;
  }
  choose_quantised_engine();
  register_torchvision_kernels();
  return run(*arguments);
}
