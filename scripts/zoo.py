#!/usr/bin/python3
"""Converts torchvision's networks in both layouts, runs each result on the host's NNAPI against TorchScript, asks
PyTorch's own converter for the same, and writes a table. A row is kept in the work folder: a second run goes on where the
first one stopped."""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import time
from typing import Dict, List, Optional

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEVELS = (3, 4, 6, 7)  # those that bring operations
LAYOUTS = ("nhwc", "nchw")

HEADER = """# torchvision's networks

Networks of torchvision 0.14.1, traced as they come with seeded weights and live activations, converted whole and run on
the host's NNAPI by PyTorch's own loader. Made by `scripts/zoo.py`, which knows all 80 classification and 6 segmentation
networks; the table has those that were run.

- **level**: the lowest NNAPI feature level that runs the result; below level 3, in NHWC.
- **operations**, and how many of them are **TRANSPOSE**, in NHWC and in NCHW.
- **error**: largest difference from TorchScript, of the output's range, in NHWC and in NCHW (1e-4 allowed, 1e-3 for
  transformers).
- **CPU s**: process CPU time of one conversion.
- **incumbent**: operations that PyTorch's Python converter emits for the same file in NHWC, or what it stops at.
"""


def convert(binary: pathlib.Path, model: pathlib.Path, work: pathlib.Path, layout: str, shape: str, options: List[str]):
    """The report of the lowest feature level that converts, and the CPU time of that run."""
    report = work / "report.json"
    for level in LEVELS:
        command = [str(binary), str(model), "-o", str(work / "out.pt"), f"--{layout}", "--input", shape]
        command += ["--feature-level", str(level), "--report", str(report), "-q", *options]
        report.unlink(missing_ok=True)
        before = os.times()
        done = subprocess.run(command, capture_output=True, text=True)
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        if done.returncode == 0:
            return json.loads(report.read_text()), cpu
    return {"error": done.stderr.strip().splitlines()[:3]}, cpu


def verify(binary: pathlib.Path, model: pathlib.Path, work: pathlib.Path, samples: int, tolerance: str) -> Dict:
    command = [str(binary), "verify", str(model), str(work / "out.pt"), "--samples", str(samples), "--format", "json"]
    done = subprocess.run(command + ["--tolerance", tolerance], capture_output=True, text=True)
    if done.returncode not in (0, 4):
        return {"error": done.stderr.strip()[-300:]}
    result = json.loads(done.stdout)
    return {"passed": done.returncode == 0, "error_of_range": max(o["relative_error"] or 0 for o in result["outputs"])}


def incumbent(model: pathlib.Path, work: pathlib.Path, shape: str) -> str:
    sys.path.insert(0, str(ROOT / "bench"))
    from nnapi_buffer import read_counts

    command = ["/usr/bin/python3", str(ROOT / "bench" / "incumbent.py"), str(model), str(work / "incumbent.pt")]
    done = subprocess.run([*command, "nhwc", shape], capture_output=True, text=True)
    if done.returncode == 0:
        return str(read_counts(str(work / "incumbent.pt")).operations)
    last = done.stderr.strip().splitlines()[-1]
    return last.split("Exception: ")[-1].split(" in node")[0][:60]


def is_transformer(name: str) -> bool:
    return name.startswith(("vit", "swin", "maxvit"))


def measure(name: str, shape: str, arguments: argparse.Namespace) -> Dict:
    work = arguments.work
    model = work / f"{name}.pt"
    make = [str(ROOT / "scripts" / "make_models.py"), str(work), "--group", "zoo", "--only", name]
    subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
    row: Dict = {"megabytes": model.stat().st_size / 1e6, "layouts": {}}
    tolerance = "1e-3" if is_transformer(name) else "1e-4"
    for layout in LAYOUTS:
        report, cpu = convert(arguments.binary, model, work, layout, shape, [])
        row["layouts"][layout] = {"report": report, "cpu": cpu}
        if "error" not in report:
            row["layouts"][layout]["verify"] = verify(arguments.binary, model, work, arguments.samples, tolerance)
    row["incumbent"] = incumbent(model, work, shape)
    if not arguments.keep:
        model.unlink()
    return row


def pair(values: List[str]) -> str:
    return values[0] if values[0] == values[1] else " / ".join(values)


def table_row(name: str, row: Dict) -> str:
    layouts = [row["layouts"][layout] for layout in LAYOUTS]
    if any("error" in layout["report"] for layout in layouts):
        problem = next(layout["report"]["error"] for layout in layouts if "error" in layout["report"])
        return f"| {name} | {row['megabytes']:.0f} | refused: {' '.join(problem)[:160]} | | | | | {row['incumbent']} |"
    reports = [layout["report"] for layout in layouts]
    errors = [f"{layout['verify'].get('error_of_range', float('nan')):.1e}" for layout in layouts]
    failed = [layout["verify"] for layout in layouts if not layout["verify"].get("passed")]
    return " | ".join(
        [
            f"| {name}",
            f"{row['megabytes']:.0f}",
            str(reports[0]["feature_level"]),
            pair([str(report["operation_count"]) for report in reports]),
            pair([str(report["operations"].get("TRANSPOSE", 0)) for report in reports]),
            pair(errors) + (" **failed**" if failed else ""),
            f"{layouts[0]['cpu']:.1f}",
            f"{row['incumbent']} |",
        ]
    )


def write_table(rows: Dict[str, Dict], path: pathlib.Path) -> None:
    lines = [HEADER, "| network | MB | level | operations | TRANSPOSE | error | CPU s | incumbent |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    lines += [table_row(name, row) for name, row in rows.items()]
    kinds: collections.Counter = collections.Counter()
    for row in rows.values():
        kinds.update(row["layouts"]["nhwc"]["report"].get("operations", {}))
    lines += ["", "Operations over all networks, NHWC: " + ", ".join(f"{k} {n}" for k, n in kinds.most_common()) + "."]
    path.write_text("\n".join(lines) + "\n")


def zoo_names(only: Optional[List[str]]) -> Dict[str, str]:
    """The networks and their input shapes."""
    listing = subprocess.run(
        [str(ROOT / "scripts" / "make_models.py"), "--group", "zoo", "--list"], capture_output=True, text=True, check=True
    ).stdout
    shapes = {}
    for line in listing.splitlines():
        if "; input " in line:
            shapes[line.split()[0]] = line.split("; input ")[1].strip()
    return {name: shape for name, shape in shapes.items() if only is None or name in only}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "nnapi-convert")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "zoo")
    parser.add_argument("--table", type=pathlib.Path, help="write the table of all rows so far")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="keep the models")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    arguments.work = arguments.work.resolve()
    rows = {}
    for name, shape in zoo_names(arguments.only).items():
        saved = arguments.work / f"{name}.json"
        if not saved.exists():
            start = time.monotonic()
            saved.write_text(json.dumps(measure(name, shape, arguments)))
            print(f"{time.monotonic() - start:6.0f} s  {table_row(name, json.loads(saved.read_text()))}", flush=True)
        rows[name] = json.loads(saved.read_text())
    if arguments.table:
        write_table(rows, arguments.table)
    failed = [name for name, row in rows.items() if "refused" in table_row(name, row) or "failed" in table_row(name, row)]
    print(f"{len(rows)} networks, {len(failed)} failed" + (": " + ", ".join(failed) if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
