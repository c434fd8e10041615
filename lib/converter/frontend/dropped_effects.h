// SPDX-License-Identifier: BSD-3-Clause
// Warns of effects that a model loses if NNAPI runs it whole.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Warns of errors that depend on the values of tensors, and of printing. It ignores errors that depend on sizes and
// types: conversion finds them, or they can't happen for the converted sizes.
void warn_of_dropped_effects(torch::jit::Graph& graph, Diagnostics& diagnostics);

}  // namespace nnapi_convert
