# SPDX-License-Identifier: BSD-3-Clause
"""Runs LiteRT's files through LiteRT, by tools/litert-runner/run.js, and compares numbers."""
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parents[2]
RUNNER = ROOT / "tools/litert-runner/run.js"
PACKAGES = Path(os.environ.get("NNAPI_CONVERT_LITERT", ROOT / "build/litert"))
TYPES = {"float32": numpy.float32, "int32": numpy.int32, "uint8": numpy.uint8, "bool": numpy.bool_, "int8": numpy.int8}


def missing():
    """Returns what LiteRT can't be run without here; an empty text if nothing is missing."""
    if shutil.which("node") is None:
        return "Node isn't installed (scripts/install.sh --tests)"
    if not (PACKAGES / "node_modules/@litertjs/core").is_dir():
        return f"LiteRT isn't installed in {PACKAGES} (scripts/install-litert.sh)"
    return ""


def run(jobs, folder, interpreter=False):
    """Returns a report for each job, in their order. A judge that dies is started again with the jobs that are left."""
    reports = []
    while len(reports) < len(jobs):
        path = Path(folder) / "run.jsonl"
        path.write_text("".join(json.dumps(job) + "\n" for job in jobs[len(reports):]))
        command = ["node", str(RUNNER)] + (["--interpreter"] if interpreter else []) + [str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=3000,
                              env={**os.environ, "NNAPI_CONVERT_LITERT": str(PACKAGES)})
        found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        reports += found
        if len(reports) < len(jobs):
            reports.append({"model": jobs[len(reports)]["model"], "error": "the judge died: " + done.stderr[-500:]})
    return reports


def read(path, kind):
    return numpy.fromfile(path, TYPES[kind])


def difference(expected, found, of_range, quanta=1):
    """Returns a text about numbers that differ by more than that; an empty text if none do."""
    if expected.size != found.size:
        return f"{found.size} numbers found, {expected.size} needed"
    if expected.dtype == numpy.float32:
        same = (expected == found) | (numpy.isnan(expected) & numpy.isnan(found))
        left, right = expected[~same].astype(float), found[~same].astype(float)
        error = numpy.abs(left - right).max(initial=0) if left.size else 0.0
        finite = expected[numpy.isfinite(expected)]
        span = float(finite.max() - finite.min()) if finite.size > 1 else float(numpy.abs(finite).max(initial=0))
        rounding = 4 * numpy.finfo(numpy.float32).eps * float(numpy.abs(finite).max(initial=0))
        return "" if error <= max(of_range * span, rounding) else f"max error {error:.3g}, {error / span if span else 0:.3g} of range"
    error = numpy.abs(expected.astype(int) - found.astype(int)).max(initial=0)
    allowed = quanta if expected.dtype in (numpy.int8, numpy.uint8) else 0
    return "" if error <= allowed else f"max error {error} of {expected.dtype}"
