#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures a conversion against loading the same file with torch::jit::load, CPU time and memory of whole processes:
interleaved, medians of several runs. "Net" leaves out what a process of LibTorch takes that loads nothing. Needs the
release build with tests and Debian's PyTorch, no network; makes the models that are not there yet."""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
from typing import Dict, List, NamedTuple, Optional

from bench import MEGABYTE, Usage, run

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Case(NamedTuple):
    """Limits are upper bounds of net CPU time over that of loading, and of all memory over the file's size."""

    model: str
    recipe: str
    group: str
    shape: str
    max_cpu: Optional[float] = None
    max_memory: Optional[float] = None


CASES = [
    Case("maskrcnn_resnet50_fpn_traced", "maskrcnn_resnet50_fpn", "zoo_detection", "1,3,320,320", 3.0, 2.0),
    Case("vgg16_plain", "vgg16_plain", "bench", "1,3,224,224"),
    Case("mobilenet_v2_plain", "mobilenet_v2_plain", "bench", "1,3,224,224"),
]


def make(case: Case, work: pathlib.Path) -> pathlib.Path:
    model = work / f"{case.model}.pt"
    if not model.exists():
        script = str(ROOT / "scripts" / "makers" / "make_models.py")
        command = [sys.executable, script, "--group", case.group, "--only", case.recipe, "--", str(work)]
        subprocess.run(command, check=True)
    return model


def measure(commands: Dict[str, List[str]], work: pathlib.Path, runs: int) -> Dict[str, Usage]:
    """Measures rounds; the first round warms the file cache and does not count."""
    samples: Dict[str, List[Usage]] = {name: [] for name in commands}
    for round_number in range(runs + 1):
        for name, command in commands.items():
            usage = run(command, work / f"{name}.log")
            if round_number > 0:
                samples[name].append(usage)
    return {name: Usage(*map(statistics.median, zip(*usages))) for name, usages in samples.items()}


def report(case: Case, medians: Dict[str, Usage], file_bytes: int) -> bool:
    """Prints one case; returns True if all figures are within its limits."""
    print(f"\n{case.model}, input {case.shape}, {file_bytes / MEGABYTE:.0f} MB")
    for name, usage in medians.items():
        print(f"  {name:8} wall {usage.wall:5.2f} s   CPU {usage.cpu:5.2f} s   peak {usage.memory / MEGABYTE:5.0f} MB")
    start, load, convert = (medians[name] for name in ("start", "load", "convert"))
    cpu = (convert.cpu - start.cpu) / (load.cpu - start.cpu)
    memory = convert.memory / file_bytes
    net_memory = (convert.memory - start.memory) / file_bytes
    print(f"  CPU, convert / load:   {convert.cpu / load.cpu:.2f}, net {cpu:.2f}" + limit(cpu, case.max_cpu))
    print(f"  peak / file:           {memory:.2f}" + limit(memory, case.max_memory) + f", net {net_memory:.2f}")
    limits = ((cpu, case.max_cpu), (memory, case.max_memory))
    return all(most is None or value <= most for value, most in limits)


def limit(value: float, most: Optional[float]) -> str:
    return "" if most is None else f"   limit {most:g} {'ok' if value <= most else 'OVER'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binaries", type=pathlib.Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "bench", help="models and outputs")
    parser.add_argument("--runs", type=int, default=7, help="measured rounds (default 7)")
    parser.add_argument("--only", nargs="+", metavar="MODEL", help="measure these models only")
    parser.add_argument("--check", action="store_true", help="exit 1 when a limit is exceeded")
    arguments = parser.parse_args()
    within = True
    for case in CASES:
        if arguments.only and case.model not in arguments.only:
            continue
        model, out = make(case, arguments.work), arguments.work / "conversion.out.pt"
        load = str(arguments.binaries / "torch_load")
        convert = [str(arguments.binaries / "nnapi-convert"), str(model), "-o", str(out)]
        convert += ["--nhwc", "--input", case.shape, "--quiet"]
        commands = {"start": [load], "load": [load, str(model)], "convert": convert}
        within &= report(case, measure(commands, arguments.work, arguments.runs), os.path.getsize(model))
        out.unlink()
    print(f"\nmedians of {arguments.runs} runs; load of the machine {os.getloadavg()[0]:.1f} of {os.cpu_count()} "
          "processors")
    if arguments.check and not within:
        sys.exit(1)


if __name__ == "__main__":
    main()
