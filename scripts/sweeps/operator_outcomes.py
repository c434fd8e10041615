# SPDX-License-Identifier: BSD-3-Clause
"""What became of each sample of an operator, which reasons are NNAPI's own, and the tables of it."""

import collections
import json
import pathlib
import re
from typing import Dict, Iterable, List, NamedTuple, Optional

OUTCOMES = ("whole", "parts", "refused", "inexpressible", "untraced", "wrong", "crash", "hang")
AGREEING = ("whole", "parts")
# Of a sample that isn't judged: what Android's own operations make of NaN is no PyTorch's.
OF_NAN = "NaN among the inputs, which NNAPI's operations skip or lose"
FAULTS = ("wrong", "crash", "hang")

# Operations of NNAPI that only move or convert: a sample of which no other one went to NNAPI is refused.
MOVES = {"RESHAPE", "CAST", "TRANSPOSE", "SQUEEZE", "EXPAND_DIMS"}

DECOMPOSITION = "eigenvalues or singular values, by a number of steps that depends on values"
SIZES = "the size of the result depends on values"
BITS = "the bits of integers, for which NNAPI has no operation"
WIDE = "integers past 2^24, with which NNAPI calculates from feature level 4 on"
MEMORY = "it reads a tensor's memory, whose layout NNAPI doesn't keep"

# What NNAPI can't express, by the text of a problem or refusal; the first that is found says the reason.
INEXPRESSIBLE = [
    (r"random numbers", "random numbers, or memory that nothing was written to"),
    (r"no tensor goes in", "no tensor goes in"),
    (r"[Jj]iterator", "compiled for CUDA as it runs"),
    (r"[Cc]omplex(32|64|128)?", "complex numbers"),
    (r"[Ss]parse", "sparse tensors"),
    (r"(float64|\bdouble\b|Double)", "float64"),
    (r"(float16|bfloat16|\bHalf\b|BFloat16)", "float16 or bfloat16 numbers"),
    (r"\b(int16|int8|uint8|Short|Char|Byte)\b", "int8, uint8 or int16 numbers"),
    (r"size \"0\" is neither", "a tensor without elements"),
    (r"without elements", "a tensor without elements"),
    (r"eigenvalues or singular values", DECOMPOSITION),
    (r"a degree that each element has", "a polynomial of a degree that depends on the element"),
    (r"whose steps depend on the values|as long as its argument needs|aten::(linalg_)?matrix_exp\b",
     "a number of steps that depends on values"),
    (r"size of its result depends on values|a number of classes that doesn't depend on values", SIZES),
    (r"aten::(masked_select|argwhere|nonzero\w*|_unique2|unique_dim|unique_consecutive|bincount)\b", SIZES),
    (r"aten::(repeat_interleave\.(self_)?Tensor|tensor_split\.tensor_indices)", SIZES),
    (r"aten::(bitwise_(and|or|xor)|__(and|or|xor)__): a result int", BITS),
    (r"aten::bitwise_(left|right)_shift", BITS),
    (r"aten::\w+: integers that may be above 2\^24, which NNAPI calculates at feature level 3", WIDE),
    (r"aten::(gcd|lcm)\b", "Euclid's algorithm, whose number of steps depends on values"),
    (r"aten::(as_strided|as_strided_scatter|new_empty_strided)\b", MEMORY),
    (r"that each call changes|, at each call", "tensors that each call changes"),
    (r"all alignments of two sequences", "a recursion as long as tensors say"),
]

class Outcome(NamedTuple):
    operator: str
    number: int
    text: str  # of the sample
    outcome: str
    reason: str = ""
    share: Optional[float] = None  # of the operations, on NNAPI


def inexpressible(reasons: Iterable[str], types: Iterable[str] = ()) -> str:
    """Why NNAPI can't express it, or an empty text."""
    if any(re.search(r"[\[ ]0[\],]", each) for each in types):
        return "a tensor without elements"
    for reason in [*reasons, *types]:
        for pattern, text in INEXPRESSIBLE:
            if re.search(pattern, reason):
                return text
    return ""


def agrees(outcomes: List[Outcome]) -> bool:
    """Some sample agrees, and all others are beyond NNAPI."""
    kinds = {each.outcome for each in outcomes}
    return bool(kinds & set(AGREEING)) and kinds <= {*AGREEING, "inexpressible"}


def by_operator(outcomes: Iterable[Outcome]) -> Dict[str, List[Outcome]]:
    found: Dict[str, List[Outcome]] = {}
    for each in outcomes:
        found.setdefault(each.operator, []).append(each)
    return found


def worst_reason(outcomes: List[Outcome]) -> str:
    for kind in ("crash", "hang", "wrong", "refused", "untraced", "inexpressible"):
        for each in outcomes:
            if each.outcome == kind:
                return each.reason
    return ""


def cell(text: str, most: int = 160) -> str:
    text = re.sub(r" from \S+\.py:\d+", "", text)  # lines of this machine's files
    text = re.sub(r"\s+", " ", text).replace("|", "\\|")
    return text if len(text) <= most else text[: most - 3] + "..."


def summary(found: Dict[str, List[Outcome]]) -> List[str]:
    total = collections.Counter(each.outcome for outcomes in found.values() for each in outcomes)
    some = sum(any(each.outcome in AGREEING for each in outcomes) for outcomes in found.values())
    beyond = sum(all(each.outcome == "inexpressible" for each in outcomes) for outcomes in found.values())
    lines = ["| | operators |", "|---|---|", f"| run | {len(found)} |"]
    lines += [f"| agree | {sum(map(agrees, found.values()))} |", f"| agree on some sample | {some} |"]
    lines += [f"| beyond NNAPI altogether | {beyond} |", "", "| outcome | samples |", "|---|---|"]
    return lines + [f"| {kind} | {total[kind]} |" for kind in OUTCOMES] + [f"| all | {sum(total.values())} |"]


def rows(found: Dict[str, List[Outcome]]) -> List[str]:
    titles = ["operator", "agrees", "samples", *OUTCOMES, "reason of the first that doesn't agree"]
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for name, outcomes in sorted(found.items()):
        counts = collections.Counter(each.outcome for each in outcomes)
        numbers = " | ".join(str(counts[kind] or "") for kind in OUTCOMES)
        answer = "yes" if agrees(outcomes) else "no"
        lines.append(f"| {name} | {answer} | {len(outcomes)} | {numbers} | {cell(worst_reason(outcomes))} |")
    return lines


def read_counts(table: pathlib.Path) -> Dict[str, Dict[str, int]]:
    """The counts of each operator in a page that `rows` wrote."""
    counts: Dict[str, Dict[str, int]] = {}
    for line in table.read_text().splitlines():
        cells = [each.strip() for each in line.split(" | ")]
        if len(cells) < len(OUTCOMES) + 3 or not cells[2].isdigit():
            continue
        numbers = [int(each or 0) for each in cells[2 : len(OUTCOMES) + 3]]
        counts[cells[0].lstrip("| ")] = dict(zip(("samples", *OUTCOMES), numbers))
    return counts


def worse(found: Dict[str, List[Outcome]], table: pathlib.Path) -> List[str]:
    """Operators of which fewer samples agree, or run whole, than the table says; and those that it lacks."""
    recorded = read_counts(table)
    problems = []
    for name, outcomes in found.items():
        now = collections.Counter(each.outcome for each in outcomes)
        then = recorded.get(name)
        if then is None:
            problems.append(f"{name}: not in {table}")
            continue
        faults = [sum(counts[kind] for kind in FAULTS) for counts in (now, then)]
        if faults[0] > faults[1]:
            problems.append(f"{name}: {faults[0]} samples are wrong, crash or hang, at most {faults[1]} allowed")
        elif now["whole"] < then["whole"]:
            problems.append(f"{name}: {now['whole']} samples run whole, {then['whole']} needed")
        elif now["whole"] + now["parts"] < then["whole"] + then["parts"]:
            agreeing = [counts["whole"] + counts["parts"] for counts in (now, then)]
            problems.append(f"{name}: {agreeing[0]} samples agree, {agreeing[1]} needed")
    return problems


def to_json(outcomes: Iterable[Outcome]) -> str:
    return json.dumps([each._asdict() for each in outcomes], indent=1) + "\n"
