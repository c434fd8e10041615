#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes value_cases.inc: what TorchScript's operators on numbers, texts, lists and dicts give, for value_operators_test.cpp.

    /usr/bin/python3 tests/program/value_cases.py >tests/program/value_cases.inc
"""
import math

import torch

INTS = [0, 1, -1, 7, -7, 3, -3, 2**62, -2**63, 2**63 - 1]
FLOATS = [0.0, -0.0, 1.0, -1.5, 2.5, 0.1, -7.25, 1e30, math.inf, -math.inf, math.nan]
PAIRS_INT = [(a, b) for a in INTS for b in (1, -1, 3, -3, 2, 7)] + [(5, 0)]
PAIRS_FLOAT = [(a, b) for a in FLOATS for b in (1.0, -2.5, 0.3, 0.0, math.inf, math.nan)]
MIXED = [(7, 2.5), (-7, 2.0), (3, -0.5), (2**53 + 1, 1.0), (0, math.nan)]


def text(value):
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        number = "%.17g" % value
        return number if any(sign in number for sign in ".enai") else number + ".0"
    if isinstance(value, str):
        return "'" + value + "'"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(text, value)) + ")"
    if isinstance(value, list):
        return "[" + ", ".join(map(text, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text(key)}: {text(each)}" for key, each in value.items()) + "}"
    raise TypeError(type(value))


def operator(name):
    space, rest = name.split("::")
    base, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, space), base), overload or "default")


def annotation(value):
    if isinstance(value, list):
        return f"List[{annotation(value[0]) if value else 'int'}]"
    if isinstance(value, tuple):
        return f"Tuple[{', '.join(map(annotation, value))}]"
    if isinstance(value, dict):
        return f"Dict[str, {annotation(next(iter(value.values())))}]"
    return "Optional[int]" if value is None else type(value).__name__


# Operators on any type need a script.
SCRIPTS = {
    "aten::str": "str(x0)",
    "aten::format": "x0.format({rest})",
    "aten::__getitem__.t": "x0[x1]",
    "aten::__getitem__.Dict_str": "x0[x1]",
    "aten::slice.t": "x0[x1:x2:x3]",
    "aten::len.t": "len(x0)",
    "aten::len.Dict_str": "len(x0)",
    "aten::add.t": "x0 + x1",
    "aten::mul.left_t": "x0 * x1",
    "aten::__contains__.str": "x1 in x0",
    "aten::get.str": "x0.get(x1)",
    "aten::get.default_str": "x0.get(x1, x2)",
    "aten::keys.str": "x0.keys()",
    "aten::values.str": "x0.values()",
}


def scripted(expression):
    def run(*arguments):
        names = [f"x{i}" for i in range(len(arguments))]
        annotated = ", ".join(f"{each}: {annotation(value)}" for each, value in zip(names, arguments))
        text = expression.replace("{rest}", ", ".join(names[1:]))
        return torch.jit.CompilationUnit(f"def f({annotated}):\n  return {text}\n").f(*arguments)
    return run


def case(name, *arguments):
    changed = [dict(each) if isinstance(each, dict) else list(each) if isinstance(each, list) else each
               for each in arguments]
    try:
        result = (scripted(SCRIPTS[name]) if name in SCRIPTS else operator(name))(*changed)
        result = text(tuple(result) if isinstance(result, tuple) else result)
    except (RuntimeError, IndexError, ValueError, KeyError):
        result = "error"
    print('{R"(%s)", R"(%s)", R"(%s)"},' % (name, ", ".join(map(text, arguments)), result))


for name in ("add", "sub", "mul", "floordiv", "remainder"):
    for pair in PAIRS_INT:
        if name in ("floordiv", "remainder") and (pair[1] == 0 and name == "remainder" or pair == (-2**63, -1)):
            continue  # PyTorch's process ends there
        case(f"aten::{name}.int", *pair)
    for pair in PAIRS_FLOAT:
        case(f"aten::{name}.float", *pair)
    for a, b in MIXED:
        case(f"aten::{name}.int_float", a, b)
        case(f"aten::{name}.float_int", b, 3)
    case(f"aten::{name}", 7, 2)
    case(f"aten::{name}", 7, 2.5)
for pair in PAIRS_INT:
    case("aten::div.int", *pair)
    case("prim::min.int", *pair)
    case("prim::max.int", *pair)
for pair in PAIRS_FLOAT:
    case("aten::div.float", *pair)
    case("prim::min.float", *pair)
    case("prim::max.float", *pair)
    case("aten::fmod.float", *pair)
    case("aten::pow.float", *pair)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        case(f"aten::{name}.float", *pair)
for a, b in MIXED:
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        case(f"aten::{name}.int_float", a, b)
        case(f"aten::{name}.float_int", b, a)
    case("prim::min.int_float", a, b)
    case("prim::max.float_int", b, a)
for pair in [(7, 3), (-7, 3), (7, -3), (-7, -3), (5, 0)]:
    case("aten::divmod.int", *pair)
    case("aten::divmod.float", float(pair[0]) + 0.5, float(pair[1]))
for pair in [(2, 10), (2, -1), (-3, 3), (0, 0), (0, -1)]:
    case("aten::pow.int", *pair)
    case("aten::pow.int_to_int", *pair)
for name in ("eq", "ne", "lt", "le", "gt", "ge"):
    for pair in [(1, 1), (1, 2), (-2**63, 2**63 - 1)]:
        case(f"aten::{name}.int", *pair)
    for pair in [("a", "a"), ("a", "b"), ("ab", "a"), ("", "a")]:
        case(f"aten::{name}.str", *pair)
for name in ("eq", "ne"):
    case(f"aten::{name}.bool", True, False)
    case(f"aten::{name}.bool", True, True)
    for pair in [([1, 2], [1, 2]), ([1, 2], [1, 3]), ([1], [1, 2]), ([], [])]:
        case(f"aten::{name}.int_list", *pair)
    case(f"aten::{name}.str_list", ["a", "b"], ["a", "b"])
for value in INTS:
    case("aten::neg.int", value)
    case("aten::Float.int", value)
    case("aten::Bool.int", value)
    if abs(value) < 2**53:  # PyTorch takes the way over a float
        case("aten::floor.int", value)
    if value != -2**63:
        case("prim::abs.int", value)
for value in FLOATS:
    case("aten::neg.float", value)
    case("prim::abs.float", value)
    case("aten::round.float", value)
    case("aten::isnan.float", value)
    case("aten::isinf.float", value)
    case("aten::isfinite.float", value)
    case("aten::Bool.float", value)
    case("aten::sqrt.float", value)
    if abs(value) < 1e18:
        case("aten::floor.float", value)
        case("aten::ceil.float", value)
        case("aten::Int.float", value)
    case("aten::str", value)
for value in (0.5, 1.5, -0.5, 3.0, 123456789.0, 1e-7, 3.4028234663852886e38):
    case("aten::round.float", value)
    case("aten::str", value)
    case("aten::exp.float", min(value, 10.0))
    case("aten::log.float", abs(value))
for a in (True, False):
    case("aten::__not__", a)
    for b in (True, False):
        for name in ("__and__", "__or__", "__xor__"):
            case(f"aten::{name}.bool", a, b)
for name in ("__and__", "__or__", "__xor__"):
    case(f"aten::{name}.int", 12, 10)
case("aten::__lshift__.int", 3, 4)
case("aten::__rshift__.int", -17, 2)
for value in ("12", "-3", "1x", ""):
    case("aten::Int.str", value)
for value in ("1.5", "-2", "x"):
    case("aten::Float.str", value)
for arguments in [(0, 10, 3), (10, 0, -3), (0, 10, -1), (5, 5, 1), (0, 10, 0), (-5, 6, 4)]:
    case("aten::__range_length", *arguments)
case("aten::__derive_index", 3, 10, -2)
for value in (1, True, None, "a b", [1, 2], [1.0, 2.5], ["a"], [True, False], []):
    case("aten::str", value)
case("aten::format", "{} and {}: {}", 1, 2.0, [3, 4])
case("aten::str", (1, 2.5))
case("aten::str", (1,))
case("aten::str", [[1, 2], [3]])
case("aten::str", {"a": 1, "b": 2})
case("aten::format", "none", 1)
case("aten::format", "{}{}", "a", None)
case("aten::format", "{} {}", "a")
case("aten::join", ", ", ["a", "b", "c"])
case("aten::join", "x", [])
case("aten::add.str", "ab", "c")
case("aten::len.str", "abc")
for index in (0, -1, 3, -4):
    case("aten::__getitem__.str", "abc", index)
    case("aten::__getitem__.t", [5, 6, 7], index)
case("aten::lower", "AbC")
case("aten::upper", "AbC")
case("aten::list", "abc")
for bounds in [(None, None, 1), (1, None, 1), (None, -1, 1), (-2, None, 1), (0, 10, 2), (3, 1, 1), (-10, 2, 1), (1, 1, 1)]:
    case("aten::slice.t", [1, 2, 3, 4, 5], *bounds)
    case("aten::slice.str", "abcde", *bounds)
case("aten::slice.t", [1, 2, 3, 4, 5], None, None, -1)
case("aten::slice.t", [1, 2, 3, 4, 5], 3, 0, -2)
case("aten::len.t", [1, 2])
case("aten::add.t", [1], [2, 3])
case("aten::mul.left_t", [1, 2], 3)
case("aten::__contains__.int_list", [1, 2], 2)
case("aten::__contains__.int_list", [1, 2], 3)
case("aten::__contains__.str_list", ["a"], "a")
case("aten::__contains__.float_list", [0.5], 0.5)
case("aten::index.list_int", [4, 5, 6], 5)
case("aten::index.list_int", [4, 5, 6], 7)
case("aten::count.int", [1, 2, 1], 1)
case("prim::min.self_int", [3, 1, 2])
case("prim::max.self_float", [3.0, 1.0, 7.5])
case("prim::max.self_int", [])
case("aten::any.bool", [False, True])
case("aten::all.bool", [False, True])
case("aten::any.int", [])
case("aten::all.int", [1, 2])
case("aten::sum.int", [1, 2, 3])
case("aten::sum.float", [0.5, 0.25])
case("aten::sorted.int", [3, 1, 2])
case("aten::sorted.float", [3.0, -1.0, 2.0, 0.0, 5.0])
case("aten::sorted.str", ["b", "a", "c"])
case("aten::__contains__.str", {"a": 1, "b": 2}, "a")
case("aten::__contains__.str", {"a": 1, "b": 2}, "c")
case("aten::__getitem__.Dict_str", {"a": 1, "b": 2}, "b")
case("aten::__getitem__.Dict_str", {"a": 1, "b": 2}, "c")
case("aten::get.str", {"a": 1}, "c")
case("aten::get.default_str", {"a": 1}, "c", 5)
case("aten::get.default_str", {"a": 1}, "a", 5)
case("aten::keys.str", {"b": 1, "a": 2})
case("aten::values.str", {"b": 1, "a": 2})
case("aten::len.Dict_str", {"b": 1, "a": 2})
