// SPDX-License-Identifier: BSD-3-Clause
// Declares the rule tables, one for each family and file. registry.cpp joins them: a family missing there is unused.
#pragma once

#include "lib/ops/op_rule.h"

namespace nnapi_convert {

OpRules activation_rules();         // activation.cpp
OpRules advanced_index_rules();     // advanced_index.cpp
OpRules attention_rules();          // attention.cpp
OpRules binary_rules();             // binary.cpp
OpRules comparison_rules();         // comparison.cpp
OpRules conv_rules();               // conv.cpp
OpRules conversion_rules();         // conversion.cpp
OpRules creation_rules();           // creation.cpp
OpRules detection_rules();          // detection.cpp
OpRules einsum_rules();             // einsum.cpp
OpRules fake_quantise_rules();      // fake_quantise.cpp
OpRules grid_sample_rules();        // grid_sample.cpp
OpRules indexing_rules();           // indexing.cpp
OpRules joining_rules();            // joining.cpp
OpRules linear_rules();             // linear.cpp
OpRules matmul_rules();             // matmul.cpp
OpRules movement_rules();           // movement.cpp
OpRules norm_rules();               // norm.cpp
OpRules order_rules();              // order.cpp
OpRules padding_rules();            // padding.cpp
OpRules pixel_rules();              // pixel.cpp
OpRules pooling_rules();            // pooling.cpp
OpRules quantize_rules();           // quantize.cpp
OpRules quantized_binary_rules();   // quantized_binary.cpp
OpRules quantized_unary_rules();    // quantized_unary.cpp
OpRules recurrent_rules();          // recurrent.cpp
OpRules recurrent_cell_rules();     // recurrent_cell.cpp
OpRules reduce_rules();             // reduce.cpp
OpRules resize_rules();             // resize.cpp
OpRules selection_rules();          // selection.cpp
OpRules shape_rules();              // shape.cpp
OpRules size_rules();               // size.cpp
OpRules slicing_rules();            // slicing.cpp
OpRules smooth_activation_rules();  // smooth_activation.cpp
OpRules softmax_rules();            // softmax.cpp
OpRules special_rules();            // special.cpp
OpRules statistics_rules();         // statistics.cpp
OpRules bessel_rules();             // bessel.cpp
OpRules error_function_rules();     // error_function.cpp
OpRules gamma_rules();              // gamma.cpp
OpRules cumulative_rules();         // cumulative.cpp
OpRules ranking_rules();            // ranking.cpp
OpRules scatter_rules();            // scatter.cpp
OpRules search_rules();             // search.cpp
OpRules exceptional_rules();        // exceptional.cpp
OpRules distance_rules();           // distance.cpp
OpRules index_put_rules();          // index_put.cpp
OpRules unary_rules();              // unary.cpp

// Arithmetic on tensors that hold sizes, as in traced graphs. The families above have rules for the same operators on
// other tensors.
OpRules size_tensor_rules();  // size.cpp

// Returns the traits of operators without a rule.
std::vector<CpuOperators> cpu_operators();  // cpu_operators.cpp

// Returns the rules of the converter's own operators, nnapi_convert::*, which it puts in the place of compositions.
OpRules recognised_rules();  // recognised.cpp

}  // namespace nnapi_convert
