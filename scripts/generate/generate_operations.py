#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes lib/format/{nnapi_codes.h,code_names.h,operation_table.h,operation_table.cpp} from schemas/nnapi_operations.json.

Run it after an edit of the schema and commit both; with --check it writes nothing and exits 1 if a file is stale.
"""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = "schemas/nnapi_operations.json"
BANNER = f"// SPDX-License-Identifier: BSD-3-Clause\n// Generated from {SCHEMA} by scripts/generate/generate_operations.py, do not edit.\n// clang-format off\n"
ANY = "ANY"
ROLES = ["none", "layout", "axis", "new_axis", "axes", "perm", "per_axis_vector", "per_axis_pairs", "per_axis_mask",
         "shape", "activation", "padding_scheme"]
ROLE_NOTES = {
    "none": "independent of the order of axes",
    "layout": "BOOL, true means NCHW",
    "axis": "scalar index into the axes of the first tensor",
    "new_axis": "scalar index into the axes of the output",
    "axes": "INT32 tensor of axis indices",
    "perm": "INT32 tensor, the permutation of TRANSPOSE",
    "per_axis_vector": "INT32 tensor, one entry per axis",
    "per_axis_pairs": "INT32 tensor, two entries per axis",
    "per_axis_mask": "scalar, one bit per axis",
    "shape": "INT32 tensor, extents of the output",
    "activation": "scalar, a FuseCode",
    "padding_scheme": "scalar, a PaddingScheme",
}

# What an operation does, for passes and rules that ask for it in place of codes.
TRAITS = {
    "elementwise": "computes each element by itself, of inputs that broadcast",
    "arithmetic": "ADD and its like, of two tensors and a fused activation",
    "extreme": "the larger or the smaller of two",
    "activation": "a network's activation, of one tensor",
    "softmax": "of the last axis",
    "moves_values": "each element of its result is one of the first input's: integers stay exact",
    "views": "gives all elements in another order or shape",
    "within_range": "its result's elements lie within the first input's range",
    "along_axes": "names axes in its arguments, and moves with them",
    "pads": "puts elements around the tensor",
    "convolution": "moves a filter over a picture",
    "weighted": "inputs 1 and 2 are a filter and a bias",
    "keeps_factor": "f(a * x) is a * f(x) for a > 0",
    "joins_factors": "the same of several tensors that have the same factor",
    "gives_places": "its elements are places in the input",
    "control_flow": "runs subgraphs",
}
INTEGERS = {
    "float": "computes with floats alone",
    "weighted": "a constant filter and an int32 bias",
    "tied": "all tensors have one scale",
    "fixed": "the output's scale is given",
    "free": "each tensor has a scale of its own",
}


class SchemaError(Exception):
    """The schema contradicts itself."""


def camel(name):
    return "k" + "".join(part.capitalize() for part in name.split("_"))


def enum(name, items, comment):
    lines = [f"// {comment}", f"enum class {name} : int32_t {{"]
    lines += [f"  {item['name']} = {item['code']}," for item in items]
    return "\n".join(lines + ["};", ""])


def codes_header(schema):
    levels = schema["feature_levels"]
    parts = [BANNER,
             "// The Neural Networks API's codes.\n#pragma once\n\n#include <cstdint>\n\nnamespace nnapi_convert {\n"]
    parts.append(enum("OperandCode", schema["operand_types"], "Operand types: scalars, and tensors (TENSOR_...)."))
    parts.append(enum("OperationCode", schema["operations"], "Operations."))
    parts.append(enum("FuseCode", schema["fuse_codes"], "Activations fused into an operation."))
    parts.append(enum("PaddingScheme", schema["padding_schemes"], "Implicit padding."))
    parts.append(enum("PreferenceCode", schema["preferences"], "Execution preferences of a compilation."))
    parts.append(enum("ResultCode", schema["result_codes"], "Results of the API's functions."))
    parts.append(f"constexpr int32_t kLowestFeatureLevel = {levels[0]['level']};")
    parts.append(f"constexpr int32_t kHighestFeatureLevel = {levels[-1]['level']};\n")
    parts.append("}  // namespace nnapi_convert\n")
    return "\n".join(parts)


def name_list(name, names, comment):
    lines = [f"// {comment}", f"constexpr char {name}[] ="]
    return "\n".join(lines + [f'    "{each}\\0"' for each in names]) + ";\n"


def names_header(schema):
    tensor = "TENSOR_"
    types = [item["name"][len(tensor):] if item["name"].startswith(tensor) else "-" for item in schema["operand_types"]]
    parts = [BANNER,
             "// Names of the Neural Networks API's codes, in the order of the codes, one after the other in one text, which an\n"
             "// empty one ends: a table of pointers would be larger.\n"
             "#pragma once\n\nnamespace nnapi_convert {\n",
             name_list("kResultNames", ["ANEURALNETWORKS_" + item["name"] for item in schema["result_codes"]], "Of results."),
             name_list("kOperationNames", [item["name"] for item in schema["operations"]], "Of operations."),
             name_list("kTensorNames", types, f'Of types of tensors, without "{tensor}"; "-" for others.'),
             "}  // namespace nnapi_convert\n"]
    return "\n".join(parts)


def table_header(schema):
    roles = "\n".join(f"  {camel(r)},  // {ROLE_NOTES[r]}" for r in ROLES)
    variables = max_variables(schema)
    traits = "\n".join(f"  {camel(t)} = 1u << {i},  // {note}" for i, (t, note) in enumerate(TRAITS.items()))
    integers = "\n".join(f"  {camel(f)},  // {note}" for f, note in INTEGERS.items())
    return BANNER + f"""\
// The operations table: every operation's signatures, types and feature levels, as constant data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/format/nnapi_codes.h"

namespace nnapi_convert {{

// How an argument changes where the order of axes changes.
enum class ArgumentRole : uint8_t {{
{roles}
}};

// A view of constant data.
template <typename T>
struct TableView {{
  const T* first = nullptr;
  std::size_t count = 0;
  constexpr const T* begin() const {{ return first; }}
  constexpr const T* end() const {{ return first + count; }}
  constexpr std::size_t size() const {{ return count; }}
  constexpr bool empty() const {{ return count == 0; }}
  constexpr const T& operator[](std::size_t i) const {{ return first[i]; }}
}};

// Types of one signature vary together: a combination binds each of the signature's type variables.
constexpr std::size_t kMaxTypeVariables = {variables};
struct TypeCombination {{
  int32_t since;  // feature level
  OperandCode types[kMaxTypeVariables];
}};

constexpr int8_t kFixedType = -1;
constexpr int8_t kAnyType = -2;
constexpr uint8_t kAnyRank = 255;

struct ArgumentInfo {{
  const char* name;
  int8_t type_variable;  // index into TypeCombination::types, kFixedType or kAnyType
  OperandCode fixed_type;
  uint8_t min_rank, max_rank;  // of a tensor
  ArgumentRole role;
  bool optional;   // it and all after it may be left off the list
  bool omittable;  // may be an operand without a value
  bool variadic;   // stands for one or more operands
  int32_t since;   // feature level

  // Of an argument that doesn't take any type.
  constexpr OperandCode type_in(const TypeCombination& combination) const {{
    return type_variable < 0 ? fixed_type : combination.types[type_variable];
  }}
  constexpr bool takes(OperandCode type, const TypeCombination& combination) const {{
    return type_variable == kAnyType || type_in(combination) == type;
  }}
}};

struct SignatureInfo {{
  const char* name;
  int32_t since;  // feature level
  TableView<ArgumentInfo> inputs;
  TableView<ArgumentInfo> outputs;
  TableView<TypeCombination> combinations;
}};

// Traits of an operation, whatever its tensors are.
enum class OperationTrait : uint32_t {{
{traits}
}};

// How an operation with float tensors computes with 8-bit integers.
enum class IntegerForm : uint8_t {{
{integers}
}};

// A scale of 1 / denominator; 0: none.
struct FixedScale {{
  int32_t denominator, zero_point;
}};

struct OperationInfo {{
  OperationCode code;
  const char* name;
  int32_t since;  // feature level
  TableView<SignatureInfo> signatures;  // empty while the table doesn't describe the operation
  uint32_t traits;         // bits of OperationTrait
  IntegerForm integers;
  int8_t channel_axis;     // of the filter's output channels; -1: no filter
  FixedScale fixed_scale;  // of the output's 8-bit form
  FuseCode fused_as;       // the fused activation that does the same; NONE

  constexpr bool has(OperationTrait trait) const {{ return (traits & static_cast<uint32_t>(trait)) != 0; }}
  // Whether an argument is a fused activation.
  bool takes_activation() const;
  // Whether the first input may have this type, at some feature level.
  bool takes(OperandCode type) const;
}};

struct OperandTypeInfo {{
  OperandCode code;
  const char* name;
  int32_t since;  // feature level
}};

struct FeatureLevelInfo {{
  int32_t level;
  int64_t code;     // what the API answers for it
  int32_t min_api;  // Android API level, 0 if none
}};

TableView<OperationInfo> all_operations();
TableView<FeatureLevelInfo> all_feature_levels();

// Null for a code that no operation or operand type has.
const OperationInfo* find_operation(OperationCode code);
const OperationInfo* find_operation(const char* name);
const OperandTypeInfo* find_operand_type(OperandCode code);

// False for a code that no operation has.
bool has_trait(OperationCode code, OperationTrait trait);

// "unknown" for a code that has no name.
const char* name_of(OperationCode code);
const char* name_of(OperandCode code);

}}  // namespace nnapi_convert
"""


def type_variables(signature):
    names = []
    for row in signature["types"]:
        names += [key for key in row if key != "since" and key not in names]
    return names


def max_variables(schema):
    return max(len(type_variables(s)) for op in schema["operations"] for s in op["signatures"])


def argument_row(argument, variables, operand_types):
    kind = argument["type"]
    if kind not in variables and kind not in operand_types and kind != ANY:
        raise SchemaError(f"argument {argument['name']}: neither a type nor a type variable: {kind}")
    role = argument.get("role", "none")
    if role not in ROLES:
        raise SchemaError(f"argument {argument['name']}: unknown role {role}")
    variable = str(variables.index(kind)) if kind in variables else "kAnyType" if kind == ANY else "kFixedType"
    fixed = kind if kind in operand_types else "FLOAT32"
    low, high = argument.get("rank", [0, 0])
    high = "kAnyRank" if high is None else high
    flags = [str(argument.get(key, False)).lower() for key in ("optional", "omittable", "variadic")]
    return (f'    {{"{argument["name"]}", {variable}, OperandCode::{fixed}, {low}, {high}, '
            f'ArgumentRole::{camel(role)}, {", ".join(flags)}, {argument.get("since", 1)}}},')


def combination_row(row, variables, operand_types):
    types = [row[name] for name in variables] or ["FLOAT32"]
    for name in types:
        if name not in operand_types:
            raise SchemaError(f"unknown type {name}")
    return f'    {{{row["since"]}, {{{", ".join("OperandCode::" + name for name in types)}}}}},'


def signature_tables(operation, operand_types):
    """Returns the arrays of one operation and the row that views them."""
    arrays, rows, inputs_of = [], [], {}
    for number, signature in enumerate(operation["signatures"]):
        variables = type_variables(signature)
        prefix = f"k{operation['name']}_{number}"
        names = {part: f"{prefix}_{part}" for part in ("inputs", "outputs", "types")}
        if "inputs_of" in signature:
            names["inputs"], shared_variables = inputs_of.get(signature["inputs_of"], (None, None))
            if variables != shared_variables:
                raise SchemaError(f"{operation['name']}: no signature before has these inputs and type variables: "
                                  f"{signature['inputs_of']}")
        inputs_of[signature["name"]] = names["inputs"], variables
        for part in ("inputs", "outputs"):
            if part == "inputs" and "inputs_of" in signature:
                continue
            arrays.append(f"constexpr ArgumentInfo {prefix}_{part}[] = {{")
            arrays += [argument_row(a, variables, operand_types) for a in signature[part]] + ["};"]
        arrays.append(f"constexpr TypeCombination {prefix}_types[] = {{")
        arrays += [combination_row(row, variables, operand_types) for row in signature["types"]] + ["};"]
        views = ", ".join(f"view({name})" for name in names.values())
        rows.append(f'    {{"{signature["name"]}", {signature.get("since", operation["since"])}, {views}}},')
    if rows:
        arrays += [f"constexpr SignatureInfo k{operation['name']}[] = {{"] + rows + ["};", ""]
    return arrays


def traits_row(operation):
    name = operation["name"]
    if "traits" not in operation:
        raise SchemaError(f"{name}: no traits; a list of {', '.join(TRAITS)}, which may be empty")
    bits = 0
    for trait in operation["traits"]:
        if trait not in TRAITS:
            raise SchemaError(f"{name}: trait {trait} is none of {', '.join(TRAITS)}")
        bits |= 1 << list(TRAITS).index(trait)
    integers = operation.get("integers", "float")
    if integers not in INTEGERS:
        raise SchemaError(f"{name}: integers {integers} is none of {', '.join(INTEGERS)}")
    denominator, zero_point = operation.get("fixed_scale", (0, 0))
    return (f"{bits:#x}, IntegerForm::{camel(integers)}, {operation.get('channel_axis', -1)}, {{{denominator}, {zero_point}}}, "
            f"FuseCode::{operation.get('fused_as', 'NONE')}")


def table_source(schema):
    operand_types = [t["name"] for t in schema["operand_types"]]
    arrays, rows = [], []
    for operation in schema["operations"]:
        arrays += signature_tables(operation, operand_types)
        view = f"view(k{operation['name']})" if operation["signatures"] else "{}"
        rows.append(f'    {{OperationCode::{operation["name"]}, "{operation["name"]}", {operation["since"]}, {view}, {traits_row(operation)}}},')
    types = [f'    {{OperandCode::{t["name"]}, "{t["name"]}", {t["since"]}}},' for t in schema["operand_types"]]
    levels = [f'    {{{v["level"]}, {v["code"]}, {v["min_api"] or 0}}},' for v in schema["feature_levels"]]
    newline = "\n"
    return BANNER + f"""#include "lib/format/operation_table.h"

#include <cstring>

namespace nnapi_convert {{
namespace {{

template <typename T, std::size_t N>
constexpr TableView<T> view(const T (&array)[N]) {{
  return {{array, N}};
}}

{newline.join(arrays)}
// In the order of the codes, without gaps.
constexpr OperationInfo kOperations[] = {{
{newline.join(rows)}
}};

constexpr OperandTypeInfo kOperandTypes[] = {{
{newline.join(types)}
}};

constexpr FeatureLevelInfo kFeatureLevels[] = {{
{newline.join(levels)}
}};

template <typename T, typename Code, std::size_t N>
const T* find(const T (&table)[N], Code code) {{
  const int64_t index = static_cast<int64_t>(code);
  return index >= 0 && index < static_cast<int64_t>(N) ? &table[index] : nullptr;
}}

}}  // namespace

TableView<OperationInfo> all_operations() {{ return view(kOperations); }}

TableView<FeatureLevelInfo> all_feature_levels() {{ return view(kFeatureLevels); }}

const OperationInfo* find_operation(OperationCode code) {{ return find(kOperations, code); }}

const OperationInfo* find_operation(const char* name) {{
  for (const OperationInfo& operation : kOperations) {{
    if (std::strcmp(operation.name, name) == 0) return &operation;
  }}
  return nullptr;
}}

const OperandTypeInfo* find_operand_type(OperandCode code) {{ return find(kOperandTypes, code); }}

bool OperationInfo::takes_activation() const {{
  for (const SignatureInfo& signature : signatures) {{
    for (const ArgumentInfo& input : signature.inputs) {{
      if (input.role == ArgumentRole::kActivation) return true;
    }}
  }}
  return false;
}}

bool OperationInfo::takes(OperandCode type) const {{
  for (const SignatureInfo& signature : signatures) {{
    for (const TypeCombination& combination : signature.combinations) {{
      if (signature.inputs[0].takes(type, combination)) return true;
    }}
  }}
  return false;
}}

bool has_trait(OperationCode code, OperationTrait trait) {{
  const OperationInfo* operation = find_operation(code);
  return operation && operation->has(trait);
}}

const char* name_of(OperationCode code) {{
  const OperationInfo* operation = find_operation(code);
  return operation ? operation->name : "unknown";
}}

const char* name_of(OperandCode code) {{
  const OperandTypeInfo* type = find_operand_type(code);
  return type ? type->name : "unknown";
}}

}}  // namespace nnapi_convert
"""


def check_codes(schema):
    """Checks that codes count up from 0: codes are the indices of the tables."""
    for key in ("operations", "operand_types", "result_codes"):
        for number, item in enumerate(schema[key]):
            if item["code"] != number:
                raise SchemaError(f"{key}: {item['name']} has code {item['code']}, {number} needed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if a committed file is stale")
    check = parser.parse_args().check
    try:
        schema = json.loads((ROOT / SCHEMA).read_text())
        check_codes(schema)
        outputs = {"nnapi_codes.h": codes_header(schema), "code_names.h": names_header(schema),
                   "operation_table.h": table_header(schema), "operation_table.cpp": table_source(schema)}
    except (OSError, json.JSONDecodeError, SchemaError) as error:
        sys.exit(f"generate_operations.py: {SCHEMA}: {error}")
    stale = []
    for name, text in outputs.items():
        path = ROOT / "lib/format" / name
        if path.exists() and path.read_text() == text:
            continue
        stale.append(f"lib/format/{name}")
        if not check:
            path.write_text(text)
    if check and stale:
        sys.exit(f"generate_operations.py: stale, run scripts/generate/generate_operations.py: {', '.join(stale)}")


if __name__ == "__main__":
    main()
