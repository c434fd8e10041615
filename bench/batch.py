#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures `nnapi-convert batch` on 60 networks: one worker and two, a process for each model instead of forked
workers, and on the 30 networks that both convert, a Python process for each model running PyTorch's prototype. Wall and
CPU time of everything, interleaved, medians of several rounds. On a machine that does other work at the same time,
trust CPU."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import time
from typing import Callable, Dict, List, NamedTuple

import batch_zoo

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHAPE = f"1,3,{batch_zoo.SIZE},{batch_zoo.SIZE}"


class Usage(NamedTuple):
    wall: float
    cpu: float


def children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def timed(work: Callable[[], None]) -> Usage:
    wall, cpu = time.monotonic(), children_cpu()
    work()
    return Usage(time.monotonic() - wall, children_cpu() - cpu)


def run(command: List[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"failed: {' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


def run_each(commands: List[List[str]], jobs: int) -> None:
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in [pool.submit(run, command) for command in commands]:
            future.result()


class Bench:
    def __init__(self, arguments: argparse.Namespace):
        self.binary, self.zoo, self.out = arguments.binary, arguments.work / "zoo", arguments.work / "out"

    def batch(self, manifest: str, jobs: int) -> None:
        shutil.rmtree(self.out, ignore_errors=True)
        run([self.binary, "batch", str(self.zoo / f"{manifest}.json"), "-o", str(self.out), "--jobs", str(jobs),
             "--quiet"])

    def models(self, manifest: str) -> List[pathlib.Path]:
        return [self.zoo / entry["model"]
                for entry in json.loads((self.zoo / f"{manifest}.json").read_text())["models"]]

    def processes(self, manifest: str, jobs: int) -> None:
        """Runs a process of the command for each model."""
        self.fresh()
        run_each([[self.binary, str(model), "--nhwc", "--input", SHAPE, "-o", str(self.out / model.name), "--quiet"]
                  for model in self.models(manifest)], jobs)

    def incumbent(self, manifest: str, jobs: int) -> None:
        self.fresh()
        script = str(ROOT / "bench" / "incumbent.py")
        run_each([["/usr/bin/python3", script, str(model), str(self.out / model.name), "nhwc", SHAPE]
                  for model in self.models(manifest)], jobs)

    def fresh(self) -> None:
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(ROOT / "build" / "release" / "bin" / "nnapi-convert"))
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "bench_batch", help="zoo and outputs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", metavar="TEXT", help="measure those with this in their name")
    arguments = parser.parse_args()
    batch_zoo.make(arguments.work / "zoo")
    bench = Bench(arguments)
    works: Dict[str, Callable[[], None]] = {
        "batch, 60 models, 1 job": lambda: bench.batch("all", 1),
        "batch, 60 models, 2 jobs": lambda: bench.batch("all", 2),
        "a process each, 60 models, 2 at a time": lambda: bench.processes("all", 2),
        "batch, 30 models, 1 job": lambda: bench.batch("common", 1),
        "batch, 30 models, 2 jobs": lambda: bench.batch("common", 2),
        "incumbent, 30 models, 1 at a time": lambda: bench.incumbent("common", 1),
        "incumbent, 30 models, 2 at a time": lambda: bench.incumbent("common", 2),
    }
    works = {name: work for name, work in works.items() if arguments.only in name}
    usages: Dict[str, List[Usage]] = {}
    for _ in range(arguments.rounds):
        for name, work in works.items():
            usages.setdefault(name, []).append(timed(work))
            print(f"{name}: {usages[name][-1].wall:.1f} s, CPU {usages[name][-1].cpu:.1f} s", file=sys.stderr,
                  flush=True)
    shutil.rmtree(bench.out, ignore_errors=True)
    medians = {name: Usage(*map(statistics.median, zip(*values))) for name, values in usages.items()}
    print(f"medians of {arguments.rounds} rounds; load of the machine {os.getloadavg()[0]:.1f} of {os.cpu_count()} "
          "processors")
    for name, usage in medians.items():
        print(f"  {name:40} {usage.wall:7.1f} s   CPU {usage.cpu:7.1f} s")

    def ratio(label: str, over: str, under: str) -> None:
        if not {over, under} <= set(medians):
            return
        above, below = medians[over], medians[under]
        print(f"  {label}: wall {above.wall / below.wall:.2f}, CPU {above.cpu / below.cpu:.2f}")

    ratio("rate of 2 jobs to 1 job (needed: 1.7)", "batch, 60 models, 1 job", "batch, 60 models, 2 jobs")
    ratio("batch to a process each, 2 jobs", "batch, 60 models, 2 jobs", "a process each, 60 models, 2 at a time")
    ratio("batch to incumbent, 1 job (needed: 0.35)", "batch, 30 models, 1 job", "incumbent, 30 models, 1 at a time")
    ratio("batch to incumbent, 2 jobs", "batch, 30 models, 2 jobs", "incumbent, 30 models, 2 at a time")


if __name__ == "__main__":
    main()
