#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures nnapi-convert against PyTorch's Python prototype: whole processes, interleaved, medians of several runs."""

import argparse
import os
import pathlib
import statistics
import sys
import time
from typing import Dict, List, NamedTuple, Optional, Tuple

from nnapi_buffer import read_counts

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEGABYTE = 1e6


class Case(NamedTuple):
    """A model in one layout. Limits are upper bounds: ratios to the incumbent unless a comment says otherwise."""

    model: str
    layout: str
    max_cpu: Optional[float] = None
    max_memory: Optional[float] = None
    max_operations: Optional[int] = None  # a number of operations, not a ratio
    max_size: float = 1.0
    shape: str = "1,3,224,224"
    is_taken: bool = True  # by the incumbent


CASES = [
    Case("mobilenet_v2_plain", "nhwc", max_cpu=0.3, max_memory=0.45, max_operations=66),
    Case("mobilenet_v2_plain", "nchw", max_cpu=0.3, max_memory=0.45, max_operations=66),
    Case("resnet152_plain", "nchw", max_cpu=0.3, max_memory=0.2),
    Case("vgg16_plain", "nchw", max_cpu=0.3, max_memory=0.15),
    Case("lstm", "nchw", shape="1,50,64", is_taken=False),
]


class Usage(NamedTuple):
    wall: float
    cpu: float
    memory: float


def run(command: List[str], log: pathlib.Path) -> Usage:
    """Runs a command to its end and writes its output to the log. Memory is the peak of resident pages, in bytes."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    redirect = [(os.POSIX_SPAWN_OPEN, 1, str(log), flags, 0o644), (os.POSIX_SPAWN_DUP2, 1, 2)]
    start = time.monotonic()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=redirect)
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - start
    if status != 0:
        raise SystemExit(f"failed: {' '.join(command)}\n{log.read_text(errors='replace')}")
    return Usage(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024.0)


class Tool(NamedTuple):
    command: List[str]
    output: str


def tools_for(case: Case, binary: str, work: pathlib.Path) -> Dict[str, Tool]:
    model = str(work / f"{case.model}.pt")
    ours, incumbent, copy = (str(work / f"{case.model}_{case.layout}_{tool}.pt")
                             for tool in ("ours", "incumbent", "copy"))
    script = str(ROOT / "bench" / "incumbent.py")
    tools = {
        "ours": Tool([binary, model, "-o", ours, f"--{case.layout}", "--input", case.shape, "-q"], ours),
        "incumbent": Tool([sys.executable, script, model, incumbent, case.layout, case.shape], incumbent),
        "copy": Tool(["/bin/cp", model, copy], copy),
    }
    if not case.is_taken:
        del tools["incumbent"]
    return tools


def measure(tools: Dict[str, Tool], work: pathlib.Path, runs: int) -> Dict[str, List[Usage]]:
    """Measures rounds; the first round warms the file cache and does not count."""
    samples: Dict[str, List[Usage]] = {}
    for round_number in range(runs + 1):
        for name, tool in tools.items():
            usage = run(tool.command, work / f"{name}.log")
            if round_number > 0:
                samples.setdefault(name, []).append(usage)
    return samples


def median_of(usages: List[Usage]) -> Usage:
    return Usage(*map(statistics.median, zip(*usages)))


def median_ratio(samples: Dict[str, List[Usage]]) -> Usage:
    """The median of the rounds' ratios: a machine that slows down for some rounds slows both programs of a round."""
    rounds = zip(samples["ours"], samples["incumbent"])
    return median_of([Usage(*(a / b for a, b in zip(ours, incumbent))) for ours, incumbent in rounds])


def verdict(name: str, value: float, limit: Optional[float], shown: str) -> str:
    if limit is None:
        return f"  {name:10} {shown:>7}"
    return f"  {name:10} {shown:>7}   limit {limit:<5g} {'ok' if value <= limit else 'OVER'}"


def report(case: Case, samples: Dict[str, List[Usage]], tools: Dict[str, Tool]) -> bool:
    """Prints one case; returns True if all figures are within its limits."""
    sizes = {name: os.path.getsize(tool.output) for name, tool in tools.items()}
    operations = {name: read_counts(tools[name].output).operations for name in tools if name != "copy"}
    print(f"\n{case.model}, {case.layout.upper()}, input {case.shape}")
    print(f"  {'':10} {'wall s':>8} {'cpu s':>8} {'peak MB':>8} {'out MB':>8} {'NNAPI operations':>17}")
    for name, usages in samples.items():
        usage = median_of(usages)
        row = f"{usage.wall:8.2f} {usage.cpu:8.2f} {usage.memory / MEGABYTE:8.0f} {sizes[name] / MEGABYTE:8.2f}"
        print(f"  {name:10} {row} {operations.get(name, '-'):>17}")
    checks: List[Tuple[str, float, Optional[float]]] = []
    if case.is_taken:
        ratio = median_ratio(samples)
        checks = [
            ("wall", ratio.wall, None),
            ("cpu", ratio.cpu, case.max_cpu),
            ("memory", ratio.memory, case.max_memory),
            ("size", sizes["ours"] / sizes["incumbent"], case.max_size),
        ]
        print("  ours / incumbent, median of the rounds' ratios")
    else:
        print("  the incumbent refuses this model")
    for name, value, limit in checks:
        print(verdict(name, value, limit, f"{value:.4f}"))
    print(verdict("operations", operations["ours"], case.max_operations, str(operations["ours"])))
    checks.append(("operations", operations["ours"], case.max_operations))
    return all(limit is None or value <= limit for _, value, limit in checks)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(ROOT / "build" / "release" / "bin" / "nnapi-convert"))
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "bench", help="models and outputs")
    parser.add_argument("--runs", type=int, default=5, help="measured rounds (default 5)")
    parser.add_argument("--only", nargs="+", metavar="MODEL", help="measure these models only")
    parser.add_argument("--check", action="store_true", help="exit 1 when a limit is exceeded")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    print(f"medians of {arguments.runs} interleaved runs of whole processes; peak is of resident memory")
    within = True
    for case in CASES:
        if arguments.only and case.model not in arguments.only:
            continue
        tools = tools_for(case, arguments.binary, arguments.work)
        within &= report(case, measure(tools, arguments.work, arguments.runs), tools)
    if arguments.check and not within:
        sys.exit(1)


if __name__ == "__main__":
    main()
