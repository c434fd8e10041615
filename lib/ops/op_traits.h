// SPDX-License-Identifier: BSD-3-Clause
// OpTraits: what is true of an operator wherever it stands, beside how it is typed and lowered. Rows of rules
// (op_rule.h) and rows of operators that stay on the CPU (cpu_operators.cpp) state it; every stage reads it from there.
// A field that isn't set has the safe answer.
#pragma once

#include <cstdint>

namespace nnapi_convert {

// How it is shown that row i of a result depends on row i of the arguments alone.
// lib/converter/frontend/row_wise.cpp has the proof of each, for the arguments of a node.
enum class Rows : uint8_t {
  kUnstated,
  kUnproved,                 // there is no proof: rows may be mixed
  kElementwise,              // each element is made of elements at its place, as broadcasting has it
  kElementwiseIfEvaluating,  // dropout: elementwise unless argument "train" is true
  kSignals,                  // one by one in a tensor of rank 3
  kImages,                   // one by one in a tensor of rank 4
  kSamples,                  // one by one along axis 0
  kSamplesIfEvaluating,      // one by one along axis 0 unless argument "training" is true
  kFiltered,                 // samples one by one, where the argument "weight" tells the rank of a sample
  kNormalised,               // the axes of argument "normalized_shape" are mixed
  kVectors,                  // vectors along the last axis one by one
  kMatrices,                 // product of two matrices, or of two batches of them
  kAddedMatrices,            // arguments "self" + "mat1" * "mat2"
  kOtherAxes,                // the axes of argument "dim" are mixed
  kSameOrder,                // all elements in their order
  kPermuted,
  kTransposed,
  kTurned,  // a matrix
  kJoined,  // along argument "dim"
  kSliced,
  kPadded,
};

// How multiply-adds are counted. lib/converter/plan/node_cost.cpp has the formula of each.
enum class Macs : uint8_t {
  kUnstated,
  kNone,             // no convolution, product of matrices, attention or recurrent layer
  kConvolution,      // each element of the result takes a filter
  kTransposed,       // each element of the input takes a filter
  kTimeConvolution,  // conv_tbc, whose filter is [size, inputs, outputs]
  kLinear,
  kProduct,         // result times the last axis of the first argument
  kAddedProduct,    // result times the last axis of the argument behind the added one
  kSummedProducts,  // as kAddedProduct, for each matrix of a batch
  kBilinear,
  kEinsum,
  kRecurrent,  // a layer: every matrix once for each step
  kCell,       // one step
  kAttention,
  kOtherProduct,  // multiplies; the count doesn't follow from sizes
  kNotCounted,    // may cost something that isn't counted in multiply-adds
};

// Whether the result has memory of its own, besides what the schema's alias annotations say.
enum class Memory : uint8_t {
  kBySchema,                      // only the schema's annotations are known
  kFresh,                         // its own memory: changing it in place changes nothing else
  kView,                          // a tensor of its own on the memory of the first argument
  kMayBeArgument,                 // an argument or a view of it, although the schema promises a new tensor
  kMayBeArgumentUnlessProduct,    // einsum: so for a single tensor
  kMayBeArgumentUnlessQuantised,  // dequantize: so for a float tensor
};

// Which argument holds indices, and of what.
enum class Index : uint8_t {
  kNone,
  kAlongDim,   // argument "index" or "indices": of the first argument's axis "dim"
  kRows,       // argument "indices": of axis 0 of argument "weight"
  kPositions,  // argument "indices": a list, of the first argument's axes in turn
  kElement,    // argument "index": one number, of the first argument's axis "dim"
  kStart,      // argument "start": one number, where a part of axis "dim" begins
  kClass,      // the first argument: below argument "num_classes"
};

// The source of result sizes that don't follow from the arguments' sizes. lib/converter/frontend/runtime_sizes.cpp
// types each.
enum class ResultSizes : uint8_t {
  kNone,
  kKeptBoxes,         // as many of argument "dets" as its values decide
  kPositions,         // as many as argument "self" has elements that aren't 0
  kPositionsByAxis,   // as kPositions, of argument "condition" if it is the only one
  kMasked,            // as many as a mask has true elements
  kIndexed,           // as many as there are indices, or true elements of a mask
  kRegions,           // as many as argument "rois" has
  kGiven,             // argument "size"
  kGivenWithNumber,   // argument "size"; without argument "dtype", the number tells the dtype
  kGivenWithExample,  // argument "size"; without argument "dtype", argument "self" has it
  kCounted,           // argument "end"
  kLikeSelf,          // those of argument "self", whatever the other arguments' sizes
  kHighest,           // argument "k"
  kSliced,            // between arguments "start" and "end"
};

// Whether the result is quantised, whatever the inputs of the model are.
enum class Quantised : uint8_t { kUnknown, kMade, kKept };

// Sentences of which the operator is the subject.
enum class Fact : uint32_t {
  kSizesAreSums = 1U << 0U,     // gives sizes that are sums of multiples of the arguments' sizes; proved rows are, too
  kSizesByValues = 1U << 1U,    // gives sizes that depend on values, not on the arguments' sizes alone
  kSizesByOneValue = 1U << 2U,  // gives sizes that depend on values where it has a single argument
  kCountsByValues = 1U << 3U,   // raises, or makes something huge, for some numbers in the arguments
  kTakesAnyNumber = 1U << 4U,   // gives a tensor whose type is the same for all values of a number
  kMovesElements = 1U << 5U,    // gives elements of the first argument as they are
  kCasts = 1U << 6U,            // gives elements of the first argument in another dtype
  kKeepsRankAlongAxis = 1U << 7U,  // works along an axis: of rank 0 it takes what it takes of rank 1
  kReadsShapeOnly = 1U << 8U,      // takes its first argument for shape and dtype alone
  kReadsNumber = 1U << 9U,         // gives values of a tensor as a number, or a list of them
  kKeepsChannels = 1U << 10U,      // keeps rank and channels of an image
  kSumsProducts = 1U << 11U,       // sums products of values; all whose multiply-adds are counted do, too
  kChangesShape = 1U << 12U,       // changes the shape of its argument in place
  kIsOfContainers = 1U << 13U,     // puts values into a list, dict or object, or takes them out
  kUnwritten = 1U << 14U,          // gives memory that nothing has been written to
  kOverwrites = 1U << 15U,         // gives its first argument with elements written over, without reading those
  kFills = 1U << 16U,              // writes one number over all elements
  kReadsMaskBytes = 1U << 17U,     // reads the bytes of argument "mask" as bools, of whatever dtype the mask is
  kRoundsToLevels = 1U << 18U,     // rounds floats to the numbers that a quantised tensor holds
};

struct OpTraits {
  Rows rows = Rows::kUnstated;
  Macs macs = Macs::kUnstated;
  Memory memory = Memory::kBySchema;
  Index index = Index::kNone;
  ResultSizes sizes = ResultSizes::kNone;
  Quantised quantised = Quantised::kUnknown;
  uint32_t facts = 0;

  constexpr bool has(Fact fact) const { return (facts & static_cast<uint32_t>(fact)) != 0; }
  // A rule has to say how rows of its results depend on those of its arguments, and what it costs.
  constexpr bool is_stated() const { return rows != Rows::kUnstated && macs != Macs::kUnstated; }
  // It is a convolution, product of matrices, attention or recurrent layer.
  constexpr bool multiplies() const { return macs > Macs::kNone && macs < Macs::kNotCounted; }
};

constexpr OpTraits operator|(OpTraits traits, Rows rows) {
  traits.rows = rows;
  return traits;
}
constexpr OpTraits operator|(OpTraits traits, Macs macs) {
  traits.macs = macs;
  return traits;
}
constexpr OpTraits operator|(OpTraits traits, Memory memory) {
  traits.memory = memory;
  return traits;
}
constexpr OpTraits operator|(OpTraits traits, Index index) {
  traits.index = index;
  return traits;
}
constexpr OpTraits operator|(OpTraits traits, ResultSizes sizes) {
  traits.sizes = sizes;
  return traits;
}
constexpr OpTraits operator|(OpTraits traits, Quantised quantised) {
  traits.quantised = quantised;
  return traits;
}
constexpr OpTraits operator|(OpTraits traits, Fact fact) {
  traits.facts |= static_cast<uint32_t>(fact);
  return traits;
}
constexpr bool operator==(const OpTraits& a, const OpTraits& b) {
  return a.rows == b.rows && a.macs == b.macs && a.memory == b.memory && a.index == b.index && a.sizes == b.sizes &&
         a.quantised == b.quantised && a.facts == b.facts;
}

// Without multiply-adds.
inline constexpr OpTraits kElementwise{Rows::kElementwise, Macs::kNone};
inline constexpr OpTraits kUnprovedRows{Rows::kUnproved, Macs::kNone};
constexpr OpTraits row_wise(Rows rows) {
  return OpTraits{rows, Macs::kNone};
}

// With multiply-adds.
constexpr OpTraits costing(Macs macs, Rows rows = Rows::kUnproved) {
  return OpTraits{rows, macs};
}

}  // namespace nnapi_convert
