// SPDX-License-Identifier: BSD-3-Clause
// Generated from schemas/nnapi_operations.json by scripts/generate/generate_operations.py, do not edit.
// clang-format off
#include "lib/format/operation_table.h"

#include <cstring>

namespace nnapi_convert {
namespace {

template <typename T, std::size_t N>
constexpr TableView<T> view(const T (&array)[N]) {
  return {array, N};
}

constexpr ArgumentInfo kADD_0_inputs[] = {
    {"input1", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
};
constexpr ArgumentInfo kADD_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kADD_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kADD[] = {
    {"default", 1, view(kADD_0_inputs), view(kADD_0_outputs), view(kADD_0_types)},
};

constexpr ArgumentInfo kAVERAGE_POOL_2D_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"padding_left", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_right", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_top", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_bottom", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"filter_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"filter_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
};
constexpr ArgumentInfo kAVERAGE_POOL_2D_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kAVERAGE_POOL_2D_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr ArgumentInfo kAVERAGE_POOL_2D_1_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"padding_scheme", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kPaddingScheme, false, false, false, 1},
    {"stride_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"filter_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"filter_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
};
constexpr ArgumentInfo kAVERAGE_POOL_2D_1_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kAVERAGE_POOL_2D_1_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kAVERAGE_POOL_2D[] = {
    {"explicit_padding", 1, view(kAVERAGE_POOL_2D_0_inputs), view(kAVERAGE_POOL_2D_0_outputs), view(kAVERAGE_POOL_2D_0_types)},
    {"implicit_padding", 1, view(kAVERAGE_POOL_2D_1_inputs), view(kAVERAGE_POOL_2D_1_outputs), view(kAVERAGE_POOL_2D_1_types)},
};

constexpr ArgumentInfo kCONCATENATION_0_inputs[] = {
    {"inputs", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, true, 1},
    {"axis", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kAxis, false, false, false, 1},
};
constexpr ArgumentInfo kCONCATENATION_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kCONCATENATION_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kCONCATENATION[] = {
    {"default", 1, view(kCONCATENATION_0_inputs), view(kCONCATENATION_0_outputs), view(kCONCATENATION_0_types)},
};

constexpr ArgumentInfo kCONV_2D_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"filter", 1, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"bias", 2, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"padding_left", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_right", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_top", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_bottom", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
    {"dilation_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, true, false, false, 3},
    {"dilation_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, true, false, false, 3},
};
constexpr ArgumentInfo kCONV_2D_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kCONV_2D_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
};
constexpr ArgumentInfo kCONV_2D_1_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"filter", 1, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"bias", 2, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"padding_scheme", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kPaddingScheme, false, false, false, 1},
    {"stride_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
    {"dilation_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, true, false, false, 3},
    {"dilation_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, true, false, false, 3},
};
constexpr ArgumentInfo kCONV_2D_1_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kCONV_2D_1_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
};
constexpr SignatureInfo kCONV_2D[] = {
    {"explicit_padding", 1, view(kCONV_2D_0_inputs), view(kCONV_2D_0_outputs), view(kCONV_2D_0_types)},
    {"implicit_padding", 1, view(kCONV_2D_1_inputs), view(kCONV_2D_1_outputs), view(kCONV_2D_1_types)},
};

constexpr ArgumentInfo kDEPTHWISE_CONV_2D_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"filter", 1, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"bias", 2, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"padding_left", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_right", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_top", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_bottom", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"depth_multiplier", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
    {"dilation_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, true, false, false, 3},
    {"dilation_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, true, false, false, 3},
};
constexpr ArgumentInfo kDEPTHWISE_CONV_2D_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kDEPTHWISE_CONV_2D_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
};
constexpr ArgumentInfo kDEPTHWISE_CONV_2D_1_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"filter", 1, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"bias", 2, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"padding_scheme", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kPaddingScheme, false, false, false, 1},
    {"stride_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"depth_multiplier", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
    {"dilation_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, true, false, false, 3},
    {"dilation_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, true, false, false, 3},
};
constexpr ArgumentInfo kDEPTHWISE_CONV_2D_1_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kDEPTHWISE_CONV_2D_1_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
};
constexpr SignatureInfo kDEPTHWISE_CONV_2D[] = {
    {"explicit_padding", 1, view(kDEPTHWISE_CONV_2D_0_inputs), view(kDEPTHWISE_CONV_2D_0_outputs), view(kDEPTHWISE_CONV_2D_0_types)},
    {"implicit_padding", 1, view(kDEPTHWISE_CONV_2D_1_inputs), view(kDEPTHWISE_CONV_2D_1_outputs), view(kDEPTHWISE_CONV_2D_1_types)},
};

constexpr ArgumentInfo kDEPTH_TO_SPACE_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"block_size", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
};
constexpr ArgumentInfo kDEPTH_TO_SPACE_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kDEPTH_TO_SPACE_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kDEPTH_TO_SPACE[] = {
    {"default", 1, view(kDEPTH_TO_SPACE_0_inputs), view(kDEPTH_TO_SPACE_0_outputs), view(kDEPTH_TO_SPACE_0_types)},
};

constexpr ArgumentInfo kDEQUANTIZE_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kDEQUANTIZE_0_outputs[] = {
    {"output", 1, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kDEQUANTIZE_0_types[] = {
    {1, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_SYMM, OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_QUANT8_SYMM, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_FLOAT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kDEQUANTIZE[] = {
    {"default", 1, view(kDEQUANTIZE_0_inputs), view(kDEQUANTIZE_0_outputs), view(kDEQUANTIZE_0_types)},
};

constexpr ArgumentInfo kEMBEDDING_LOOKUP_0_inputs[] = {
    {"lookups", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"values", 0, OperandCode::FLOAT32, 2, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kEMBEDDING_LOOKUP_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 2, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kEMBEDDING_LOOKUP_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kEMBEDDING_LOOKUP[] = {
    {"default", 1, view(kEMBEDDING_LOOKUP_0_inputs), view(kEMBEDDING_LOOKUP_0_outputs), view(kEMBEDDING_LOOKUP_0_types)},
};

constexpr ArgumentInfo kFLOOR_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kFLOOR_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kFLOOR_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kFLOOR[] = {
    {"default", 1, view(kFLOOR_0_inputs), view(kFLOOR_0_outputs), view(kFLOOR_0_types)},
};

constexpr ArgumentInfo kFULLY_CONNECTED_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 2, 4, ArgumentRole::kNone, false, false, false, 1},
    {"weights", 1, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bias", 2, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
};
constexpr ArgumentInfo kFULLY_CONNECTED_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kFULLY_CONNECTED_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_INT32}},
};
constexpr SignatureInfo kFULLY_CONNECTED[] = {
    {"default", 1, view(kFULLY_CONNECTED_0_inputs), view(kFULLY_CONNECTED_0_outputs), view(kFULLY_CONNECTED_0_types)},
};

constexpr ArgumentInfo kHASHTABLE_LOOKUP_0_inputs[] = {
    {"lookups", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"keys", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"values", 0, OperandCode::FLOAT32, 2, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kHASHTABLE_LOOKUP_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 2, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"hits", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM, 1, 1, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kHASHTABLE_LOOKUP_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_INT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM}},
};
constexpr SignatureInfo kHASHTABLE_LOOKUP[] = {
    {"default", 1, view(kHASHTABLE_LOOKUP_0_inputs), view(kHASHTABLE_LOOKUP_0_outputs), view(kHASHTABLE_LOOKUP_0_types)},
};

constexpr ArgumentInfo kL2_NORMALIZATION_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"axis", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kAxis, true, false, false, 3},
};
constexpr ArgumentInfo kL2_NORMALIZATION_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kL2_NORMALIZATION_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kL2_NORMALIZATION[] = {
    {"default", 1, view(kL2_NORMALIZATION_0_inputs), view(kL2_NORMALIZATION_0_outputs), view(kL2_NORMALIZATION_0_types)},
};

constexpr ArgumentInfo kL2_POOL_2D_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"padding_left", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_right", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_top", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_bottom", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"filter_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"filter_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
};
constexpr ArgumentInfo kL2_POOL_2D_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kL2_POOL_2D_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr ArgumentInfo kL2_POOL_2D_1_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"padding_scheme", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kPaddingScheme, false, false, false, 1},
    {"stride_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"filter_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"filter_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
};
constexpr ArgumentInfo kL2_POOL_2D_1_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kL2_POOL_2D_1_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kL2_POOL_2D[] = {
    {"explicit_padding", 1, view(kL2_POOL_2D_0_inputs), view(kL2_POOL_2D_0_outputs), view(kL2_POOL_2D_0_types)},
    {"implicit_padding", 1, view(kL2_POOL_2D_1_inputs), view(kL2_POOL_2D_1_outputs), view(kL2_POOL_2D_1_types)},
};

constexpr ArgumentInfo kLOCAL_RESPONSE_NORMALIZATION_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"radius", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"bias", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"alpha", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"beta", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"axis", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kAxis, true, false, false, 3},
};
constexpr ArgumentInfo kLOCAL_RESPONSE_NORMALIZATION_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kLOCAL_RESPONSE_NORMALIZATION_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
};
constexpr SignatureInfo kLOCAL_RESPONSE_NORMALIZATION[] = {
    {"default", 1, view(kLOCAL_RESPONSE_NORMALIZATION_0_inputs), view(kLOCAL_RESPONSE_NORMALIZATION_0_outputs), view(kLOCAL_RESPONSE_NORMALIZATION_0_types)},
};

constexpr ArgumentInfo kLOGISTIC_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kLOGISTIC_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kLOGISTIC_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kLOGISTIC[] = {
    {"default", 1, view(kLOGISTIC_0_inputs), view(kLOGISTIC_0_outputs), view(kLOGISTIC_0_types)},
};

constexpr ArgumentInfo kLSH_PROJECTION_0_inputs[] = {
    {"hash", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"input", 1, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"type", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kLSH_PROJECTION_0_outputs[] = {
    {"output", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kLSH_PROJECTION_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_INT32}},
    {1, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kLSH_PROJECTION[] = {
    {"default", 1, view(kLSH_PROJECTION_0_inputs), view(kLSH_PROJECTION_0_outputs), view(kLSH_PROJECTION_0_types)},
};

constexpr ArgumentInfo kLSTM_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"input_to_input_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"input_to_forget_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"input_to_cell_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"input_to_output_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"recurrent_to_input_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"recurrent_to_forget_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"recurrent_to_cell_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"recurrent_to_output_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"cell_to_input_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"cell_to_forget_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"cell_to_output_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"input_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"forget_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"cell_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"output_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"projection_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"projection_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"output_state_in", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"cell_state_in", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"cell_clip", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"projection_clip", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"input_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, true, true, false, 3},
    {"forget_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, true, true, false, 3},
    {"cell_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, true, true, false, 3},
    {"output_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, true, true, false, 3},
};
constexpr ArgumentInfo kLSTM_0_outputs[] = {
    {"scratch_buffer", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"output_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"cell_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"output", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kLSTM_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
};
constexpr SignatureInfo kLSTM[] = {
    {"default", 1, view(kLSTM_0_inputs), view(kLSTM_0_outputs), view(kLSTM_0_types)},
};

constexpr ArgumentInfo kMAX_POOL_2D_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"padding_left", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_right", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_top", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_bottom", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"filter_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"filter_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
};
constexpr ArgumentInfo kMAX_POOL_2D_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kMAX_POOL_2D_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr ArgumentInfo kMAX_POOL_2D_1_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"padding_scheme", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kPaddingScheme, false, false, false, 1},
    {"stride_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"filter_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"filter_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
};
constexpr ArgumentInfo kMAX_POOL_2D_1_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kMAX_POOL_2D_1_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kMAX_POOL_2D[] = {
    {"explicit_padding", 1, view(kMAX_POOL_2D_0_inputs), view(kMAX_POOL_2D_0_outputs), view(kMAX_POOL_2D_0_types)},
    {"implicit_padding", 1, view(kMAX_POOL_2D_1_inputs), view(kMAX_POOL_2D_1_outputs), view(kMAX_POOL_2D_1_types)},
};

constexpr ArgumentInfo kMUL_0_inputs[] = {
    {"input1", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
};
constexpr ArgumentInfo kMUL_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kMUL_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kMUL[] = {
    {"default", 1, view(kMUL_0_inputs), view(kMUL_0_outputs), view(kMUL_0_types)},
};

constexpr ArgumentInfo kRELU_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kRELU_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kRELU_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kRELU[] = {
    {"default", 1, view(kRELU_0_inputs), view(kRELU_0_outputs), view(kRELU_0_types)},
};

constexpr ArgumentInfo kRELU1_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kRELU1_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kRELU1_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kRELU1[] = {
    {"default", 1, view(kRELU1_0_inputs), view(kRELU1_0_outputs), view(kRELU1_0_types)},
};

constexpr ArgumentInfo kRELU6_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kRELU6_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kRELU6_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kRELU6[] = {
    {"default", 1, view(kRELU6_0_inputs), view(kRELU6_0_outputs), view(kRELU6_0_types)},
};

constexpr ArgumentInfo kRESHAPE_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"shape", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kShape, false, false, false, 1},
};
constexpr ArgumentInfo kRESHAPE_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kRESHAPE_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
    {6, {OperandCode::TENSOR_INT32}},
};
constexpr SignatureInfo kRESHAPE[] = {
    {"default", 1, view(kRESHAPE_0_inputs), view(kRESHAPE_0_outputs), view(kRESHAPE_0_types)},
};

constexpr ArgumentInfo kRESIZE_BILINEAR_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"output_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"output_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
    {"align_corners", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, true, false, false, 4},
    {"half_pixel_centers", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, true, false, false, 4},
};
constexpr ArgumentInfo kRESIZE_BILINEAR_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kRESIZE_BILINEAR_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr ArgumentInfo kRESIZE_BILINEAR_1_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"width_scale", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"height_scale", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
    {"align_corners", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, true, false, false, 4},
    {"half_pixel_centers", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, true, false, false, 4},
};
constexpr ArgumentInfo kRESIZE_BILINEAR_1_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kRESIZE_BILINEAR_1_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::FLOAT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::FLOAT32}},
};
constexpr SignatureInfo kRESIZE_BILINEAR[] = {
    {"by_size", 1, view(kRESIZE_BILINEAR_0_inputs), view(kRESIZE_BILINEAR_0_outputs), view(kRESIZE_BILINEAR_0_types)},
    {"by_scale", 3, view(kRESIZE_BILINEAR_1_inputs), view(kRESIZE_BILINEAR_1_outputs), view(kRESIZE_BILINEAR_1_types)},
};

constexpr ArgumentInfo kRNN_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"recurrent_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"hidden_state_in", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
};
constexpr ArgumentInfo kRNN_0_outputs[] = {
    {"hidden_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"output", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kRNN_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kRNN[] = {
    {"default", 1, view(kRNN_0_inputs), view(kRNN_0_outputs), view(kRNN_0_types)},
};

constexpr ArgumentInfo kSOFTMAX_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"beta", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"axis", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kAxis, true, false, false, 3},
};
constexpr ArgumentInfo kSOFTMAX_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kSOFTMAX_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::FLOAT32}},
};
constexpr SignatureInfo kSOFTMAX[] = {
    {"default", 1, view(kSOFTMAX_0_inputs), view(kSOFTMAX_0_outputs), view(kSOFTMAX_0_types)},
};

constexpr ArgumentInfo kSPACE_TO_DEPTH_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"block_size", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
};
constexpr ArgumentInfo kSPACE_TO_DEPTH_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kSPACE_TO_DEPTH_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {1, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kSPACE_TO_DEPTH[] = {
    {"default", 1, view(kSPACE_TO_DEPTH_0_inputs), view(kSPACE_TO_DEPTH_0_outputs), view(kSPACE_TO_DEPTH_0_types)},
};

constexpr ArgumentInfo kSVDF_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"weights_feature", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"weights_time", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"state_in", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"rank", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
};
constexpr ArgumentInfo kSVDF_0_outputs[] = {
    {"state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"output", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kSVDF_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kSVDF[] = {
    {"default", 1, view(kSVDF_0_inputs), view(kSVDF_0_outputs), view(kSVDF_0_types)},
};

constexpr ArgumentInfo kTANH_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kTANH_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kTANH_0_types[] = {
    {1, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kTANH[] = {
    {"default", 1, view(kTANH_0_inputs), view(kTANH_0_outputs), view(kTANH_0_types)},
};

constexpr ArgumentInfo kBATCH_TO_SPACE_ND_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"block_shape", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
};
constexpr ArgumentInfo kBATCH_TO_SPACE_ND_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kBATCH_TO_SPACE_ND_0_types[] = {
    {2, {OperandCode::TENSOR_FLOAT32}},
    {2, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kBATCH_TO_SPACE_ND[] = {
    {"default", 2, view(kBATCH_TO_SPACE_ND_0_inputs), view(kBATCH_TO_SPACE_ND_0_outputs), view(kBATCH_TO_SPACE_ND_0_types)},
};

constexpr ArgumentInfo kDIV_0_inputs[] = {
    {"input1", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
};
constexpr ArgumentInfo kDIV_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kDIV_0_types[] = {
    {2, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_INT32}},
};
constexpr SignatureInfo kDIV[] = {
    {"default", 2, view(kDIV_0_inputs), view(kDIV_0_outputs), view(kDIV_0_types)},
};

constexpr ArgumentInfo kMEAN_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"axes", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kAxes, false, false, false, 1},
    {"keep_dims", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kMEAN_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kMEAN_0_types[] = {
    {2, {OperandCode::TENSOR_FLOAT32}},
    {2, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kMEAN[] = {
    {"default", 2, view(kMEAN_0_inputs), view(kMEAN_0_outputs), view(kMEAN_0_types)},
};

constexpr ArgumentInfo kPAD_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"paddings", kFixedType, OperandCode::TENSOR_INT32, 2, 2, ArgumentRole::kPerAxisPairs, false, false, false, 1},
};
constexpr ArgumentInfo kPAD_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kPAD_0_types[] = {
    {2, {OperandCode::TENSOR_FLOAT32}},
    {2, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kPAD[] = {
    {"default", 2, view(kPAD_0_inputs), view(kPAD_0_outputs), view(kPAD_0_types)},
};

constexpr ArgumentInfo kSPACE_TO_BATCH_ND_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"block_shape", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"paddings", kFixedType, OperandCode::TENSOR_INT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, true, false, false, 3},
};
constexpr ArgumentInfo kSPACE_TO_BATCH_ND_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kSPACE_TO_BATCH_ND_0_types[] = {
    {2, {OperandCode::TENSOR_FLOAT32}},
    {2, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kSPACE_TO_BATCH_ND[] = {
    {"default", 2, view(kSPACE_TO_BATCH_ND_0_inputs), view(kSPACE_TO_BATCH_ND_0_outputs), view(kSPACE_TO_BATCH_ND_0_types)},
};

constexpr ArgumentInfo kSQUEEZE_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"axes", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kAxes, false, true, false, 1},
};
constexpr ArgumentInfo kSQUEEZE_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kSQUEEZE_0_types[] = {
    {2, {OperandCode::TENSOR_FLOAT32}},
    {2, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kSQUEEZE[] = {
    {"default", 2, view(kSQUEEZE_0_inputs), view(kSQUEEZE_0_outputs), view(kSQUEEZE_0_types)},
};

constexpr ArgumentInfo kSTRIDED_SLICE_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"begin", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kPerAxisVector, false, false, false, 1},
    {"end", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kPerAxisVector, false, false, false, 1},
    {"strides", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kPerAxisVector, false, false, false, 1},
    {"begin_mask", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kPerAxisMask, false, false, false, 1},
    {"end_mask", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kPerAxisMask, false, false, false, 1},
    {"shrink_axis_mask", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kPerAxisMask, false, false, false, 1},
};
constexpr ArgumentInfo kSTRIDED_SLICE_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kSTRIDED_SLICE_0_types[] = {
    {2, {OperandCode::TENSOR_FLOAT32}},
    {2, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kSTRIDED_SLICE[] = {
    {"default", 2, view(kSTRIDED_SLICE_0_inputs), view(kSTRIDED_SLICE_0_outputs), view(kSTRIDED_SLICE_0_types)},
};

constexpr ArgumentInfo kSUB_0_inputs[] = {
    {"input1", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
};
constexpr ArgumentInfo kSUB_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kSUB_0_types[] = {
    {2, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kSUB[] = {
    {"default", 2, view(kSUB_0_inputs), view(kSUB_0_outputs), view(kSUB_0_types)},
};

constexpr ArgumentInfo kTRANSPOSE_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"perm", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kPerm, false, true, false, 1},
};
constexpr ArgumentInfo kTRANSPOSE_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kTRANSPOSE_0_types[] = {
    {2, {OperandCode::TENSOR_FLOAT32}},
    {2, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kTRANSPOSE[] = {
    {"default", 2, view(kTRANSPOSE_0_inputs), view(kTRANSPOSE_0_outputs), view(kTRANSPOSE_0_types)},
};

constexpr ArgumentInfo kABS_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kABS_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kABS_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_INT32}},
};
constexpr SignatureInfo kABS[] = {
    {"default", 3, view(kABS_0_inputs), view(kABS_0_outputs), view(kABS_0_types)},
};

constexpr ArgumentInfo kARGMAX_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"axis", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kAxis, false, false, false, 1},
};
constexpr ArgumentInfo kARGMAX_0_outputs[] = {
    {"output", kFixedType, OperandCode::TENSOR_INT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kARGMAX_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kARGMAX[] = {
    {"default", 3, view(kARGMAX_0_inputs), view(kARGMAX_0_outputs), view(kARGMAX_0_types)},
};

constexpr ArgumentInfo kARGMIN_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"axis", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kAxis, false, false, false, 1},
};
constexpr ArgumentInfo kARGMIN_0_outputs[] = {
    {"output", kFixedType, OperandCode::TENSOR_INT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kARGMIN_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kARGMIN[] = {
    {"default", 3, view(kARGMIN_0_inputs), view(kARGMIN_0_outputs), view(kARGMIN_0_types)},
};

constexpr ArgumentInfo kAXIS_ALIGNED_BBOX_TRANSFORM_0_inputs[] = {
    {"rois", 1, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"deltas", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"batches", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"image_sizes", 1, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kAXIS_ALIGNED_BBOX_TRANSFORM_0_outputs[] = {
    {"output", 1, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kAXIS_ALIGNED_BBOX_TRANSFORM_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT16_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT16_ASYMM}},
};
constexpr SignatureInfo kAXIS_ALIGNED_BBOX_TRANSFORM[] = {
    {"default", 3, view(kAXIS_ALIGNED_BBOX_TRANSFORM_0_inputs), view(kAXIS_ALIGNED_BBOX_TRANSFORM_0_outputs), view(kAXIS_ALIGNED_BBOX_TRANSFORM_0_types)},
};

constexpr ArgumentInfo kBIDIRECTIONAL_SEQUENCE_LSTM_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"fw_input_to_input_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"fw_input_to_forget_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"fw_input_to_cell_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"fw_input_to_output_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"fw_recurrent_to_input_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"fw_recurrent_to_forget_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"fw_recurrent_to_cell_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"fw_recurrent_to_output_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"fw_cell_to_input_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"fw_cell_to_forget_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"fw_cell_to_output_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"fw_input_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"fw_forget_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"fw_cell_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"fw_output_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"fw_projection_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"fw_projection_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"bw_input_to_input_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"bw_input_to_forget_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_input_to_cell_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_input_to_output_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_recurrent_to_input_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"bw_recurrent_to_forget_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_recurrent_to_cell_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_recurrent_to_output_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_cell_to_input_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"bw_cell_to_forget_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"bw_cell_to_output_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"bw_input_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"bw_forget_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"bw_cell_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"bw_output_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"bw_projection_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"bw_projection_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"fw_output_state_in", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"fw_cell_state_in", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_output_state_in", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_cell_state_in", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"aux_input", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, true, false, 1},
    {"fw_aux_input_to_input_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"fw_aux_input_to_forget_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"fw_aux_input_to_cell_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"fw_aux_input_to_output_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"bw_aux_input_to_input_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"bw_aux_input_to_forget_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"bw_aux_input_to_cell_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"bw_aux_input_to_output_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"cell_clip", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"projection_clip", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"merge_outputs", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"time_major", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"fw_input_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"fw_forget_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"fw_cell_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"fw_output_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"bw_input_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"bw_forget_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"bw_cell_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"bw_output_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
};
constexpr ArgumentInfo kBIDIRECTIONAL_SEQUENCE_LSTM_0_outputs[] = {
    {"fw_output", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"bw_output", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kBIDIRECTIONAL_SEQUENCE_LSTM_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
};
constexpr ArgumentInfo kBIDIRECTIONAL_SEQUENCE_LSTM_1_outputs[] = {
    {"fw_output", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kBIDIRECTIONAL_SEQUENCE_LSTM_1_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
};
constexpr ArgumentInfo kBIDIRECTIONAL_SEQUENCE_LSTM_2_outputs[] = {
    {"fw_output", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"bw_output", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"fw_output_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"fw_cell_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_output_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_cell_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kBIDIRECTIONAL_SEQUENCE_LSTM_2_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
};
constexpr ArgumentInfo kBIDIRECTIONAL_SEQUENCE_LSTM_3_outputs[] = {
    {"fw_output", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"fw_output_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"fw_cell_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_output_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_cell_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kBIDIRECTIONAL_SEQUENCE_LSTM_3_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
};
constexpr SignatureInfo kBIDIRECTIONAL_SEQUENCE_LSTM[] = {
    {"separate_outputs", 3, view(kBIDIRECTIONAL_SEQUENCE_LSTM_0_inputs), view(kBIDIRECTIONAL_SEQUENCE_LSTM_0_outputs), view(kBIDIRECTIONAL_SEQUENCE_LSTM_0_types)},
    {"merged_outputs", 3, view(kBIDIRECTIONAL_SEQUENCE_LSTM_0_inputs), view(kBIDIRECTIONAL_SEQUENCE_LSTM_1_outputs), view(kBIDIRECTIONAL_SEQUENCE_LSTM_1_types)},
    {"separate_outputs_and_states", 4, view(kBIDIRECTIONAL_SEQUENCE_LSTM_0_inputs), view(kBIDIRECTIONAL_SEQUENCE_LSTM_2_outputs), view(kBIDIRECTIONAL_SEQUENCE_LSTM_2_types)},
    {"merged_outputs_and_states", 4, view(kBIDIRECTIONAL_SEQUENCE_LSTM_0_inputs), view(kBIDIRECTIONAL_SEQUENCE_LSTM_3_outputs), view(kBIDIRECTIONAL_SEQUENCE_LSTM_3_types)},
};

constexpr ArgumentInfo kBIDIRECTIONAL_SEQUENCE_RNN_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"fw_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"fw_recurrent_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"fw_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"fw_hidden_state_in", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_recurrent_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"bw_hidden_state_in", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"aux_input", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, true, false, 1},
    {"fw_aux_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"bw_aux_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"time_major", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"merge_outputs", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kBIDIRECTIONAL_SEQUENCE_RNN_0_outputs[] = {
    {"fw_output", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"bw_output", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kBIDIRECTIONAL_SEQUENCE_RNN_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr ArgumentInfo kBIDIRECTIONAL_SEQUENCE_RNN_1_outputs[] = {
    {"fw_output", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kBIDIRECTIONAL_SEQUENCE_RNN_1_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr ArgumentInfo kBIDIRECTIONAL_SEQUENCE_RNN_2_outputs[] = {
    {"fw_output", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"bw_output", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"fw_hidden_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_hidden_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kBIDIRECTIONAL_SEQUENCE_RNN_2_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr ArgumentInfo kBIDIRECTIONAL_SEQUENCE_RNN_3_outputs[] = {
    {"fw_output", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"fw_hidden_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bw_hidden_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kBIDIRECTIONAL_SEQUENCE_RNN_3_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kBIDIRECTIONAL_SEQUENCE_RNN[] = {
    {"separate_outputs", 3, view(kBIDIRECTIONAL_SEQUENCE_RNN_0_inputs), view(kBIDIRECTIONAL_SEQUENCE_RNN_0_outputs), view(kBIDIRECTIONAL_SEQUENCE_RNN_0_types)},
    {"merged_outputs", 3, view(kBIDIRECTIONAL_SEQUENCE_RNN_0_inputs), view(kBIDIRECTIONAL_SEQUENCE_RNN_1_outputs), view(kBIDIRECTIONAL_SEQUENCE_RNN_1_types)},
    {"separate_outputs_and_states", 4, view(kBIDIRECTIONAL_SEQUENCE_RNN_0_inputs), view(kBIDIRECTIONAL_SEQUENCE_RNN_2_outputs), view(kBIDIRECTIONAL_SEQUENCE_RNN_2_types)},
    {"merged_outputs_and_states", 4, view(kBIDIRECTIONAL_SEQUENCE_RNN_0_inputs), view(kBIDIRECTIONAL_SEQUENCE_RNN_3_outputs), view(kBIDIRECTIONAL_SEQUENCE_RNN_3_types)},
};

constexpr ArgumentInfo kBOX_WITH_NMS_LIMIT_0_inputs[] = {
    {"scores", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"rois", 1, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"batches", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"score_threshold", 2, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"max_detections", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"nms_kernel", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"iou_threshold", 2, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"sigma", 2, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"nms_score_threshold", 2, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kBOX_WITH_NMS_LIMIT_0_outputs[] = {
    {"output_scores", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"output_rois", 1, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"output_classes", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"output_batches", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kBOX_WITH_NMS_LIMIT_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT16_ASYMM, OperandCode::FLOAT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT16_ASYMM, OperandCode::FLOAT32}},
};
constexpr SignatureInfo kBOX_WITH_NMS_LIMIT[] = {
    {"default", 3, view(kBOX_WITH_NMS_LIMIT_0_inputs), view(kBOX_WITH_NMS_LIMIT_0_outputs), view(kBOX_WITH_NMS_LIMIT_0_types)},
};

constexpr ArgumentInfo kCAST_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kCAST_0_outputs[] = {
    {"output", 1, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kCAST_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_INT32, OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_INT32, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32, OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_INT32, OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_BOOL8, OperandCode::TENSOR_BOOL8}},
    {4, {OperandCode::TENSOR_QUANT16_ASYMM, OperandCode::TENSOR_QUANT16_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT16_SYMM, OperandCode::TENSOR_QUANT16_SYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
    {4, {OperandCode::TENSOR_QUANT8_SYMM, OperandCode::TENSOR_QUANT8_SYMM}},
};
constexpr SignatureInfo kCAST[] = {
    {"default", 3, view(kCAST_0_inputs), view(kCAST_0_outputs), view(kCAST_0_types)},
};

constexpr ArgumentInfo kCHANNEL_SHUFFLE_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"groups", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"axis", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kAxis, false, false, false, 1},
};
constexpr ArgumentInfo kCHANNEL_SHUFFLE_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kCHANNEL_SHUFFLE_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kCHANNEL_SHUFFLE[] = {
    {"default", 3, view(kCHANNEL_SHUFFLE_0_inputs), view(kCHANNEL_SHUFFLE_0_outputs), view(kCHANNEL_SHUFFLE_0_types)},
};

constexpr ArgumentInfo kDETECTION_POSTPROCESSING_0_inputs[] = {
    {"scores", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"deltas", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"anchors", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"scale_y", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"scale_x", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"scale_h", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"scale_w", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"regular_nms", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"max_detections", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"max_classes_per_detection", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"max_detections_per_class", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"score_threshold", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"iou_threshold", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"label_background", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kDETECTION_POSTPROCESSING_0_outputs[] = {
    {"output_scores", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"output_rois", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"output_classes", kFixedType, OperandCode::TENSOR_INT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"output_counts", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kDETECTION_POSTPROCESSING_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
};
constexpr SignatureInfo kDETECTION_POSTPROCESSING[] = {
    {"default", 3, view(kDETECTION_POSTPROCESSING_0_inputs), view(kDETECTION_POSTPROCESSING_0_outputs), view(kDETECTION_POSTPROCESSING_0_types)},
};

constexpr ArgumentInfo kEQUAL_0_inputs[] = {
    {"input1", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kEQUAL_0_outputs[] = {
    {"output", kFixedType, OperandCode::TENSOR_BOOL8, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kEQUAL_0_types[] = {
    {3, {OperandCode::TENSOR_BOOL8}},
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kEQUAL[] = {
    {"default", 3, view(kEQUAL_0_inputs), view(kEQUAL_0_outputs), view(kEQUAL_0_types)},
};

constexpr ArgumentInfo kEXP_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kEXP_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kEXP_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kEXP[] = {
    {"default", 3, view(kEXP_0_inputs), view(kEXP_0_outputs), view(kEXP_0_types)},
};

constexpr ArgumentInfo kEXPAND_DIMS_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"axis", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNewAxis, false, false, false, 1},
};
constexpr ArgumentInfo kEXPAND_DIMS_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 2, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kEXPAND_DIMS_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kEXPAND_DIMS[] = {
    {"default", 3, view(kEXPAND_DIMS_0_inputs), view(kEXPAND_DIMS_0_outputs), view(kEXPAND_DIMS_0_types)},
};

constexpr ArgumentInfo kGATHER_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"axis", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kAxis, false, false, false, 1},
    {"indices", kFixedType, OperandCode::TENSOR_INT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kGATHER_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kGATHER_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kGATHER[] = {
    {"default", 3, view(kGATHER_0_inputs), view(kGATHER_0_outputs), view(kGATHER_0_types)},
};

constexpr ArgumentInfo kGENERATE_PROPOSALS_0_inputs[] = {
    {"scores", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"deltas", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"anchors", 1, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"image_sizes", 2, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"height_ratio", 3, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"width_ratio", 3, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"pre_nms_limit", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"post_nms_limit", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"iou_threshold", 3, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"min_size", 3, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, false, false, false, 1},
};
constexpr ArgumentInfo kGENERATE_PROPOSALS_0_outputs[] = {
    {"output_scores", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"output_rois", 2, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"output_batches", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kGENERATE_PROPOSALS_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT16_SYMM, OperandCode::TENSOR_QUANT16_ASYMM, OperandCode::FLOAT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT16_SYMM, OperandCode::TENSOR_QUANT16_ASYMM, OperandCode::FLOAT32}},
};
constexpr SignatureInfo kGENERATE_PROPOSALS[] = {
    {"default", 3, view(kGENERATE_PROPOSALS_0_inputs), view(kGENERATE_PROPOSALS_0_outputs), view(kGENERATE_PROPOSALS_0_types)},
};

constexpr ArgumentInfo kGREATER_0_inputs[] = {
    {"input1", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kGREATER_0_outputs[] = {
    {"output", kFixedType, OperandCode::TENSOR_BOOL8, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kGREATER_0_types[] = {
    {3, {OperandCode::TENSOR_BOOL8}},
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kGREATER[] = {
    {"default", 3, view(kGREATER_0_inputs), view(kGREATER_0_outputs), view(kGREATER_0_types)},
};

constexpr ArgumentInfo kGREATER_EQUAL_0_inputs[] = {
    {"input1", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kGREATER_EQUAL_0_outputs[] = {
    {"output", kFixedType, OperandCode::TENSOR_BOOL8, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kGREATER_EQUAL_0_types[] = {
    {3, {OperandCode::TENSOR_BOOL8}},
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kGREATER_EQUAL[] = {
    {"default", 3, view(kGREATER_EQUAL_0_inputs), view(kGREATER_EQUAL_0_outputs), view(kGREATER_EQUAL_0_types)},
};

constexpr ArgumentInfo kGROUPED_CONV_2D_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"filter", 1, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"bias", 2, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"padding_left", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_right", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_top", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_bottom", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"groups", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, false, false, false, 1},
};
constexpr ArgumentInfo kGROUPED_CONV_2D_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kGROUPED_CONV_2D_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
};
constexpr ArgumentInfo kGROUPED_CONV_2D_1_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"filter", 1, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"bias", 2, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"padding_scheme", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kPaddingScheme, false, false, false, 1},
    {"stride_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"groups", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, false, false, false, 1},
};
constexpr ArgumentInfo kGROUPED_CONV_2D_1_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kGROUPED_CONV_2D_1_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
};
constexpr SignatureInfo kGROUPED_CONV_2D[] = {
    {"explicit_padding", 3, view(kGROUPED_CONV_2D_0_inputs), view(kGROUPED_CONV_2D_0_outputs), view(kGROUPED_CONV_2D_0_types)},
    {"implicit_padding", 3, view(kGROUPED_CONV_2D_1_inputs), view(kGROUPED_CONV_2D_1_outputs), view(kGROUPED_CONV_2D_1_types)},
};

constexpr ArgumentInfo kHEATMAP_MAX_KEYPOINT_0_inputs[] = {
    {"heatmaps", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"boxes", 1, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, false, false, false, 1},
};
constexpr ArgumentInfo kHEATMAP_MAX_KEYPOINT_0_outputs[] = {
    {"output_scores", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"output_keypoints", 1, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kHEATMAP_MAX_KEYPOINT_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT16_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT16_ASYMM}},
};
constexpr SignatureInfo kHEATMAP_MAX_KEYPOINT[] = {
    {"default", 3, view(kHEATMAP_MAX_KEYPOINT_0_inputs), view(kHEATMAP_MAX_KEYPOINT_0_outputs), view(kHEATMAP_MAX_KEYPOINT_0_types)},
};

constexpr ArgumentInfo kINSTANCE_NORMALIZATION_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"gamma", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"beta", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"epsilon", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, false, false, false, 1},
};
constexpr ArgumentInfo kINSTANCE_NORMALIZATION_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kINSTANCE_NORMALIZATION_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
};
constexpr SignatureInfo kINSTANCE_NORMALIZATION[] = {
    {"default", 3, view(kINSTANCE_NORMALIZATION_0_inputs), view(kINSTANCE_NORMALIZATION_0_outputs), view(kINSTANCE_NORMALIZATION_0_types)},
};

constexpr ArgumentInfo kLESS_0_inputs[] = {
    {"input1", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kLESS_0_outputs[] = {
    {"output", kFixedType, OperandCode::TENSOR_BOOL8, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kLESS_0_types[] = {
    {3, {OperandCode::TENSOR_BOOL8}},
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kLESS[] = {
    {"default", 3, view(kLESS_0_inputs), view(kLESS_0_outputs), view(kLESS_0_types)},
};

constexpr ArgumentInfo kLESS_EQUAL_0_inputs[] = {
    {"input1", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kLESS_EQUAL_0_outputs[] = {
    {"output", kFixedType, OperandCode::TENSOR_BOOL8, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kLESS_EQUAL_0_types[] = {
    {3, {OperandCode::TENSOR_BOOL8}},
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kLESS_EQUAL[] = {
    {"default", 3, view(kLESS_EQUAL_0_inputs), view(kLESS_EQUAL_0_outputs), view(kLESS_EQUAL_0_types)},
};

constexpr ArgumentInfo kLOG_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kLOG_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kLOG_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kLOG[] = {
    {"default", 3, view(kLOG_0_inputs), view(kLOG_0_outputs), view(kLOG_0_types)},
};

constexpr ArgumentInfo kLOGICAL_AND_0_inputs[] = {
    {"input1", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kLOGICAL_AND_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kLOGICAL_AND_0_types[] = {
    {3, {OperandCode::TENSOR_BOOL8}},
};
constexpr SignatureInfo kLOGICAL_AND[] = {
    {"default", 3, view(kLOGICAL_AND_0_inputs), view(kLOGICAL_AND_0_outputs), view(kLOGICAL_AND_0_types)},
};

constexpr ArgumentInfo kLOGICAL_NOT_0_inputs[] = {
    {"input", kFixedType, OperandCode::TENSOR_BOOL8, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kLOGICAL_NOT_0_outputs[] = {
    {"output", kFixedType, OperandCode::TENSOR_BOOL8, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kLOGICAL_NOT_0_types[] = {
    {3, {OperandCode::TENSOR_BOOL8}},
};
constexpr SignatureInfo kLOGICAL_NOT[] = {
    {"default", 3, view(kLOGICAL_NOT_0_inputs), view(kLOGICAL_NOT_0_outputs), view(kLOGICAL_NOT_0_types)},
};

constexpr ArgumentInfo kLOGICAL_OR_0_inputs[] = {
    {"input1", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kLOGICAL_OR_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kLOGICAL_OR_0_types[] = {
    {3, {OperandCode::TENSOR_BOOL8}},
};
constexpr SignatureInfo kLOGICAL_OR[] = {
    {"default", 3, view(kLOGICAL_OR_0_inputs), view(kLOGICAL_OR_0_outputs), view(kLOGICAL_OR_0_types)},
};

constexpr ArgumentInfo kLOG_SOFTMAX_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"beta", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"axis", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kAxis, false, false, false, 1},
};
constexpr ArgumentInfo kLOG_SOFTMAX_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kLOG_SOFTMAX_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
};
constexpr SignatureInfo kLOG_SOFTMAX[] = {
    {"default", 3, view(kLOG_SOFTMAX_0_inputs), view(kLOG_SOFTMAX_0_outputs), view(kLOG_SOFTMAX_0_types)},
};

constexpr ArgumentInfo kMAXIMUM_0_inputs[] = {
    {"input1", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kMAXIMUM_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kMAXIMUM_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kMAXIMUM[] = {
    {"default", 3, view(kMAXIMUM_0_inputs), view(kMAXIMUM_0_outputs), view(kMAXIMUM_0_types)},
};

constexpr ArgumentInfo kMINIMUM_0_inputs[] = {
    {"input1", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kMINIMUM_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kMINIMUM_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kMINIMUM[] = {
    {"default", 3, view(kMINIMUM_0_inputs), view(kMINIMUM_0_outputs), view(kMINIMUM_0_types)},
};

constexpr ArgumentInfo kNEG_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kNEG_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kNEG_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
};
constexpr SignatureInfo kNEG[] = {
    {"default", 3, view(kNEG_0_inputs), view(kNEG_0_outputs), view(kNEG_0_types)},
};

constexpr ArgumentInfo kNOT_EQUAL_0_inputs[] = {
    {"input1", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kNOT_EQUAL_0_outputs[] = {
    {"output", kFixedType, OperandCode::TENSOR_BOOL8, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kNOT_EQUAL_0_types[] = {
    {3, {OperandCode::TENSOR_BOOL8}},
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kNOT_EQUAL[] = {
    {"default", 3, view(kNOT_EQUAL_0_inputs), view(kNOT_EQUAL_0_outputs), view(kNOT_EQUAL_0_types)},
};

constexpr ArgumentInfo kPAD_V2_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"paddings", kFixedType, OperandCode::TENSOR_INT32, 2, 2, ArgumentRole::kPerAxisPairs, false, false, false, 1},
    {"pad_value", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kPAD_V2_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kPAD_V2_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::INT32}},
};
constexpr SignatureInfo kPAD_V2[] = {
    {"default", 3, view(kPAD_V2_0_inputs), view(kPAD_V2_0_outputs), view(kPAD_V2_0_types)},
};

constexpr ArgumentInfo kPOW_0_inputs[] = {
    {"base", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"exponent", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kPOW_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kPOW_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kPOW[] = {
    {"default", 3, view(kPOW_0_inputs), view(kPOW_0_outputs), view(kPOW_0_types)},
};

constexpr ArgumentInfo kPRELU_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"alpha", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kPRELU_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kPRELU_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kPRELU[] = {
    {"default", 3, view(kPRELU_0_inputs), view(kPRELU_0_outputs), view(kPRELU_0_types)},
};

constexpr ArgumentInfo kQUANTIZE_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kQUANTIZE_0_outputs[] = {
    {"output", 1, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kQUANTIZE_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_QUANT8_ASYMM}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
    {4, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kQUANTIZE[] = {
    {"default", 3, view(kQUANTIZE_0_inputs), view(kQUANTIZE_0_outputs), view(kQUANTIZE_0_types)},
};

constexpr ArgumentInfo kQUANTIZED_16BIT_LSTM_0_inputs[] = {
    {"input", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"input_to_input_weights", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"input_to_forget_weights", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"input_to_cell_weights", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"input_to_output_weights", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"recurrent_to_input_weights", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"recurrent_to_forget_weights", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"recurrent_to_cell_weights", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"recurrent_to_output_weights", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"input_gate_bias", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"forget_gate_bias", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"cell_gate_bias", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"output_gate_bias", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"cell_state_in", kFixedType, OperandCode::TENSOR_QUANT16_SYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"output_state_in", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kQUANTIZED_16BIT_LSTM_0_outputs[] = {
    {"cell_state_out", kFixedType, OperandCode::TENSOR_QUANT16_SYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"output", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kQUANTIZED_16BIT_LSTM_0_types[] = {
    {3, {OperandCode::FLOAT32}},
};
constexpr SignatureInfo kQUANTIZED_16BIT_LSTM[] = {
    {"default", 3, view(kQUANTIZED_16BIT_LSTM_0_inputs), view(kQUANTIZED_16BIT_LSTM_0_outputs), view(kQUANTIZED_16BIT_LSTM_0_types)},
};

constexpr ArgumentInfo kRANDOM_MULTINOMIAL_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"sample_count", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"seeds", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kRANDOM_MULTINOMIAL_0_outputs[] = {
    {"output", kFixedType, OperandCode::TENSOR_INT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kRANDOM_MULTINOMIAL_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kRANDOM_MULTINOMIAL[] = {
    {"default", 3, view(kRANDOM_MULTINOMIAL_0_inputs), view(kRANDOM_MULTINOMIAL_0_outputs), view(kRANDOM_MULTINOMIAL_0_types)},
};

constexpr ArgumentInfo kREDUCE_ALL_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"axes", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kAxes, false, false, false, 1},
    {"keep_dims", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kREDUCE_ALL_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kREDUCE_ALL_0_types[] = {
    {3, {OperandCode::TENSOR_BOOL8}},
};
constexpr SignatureInfo kREDUCE_ALL[] = {
    {"default", 3, view(kREDUCE_ALL_0_inputs), view(kREDUCE_ALL_0_outputs), view(kREDUCE_ALL_0_types)},
};

constexpr ArgumentInfo kREDUCE_ANY_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"axes", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kAxes, false, false, false, 1},
    {"keep_dims", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kREDUCE_ANY_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kREDUCE_ANY_0_types[] = {
    {3, {OperandCode::TENSOR_BOOL8}},
};
constexpr SignatureInfo kREDUCE_ANY[] = {
    {"default", 3, view(kREDUCE_ANY_0_inputs), view(kREDUCE_ANY_0_outputs), view(kREDUCE_ANY_0_types)},
};

constexpr ArgumentInfo kREDUCE_MAX_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"axes", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kAxes, false, false, false, 1},
    {"keep_dims", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kREDUCE_MAX_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kREDUCE_MAX_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kREDUCE_MAX[] = {
    {"default", 3, view(kREDUCE_MAX_0_inputs), view(kREDUCE_MAX_0_outputs), view(kREDUCE_MAX_0_types)},
};

constexpr ArgumentInfo kREDUCE_MIN_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"axes", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kAxes, false, false, false, 1},
    {"keep_dims", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kREDUCE_MIN_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kREDUCE_MIN_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kREDUCE_MIN[] = {
    {"default", 3, view(kREDUCE_MIN_0_inputs), view(kREDUCE_MIN_0_outputs), view(kREDUCE_MIN_0_types)},
};

constexpr ArgumentInfo kREDUCE_PROD_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"axes", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kAxes, false, false, false, 1},
    {"keep_dims", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kREDUCE_PROD_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kREDUCE_PROD_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kREDUCE_PROD[] = {
    {"default", 3, view(kREDUCE_PROD_0_inputs), view(kREDUCE_PROD_0_outputs), view(kREDUCE_PROD_0_types)},
};

constexpr ArgumentInfo kREDUCE_SUM_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
    {"axes", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kAxes, false, false, false, 1},
    {"keep_dims", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kREDUCE_SUM_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kREDUCE_SUM_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kREDUCE_SUM[] = {
    {"default", 3, view(kREDUCE_SUM_0_inputs), view(kREDUCE_SUM_0_outputs), view(kREDUCE_SUM_0_types)},
};

constexpr ArgumentInfo kROI_ALIGN_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"rois", 1, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"batches", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"output_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"output_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"height_ratio", 2, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"width_ratio", 2, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"height_samples", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"width_samples", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, false, false, false, 1},
};
constexpr ArgumentInfo kROI_ALIGN_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kROI_ALIGN_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT16_ASYMM, OperandCode::FLOAT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT16_ASYMM, OperandCode::FLOAT32}},
};
constexpr SignatureInfo kROI_ALIGN[] = {
    {"default", 3, view(kROI_ALIGN_0_inputs), view(kROI_ALIGN_0_outputs), view(kROI_ALIGN_0_types)},
};

constexpr ArgumentInfo kROI_POOLING_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"rois", 1, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"batches", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"output_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"output_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"height_ratio", 2, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"width_ratio", 2, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, false, false, false, 1},
};
constexpr ArgumentInfo kROI_POOLING_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kROI_POOLING_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT16_ASYMM, OperandCode::FLOAT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT16_ASYMM, OperandCode::FLOAT32}},
};
constexpr SignatureInfo kROI_POOLING[] = {
    {"default", 3, view(kROI_POOLING_0_inputs), view(kROI_POOLING_0_outputs), view(kROI_POOLING_0_types)},
};

constexpr ArgumentInfo kRSQRT_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kRSQRT_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kRSQRT_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {7, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {7, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kRSQRT[] = {
    {"default", 3, view(kRSQRT_0_inputs), view(kRSQRT_0_outputs), view(kRSQRT_0_types)},
};

constexpr ArgumentInfo kSELECT_0_inputs[] = {
    {"condition", kFixedType, OperandCode::TENSOR_BOOL8, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"input1", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kSELECT_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kSELECT_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kSELECT[] = {
    {"default", 3, view(kSELECT_0_inputs), view(kSELECT_0_outputs), view(kSELECT_0_types)},
};

constexpr ArgumentInfo kSIN_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kSIN_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kSIN_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kSIN[] = {
    {"default", 3, view(kSIN_0_inputs), view(kSIN_0_outputs), view(kSIN_0_types)},
};

constexpr ArgumentInfo kSLICE_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"begin", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kPerAxisVector, false, false, false, 1},
    {"size", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kPerAxisVector, false, false, false, 1},
};
constexpr ArgumentInfo kSLICE_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kSLICE_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kSLICE[] = {
    {"default", 3, view(kSLICE_0_inputs), view(kSLICE_0_outputs), view(kSLICE_0_types)},
};

constexpr ArgumentInfo kSPLIT_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"axis", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kAxis, false, false, false, 1},
    {"split_count", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kSPLIT_0_outputs[] = {
    {"outputs", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, true, 1},
};
constexpr TypeCombination kSPLIT_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kSPLIT[] = {
    {"default", 3, view(kSPLIT_0_inputs), view(kSPLIT_0_outputs), view(kSPLIT_0_types)},
};

constexpr ArgumentInfo kSQRT_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kSQRT_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kSQRT_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kSQRT[] = {
    {"default", 3, view(kSQRT_0_inputs), view(kSQRT_0_outputs), view(kSQRT_0_types)},
};

constexpr ArgumentInfo kTILE_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"multiples", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kPerAxisVector, false, false, false, 1},
};
constexpr ArgumentInfo kTILE_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kTILE_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kTILE[] = {
    {"default", 3, view(kTILE_0_inputs), view(kTILE_0_outputs), view(kTILE_0_types)},
};

constexpr ArgumentInfo kTOPK_V2_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"k", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kTOPK_V2_0_outputs[] = {
    {"values", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"indices", kFixedType, OperandCode::TENSOR_INT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kTOPK_V2_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kTOPK_V2[] = {
    {"default", 3, view(kTOPK_V2_0_inputs), view(kTOPK_V2_0_outputs), view(kTOPK_V2_0_types)},
};

constexpr ArgumentInfo kTRANSPOSE_CONV_2D_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"filter", 1, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"bias", 2, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"padding_left", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_right", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_top", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"padding_bottom", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, false, false, false, 1},
};
constexpr ArgumentInfo kTRANSPOSE_CONV_2D_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kTRANSPOSE_CONV_2D_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
};
constexpr ArgumentInfo kTRANSPOSE_CONV_2D_1_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"filter", 1, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"bias", 2, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"output_shape", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kShape, false, false, false, 1},
    {"padding_scheme", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kPaddingScheme, false, false, false, 1},
    {"stride_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"stride_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, false, false, false, 1},
};
constexpr ArgumentInfo kTRANSPOSE_CONV_2D_1_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kTRANSPOSE_CONV_2D_1_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32, OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_INT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16, OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, OperandCode::TENSOR_INT32}},
};
constexpr SignatureInfo kTRANSPOSE_CONV_2D[] = {
    {"explicit_padding", 3, view(kTRANSPOSE_CONV_2D_0_inputs), view(kTRANSPOSE_CONV_2D_0_outputs), view(kTRANSPOSE_CONV_2D_0_types)},
    {"implicit_padding", 3, view(kTRANSPOSE_CONV_2D_1_inputs), view(kTRANSPOSE_CONV_2D_1_outputs), view(kTRANSPOSE_CONV_2D_1_types)},
};

constexpr ArgumentInfo kUNIDIRECTIONAL_SEQUENCE_LSTM_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"input_to_input_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"input_to_forget_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"input_to_cell_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"input_to_output_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"recurrent_to_input_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"recurrent_to_forget_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"recurrent_to_cell_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"recurrent_to_output_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"cell_to_input_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"cell_to_forget_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"cell_to_output_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"input_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"forget_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"cell_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"output_gate_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"projection_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"projection_bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"output_state_in", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"cell_state_in", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"cell_clip", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"projection_clip", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"time_major", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"input_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"forget_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"cell_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"output_layer_norm_weights", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
};
constexpr ArgumentInfo kUNIDIRECTIONAL_SEQUENCE_LSTM_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"output_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, true, false, false, 4},
    {"cell_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, true, false, false, 4},
};
constexpr TypeCombination kUNIDIRECTIONAL_SEQUENCE_LSTM_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
};
constexpr SignatureInfo kUNIDIRECTIONAL_SEQUENCE_LSTM[] = {
    {"default", 3, view(kUNIDIRECTIONAL_SEQUENCE_LSTM_0_inputs), view(kUNIDIRECTIONAL_SEQUENCE_LSTM_0_outputs), view(kUNIDIRECTIONAL_SEQUENCE_LSTM_0_types)},
};

constexpr ArgumentInfo kUNIDIRECTIONAL_SEQUENCE_RNN_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"recurrent_weights", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"bias", 0, OperandCode::FLOAT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"hidden_state_in", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"activation", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kActivation, false, false, false, 1},
    {"time_major", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kUNIDIRECTIONAL_SEQUENCE_RNN_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 3, 3, ArgumentRole::kNone, false, false, false, 1},
    {"hidden_state_out", 0, OperandCode::FLOAT32, 2, 2, ArgumentRole::kNone, true, false, false, 4},
};
constexpr TypeCombination kUNIDIRECTIONAL_SEQUENCE_RNN_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
};
constexpr SignatureInfo kUNIDIRECTIONAL_SEQUENCE_RNN[] = {
    {"default", 3, view(kUNIDIRECTIONAL_SEQUENCE_RNN_0_inputs), view(kUNIDIRECTIONAL_SEQUENCE_RNN_0_outputs), view(kUNIDIRECTIONAL_SEQUENCE_RNN_0_types)},
};

constexpr ArgumentInfo kRESIZE_NEAREST_NEIGHBOR_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"output_width", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"output_height", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, false, false, false, 1},
    {"align_corners", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, true, false, false, 4},
    {"half_pixel_centers", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, true, false, false, 4},
};
constexpr ArgumentInfo kRESIZE_NEAREST_NEIGHBOR_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kRESIZE_NEAREST_NEIGHBOR_0_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr ArgumentInfo kRESIZE_NEAREST_NEIGHBOR_1_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
    {"width_scale", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"height_scale", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"layout", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kLayout, false, false, false, 1},
    {"align_corners", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, true, false, false, 4},
    {"half_pixel_centers", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, true, false, false, 4},
};
constexpr ArgumentInfo kRESIZE_NEAREST_NEIGHBOR_1_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 4, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kRESIZE_NEAREST_NEIGHBOR_1_types[] = {
    {3, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {3, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
    {3, {OperandCode::TENSOR_QUANT8_ASYMM, OperandCode::FLOAT32}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, OperandCode::FLOAT32}},
};
constexpr SignatureInfo kRESIZE_NEAREST_NEIGHBOR[] = {
    {"by_size", 3, view(kRESIZE_NEAREST_NEIGHBOR_0_inputs), view(kRESIZE_NEAREST_NEIGHBOR_0_outputs), view(kRESIZE_NEAREST_NEIGHBOR_0_types)},
    {"by_scale", 3, view(kRESIZE_NEAREST_NEIGHBOR_1_inputs), view(kRESIZE_NEAREST_NEIGHBOR_1_outputs), view(kRESIZE_NEAREST_NEIGHBOR_1_types)},
};

constexpr ArgumentInfo kQUANTIZED_LSTM_0_inputs[] = {
    {"input", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"input_to_input_weights", kFixedType, OperandCode::TENSOR_QUANT8_SYMM, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"input_to_forget_weights", kFixedType, OperandCode::TENSOR_QUANT8_SYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"input_to_cell_weights", kFixedType, OperandCode::TENSOR_QUANT8_SYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"input_to_output_weights", kFixedType, OperandCode::TENSOR_QUANT8_SYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"recurrent_to_input_weights", kFixedType, OperandCode::TENSOR_QUANT8_SYMM, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"recurrent_to_forget_weights", kFixedType, OperandCode::TENSOR_QUANT8_SYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"recurrent_to_cell_weights", kFixedType, OperandCode::TENSOR_QUANT8_SYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"recurrent_to_output_weights", kFixedType, OperandCode::TENSOR_QUANT8_SYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"cell_to_input_weights", kFixedType, OperandCode::TENSOR_QUANT16_SYMM, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"cell_to_forget_weights", kFixedType, OperandCode::TENSOR_QUANT16_SYMM, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"cell_to_output_weights", kFixedType, OperandCode::TENSOR_QUANT16_SYMM, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"input_gate_bias", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"forget_gate_bias", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"cell_gate_bias", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"output_gate_bias", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"projection_weights", kFixedType, OperandCode::TENSOR_QUANT8_SYMM, 2, 2, ArgumentRole::kNone, false, true, false, 1},
    {"projection_bias", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"output_state_in", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"cell_state_in", kFixedType, OperandCode::TENSOR_QUANT16_SYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"input_layer_norm_weights", kFixedType, OperandCode::TENSOR_QUANT16_SYMM, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"forget_layer_norm_weights", kFixedType, OperandCode::TENSOR_QUANT16_SYMM, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"cell_layer_norm_weights", kFixedType, OperandCode::TENSOR_QUANT16_SYMM, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"output_layer_norm_weights", kFixedType, OperandCode::TENSOR_QUANT16_SYMM, 1, 1, ArgumentRole::kNone, false, true, false, 1},
    {"cell_clip", kFixedType, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, true, false, 1},
    {"projection_clip", kFixedType, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, true, false, 1},
    {"input_intermediate_scale", kFixedType, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"forget_intermediate_scale", kFixedType, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"cell_intermediate_scale", kFixedType, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"output_intermediate_scale", kFixedType, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"hidden_state_zero_point", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"hidden_state_scale", kFixedType, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kQUANTIZED_LSTM_0_outputs[] = {
    {"output_state_out", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"cell_state_out", kFixedType, OperandCode::TENSOR_QUANT16_SYMM, 2, 2, ArgumentRole::kNone, false, false, false, 1},
    {"output", kFixedType, OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, 2, 2, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kQUANTIZED_LSTM_0_types[] = {
    {4, {OperandCode::FLOAT32}},
};
constexpr SignatureInfo kQUANTIZED_LSTM[] = {
    {"default", 4, view(kQUANTIZED_LSTM_0_inputs), view(kQUANTIZED_LSTM_0_outputs), view(kQUANTIZED_LSTM_0_types)},
};

constexpr ArgumentInfo kIF_0_inputs[] = {
    {"condition", kFixedType, OperandCode::TENSOR_BOOL8, 1, 1, ArgumentRole::kNone, false, false, false, 1},
    {"then_model", kFixedType, OperandCode::MODEL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"else_model", kFixedType, OperandCode::MODEL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"inputs", kAnyType, OperandCode::FLOAT32, 0, kAnyRank, ArgumentRole::kNone, true, false, true, 4},
};
constexpr ArgumentInfo kIF_0_outputs[] = {
    {"outputs", kAnyType, OperandCode::FLOAT32, 0, kAnyRank, ArgumentRole::kNone, false, false, true, 1},
};
constexpr TypeCombination kIF_0_types[] = {
    {4, {OperandCode::FLOAT32}},
};
constexpr SignatureInfo kIF[] = {
    {"default", 4, view(kIF_0_inputs), view(kIF_0_outputs), view(kIF_0_types)},
};

constexpr ArgumentInfo kWHILE_0_inputs[] = {
    {"condition_model", kFixedType, OperandCode::MODEL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"body_model", kFixedType, OperandCode::MODEL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"inputs", kAnyType, OperandCode::FLOAT32, 0, kAnyRank, ArgumentRole::kNone, false, false, true, 1},
};
constexpr ArgumentInfo kWHILE_0_outputs[] = {
    {"outputs", kAnyType, OperandCode::FLOAT32, 0, kAnyRank, ArgumentRole::kNone, false, false, true, 1},
};
constexpr TypeCombination kWHILE_0_types[] = {
    {4, {OperandCode::FLOAT32}},
};
constexpr SignatureInfo kWHILE[] = {
    {"default", 4, view(kWHILE_0_inputs), view(kWHILE_0_outputs), view(kWHILE_0_types)},
};

constexpr ArgumentInfo kELU_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"alpha", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kELU_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kELU_0_types[] = {
    {4, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {4, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
};
constexpr SignatureInfo kELU[] = {
    {"default", 4, view(kELU_0_inputs), view(kELU_0_outputs), view(kELU_0_types)},
};

constexpr ArgumentInfo kHARD_SWISH_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kHARD_SWISH_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kHARD_SWISH_0_types[] = {
    {4, {OperandCode::TENSOR_FLOAT32}},
    {4, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kHARD_SWISH[] = {
    {"default", 4, view(kHARD_SWISH_0_inputs), view(kHARD_SWISH_0_outputs), view(kHARD_SWISH_0_types)},
};

constexpr ArgumentInfo kFILL_0_inputs[] = {
    {"dimensions", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kShape, false, false, false, 1},
    {"value", 1, OperandCode::FLOAT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kFILL_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kFILL_0_types[] = {
    {4, {OperandCode::TENSOR_FLOAT32, OperandCode::FLOAT32}},
    {4, {OperandCode::TENSOR_FLOAT16, OperandCode::FLOAT16}},
    {4, {OperandCode::TENSOR_INT32, OperandCode::INT32}},
};
constexpr SignatureInfo kFILL[] = {
    {"default", 4, view(kFILL_0_inputs), view(kFILL_0_outputs), view(kFILL_0_types)},
};

constexpr ArgumentInfo kRANK_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kRANK_0_outputs[] = {
    {"output", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kRANK_0_types[] = {
    {4, {OperandCode::TENSOR_FLOAT32}},
    {4, {OperandCode::TENSOR_FLOAT16}},
    {4, {OperandCode::TENSOR_INT32}},
    {4, {OperandCode::TENSOR_BOOL8}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
    {4, {OperandCode::TENSOR_QUANT16_ASYMM}},
    {4, {OperandCode::TENSOR_QUANT16_SYMM}},
    {4, {OperandCode::TENSOR_QUANT8_SYMM}},
    {4, {OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL}},
};
constexpr SignatureInfo kRANK[] = {
    {"default", 4, view(kRANK_0_inputs), view(kRANK_0_outputs), view(kRANK_0_types)},
};

constexpr ArgumentInfo kBATCH_MATMUL_0_inputs[] = {
    {"input1", 0, OperandCode::FLOAT32, 2, 4, ArgumentRole::kNone, false, false, false, 1},
    {"input2", 0, OperandCode::FLOAT32, 2, 4, ArgumentRole::kNone, false, false, false, 1},
    {"adjoint1", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
    {"adjoint2", kFixedType, OperandCode::BOOL, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kBATCH_MATMUL_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 2, 4, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kBATCH_MATMUL_0_types[] = {
    {6, {OperandCode::TENSOR_FLOAT32}},
    {6, {OperandCode::TENSOR_FLOAT16}},
    {6, {OperandCode::TENSOR_INT32}},
    {6, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kBATCH_MATMUL[] = {
    {"default", 6, view(kBATCH_MATMUL_0_inputs), view(kBATCH_MATMUL_0_outputs), view(kBATCH_MATMUL_0_types)},
};

constexpr ArgumentInfo kPACK_0_inputs[] = {
    {"axis", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNewAxis, false, false, false, 1},
    {"inputs", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, true, 1},
};
constexpr ArgumentInfo kPACK_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 2, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kPACK_0_types[] = {
    {6, {OperandCode::TENSOR_FLOAT32}},
    {6, {OperandCode::TENSOR_FLOAT16}},
    {6, {OperandCode::TENSOR_INT32}},
    {6, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {6, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kPACK[] = {
    {"default", 6, view(kPACK_0_inputs), view(kPACK_0_outputs), view(kPACK_0_types)},
};

constexpr ArgumentInfo kMIRROR_PAD_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
    {"paddings", kFixedType, OperandCode::TENSOR_INT32, 2, 2, ArgumentRole::kPerAxisPairs, false, false, false, 1},
    {"mode", kFixedType, OperandCode::INT32, 0, 0, ArgumentRole::kNone, false, false, false, 1},
};
constexpr ArgumentInfo kMIRROR_PAD_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, kAnyRank, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kMIRROR_PAD_0_types[] = {
    {7, {OperandCode::TENSOR_FLOAT32}},
    {7, {OperandCode::TENSOR_FLOAT16}},
    {7, {OperandCode::TENSOR_INT32}},
    {7, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {7, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kMIRROR_PAD[] = {
    {"default", 7, view(kMIRROR_PAD_0_inputs), view(kMIRROR_PAD_0_outputs), view(kMIRROR_PAD_0_types)},
};

constexpr ArgumentInfo kREVERSE_0_inputs[] = {
    {"input", 0, OperandCode::FLOAT32, 1, 8, ArgumentRole::kNone, false, false, false, 1},
    {"axis", kFixedType, OperandCode::TENSOR_INT32, 1, 1, ArgumentRole::kAxes, false, false, false, 1},
};
constexpr ArgumentInfo kREVERSE_0_outputs[] = {
    {"output", 0, OperandCode::FLOAT32, 1, 8, ArgumentRole::kNone, false, false, false, 1},
};
constexpr TypeCombination kREVERSE_0_types[] = {
    {7, {OperandCode::TENSOR_FLOAT32}},
    {7, {OperandCode::TENSOR_FLOAT16}},
    {7, {OperandCode::TENSOR_INT32}},
    {7, {OperandCode::TENSOR_QUANT8_ASYMM}},
    {7, {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED}},
};
constexpr SignatureInfo kREVERSE[] = {
    {"default", 7, view(kREVERSE_0_inputs), view(kREVERSE_0_outputs), view(kREVERSE_0_types)},
};

// In the order of the codes, without gaps.
constexpr OperationInfo kOperations[] = {
    {OperationCode::ADD, "ADD", 1, view(kADD), 0x2003, IntegerForm::kFree, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::AVERAGE_POOL_2D, "AVERAGE_POOL_2D", 1, view(kAVERAGE_POOL_2D), 0x1000, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::CONCATENATION, "CONCATENATION", 1, view(kCONCATENATION), 0x2100, IntegerForm::kFree, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::CONV_2D, "CONV_2D", 1, view(kCONV_2D), 0xc00, IntegerForm::kWeighted, 0, {0, 0}, FuseCode::NONE},
    {OperationCode::DEPTHWISE_CONV_2D, "DEPTHWISE_CONV_2D", 1, view(kDEPTHWISE_CONV_2D), 0xc00, IntegerForm::kWeighted, 3, {0, 0}, FuseCode::NONE},
    {OperationCode::DEPTH_TO_SPACE, "DEPTH_TO_SPACE", 1, view(kDEPTH_TO_SPACE), 0x10a0, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::DEQUANTIZE, "DEQUANTIZE", 1, view(kDEQUANTIZE), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::EMBEDDING_LOOKUP, "EMBEDDING_LOOKUP", 1, view(kEMBEDDING_LOOKUP), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::FLOOR, "FLOOR", 1, view(kFLOOR), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::FULLY_CONNECTED, "FULLY_CONNECTED", 1, view(kFULLY_CONNECTED), 0x800, IntegerForm::kWeighted, 0, {0, 0}, FuseCode::NONE},
    {OperationCode::HASHTABLE_LOOKUP, "HASHTABLE_LOOKUP", 1, view(kHASHTABLE_LOOKUP), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::L2_NORMALIZATION, "L2_NORMALIZATION", 1, view(kL2_NORMALIZATION), 0x100, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::L2_POOL_2D, "L2_POOL_2D", 1, view(kL2_POOL_2D), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::LOCAL_RESPONSE_NORMALIZATION, "LOCAL_RESPONSE_NORMALIZATION", 1, view(kLOCAL_RESPONSE_NORMALIZATION), 0x100, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::LOGISTIC, "LOGISTIC", 1, view(kLOGISTIC), 0x9, IntegerForm::kFixed, -1, {256, 0}, FuseCode::NONE},
    {OperationCode::LSH_PROJECTION, "LSH_PROJECTION", 1, view(kLSH_PROJECTION), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::LSTM, "LSTM", 1, view(kLSTM), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::MAX_POOL_2D, "MAX_POOL_2D", 1, view(kMAX_POOL_2D), 0x1020, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::MUL, "MUL", 1, view(kMUL), 0x3, IntegerForm::kFree, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::RELU, "RELU", 1, view(kRELU), 0x1009, IntegerForm::kTied, -1, {0, 0}, FuseCode::RELU},
    {OperationCode::RELU1, "RELU1", 1, view(kRELU1), 0x9, IntegerForm::kTied, -1, {0, 0}, FuseCode::RELU1},
    {OperationCode::RELU6, "RELU6", 1, view(kRELU6), 0x9, IntegerForm::kTied, -1, {0, 0}, FuseCode::RELU6},
    {OperationCode::RESHAPE, "RESHAPE", 1, view(kRESHAPE), 0x10e0, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::RESIZE_BILINEAR, "RESIZE_BILINEAR", 1, view(kRESIZE_BILINEAR), 0x1000, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::RNN, "RNN", 1, view(kRNN), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::SOFTMAX, "SOFTMAX", 1, view(kSOFTMAX), 0x110, IntegerForm::kFixed, -1, {256, 0}, FuseCode::NONE},
    {OperationCode::SPACE_TO_DEPTH, "SPACE_TO_DEPTH", 1, view(kSPACE_TO_DEPTH), 0x10a0, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::SVDF, "SVDF", 1, view(kSVDF), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::TANH, "TANH", 1, view(kTANH), 0x9, IntegerForm::kFixed, -1, {128, 128}, FuseCode::NONE},
    {OperationCode::BATCH_TO_SPACE_ND, "BATCH_TO_SPACE_ND", 2, view(kBATCH_TO_SPACE_ND), 0x1020, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::DIV, "DIV", 2, view(kDIV), 0x3, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::MEAN, "MEAN", 2, view(kMEAN), 0x1180, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::PAD, "PAD", 2, view(kPAD), 0x1300, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::SPACE_TO_BATCH_ND, "SPACE_TO_BATCH_ND", 2, view(kSPACE_TO_BATCH_ND), 0x0, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::SQUEEZE, "SQUEEZE", 2, view(kSQUEEZE), 0x10e0, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::STRIDED_SLICE, "STRIDED_SLICE", 2, view(kSTRIDED_SLICE), 0x11a0, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::SUB, "SUB", 2, view(kSUB), 0x2003, IntegerForm::kFree, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::TRANSPOSE, "TRANSPOSE", 2, view(kTRANSPOSE), 0x10e0, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::ABS, "ABS", 3, view(kABS), 0x1001, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::ARGMAX, "ARGMAX", 3, view(kARGMAX), 0x4100, IntegerForm::kFree, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::ARGMIN, "ARGMIN", 3, view(kARGMIN), 0x4100, IntegerForm::kFree, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::AXIS_ALIGNED_BBOX_TRANSFORM, "AXIS_ALIGNED_BBOX_TRANSFORM", 3, view(kAXIS_ALIGNED_BBOX_TRANSFORM), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::BIDIRECTIONAL_SEQUENCE_LSTM, "BIDIRECTIONAL_SEQUENCE_LSTM", 3, view(kBIDIRECTIONAL_SEQUENCE_LSTM), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::BIDIRECTIONAL_SEQUENCE_RNN, "BIDIRECTIONAL_SEQUENCE_RNN", 3, view(kBIDIRECTIONAL_SEQUENCE_RNN), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::BOX_WITH_NMS_LIMIT, "BOX_WITH_NMS_LIMIT", 3, view(kBOX_WITH_NMS_LIMIT), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::CAST, "CAST", 3, view(kCAST), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::CHANNEL_SHUFFLE, "CHANNEL_SHUFFLE", 3, view(kCHANNEL_SHUFFLE), 0x11a0, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::DETECTION_POSTPROCESSING, "DETECTION_POSTPROCESSING", 3, view(kDETECTION_POSTPROCESSING), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::EQUAL, "EQUAL", 3, view(kEQUAL), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::EXP, "EXP", 3, view(kEXP), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::EXPAND_DIMS, "EXPAND_DIMS", 3, view(kEXPAND_DIMS), 0x10e0, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::GATHER, "GATHER", 3, view(kGATHER), 0x11a0, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::GENERATE_PROPOSALS, "GENERATE_PROPOSALS", 3, view(kGENERATE_PROPOSALS), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::GREATER, "GREATER", 3, view(kGREATER), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::GREATER_EQUAL, "GREATER_EQUAL", 3, view(kGREATER_EQUAL), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::GROUPED_CONV_2D, "GROUPED_CONV_2D", 3, view(kGROUPED_CONV_2D), 0xc00, IntegerForm::kWeighted, 0, {0, 0}, FuseCode::NONE},
    {OperationCode::HEATMAP_MAX_KEYPOINT, "HEATMAP_MAX_KEYPOINT", 3, view(kHEATMAP_MAX_KEYPOINT), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::INSTANCE_NORMALIZATION, "INSTANCE_NORMALIZATION", 3, view(kINSTANCE_NORMALIZATION), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::LESS, "LESS", 3, view(kLESS), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::LESS_EQUAL, "LESS_EQUAL", 3, view(kLESS_EQUAL), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::LOG, "LOG", 3, view(kLOG), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::LOGICAL_AND, "LOGICAL_AND", 3, view(kLOGICAL_AND), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::LOGICAL_NOT, "LOGICAL_NOT", 3, view(kLOGICAL_NOT), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::LOGICAL_OR, "LOGICAL_OR", 3, view(kLOGICAL_OR), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::LOG_SOFTMAX, "LOG_SOFTMAX", 3, view(kLOG_SOFTMAX), 0x110, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::MAXIMUM, "MAXIMUM", 3, view(kMAXIMUM), 0x2005, IntegerForm::kFree, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::MINIMUM, "MINIMUM", 3, view(kMINIMUM), 0x2005, IntegerForm::kFree, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::NEG, "NEG", 3, view(kNEG), 0x1001, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::NOT_EQUAL, "NOT_EQUAL", 3, view(kNOT_EQUAL), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::PAD_V2, "PAD_V2", 3, view(kPAD_V2), 0x300, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::POW, "POW", 3, view(kPOW), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::PRELU, "PRELU", 3, view(kPRELU), 0x9, IntegerForm::kFree, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::QUANTIZE, "QUANTIZE", 3, view(kQUANTIZE), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::QUANTIZED_16BIT_LSTM, "QUANTIZED_16BIT_LSTM", 3, view(kQUANTIZED_16BIT_LSTM), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::RANDOM_MULTINOMIAL, "RANDOM_MULTINOMIAL", 3, view(kRANDOM_MULTINOMIAL), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::REDUCE_ALL, "REDUCE_ALL", 3, view(kREDUCE_ALL), 0x100, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::REDUCE_ANY, "REDUCE_ANY", 3, view(kREDUCE_ANY), 0x100, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::REDUCE_MAX, "REDUCE_MAX", 3, view(kREDUCE_MAX), 0x11a0, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::REDUCE_MIN, "REDUCE_MIN", 3, view(kREDUCE_MIN), 0x11a0, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::REDUCE_PROD, "REDUCE_PROD", 3, view(kREDUCE_PROD), 0x100, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::REDUCE_SUM, "REDUCE_SUM", 3, view(kREDUCE_SUM), 0x1100, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::ROI_ALIGN, "ROI_ALIGN", 3, view(kROI_ALIGN), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::ROI_POOLING, "ROI_POOLING", 3, view(kROI_POOLING), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::RSQRT, "RSQRT", 3, view(kRSQRT), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::SELECT, "SELECT", 3, view(kSELECT), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::SIN, "SIN", 3, view(kSIN), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::SLICE, "SLICE", 3, view(kSLICE), 0x11a0, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::SPLIT, "SPLIT", 3, view(kSPLIT), 0x11a0, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::SQRT, "SQRT", 3, view(kSQRT), 0x1, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::TILE, "TILE", 3, view(kTILE), 0x11a0, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::TOPK_V2, "TOPK_V2", 3, view(kTOPK_V2), 0x1020, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::TRANSPOSE_CONV_2D, "TRANSPOSE_CONV_2D", 3, view(kTRANSPOSE_CONV_2D), 0xc00, IntegerForm::kWeighted, 0, {0, 0}, FuseCode::NONE},
    {OperationCode::UNIDIRECTIONAL_SEQUENCE_LSTM, "UNIDIRECTIONAL_SEQUENCE_LSTM", 3, view(kUNIDIRECTIONAL_SEQUENCE_LSTM), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::UNIDIRECTIONAL_SEQUENCE_RNN, "UNIDIRECTIONAL_SEQUENCE_RNN", 3, view(kUNIDIRECTIONAL_SEQUENCE_RNN), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::RESIZE_NEAREST_NEIGHBOR, "RESIZE_NEAREST_NEIGHBOR", 3, view(kRESIZE_NEAREST_NEIGHBOR), 0x1020, IntegerForm::kTied, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::QUANTIZED_LSTM, "QUANTIZED_LSTM", 4, view(kQUANTIZED_LSTM), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::IF, "IF", 4, view(kIF), 0x8000, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::WHILE, "WHILE", 4, view(kWHILE), 0x8000, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::ELU, "ELU", 4, view(kELU), 0x9, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::HARD_SWISH, "HARD_SWISH", 4, view(kHARD_SWISH), 0x9, IntegerForm::kFree, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::FILL, "FILL", 4, view(kFILL), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::RANK, "RANK", 4, view(kRANK), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::BATCH_MATMUL, "BATCH_MATMUL", 6, view(kBATCH_MATMUL), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::PACK, "PACK", 6, view(kPACK), 0x0, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::MIRROR_PAD, "MIRROR_PAD", 7, view(kMIRROR_PAD), 0x300, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
    {OperationCode::REVERSE, "REVERSE", 7, view(kREVERSE), 0x180, IntegerForm::kFloat, -1, {0, 0}, FuseCode::NONE},
};

constexpr OperandTypeInfo kOperandTypes[] = {
    {OperandCode::FLOAT32, "FLOAT32", 1},
    {OperandCode::INT32, "INT32", 1},
    {OperandCode::UINT32, "UINT32", 1},
    {OperandCode::TENSOR_FLOAT32, "TENSOR_FLOAT32", 1},
    {OperandCode::TENSOR_INT32, "TENSOR_INT32", 1},
    {OperandCode::TENSOR_QUANT8_ASYMM, "TENSOR_QUANT8_ASYMM", 1},
    {OperandCode::BOOL, "BOOL", 3},
    {OperandCode::TENSOR_QUANT16_SYMM, "TENSOR_QUANT16_SYMM", 3},
    {OperandCode::TENSOR_FLOAT16, "TENSOR_FLOAT16", 3},
    {OperandCode::TENSOR_BOOL8, "TENSOR_BOOL8", 3},
    {OperandCode::FLOAT16, "FLOAT16", 3},
    {OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL, "TENSOR_QUANT8_SYMM_PER_CHANNEL", 3},
    {OperandCode::TENSOR_QUANT16_ASYMM, "TENSOR_QUANT16_ASYMM", 3},
    {OperandCode::TENSOR_QUANT8_SYMM, "TENSOR_QUANT8_SYMM", 3},
    {OperandCode::TENSOR_QUANT8_ASYMM_SIGNED, "TENSOR_QUANT8_ASYMM_SIGNED", 4},
    {OperandCode::MODEL, "MODEL", 4},
};

constexpr FeatureLevelInfo kFeatureLevels[] = {
    {1, 27, 27},
    {2, 28, 28},
    {3, 29, 29},
    {4, 30, 30},
    {5, 31, 31},
    {6, 1000006, 0},
    {7, 1000007, 0},
    {8, 1000008, 0},
};

template <typename T, typename Code, std::size_t N>
const T* find(const T (&table)[N], Code code) {
  const int64_t index = static_cast<int64_t>(code);
  return index >= 0 && index < static_cast<int64_t>(N) ? &table[index] : nullptr;
}

}  // namespace

TableView<OperationInfo> all_operations() { return view(kOperations); }

TableView<FeatureLevelInfo> all_feature_levels() { return view(kFeatureLevels); }

const OperationInfo* find_operation(OperationCode code) { return find(kOperations, code); }

const OperationInfo* find_operation(const char* name) {
  for (const OperationInfo& operation : kOperations) {
    if (std::strcmp(operation.name, name) == 0) return &operation;
  }
  return nullptr;
}

const OperandTypeInfo* find_operand_type(OperandCode code) { return find(kOperandTypes, code); }

bool OperationInfo::takes_activation() const {
  for (const SignatureInfo& signature : signatures) {
    for (const ArgumentInfo& input : signature.inputs) {
      if (input.role == ArgumentRole::kActivation) return true;
    }
  }
  return false;
}

bool OperationInfo::takes(OperandCode type) const {
  for (const SignatureInfo& signature : signatures) {
    for (const TypeCombination& combination : signature.combinations) {
      if (signature.inputs[0].takes(type, combination)) return true;
    }
  }
  return false;
}

bool has_trait(OperationCode code, OperationTrait trait) {
  const OperationInfo* operation = find_operation(code);
  return operation && operation->has(trait);
}

const char* name_of(OperationCode code) {
  const OperationInfo* operation = find_operation(code);
  return operation ? operation->name : "unknown";
}

const char* name_of(OperandCode code) {
  const OperandTypeInfo* type = find_operand_type(code);
  return type ? type->name : "unknown";
}

}  // namespace nnapi_convert
