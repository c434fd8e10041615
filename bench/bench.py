#!/usr/bin/python3
"""Measures nnapi-convert against PyTorch's Python prototype: whole processes, interleaved, medians of several runs."""

import argparse
import os
import pathlib
import statistics
import sys
import time
from typing import Dict, List, NamedTuple, Optional

from nnapi_buffer import read_counts

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHAPE = "1,3,224,224"
MEGABYTE = 1e6


class Case(NamedTuple):
    """A model in one layout; limits are the most that is accepted, ratios to the incumbent unless said otherwise."""

    model: str
    layout: str
    max_cpu: Optional[float] = None
    max_memory: Optional[float] = None
    max_operations: Optional[int] = None  # a plain number
    max_size: float = 1.0


CASES = [
    Case("mobilenet_v2_plain", "nhwc", max_cpu=0.7, max_operations=66),
    Case("mobilenet_v2_plain", "nchw", max_cpu=0.7, max_operations=66),
    Case("vgg16_plain", "nchw", max_cpu=0.9, max_memory=0.9),
]


class Usage(NamedTuple):
    wall: float
    cpu: float
    memory: float


def run(command: List[str], log: pathlib.Path) -> Usage:
    """Runs a command to its end; its output goes to the log. Memory is the peak of resident pages, in bytes."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    redirect = [(os.POSIX_SPAWN_OPEN, 1, str(log), flags, 0o644), (os.POSIX_SPAWN_DUP2, 1, 2)]
    start = time.monotonic()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=redirect)
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - start
    if status != 0:
        raise SystemExit(f"failed: {' '.join(command)}\n{log.read_text(errors='replace')}")
    return Usage(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024.0)


def commands(case: Case, binary: str, work: pathlib.Path) -> Dict[str, List[str]]:
    model = str(work / f"{case.model}.pt")
    out = {tool: str(work / f"{case.model}_{case.layout}_{tool}.pt") for tool in ("ours", "incumbent", "copy")}
    incumbent = str(ROOT / "bench" / "incumbent.py")
    return {
        "ours": [binary, model, "-o", out["ours"], f"--{case.layout}", "--input", SHAPE, "-q"],
        "incumbent": [sys.executable, incumbent, model, out["incumbent"], case.layout, SHAPE],
        "copy": ["/bin/cp", model, out["copy"]],
    }


def output_of(tool: str, command: List[str]) -> str:
    return {"ours": command[3] if len(command) > 3 else "", "incumbent": command[-3], "copy": command[-1]}[tool]


def measure(case: Case, binary: str, work: pathlib.Path, runs: int) -> Dict[str, Usage]:
    """One round warms the file cache and is thrown away."""
    samples: Dict[str, List[Usage]] = {}
    for round_number in range(runs + 1):
        for tool, command in commands(case, binary, work).items():
            usage = run(command, work / f"{tool}.log")
            if round_number > 0:
                samples.setdefault(tool, []).append(usage)
    return {tool: Usage(*map(statistics.median, zip(*usages))) for tool, usages in samples.items()}


def verdict(name: str, value: float, limit: Optional[float], shown: str) -> str:
    if limit is None:
        return f"  {name:10} {shown:>7}"
    return f"  {name:10} {shown:>7}   limit {limit:<5g} {'ok' if value <= limit else 'OVER'}"


def report(case: Case, medians: Dict[str, Usage], outputs: Dict[str, str]) -> bool:
    """Prints one case; true when all is within its limits."""
    sizes = {tool: os.path.getsize(path) for tool, path in outputs.items()}
    operations = {tool: read_counts(outputs[tool]).operations for tool in ("ours", "incumbent")}
    print(f"\n{case.model}, {case.layout.upper()}, input {SHAPE}")
    print(f"  {'':10} {'wall s':>8} {'cpu s':>8} {'peak MB':>8} {'out MB':>8} {'NNAPI operations':>17}")
    for tool, usage in medians.items():
        row = f"{usage.wall:8.2f} {usage.cpu:8.2f} {usage.memory / MEGABYTE:8.0f} {sizes[tool] / MEGABYTE:8.2f}"
        print(f"  {tool:10} {row} {operations.get(tool, '-'):>17}")
    ours, incumbent = medians["ours"], medians["incumbent"]
    checks = [
        ("wall", ours.wall / incumbent.wall, None),
        ("cpu", ours.cpu / incumbent.cpu, case.max_cpu),
        ("memory", ours.memory / incumbent.memory, case.max_memory),
        ("size", sizes["ours"] / sizes["incumbent"], case.max_size),
    ]
    print("  ours / incumbent")
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
        medians = measure(case, arguments.binary, arguments.work, arguments.runs)
        tools = commands(case, arguments.binary, arguments.work)
        within &= report(case, medians, {tool: output_of(tool, command) for tool, command in tools.items()})
    if arguments.check and not within:
        sys.exit(1)


if __name__ == "__main__":
    main()
