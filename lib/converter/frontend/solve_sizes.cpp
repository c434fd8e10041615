// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/solve_sizes.h"

#include <algorithm>
#include <map>
#include <set>

#include "lib/base/error.h"
#include "lib/converter/frontend/infer.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/open_sizes.h"
#include "lib/ops/size_demands.h"

namespace nnapi_convert {
namespace {

constexpr int kRanks[] = {2, 3, 4, 5, 1};  // the lowest with a batch that fits is taken
constexpr int64_t kLongestSide = 2048;     // longest side of the squares that are tried
constexpr int kMostRounds = 16;            // rounds of typing: each solves a size at least
constexpr int64_t kUsualSide = 224;        // side of pictures
constexpr int64_t kUsualVolume = 32;       // the side of a volume, or of several pictures
constexpr int64_t kColours = 3;
// Sides that people use, tried first among those that fit.
constexpr int64_t kUsualSides[] = {32,  28,  224, 64,  84,  96,  112, 128, 160, 192, 227, 240, 256, 299,
                                   300, 320, 331, 384, 416, 448, 480, 512, 600, 640, 768, 800, 1024};
// Heights and widths that are tried where no square fits, as for detectors with a fixed number of boxes.
constexpr std::pair<int64_t, int64_t> kUsualPictures[] = {{240, 320},  {480, 640},  {120, 160},  {360, 640}, {180, 320},
                                                          {270, 480},  {288, 352},  {300, 400},  {384, 512}, {600, 800},
                                                          {768, 1024}, {720, 1280}, {1080, 1920}};
// Lengths for an example, tried in turn: tokens and frames, then samples of sound.
constexpr int64_t kLengths[] = {100, 1000, 16000};

constexpr int64_t kOtherSide = 320;  // beside the usual one, to see what depends on it
constexpr size_t kMostExamples = 4;  // examples that are typed

using Values = std::map<OpenSize, int64_t>;
using Unknowns = std::vector<std::optional<Dims>>;  // one for each unknown input; nothing: of unknown rank

std::optional<OpenSize> symbol_of(const Dim& dim) {
  const std::optional<OpenSize> size = dim.input_size();
  return size && !is_runtime_size(*size) ? size : std::nullopt;
}

// The findings of one typing of the graph.
struct Findings {
  bool fits = true;
  std::vector<SizeDemand> equations;  // those with open sizes of inputs
  std::map<OpenSize, AxisUse> uses;
  std::vector<Dims> tensors;                 // of all typed tensors
  std::vector<std::optional<Dims>> results;  // nothing for one of unknown type
  std::set<int> read;                        // inputs whose open sizes an operator asks something of
  std::set<int> of_batches;                  // inputs that an operator takes batches of
  bool has_refusals = false;                 // an operator has no rule, or its rule takes no such sizes
};

class Solver {
 public:
  Solver(const NormalisedModel& model, const TypeMap& known, const std::vector<UnknownInput>& unknown,
         const InferOptions& options)
      : model_(model), known_(known), unknown_(unknown), options_(options) {
    options_.on_pass = {};
  }

  std::vector<std::optional<SolvedSizes>> run();

 private:
  Findings look(const Unknowns& dims) const;
  std::optional<Dims> with_rank(Unknowns dims, size_t number) const;
  bool solve_one(Unknowns& dims, const Findings& found) const;
  bool take_batches(Unknowns& dims, const Findings& found) const;
  void set(Unknowns& dims, const OpenSize& size, const Dim& value) const;
  std::vector<int64_t> fitting_sides(const Findings& found, const std::set<OpenSize>& open) const;
  bool holds(const Findings& found, const Values& values) const;
  std::optional<Unknowns> example_of(const Unknowns& dims, const Findings& found) const;
  Unknowns with_side(Unknowns dims, const std::set<OpenSize>& open, int64_t side) const;
  bool is_usual_picture(const Unknowns& dims, const Findings& found) const;
  std::optional<Unknowns> with_any_rows(Unknowns dims) const;

  const NormalisedModel& model_;
  const TypeMap& known_;
  const std::vector<UnknownInput>& unknown_;
  InferOptions options_;
};

void add_open(const Dim& dim, std::set<OpenSize>& sizes) {
  const std::set<OpenSize> found = open_sizes_in(dim);
  sizes.insert(found.begin(), found.end());
}

std::set<OpenSize> open_in(const Unknowns& dims) {
  std::set<OpenSize> result;
  for (const std::optional<Dims>& each : dims) {
    for (const Dim& dim : each.value_or(Dims{})) add_open(dim, result);
  }
  return result;
}

std::set<OpenSize> open_in(const std::vector<SizeDemand>& equations) {
  std::set<OpenSize> result;
  for (const SizeDemand& equation : equations) {
    add_open(equation.found, result);
    add_open(equation.needed, result);
  }
  return result;
}

void add_inputs(const Dim& dim, std::set<int>& inputs) {
  for (const OpenSize& size : open_sizes_in(dim)) inputs.insert(size.first);
}

Dim with_values(const Dim& dim, const OpenSize& size, const Dim& value) {
  return dim == to_dim(size) ? value : dim;
}

int64_t evaluated(const Dim& dim, const Values& values) {
  return dim.evaluate([&](int input, int axis) {
    const auto found = values.find({input, axis});
    return found == values.end() ? 1 : found->second;
  });
}

// Adds the sizes of the tensors that the node reads, also as elements of lists and tuples.
void add_results(const torch::jit::Node& node, const TypeMap& types, std::vector<std::optional<Dims>>& results) {
  for (const torch::jit::Value* value : node.inputs()) {
    const auto kind = value->node()->kind();
    if (kind == c10::prim::TupleConstruct || kind == c10::prim::ListConstruct || kind == c10::prim::DictConstruct) {
      add_results(*value->node(), types, results);
    } else if (value->type()->kind() == c10::TypeKind::TensorType) {
      const TensorType* type = tensor_type_of(value, types);
      results.push_back(type == nullptr ? std::nullopt : std::optional(type->dims));
    }
  }
}

// Types a copy of the graph, which the passes of inference rewrite, and collects what its operators ask.
Findings Solver::look(const Unknowns& dims) const {
  NormalisedModel copy;
  copy.run_by = model_.run_by;
  copy.frozen = model_.frozen;
  copy.graph = model_.graph->copy();
  TypeMap types;
  const auto copied = [&](const torch::jit::Value* input) {
    const auto inputs = model_.graph->inputs();
    const auto at = std::find(inputs.begin(), inputs.end(), input) - inputs.begin();
    return copy.graph->inputs()[static_cast<size_t>(at)];
  };
  for (torch::jit::Value* input : model_.inputs) {
    copy.inputs.push_back(copied(input));
    const auto found = known_.find(input);
    if (found != known_.end()) types[copy.inputs.back()] = found->second;
  }
  for (size_t i = 0; i < unknown_.size(); ++i) {
    if (dims[i]) types[copy.inputs[unknown_[i].index]] = TensorType{unknown_[i].dtype, *dims[i], {}};
  }
  Findings result;
  InferredTypes inferred;
  try {
    inferred = infer(copy, types, options_);
  } catch (const ConvertError&) {  // such as a shape that the model changes in place
    result.fits = false;
    return result;
  }
  for_each_node(*copy.graph, [&](const torch::jit::Node& node) {
    const SizeDemands demands = size_demands(node, inferred.types);
    result.fits = result.fits && demands.fits;
    for (const SizeDemand& demand : demands.equal) {
      add_inputs(demand.found, result.read);
      if (demand.found == demand.needed) continue;
      if (demand.found.is_fixed() && demand.needed.is_fixed()) result.fits = false;
      result.equations.push_back(demand);
    }
    for (const auto& [dim, use] : demands.uses) {
      const std::set<OpenSize> sizes = open_sizes_in(dim);
      if (sizes.size() != 1) continue;
      result.uses.emplace(*sizes.begin(), use);
      result.read.insert(sizes.begin()->first);
      if (use == AxisUse::kBatch) result.of_batches.insert(sizes.begin()->first);
    }
  });
  for (const auto& [value, type] : inferred.types) {
    if (const auto* tensor = std::get_if<TensorType>(&type)) result.tensors.push_back(tensor->dims);
  }
  result.has_refusals = !inferred.refusals.empty();
  add_results(*copy.graph->return_node(), inferred.types, result.results);
  return result;
}

// Returns open sizes of the rank that suits the operators best, and of these of the lowest: a rank that none refuses
// and of which one takes batches, else one of which one takes batches, else any that fits. `dims` are those of the
// other inputs, of which some may be unknown.
std::optional<Dims> Solver::with_rank(Unknowns dims, size_t number) const {
  const int input = static_cast<int>(unknown_[number].index);
  std::optional<Dims> of_batches, other;
  for (const int rank : kRanks) {
    dims[number].emplace();
    for (int axis = 0; axis < rank; ++axis) dims[number]->push_back(Dim::of_input(input, axis));
    const Findings found = look(dims);
    if (!found.fits || found.read.count(input) == 0) continue;
    const bool has_batches = found.of_batches.count(input) != 0;
    if (has_batches && !found.has_refusals) return dims[number];
    if (has_batches && !of_batches) of_batches = dims[number];
    if (!other) other = dims[number];
  }
  return of_batches ? of_batches : other;
}

void Solver::set(Unknowns& dims, const OpenSize& size, const Dim& value) const {
  for (std::optional<Dims>& each : dims) {
    if (!each) continue;
    for (Dim& dim : *each) dim = with_values(dim, size, value);
  }
}

// Sets sizes that stand alone on a side of an equation. False if there are none.
bool Solver::solve_one(Unknowns& dims, const Findings& found) const {
  const std::set<OpenSize> open = open_in(dims);
  bool is_changed = false;
  for (const SizeDemand& equation : found.equations) {
    for (const auto& [side, other] :
         {std::pair(equation.found, equation.needed), std::pair(equation.needed, equation.found)}) {
      const auto symbol = symbol_of(side);
      if (!symbol || open.count(*symbol) == 0 || !(other.is_fixed() || symbol_of(other)) || is_changed) continue;
      if (other.is_fixed() && other.value() < 1) continue;
      set(dims, *symbol, other);
      is_changed = true;
    }
    if (is_changed) return true;
  }
  return false;
}

// Sets batches to 1: axes that operators take as such, and axis 0 where nothing says what it is. False if there are
// none.
bool Solver::take_batches(Unknowns& dims, const Findings& found) const {
  bool is_changed = false;
  for (const OpenSize& size : open_in(dims)) {
    const auto use = found.uses.find(size);
    const bool is_batch = use == found.uses.end() ? size.second == 0 : use->second == AxisUse::kBatch;
    if (!is_batch) continue;
    set(dims, size, Dim(1));
    is_changed = true;
  }
  return is_changed;
}

bool Solver::holds(const Findings& found, const Values& values) const {
  const bool are_equal = std::all_of(found.equations.begin(), found.equations.end(), [&](const SizeDemand& equation) {
    return evaluated(equation.found, values) == evaluated(equation.needed, values);
  });
  return are_equal && std::all_of(found.tensors.begin(), found.tensors.end(), [&](const Dims& dims) {
           return std::all_of(dims.begin(), dims.end(), [&](const Dim& dim) { return evaluated(dim, values) > 0; });
         });
}

// Returns the sides of which each open size may be one, so that all equations hold.
std::vector<int64_t> Solver::fitting_sides(const Findings& found, const std::set<OpenSize>& open) const {
  std::vector<int64_t> result;
  for (int64_t side = 1; side <= kLongestSide; ++side) {
    Values values;
    for (const OpenSize& size : open) values[size] = side;
    if (holds(found, values)) result.push_back(side);
  }
  return result;
}

Unknowns Solver::with_side(Unknowns dims, const std::set<OpenSize>& open, int64_t side) const {
  for (const OpenSize& size : open) set(dims, size, Dim(side));
  return dims;
}

// True for one picture of three colours whose height and width change no size of the results.
bool Solver::is_usual_picture(const Unknowns& dims, const Findings& found) const {
  const std::set<OpenSize> open = open_in(dims);
  const auto is_side = [&](const OpenSize& size) {
    const auto use = found.uses.find(size);
    const auto input = std::find_if(unknown_.begin(), unknown_.end(), [&](const UnknownInput& each) {
      return each.index == static_cast<size_t>(size.first);
    });
    const Dims& sizes = *dims[static_cast<size_t>(input - unknown_.begin())];
    return use != found.uses.end() && use->second == AxisUse::kPicture &&
           std::count(sizes.begin(), sizes.end(), Dim(kColours)) > 0;
  };
  if (open.size() != 2 || !found.equations.empty() || !std::all_of(open.begin(), open.end(), is_side)) return false;
  const Findings usual = look(with_side(dims, open, kUsualSide)), other = look(with_side(dims, open, kOtherSide));
  return usual.fits && other.fits && usual.results == other.results && !usual.results.empty() &&
         std::all_of(usual.results.begin(), usual.results.end(), [](const auto& each) { return each.has_value(); });
}

// Returns the sizes with one number of rows, which is open, for all inputs; nothing unless all of these are rows of
// features, of which every operator takes any number.
std::optional<Unknowns> Solver::with_any_rows(Unknowns dims) const {
  constexpr size_t kRankOfRows = 2;
  if (!options_.takes_any_rows || unknown_.size() != model_.inputs.size()) return std::nullopt;
  const Dim rows = Dim::of_input(static_cast<int>(unknown_[0].index), 0);
  for (std::optional<Dims>& each : dims) {
    if (!each || each->size() != kRankOfRows || !((*each)[0] == Dim(1))) return std::nullopt;
    (*each)[0] = rows;
  }
  const Findings found = look(dims);
  if (!found.fits || !found.equations.empty() || found.has_refusals) return std::nullopt;
  const bool are_rows = std::all_of(found.results.begin(), found.results.end(), [&](const std::optional<Dims>& result) {
    return result && !result->empty() && result->front() == rows;
  });
  return are_rows ? std::optional(dims) : std::nullopt;
}

// Returns sizes that the model takes, of which those that are open in `dims` are examples.
std::optional<Unknowns> Solver::example_of(const Unknowns& dims, const Findings& found) const {
  const std::set<OpenSize> open = open_in(dims);
  std::vector<int64_t> candidates;
  if (found.equations.empty()) {
    const bool is_picture = std::all_of(open.begin(), open.end(), [&](const OpenSize& size) {
      const auto use = found.uses.find(size);
      return use != found.uses.end() && use->second == AxisUse::kPicture;
    });
    if (is_picture) candidates.push_back(open.size() <= 2 ? kUsualSide : kUsualVolume);
    candidates.insert(candidates.end(), std::begin(kLengths), std::end(kLengths));
  } else {
    candidates.assign(std::begin(kUsualSides), std::end(kUsualSides));
    const std::vector<int64_t> fitting = fitting_sides(found, open);
    candidates.insert(candidates.end(), fitting.begin(), fitting.end());
  }
  std::vector<Unknowns> all;
  for (const int64_t candidate : candidates) {
    Values values;
    for (const OpenSize& size : open) values[size] = candidate;
    if (holds(found, values)) all.push_back(with_side(dims, open, candidate));
  }
  for (const auto& [height, width] : kUsualPictures) {
    if (open.size() != 2 || found.equations.empty()) break;
    const OpenSize &first = *open.begin(), &second = *open.rbegin();
    for (const auto& [one, other] : {std::pair(height, width), std::pair(width, height)}) {
      if (!holds(found, {{first, one}, {second, other}})) continue;
      Unknowns sides = dims;
      set(sides, first, Dim(one));
      set(sides, second, Dim(other));
      all.push_back(std::move(sides));
    }
  }
  for (size_t i = 0; i < all.size() && i < kMostExamples; ++i) {
    const Findings fixed = look(all[i]);
    if (fixed.fits && fixed.equations.empty()) return all[i];
  }
  return std::nullopt;
}

std::vector<std::optional<SolvedSizes>> Solver::run() {
  Unknowns dims;
  for (const UnknownInput& each : unknown_) dims.push_back(each.dims);
  for (size_t i = 0; i < unknown_.size(); ++i) {
    if (!dims[i]) dims[i] = with_rank(dims, i);
  }
  std::vector<std::optional<SolvedSizes>> result(unknown_.size());
  if (std::none_of(dims.begin(), dims.end(), [](const auto& each) { return each.has_value(); })) return result;
  Findings found = look(dims);
  for (int round = 0; round < kMostRounds && found.fits; ++round) {
    if (!solve_one(dims, found) && !take_batches(dims, found)) break;
    found = look(dims);
  }
  if (!found.fits) return result;
  const bool may_stay_open = !open_in(dims).empty() && found.equations.empty() && !found.has_refusals;
  const bool is_usual = is_usual_picture(dims, found);
  const std::optional<Unknowns> example = open_in(dims).empty() ? dims : example_of(dims, found);
  const std::set<OpenSize> in_equations = open_in(found.equations);
  if (is_usual && example) {
    dims = *example;
  } else if (!in_equations.empty()) {
    const std::vector<int64_t> sides = fitting_sides(found, open_in(dims));
    if (sides.size() == 1) dims = with_side(dims, in_equations, sides[0]);
  }
  // An operator that refuses the sizes, or one without a rule, leaves them to the user.
  const bool may_be_taken = open_in(dims).empty() && !look(dims).has_refusals;
  const std::optional<Unknowns> any_rows = may_be_taken ? with_any_rows(dims) : std::nullopt;
  if (any_rows) dims = *any_rows;
  for (size_t i = 0; i < unknown_.size(); ++i) {
    if (!dims[i]) continue;
    result[i] = SolvedSizes{*dims[i], is_usual, may_stay_open, may_be_taken, any_rows.has_value(), {}};
    if (example) result[i]->example = fixed_values(*(*example)[i]);
  }
  return result;
}

}  // namespace

std::vector<std::optional<SolvedSizes>> solve_sizes(const NormalisedModel& model, const TypeMap& known,
                                                    const std::vector<UnknownInput>& unknown,
                                                    const InferOptions& options) {
  return Solver(model, known, unknown, options).run();
}

}  // namespace nnapi_convert
