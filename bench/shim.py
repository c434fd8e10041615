#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the shim against PyTorch's stock loader on an NNAPI that answers at once: what remains is the runtime's own.
Each number is of a process of its own with one thread; the sides take turns, and medians are compared."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from typing import Callable, Dict, List, NamedTuple, Optional

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASE = ROOT / "build" / "release"
NULL_NNAPI = RELEASE / "lib" / "fake_nnapi" / "libnull_nnapi.so"
COMPILE_MS = 1000
WARM_UP = 50

Figures = Dict[str, float]


class Model(NamedTuple):
    name: str
    path: pathlib.Path
    sizes: str
    inferences: int
    memory: bool = False  # whether the weights are large enough to measure memory

    def inputs(self, memory_format: str) -> List[str]:
        return [f"--input_dims={self.sizes}", "--input_type=float", f"--input_memory_format={memory_format}"]


class Check(NamedTuple):
    """The median of a figure for one side divided by the median for another side, and its upper bound."""

    name: str
    figure: str
    side: str
    base: str
    limit: Optional[float] = None


OVERHEAD = 0.5
CHECKS = [
    Check("an inference", "inference", "shim", "stock", OVERHEAD),
    Check("the same, channels_last input", "inference_channels_last", "shim", "stock", OVERHEAD),
    Check("the same, by the C interface", "inference", "c", "stock", OVERHEAD),
    Check("first inference", "first", "shim", "stock"),
    Check("load and first inference", "start", "shim", "stock"),
    Check("the same, by the C interface", "start", "c", "stock"),
]
MEMORY_CHECKS = [
    Check("memory after load", "loaded", "shim", "stock", 1.0),
    Check("memory after the first inference", "after_first", "shim", "stock", 1.0),
    Check("the same, by the C interface", "after_first", "c", "stock", 0.6),
]
CACHE_CHECKS = [
    Check("start with a cache", "start_and_sleep", "shim, cached", "shim, not cached", 0.1),
    Check("the same, by the C interface", "start_and_sleep", "c, cached", "c, not cached", 0.1),
]


def figures_of(report: dict) -> Figures:
    """Microseconds of CPU time, for an inference the median of wall-clock times; bytes of memory growth."""
    memory, first, load = report["memory_bytes"], report["first_inference"], report["load"]
    start = memory["at_start"]["resident"]
    slept = 1000 * COMPILE_MS if first["wall_us"] >= 1000 * COMPILE_MS else 0
    return {
        "inference": report["latency_us"]["p50"],
        "first": first["cpu_us"],
        "start": first["cpu_us"] + load["cpu_us"],
        "start_and_sleep": first["cpu_us"] + load["cpu_us"] + slept,
        "loaded": memory["loaded"]["resident"] - start,
        "after_first": memory["after_first_inference"]["resident"] - start,
    }


def run(command: List[str], **environment: str) -> str:
    """Runs a command; returns its stdout."""
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "NNAPI_HOST_LIBRARY": str(NULL_NNAPI), **environment}
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"failed: {' '.join(command)}\n{done.stderr}")
    return done.stdout


def bench(model: Model, path: pathlib.Path, inferences: int, memory_format="contiguous_format", cache="",
          **environment) -> Figures:
    """Measures with nnapi-bench, through TorchScript."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        options = [f"--shim_option=cache_directory={cache}"] if cache else []
        run([str(RELEASE / "bin" / "nnapi-bench"), f"--model={path}", *model.inputs(memory_format),
             f"--warmup={WARM_UP}",
             f"--iter={inferences}", f"--report={report}", "--pthreadpool_size=1", *options], **environment)
        return figures_of(json.loads(report.read_text()))


def bench_c(path: pathlib.Path, inferences: int, cache="", **environment) -> Figures:
    """Measures with the C interface, in a process without LibTorch."""
    cached = [cache] if cache else []
    return figures_of(json.loads(run([str(RELEASE / "bin" / "shim_file_run"), str(path), str(NULL_NNAPI),
                                      str(inferences), *cached], **environment)))


def convert(model: Model, folder: pathlib.Path, runtime: str) -> pathlib.Path:
    """Converts without samples: this NNAPI computes nothing, and would fail the shim's check by samples."""
    out = folder / f"{runtime}_{model.path.name}"
    flags = ["--no-self-check"] if runtime == "shim" else []
    run([str(RELEASE / "bin" / "nnapi-convert"), str(model.path), "--nhwc", "--runtime", runtime, *flags,
         "--input", model.sizes, "-q", "-o", str(out)])
    return out


def medians(sides: Dict[str, Callable[[], Figures]], runs: int) -> Dict[str, Figures]:
    """Measures each side once per round. The first round warms the file cache and does not count."""
    samples: Dict[str, List[Figures]] = {name: [] for name in sides}
    for number in range(runs + 1):
        for name, measure in sides.items():
            figures = measure()
            if number > 0:
                samples[name].append(figures)
    return {name: {figure: statistics.median(sample[figure] for sample in found) for figure in found[0]}
            for name, found in samples.items()}


def shown(figure: str, value: float) -> str:
    if figure in ("loaded", "after_first"):
        return f"{value / 1e6:9.2f} MB"
    return f"{value / 1e3:9.3f} ms" if value >= 1000 else f"{value:9.2f} us"


def report_checks(checks: List[Check], found: Dict[str, Figures]) -> bool:
    within = True
    for name, figure, side, base, limit in checks:
        value, reference = found[side][figure], found[base][figure]
        ratio = value / reference
        is_good = limit is None or ratio <= limit
        verdict = "" if limit is None else f"limit {limit:<4g} {'ok' if is_good else 'OVER'}"
        print(f"  {name:34} {shown(figure, reference)} {shown(figure, value)}  x{ratio:5.3f}  {verdict}", flush=True)
        within &= is_good
    return within


def compare(model: Model, folder: pathlib.Path, runs: int) -> bool:
    stock, shim = convert(model, folder, "pytorch"), convert(model, folder, "shim")

    def torch_side(path: pathlib.Path) -> Figures:
        figures = bench(model, path, model.inferences)
        other = bench(model, path, model.inferences, "channels_last")
        return {**figures, "inference_channels_last": other["inference"]}

    found = medians({"stock": lambda: torch_side(stock), "shim": lambda: torch_side(shim),
                     "c": lambda: bench_c(shim, model.inferences)}, runs)
    print(f"\n{model.name}, {model.path.stat().st_size / 1e6:.1f} MB, input {model.sizes}")
    print(f"  {'':34} {'stock':>12} {'shim':>12}")
    return report_checks(CHECKS + (MEMORY_CHECKS if model.memory else []), found)


def compare_cache(model: Model, folder: pathlib.Path, runs: int) -> bool:
    shim = convert(model, folder, "shim")
    environment = {"NULL_NNAPI_COMPILE_MS": str(COMPILE_MS)}
    with tempfile.TemporaryDirectory() as cache:
        found = medians({
            "shim, not cached": lambda: bench(model, shim, 1, **environment),
            "shim, cached": lambda: bench(model, shim, 1, cache=cache, **environment),
            "c, not cached": lambda: bench_c(shim, 1, **environment),
            "c, cached": lambda: bench_c(shim, 1, cache, **environment),
        }, runs)
    print(f"\n{model.name}, on an NNAPI that sleeps {COMPILE_MS / 1000:g} s in compiling")
    print("  CPU time of load and first inference, and the sleep")
    print(f"  {'':34} {'not cached':>12} {'cached':>12}")
    return report_checks(CACHE_CHECKS, found)


def library_size(limit: int) -> bool:
    """Of the core, as an app would carry it."""
    with tempfile.NamedTemporaryFile() as stripped:
        run(["strip", "--strip-unneeded", "-o", stripped.name, str(RELEASE / "lib" / "libnnapi_shim.so")])
        size = os.path.getsize(stripped.name)
    machine = os.uname().machine
    verdict = "ok" if size <= limit else "OVER"
    print(f"\nlibnnapi_shim.so, stripped, for {machine}: {size} bytes, limit {limit} {verdict}")
    return size <= limit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="processes of each side (default 7)")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "bench", help="models and outputs")
    parser.add_argument("--check", action="store_true", help="exit 1 when a limit is exceeded")
    arguments = parser.parse_args()
    small = Model("three operations", ROOT / "testdata" / "models" / "three_operations.pt", "1,3,16,16", 50000)
    image = "1,3,224,224"
    mobile = Model("MobileNetV2", arguments.work / "mobilenet_v2.pt", image, 5000)
    large = Model("ResNet-18", arguments.work / "resnet18.pt", image, 5000, memory=True)
    print(f"medians of {arguments.runs} interleaved processes; memory is growth of resident pages since the start of "
          "the process")
    within = [compare(model, arguments.work, arguments.runs) for model in (small, mobile, large)]
    within += [compare_cache(model, arguments.work, arguments.runs) for model in (mobile, large)]
    within.append(library_size(448 * 1024))
    if arguments.check and not all(within):
        sys.exit("above a limit")


if __name__ == "__main__":
    main()
