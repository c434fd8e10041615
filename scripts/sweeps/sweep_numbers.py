#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Converts small generated models whose numbers lie at the borders of their dtypes, runs each result on the host's
NNAPI by PyTorch's own loader or the shim, and compares dtypes, integers exactly and floats by their range with what the
Python module itself gives; infinite numbers may be the largest of float32, and what is in the place of NaN isn't asked.
Each model is asked for whole (--fallback none), and in parts where it is refused, at one of several feature levels, in
NCHW or NHWC. The table counts what came of them: a model that gives other numbers or another dtype than PyTorch, and was
converted without a warning of that, is a fault, and makes the exit code 1.

LD_LIBRARY_PATH must lead to the host's libneuralnetworks.so."""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import warnings
from typing import Dict, List, Tuple

import torch

from number_models import KINDS, Model

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("NNAPI_CONVERT", str(ROOT / "build/release/bin/nnapi-convert"))
MAX_FLOAT = torch.finfo(torch.float32).max
FLOAT_TOLERANCE = 1e-4  # of the range of the expected values
LEVELS = (3, 4, 6, 7)  # those that bring operations

SHIM = pathlib.Path(PROGRAM).resolve().parents[1] / "lib" / "libnnapi_shim_torch.so"

SPEC = {torch.float32: "float32", torch.int32: "int32", torch.int64: "int64", torch.bool: "bool"}


class Net(torch.nn.Module):
    """The computation under test, and an operation that NNAPI runs in any case."""

    def __init__(self, source: str, inputs: int):
        super().__init__()
        self.function = eval(f"lambda {', '.join('xyz'[:inputs])}: {source}")

    def forward(self, companion, *inputs):
        return torch.relu(companion), self.function(*inputs)


def built(model: Model, path: pathlib.Path) -> bool:
    """Returns False for a form that PyTorch refuses, or whose trace has other results."""
    inputs = len(model.samples[0])
    try:
        net = Net(model.source, inputs).eval()
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            companion = torch.ones(1, 2, 3)
            expected = [net(companion, *sample)[1] for sample in model.samples]
            traced = torch.jit.trace(net, (companion, *model.samples[0]), check_trace=False)
            found = [traced(companion, *sample)[1] for sample in model.samples]
    except (RuntimeError, TypeError, IndexError, AttributeError, ValueError):
        return False
    traced.save(str(path))
    return all(isinstance(one, torch.Tensor) and same_form(one, other) for one, other in zip(expected, found))


def same_form(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.dtype == other.dtype and one.shape == other.shape


def models_of(count: int, seed: int, folder: pathlib.Path) -> Dict[str, Model]:
    models, number = {}, 0
    while len(models) < count:
        pick = random.Random(seed * 1000003 + number)
        torch.manual_seed(number)
        model = KINDS[number % len(KINDS)](pick)._replace(level=pick.choice(LEVELS), nhwc=pick.random() < 0.5,
                                                          runtime=pick.choice(("pytorch", "pytorch", "shim")))
        name = f"m{number:05}"
        if built(model, folder / f"{name}.pt"):
            models[name] = model
        number += 1
    return models


def in_float64(net: Net, companion: torch.Tensor, sample) -> torch.Tensor:
    wide = [each.double() if each.dtype == torch.float32 else each for each in sample]
    return net(companion, *wide)[1]


def difference(model: Model, expected: torch.Tensor, found: torch.Tensor, exact: torch.Tensor) -> str:
    """Returns the difference; empty if both agree. `exact` is PyTorch's result with float64: near 0 some of PyTorch's
    float32 functions lose digits, as elu(x) does, and a result that is nearer to `exact` than theirs is right."""
    if expected.dtype != found.dtype:
        return f"dtype {found.dtype} instead of {expected.dtype}"
    if expected.shape != found.shape:
        return f"shape {list(found.shape)} instead of {list(expected.shape)}"
    if "int_repr" in model.source:  # NNAPI rounds halves away from 0
        return "" if (expected - found).abs().max() <= 1 else f"{found.tolist()} instead of {expected.tolist()}"
    values_differ = f"{found.flatten().tolist()} instead of {expected.flatten().tolist()}"
    if not expected.dtype.is_floating_point:
        return "" if torch.equal(expected, found) else values_differ
    expected, found = expected.double(), found.double()
    finite = expected.isfinite()
    # Arithmetic of Android's CPU gives the largest float32 in place of an infinite number, and loses NaN at times.
    clamped = expected.clamp(-MAX_FLOAT, MAX_FLOAT)
    same = torch.where(finite, found.isfinite(), (expected == found) | (clamped == found) | expected.isnan())
    values = expected[finite]
    spread = (values.max() - values.min()).item() if values.numel() else 0
    # of numbers alone their own size is the range
    tolerance = FLOAT_TOLERANCE * max(spread, values.abs().max().item() if values.numel() else 0)
    if model.kind == "quantised":
        steps = re.findall(r"(?:, |\()(\d+\.\d+), \d+[,)]", model.source)
        tolerance = 1.01 * max(map(float, steps))
    if model.kind == "functions near 0":
        tolerance = FLOAT_TOLERANCE * values.abs()
        own_error = (expected - exact.double()).abs()[finite]
        tolerance = torch.zeros_like(expected).masked_scatter(finite, torch.maximum(tolerance, 2 * own_error))
    close = torch.where(finite & same, (expected - found).abs() <= tolerance, same)
    return "" if close.all() else values_differ


def convert(names: List[str], models: Dict[str, Model], folder: pathlib.Path, options: List[str],
            jobs: int) -> Dict[str, Tuple[pathlib.Path, str]]:
    """Converts with `batch`; returns for each the result or None, and the warnings or the error."""
    out = folder / options.pop()
    entries = []
    for name in names:
        inputs = ["1,2,3"]
        for tensor in models[name].samples[0]:
            inputs.append(",".join(map(str, tensor.shape)) + ":" + SPEC[tensor.dtype])
        entries.append({"name": name, "model": f"{name}.pt",
                        "options": {"input": inputs, "feature-level": models[name].level,
                                    "runtime": models[name].runtime,
                                    "nhwc" if models[name].nhwc else "nchw": True}})
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps({"version": 1, "models": entries}))
    command = [PROGRAM, "batch", str(manifest), "-o", str(out), "--keep-going", "-q", "-j", str(jobs),
               "--timeout", "120", *options]
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    summary = json.loads((out / "summary.json").read_text())
    results = {}
    for entry in summary["models"]:
        text = entry.get("error") or entry.get("message") or ""
        report = out / f"{entry['name']}.report.json"
        if report.exists():
            text += "\n".join(json.loads(report.read_text()).get("warnings", []))
        path = out / f"{entry['name']}.pt"
        results[entry["name"]] = (path if path.exists() else None, text)
    return results


def run(names: List[str], models: Dict[str, Model], folder: pathlib.Path, options: List[str], jobs: int):
    """Returns an outcome and its text for each model."""
    outcomes = {}
    for name, (path, text) in convert(names, models, folder, options, jobs).items():
        if path is None:
            is_fault = "internal error" in text
            outcomes[name] = ("WRONG" if is_fault else "refused", text)
            continue
        original = Net(models[name].source, len(models[name].samples[0])).eval()  # Python runs it
        converted = torch.jit.load(str(path))
        companion = torch.randn(1, 2, 3)
        found = ""
        for sample in models[name].samples:
            try:
                with torch.no_grad():
                    expected = original(companion, *sample)[1]
                    is_near_0 = models[name].kind == "functions near 0"
                    exact = in_float64(original, companion, sample) if is_near_0 else expected
                    found = found or difference(models[name], expected, converted(companion, *sample)[1], exact)
            except RuntimeError as error:
                found = found or f"doesn't run: {str(error).splitlines()[-1]}"
        if not found:
            outcomes[name] = ("agrees", "")
        else:
            outcomes[name] = ("warned" if is_warned(text) else "WRONG", found)
    return outcomes


def is_warned(text: str) -> bool:
    return any(words in text for words in ("int64 numbers have 32 bits", "float64"))


def sweep(count: int, seed: int, jobs: int, folder: pathlib.Path) -> bool:
    """Writes the table; returns False if there are faults."""
    models = models_of(count, seed, folder)
    names = list(models)
    whole = run(names, models, folder, ["--fallback", "none", "whole"], jobs)
    refused = [name for name in names if whole[name][0] == "refused"]
    parts = run(refused, models, folder, ["--min-segment-macs", "0", "parts"], jobs) if refused else {}
    outcomes = ("agrees", "warned", "refused", "agrees in parts", "warned in parts", "refused in parts", "WRONG")
    table, faults = collections.defaultdict(collections.Counter), []
    for name in names:
        kind = models[name].kind
        for outcome, text, suffix in [(*whole[name], "")] + ([(*parts[name], " in parts")] if name in parts else []):
            table[kind]["WRONG" if outcome == "WRONG" else outcome + suffix] += 1
            if outcome == "WRONG":
                faults.append(f"{name}{suffix}: {models[name].source}: level {models[name].level}: "
                              f"{[str(tensor.dtype) for tensor in models[name].samples[0]]}: {text[:400]}")
    print("| kind | models | " + " | ".join(outcomes) + " |")
    print("|---" * (len(outcomes) + 2) + "|")
    for kind in sorted(table):
        total = sum(model.kind == kind for model in models.values())
        print(f"| {kind} | {total} | " + " | ".join(str(table[kind][outcome]) for outcome in outcomes) + " |")
    for fault in faults:
        print("\nWRONG " + fault)
    return not faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500, help="models [500]")
    parser.add_argument("--seed", type=int, default=1, help="of the models [1]")
    parser.add_argument("--jobs", type=int, default=2, help="models to convert at a time [2]")
    parser.add_argument("--keep", type=pathlib.Path, help="folder to keep models and results in")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.backends.quantized.engine = "qnnpack"
    torch.ops.load_library(str(SHIM))
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
        sys.exit(0 if sweep(arguments.count, arguments.seed, arguments.jobs, arguments.keep) else 1)
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(0 if sweep(arguments.count, arguments.seed, arguments.jobs, pathlib.Path(folder)) else 1)


if __name__ == "__main__":
    main()
