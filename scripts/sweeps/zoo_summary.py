# SPDX-License-Identifier: BSD-3-Clause
"""The first table of docs/generated/zoo.md: how many variants of torchvision's networks NNAPI runs, counted from zoo.py's
rows."""

import collections
from typing import Dict, Iterator, List

import zoo_parts

LEAST_SHARE = 0.95  # of the multiply-adds
MOST_SEGMENTS = 5
OUTCOMES = ("whole", "parts", "less", "failed")

HEADER = f"""
## All of them

**whole**: in one NNAPI model. **in parts**: at least {100 * LEAST_SHARE:.0f} % of the multiply-adds on NNAPI, \
in at most {MOST_SEGMENTS} compiled
models. **less**: a smaller share, or more of them. **failed**: refused, or results that differ.
"""


def outcome(report: Dict, passed: bool) -> str:
    if "error" in report or not passed:
        return "failed"
    partition = report.get("partition")
    if partition is None:
        return "whole"
    counted = all(entry["macs"] is not None for entry in partition["cpu"])
    enough = counted and (partition["mac_share"] or 0) >= LEAST_SHARE and len(partition["segments"]) <= MOST_SEGMENTS
    return "parts" if enough else "less"


def float_outcomes(row: Dict) -> Iterator[str]:
    results = row["layouts"].values()
    passed = all(result.get("verify", {}).get("passed", False) for result in results)
    yield outcome(row["layouts"]["nhwc"]["report"], passed)


def quantised_outcomes(row: Dict, largest_ratio: Dict[str, float]) -> Iterator[str]:
    for kind, modes in row.items():
        results = [result for mode in ("full", "core", "nnapi") for result in modes[mode].values()]
        passed = all(result.get("ratio", float("inf")) <= largest_ratio[kind] for result in results)
        yield outcome(modes["full"]["nhwc"]["report"], passed)


def parts_outcomes(group: str, row: Dict) -> Iterator[str]:
    for result in row["forms"].values():
        comparison = result.get("comparison", {"error": "refused"})
        found = zoo_parts.found_again if group == "detection" else (lambda each: each["passed"])
        yield outcome(result.get("report", result), "error" not in comparison and found(comparison))


def outcomes(group: str, rows: Dict[str, Dict], largest_ratio: Dict[str, float]) -> List[str]:
    results: List[str] = []
    for row in rows.values():
        if group == "float":
            results += float_outcomes(row)
        elif group == "quantised":
            results += quantised_outcomes(row, largest_ratio)
        else:
            results += parts_outcomes(group, row)
    return results


def table(rows_of: Dict[str, Dict[str, Dict]], largest_ratio: Dict[str, float]) -> List[str]:
    titles = {"float": "classification and segmentation"}
    lines = [HEADER, "| group | variants | whole | in parts | less | failed |", "|---|---|---|---|---|---|"]
    total: collections.Counter = collections.Counter()
    for group, rows in rows_of.items():
        counts = collections.Counter(outcomes(group, rows, largest_ratio))
        total += counts
        lines.append(line(titles.get(group, group), counts))
    share = (total["whole"] + total["parts"]) / max(sum(total.values()), 1)
    return [*lines, line("all", total), "", f"Whole or in parts: {100 * share:.1f} %."]


def line(title: str, counts: collections.Counter) -> str:
    return f"| {title} | {sum(counts.values())} | " + " | ".join(str(counts[each]) for each in OUTCOMES) + " |"
