// Which arguments of operators are indices, and of what.
#pragma once

#include <optional>

#include "lib/ops/integer_range.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

constexpr double kLongestAxis = 1 << 22;  // of a size that isn't known yet

// The number that a size is, or may be at most.
double count_of(const Dim& size);
double count_of(const Dims& dims);

// The sizes that the value counts places of as argument `offset` of the node; nothing where it is no index there.
std::optional<IntegerRange> index_range(const TorchNode& reader, size_t offset, const TypeMap& types);

// The same for an element of a list that is the argument.
std::optional<IntegerRange> index_range_in_list(const TorchNode& reader, size_t offset, size_t element,
                                                const TypeMap& types);

}  // namespace nnapi_convert
