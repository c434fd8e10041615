#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Converts what make_pytorch2.py wrote with PyTorch 2, runs each result on the host's NNAPI against TorchScript and
against PyTorch 2's own results, and writes a table of what NNAPI runs of each network. A row is kept beside each file:
a second run goes on where the first one stopped, and --table writes all rows that are there.

    scripts/sweeps/pytorch2_sweep.py FOLDER --only resnet18 --table docs/generated/pytorch2.md
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import time
from typing import Dict, List, Optional

import zoo_parts
import zoo_summary

ROOT = zoo_parts.ROOT
SUFFIX = {"traced": "traced.pt", "scripted": "scripted.pt", "exported": "pt2"}
TITLES = {"vision": "torchvision", "audio": "torchaudio", "transformers": "Transformers"}
TIMEOUT = 900
TOLERANCE = {True: 1e-3, False: 1e-4}  # of transformers, and of others, as in zoo.py

# Networks that take as many frames as an input says. The apps that run them give the same number each time.
BOUND = {"audio_conformer": "lengths=[24]", "audio_emformer_streaming": "lengths=[5]",
         "audio_rnnt_transcriber": "lengths=[36]"}

HEADER = f"""# Files of PyTorch 2

Networks that PyTorch {{version}} saved, converted for PyTorch's own loader with default options, and run on the host's
NNAPI. Those that take as many frames as an input says have the number from `--input 'lengths=[N]'`:
{", ".join(sorted(BOUND))}. `scripts/makers/make_pytorch2.py` made the
networks with seeded weights and live activations, in small configurations or with small pictures;
`scripts/sweeps/pytorch2_sweep.py` converted them and wrote this page. The tables have the networks that were run. Left out are
networks of more than 100 million parameters and torchvision's detectors and quantised networks, which
[zoo.md](zoo.md) has as PyTorch 1.13 saves them.

A kind is how a file was saved: traced, scripted, or exported (`.pt2`). **whole**: in one NNAPI model. **in parts**: at
least {100 * zoo_summary.LEAST_SHARE:.0f} % of the multiply-adds on NNAPI, in at most {zoo_summary.MOST_SEGMENTS} \
compiled models. **less**: a smaller share, or more of them.
**failed**: refused, or results that differ. Networks that PyTorch itself doesn't save in a kind count nowhere.
"""

COLUMNS = """
- **NNAPI**: the share of the multiply-adds; **segments**: in how many compiled models; **on the CPU**: the operators
  that stay, and how often.
- **error**: largest difference from TorchScript of 1.13.1, and from PyTorch 2's own results, of the result's range
  (1e-4 allowed, 1e-3 for transformers).
- **CPU s**: process CPU time of one conversion.
"""


def is_transformer(name: str, group: str) -> bool:
    return group == "transformers" or name.startswith(("vit", "swin", "maxvit", "mvit"))


def shapes(about: Dict) -> List[str]:
    dtypes = {"float32": ""}
    return [",".join(map(str, sizes)) + dtypes.get(dtype, f":{dtype}") for sizes, dtype in about["inputs"]]


def limited(command: List[str], **options):
    """Runs a command; one that takes too long ends with a message, as one that fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, **options)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", f"no result in {TIMEOUT} s")


def error_of(done) -> Dict:
    lines = [line for line in done.stderr.strip().splitlines() if "warning" not in line]
    error = (lines or [f"exit code {done.returncode}"])[0].replace("nnapi-convert: error: ", "")
    # Neither this machine's folders nor those of the machine that made the file.
    return {"error": re.sub(r"/\S*/(?=\S+\.pt2?\b)|/\S*/dist-packages/", "", error)}


def convert(binary: pathlib.Path, model: pathlib.Path, about: Dict, kind: str) -> Dict:
    report = model.with_suffix(".report.json")
    command = [str(binary), str(model), "-o", str(model.with_suffix(".out.pt")), "--report", str(report), "-q"]
    command.append("--nhwc" if any(len(sizes) == 4 for sizes, _ in about["inputs"]) else "--nchw")
    bound = BOUND.get(model.name.split(".")[0])
    if bound:
        command += ["--input", bound]
    if kind == "scripted" and not about["bundled"]:
        given = [shape for shape in shapes(about) if not (bound and "int64" in shape)]
        command += [option for shape in given for option in ("--input", shape)]
    before = os.times()
    done = limited(command)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    if done.returncode != 0:
        return {**error_of(done), "cpu": cpu}
    return {"report": json.loads(report.read_text()), "cpu": cpu}


def verify(binary: pathlib.Path, model: pathlib.Path, tolerance: float) -> Dict:
    command = [str(binary), "verify", str(model), str(model.with_suffix(".out.pt")), "--samples", "1"]
    done = limited([*command, "--tolerance", str(tolerance), "--format", "json"])
    if done.returncode not in (0, 4) or not done.stdout:
        return error_of(done)
    outputs = json.loads(done.stdout)["outputs"]
    return {"passed": done.returncode == 0, "error_of_range": max(o["relative_error"] or 0 for o in outputs)}


class Comparer:
    """compare_stored.py, which stays up for many files: PyTorch starts slowly. A crash of it is one file's failure."""

    def __init__(self, binary: pathlib.Path):
        self.environment = {**os.environ, "LD_LIBRARY_PATH": str(binary.resolve().parent.parent / "lib" / "host")}
        self.process: Optional[subprocess.Popen] = None

    def compare(self, out: pathlib.Path, results: pathlib.Path) -> Dict:
        if self.process is None or self.process.poll() is not None:
            command = ["/usr/bin/python3", str(ROOT / "scripts" / "sweeps" / "compare_stored.py")]
            self.process = subprocess.Popen(command, env=self.environment, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.process.stdin.write(f"{out}\t{results}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else {"error": f"exit code {self.process.wait()}"}


def measure(binary: pathlib.Path, comparer: Comparer, path: pathlib.Path, kind: str, about: Dict) -> Dict:
    """`path` is that of what make_pytorch2.py says about the network."""
    folder, name = path.parent, name_of(path)
    model = folder / f"{name}.{SUFFIX[kind]}"
    tolerance = TOLERANCE[is_transformer(name, about["group"])]
    row = {"name": name, "kind": kind, "group": about["group"], "torch": about["torch"],
           "megabytes": model.stat().st_size / 1e6, **convert(binary, model, about, kind)}
    if "report" in row:
        row["verify"] = verify(binary, model, tolerance)
        stored = comparer.compare(model.with_suffix(".out.pt"), folder / f"{name}.results")
        row["stored"] = {**stored, "passed": stored.get("error_of_range", float("inf")) <= tolerance}
        model.with_suffix(".out.pt").unlink(missing_ok=True)
        model.with_suffix(".report.json").unlink(missing_ok=True)
    return row


def outcome(row: Dict) -> str:
    passed = "report" in row and row["verify"].get("passed", False) and row["stored"]["passed"]
    return zoo_summary.outcome(row.get("report", row), passed)


def error_cell(comparison: Dict) -> str:
    if "error" in comparison:
        return f"**failed**: {zoo_parts.cell(comparison['error'])[:120]}"
    return f"{comparison['error_of_range']:.0e}" + ("" if comparison["passed"] else " **failed**")


def line(row: Dict) -> str:
    start = f"| {row['name']} | {row['kind']} | {row['megabytes']:.1f} |"
    if "report" not in row:
        return f"{start} refused: {zoo_parts.cell(row['error'])[:200]} | | | | | {row['cpu']:.1f} |"
    report = row["report"]
    partition = report.get("partition")
    cells = [
        zoo_parts.share(partition) if partition else "all",
        str(len(partition["segments"])) if partition else "1",
        str(report["operation_count"]),
        zoo_parts.on_the_cpu(report),
        f"{error_cell(row['verify'])}, {error_cell(row['stored'])}",
        f"{row['cpu']:.1f}",
    ]
    return f"{start} {' | '.join(cells)} |"


def summary(rows: List[Dict]) -> List[str]:
    lines = ["", "| group | kind | files | whole | in parts | less | failed | whole or in parts |", "|---" * 8 + "|"]
    for group, title in TITLES.items():
        for kind in SUFFIX:
            counts = collections.Counter(outcome(row) for row in rows if (row["group"], row["kind"]) == (group, kind))
            if counts:
                share = (counts["whole"] + counts["parts"]) / sum(counts.values())
                cells = [title, kind, str(sum(counts.values())), *(str(counts[each]) for each in zoo_summary.OUTCOMES)]
                lines.append(f"| {' | '.join(cells)} | {100 * share:.1f} % |")
    return lines


def table(rows: List[Dict]) -> str:
    version = rows[0]["torch"].split("+")[0]
    lines = [HEADER.format(version=version), *summary(rows), COLUMNS]
    for group, title in TITLES.items():
        chosen = [row for row in rows if row["group"] == group]
        if chosen:
            lines += [f"## {title}", "",
                      "| network | kind | MB | NNAPI | segments | operations | on the CPU | error | CPU s |",
                      "|---" * 9 + "|", *(line(row) for row in chosen), ""]
    return "\n".join(lines)


def row_file(folder: pathlib.Path, name: str, kind: str) -> pathlib.Path:
    return folder / f"{name}.{kind}.row.json"


def name_of(path: pathlib.Path) -> str:
    return path.name[:-len(".about.json")]


def sweep(arguments: argparse.Namespace) -> None:
    comparer = Comparer(arguments.binary)
    for path in sorted(arguments.folder.glob("*.about.json")):
        name = name_of(path)
        about = json.loads(path.read_text())
        if arguments.only is not None and name not in arguments.only:
            continue
        for kind, problem in about["kinds"].items():
            saved = row_file(arguments.folder, name, kind)
            is_chosen = arguments.kind in (None, kind) and arguments.group in (None, about["group"])
            model = arguments.folder / f"{name}.{SUFFIX[kind]}"
            if problem or not is_chosen or not model.exists() or (saved.exists() and not arguments.again):
                continue
            start = time.monotonic()
            row = measure(arguments.binary, comparer, path, kind, about)
            saved.write_text(json.dumps(row))
            print(f"{time.monotonic() - start:5.0f} s {outcome(row):6} {line(row)}", flush=True)
            if arguments.discard and outcome(row) in ("whole", "parts"):
                model.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="of make_pytorch2.py; rows are kept there, too")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "nnapi-convert")
    parser.add_argument("--group", choices=TITLES)
    parser.add_argument("--kind", choices=SUFFIX)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these networks; without a name, none")
    parser.add_argument("--again", action="store_true", help="measure anew what has a row")
    parser.add_argument("--discard", action="store_true", help="remove files that converted")
    parser.add_argument("--table", type=pathlib.Path, help="write the tables of all rows so far")
    arguments = parser.parse_args()
    sweep(arguments)
    rows = [json.loads(path.read_text()) for path in sorted(arguments.folder.glob("*.row.json"))]
    if arguments.table and rows:
        arguments.table.write_text(table(rows))
    failed = [f"{row['name']} {row['kind']}" for row in rows if outcome(row) in ("failed", "less")]
    print(f"{len(rows)} files, {len(failed)} short of the aim" + (": " + ", ".join(failed) if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
