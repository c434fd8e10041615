#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Converts torchvision's networks (those of zoo.py) with --int8-weights, and compares the files with those of float
weights: their sizes, and the largest error of the results on the host's NNAPI, of an output's range. A row is kept in
the work folder: a second run goes on where the first one stopped. Networks that are quantised already have no float
weights to store."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Dict, List

import zoo
import zoo_parts

GROUPS = ("float", "video", "flow", "detection")
MOST_ERROR = 0.01
COLUMNS = ("network", "float MB", "int8 file", "weights as int8", "measured", "verify", "CPU s float", "CPU s int8")


def convert(arguments: argparse.Namespace, model: pathlib.Path, shape: str, group: str, options: List[str]) -> Dict:
    out = model.with_suffix(".out.pt")
    report = model.with_suffix(".json")
    command = [str(arguments.binary), str(model), "-o", str(out), "--nhwc", "-q", "--report", str(report), *options]
    command += ["--feature-level", "7"] if group == "float" else []
    command += [option for size in zoo_parts.inputs(model, shape, group) for option in ("--input", size)]
    before = os.times()
    done = subprocess.run([*command, *zoo_parts.library_options(group)], capture_output=True, text=True)
    after = os.times()
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[0]}
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"bytes": out.stat().st_size, "cpu": cpu, "stored": json.loads(report.read_text()).get("stored_weights")}


def measure(arguments: argparse.Namespace, model: pathlib.Path, shape: str, group: str) -> Dict:
    row = {"float": convert(arguments, model, shape, group, []),
           "int8": convert(arguments, model, shape, group, ["--int8-weights"])}
    if "error" not in row["int8"] and group != "detection":
        row["verify"] = zoo_parts.verify(arguments.binary, model, str(MOST_ERROR))
    return row


def text_of(name: str, row: Dict) -> str:
    problem = row["float"].get("error") or row["int8"].get("error") or row.get("verify", {}).get("error")
    if problem:
        return f"| {name} | refused: {problem[:160]} |"
    stored = row["int8"]["stored"]
    weights = stored["weights"]
    elements = sum(each["elements"] for each in weights)
    share = sum(each["elements"] for each in weights if each["stored_as"] == "int8") / max(elements, 1)
    found = row.get("verify")
    cells = [name, f"{row['float']['bytes'] / 1e6:.1f}", f"{row['int8']['bytes'] / row['float']['bytes']:.3f}",
             f"{sum(each['stored_as'] == 'int8' for each in weights)} of {len(weights)}, {100 * share:.0f} %",
             f"{stored['error_of_range'] or 0:.4f}",
             "-" if found is None else f"{found['error_of_range']:.4f}" + ("" if found["passed"] else " **failed**"),
             f"{row['float']['cpu']:.1f}", f"{row['int8']['cpu']:.1f}"]
    return f"| {' | '.join(cells)} |"


def models_of(name: str, group: str, work: pathlib.Path) -> List[pathlib.Path]:
    if group == "float":
        return [work / f"{name}.pt"]
    return [path for form in zoo_parts.FORMS if (path := work / f"{name}_{form}.pt").exists()]


def rows_of(arguments: argparse.Namespace, group: str, name: str, shape: str) -> Dict:
    saved = arguments.work / f"int8_{name}.json"
    if not saved.exists():
        work = arguments.work / name
        zoo.make_models(zoo.GROUPS[group].recipes, name, work)
        rows = {model.stem: measure(arguments, model, shape, group) for model in models_of(name, group, work)}
        saved.write_text(json.dumps(rows))
        shutil.rmtree(work)
    return json.loads(saved.read_text())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", nargs="*", choices=GROUPS, default=GROUPS)
    parser.add_argument("--binary", type=pathlib.Path, default=zoo.ROOT / "build" / "release" / "bin" / "nnapi-convert")
    parser.add_argument("--work", type=pathlib.Path, default=zoo.ROOT / "build" / "zoo")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these networks")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    arguments.work = arguments.work.resolve()
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|", flush=True)
    failed, count = [], 0
    for group in arguments.groups:
        for name, shape in zoo.names_and_shapes(zoo.GROUPS[group]).items():
            if arguments.only is not None and name not in arguments.only:
                continue
            for variant, row in rows_of(arguments, group, name, shape).items():
                text = text_of(variant, row)
                print(text, flush=True)
                count += 1
                failed += [variant] if "refused" in text or "failed" in text else []
    print(f"{count} variants, {len(failed)} failed" + (": " + ", ".join(failed) if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
