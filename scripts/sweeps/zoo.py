#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Converts torchvision's networks in both layouts, runs each result on the host's NNAPI against TorchScript, asks
PyTorch's own converter for the same, and writes a table; with --group quantised, the quantised networks in every
--quant mode, against their float twins; with video, detection or flow, networks that NNAPI may run in parts. A row is
kept in the work folder: a second run goes on where the first one stopped, and --table writes all rows that are
there."""

import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
from functools import partial
from typing import Callable, Dict, List, NamedTuple

import zoo_parts
import zoo_summary

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEVELS = (3, 4, 6, 7)  # those that bring operations
LAYOUTS = ("nhwc", "nchw")
MODES = {"full": LAYOUTS, "core": ("nhwc",), "nnapi": ("nhwc",)}  # of --quant, and the layouts to run
LARGEST_RATIO = {"per_tensor": 1.1, "per_channel": 1.5}  # of the distances from the float network

TITLE = """# torchvision's networks

torchvision 0.14.1 names 118 networks (`torchvision.models.list_models()`): 80 for classification, 6 for segmentation,
12 quantised ones, 12 detectors, 6 for videos and 2 for optical flow. Here they are 148 variants: the quantised ones
come with weights of one scale and with one for each channel (12 more), detectors and networks of videos traced and
scripted (18 more); all others are traced. `scripts/sweeps/zoo.py` knows all of them; the tables have those that were run, each
row as it was measured.
"""

HEADER = """
## Classification and segmentation

Traced as they come with seeded weights and live activations, converted whole and run on the host's NNAPI by PyTorch's
own loader.

- **level**: the lowest NNAPI feature level that runs the result; below level 3, in NHWC.
- **operations**, and how many of them are **TRANSPOSE**, in NHWC and in NCHW.
- **error**: largest difference from TorchScript, of the output's range, in NHWC and in NCHW (1e-4 allowed, 1e-3 for
  transformers).
- **CPU s**: process CPU time of one conversion.
- **incumbent**: operations that PyTorch's Python converter emits for the same file in NHWC, or what it stops at.
"""

QUANTISED_HEADER = """
## Quantised networks

Those of torchvision's 12 quantisable networks that were run, quantised by torch.ao after their `fuse_model`: with one
scale for each weight (qnnpack's default) and with one for each output channel (fbgemm's), which PyTorch's loader can't
hand to NNAPI. Seeded weights, 32 samples of 64 by 64 (Inception 96).

- **full**, **core**, **nnapi**: the mode of `--quant`; NNAPI's RMS distance from the float network over TorchScript's
  own, in NHWC and, for full, in NCHW. Allowed are 1.1, and 1.5 for weights per channel.
- **warnings**: layers whose per-channel weights the converter requantised, and said so.
- **mobilenet_v2_dead_channels** has a tenth of its channels dead, as trained networks do: behind these, folded weights
  are tens of thousands of times larger than others. Depthwise convolutions become a few, one for each scale.
"""


def convert(binary: pathlib.Path, model: pathlib.Path, work: pathlib.Path, layout: str, shape: str, options: List[str]):
    """Returns the report of the lowest feature level that converts, and the CPU time of that run."""
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


def verify_ratio(binary: pathlib.Path, model: pathlib.Path, reference: pathlib.Path, work: pathlib.Path) -> Dict:
    command = [str(binary), "verify", str(model), str(work / "out.pt"), "--reference", str(reference)]
    done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True)
    if done.returncode not in (0, 4):
        return {"error": done.stderr.strip()[-300:], "ratio": float("nan")}
    return json.loads(done.stdout)["reference"]


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
    work = arguments.work / name
    model = work / f"{name}.pt"
    make_models("zoo", name, work)
    row: Dict = {"megabytes": model.stat().st_size / 1e6, "layouts": {}}
    tolerance = "1e-3" if is_transformer(name) else "1e-4"
    for layout in LAYOUTS:
        report, cpu = convert(arguments.binary, model, work, layout, shape, [])
        row["layouts"][layout] = {"report": report, "cpu": cpu}
        if "error" not in report:
            row["layouts"][layout]["verify"] = verify(arguments.binary, model, work, arguments.samples, tolerance)
    row["incumbent"] = incumbent(model, work, shape)
    return row


def make_models(group: str, name: str, work: pathlib.Path) -> None:
    command = [str(ROOT / "scripts" / "makers" / "make_models.py"), str(work), "--group", group, "--only", name]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def measure_quantised(name: str, shape: str, arguments: argparse.Namespace) -> Dict:
    work = arguments.work / name
    make_models("zoo_quantised", name, work)
    reference = work / f"{name}_float.pt"
    row: Dict = {}
    for kind in LARGEST_RATIO:
        model = work / f"{name}_{kind}.pt"
        if not model.exists():
            continue
        row[kind] = {"megabytes": model.stat().st_size / 1e6}
        for mode, layouts in MODES.items():
            row[kind][mode] = {}
            for layout in layouts:
                report, _ = convert(arguments.binary, model, work, layout, shape, ["--quant", mode])
                row[kind][mode][layout] = {"report": report}
                if "error" not in report:
                    row[kind][mode][layout].update(verify_ratio(arguments.binary, model, reference, work))
    return row


def pair(values: List[str]) -> str:
    return values[0] if len(set(values)) == 1 else " / ".join(values)


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


def quantised_rows(name: str, row: Dict) -> str:
    return "\n".join(quantised_row(name, kind, row[kind]) for kind in row)


def quantised_row(name: str, kind: str, row: Dict) -> str:
    reports = [row["full"][layout]["report"] for layout in LAYOUTS]
    found = {mode: list(row[mode].values()) for mode in MODES}
    errors = [result["report"]["error"] for results in found.values() for result in results
              if "error" in result["report"]]
    start = f"| {name} | {kind.replace('_', ' ')} | {row['megabytes']:.0f} | "
    if errors:
        return start + f"refused: {' '.join(errors[0])[:160]} | | | | | | |"
    cells = [
        str(reports[0]["feature_level"]),
        pair([str(report["operation_count"]) for report in reports]),
        pair([str(report["operations"].get("TRANSPOSE", 0)) for report in reports]),
    ]
    for results in found.values():
        passed = all(result["ratio"] <= LARGEST_RATIO[kind] for result in results)
        cells.append(pair([f"{result['ratio']:.3f}" for result in results]) + ("" if passed else " **failed**"))
    warnings = sum("per-channel" in warning for warning in reports[0]["warnings"])
    return start + " | ".join([*cells, f"{warnings or ''} |"])


def float_table(rows: Dict[str, Dict]) -> List[str]:
    lines = [HEADER, "| network | MB | level | operations | TRANSPOSE | error | CPU s | incumbent |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    lines += [table_row(name, row) for name, row in rows.items()]
    kinds: collections.Counter = collections.Counter()
    for row in rows.values():
        kinds.update(row["layouts"]["nhwc"]["report"].get("operations", {}))
    return lines + ["", "Operations over all networks, NHWC: " + ", ".join(f"{k} {n}" for k, n in kinds.most_common())
                    + "."]


def quantised_table(rows: Dict[str, Dict]) -> List[str]:
    columns = ["network", "weights", "MB", "level", "operations", "TRANSPOSE", *MODES, "warnings"]
    lines = [QUANTISED_HEADER, f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    return lines + [quantised_rows(name, row) for name, row in rows.items()]


class Group(NamedTuple):
    """A group of networks: its name for make_models.py, and the steps for each network."""

    recipes: str
    prefix: str  # of the files of rows
    measure: Callable[[str, str, argparse.Namespace], Dict]
    text: Callable[[str, Dict], str]
    table: Callable[[Dict[str, Dict]], List[str]]


def measure_parts(group: str, name: str, shape: str, arguments: argparse.Namespace) -> Dict:
    work = arguments.work / name
    make_models(f"zoo_{group}", name, work)
    return zoo_parts.measure(group, name, shape, arguments.binary, work)


def parts_group(group: str) -> Group:
    text, table = partial(zoo_parts.rows_of, group), partial(zoo_parts.table, group)
    return Group(f"zoo_{group}", f"{group}_", partial(measure_parts, group), text, table)


GROUPS = {
    "float": Group("zoo", "", measure, table_row, float_table),
    "quantised": Group("zoo_quantised", "quantised_", measure_quantised, quantised_rows, quantised_table),
    **{group: parts_group(group) for group in zoo_parts.HEADERS},
}


def names_and_shapes(group: Group) -> Dict[str, str]:
    """Returns the networks and their input shapes."""
    command = [str(ROOT / "scripts" / "makers" / "make_models.py"), "--group", group.recipes, "--list"]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [line for line in listing.splitlines() if "; input " in line]
    return {line.split()[0]: line.split("; input ")[1].strip() for line in lines}


def row_file(group: Group, name: str, work: pathlib.Path) -> pathlib.Path:
    return work / f"{group.prefix}{name}.json"


def write_tables(path: pathlib.Path, work: pathlib.Path) -> None:
    tables, rows_of = [], {}
    for key, group in GROUPS.items():
        files = {name: row_file(group, name, work) for name in names_and_shapes(group)}
        rows = {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}
        if rows:
            tables += group.table(rows)
            rows_of[key] = {name: row for name, row in rows.items() if not name.endswith("_dead_channels")}
    lines = [TITLE, *zoo_summary.table(rows_of, LARGEST_RATIO), *tables]
    path.write_text("\n".join(lines) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--group", choices=GROUPS, default="float")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "nnapi-convert")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "zoo")
    parser.add_argument("--table", type=pathlib.Path, help="write the tables of all rows so far, of all groups")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these networks; without a name, none")
    parser.add_argument("--samples", type=int, default=2, help="of float networks; quantised ones take 32")
    parser.add_argument("--keep", action="store_true", help="keep the models")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    arguments.work = arguments.work.resolve()
    group = GROUPS[arguments.group]
    texts = {}
    for name, shape in names_and_shapes(group).items():
        if arguments.only is not None and name not in arguments.only:
            continue
        saved = row_file(group, name, arguments.work)
        if not saved.exists():
            start = time.monotonic()
            saved.write_text(json.dumps(group.measure(name, shape, arguments)))
            if not arguments.keep:
                shutil.rmtree(arguments.work / name)
            print(f"{time.monotonic() - start:6.0f} s  {group.text(name, json.loads(saved.read_text()))}", flush=True)
        texts[name] = group.text(name, json.loads(saved.read_text()))
    if arguments.table:
        write_tables(arguments.table, arguments.work)
    failed = [name for name, text in texts.items() if "refused" in text or "failed" in text]
    print(f"{len(texts)} networks, {len(failed)} failed" + (": " + ", ".join(failed) if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
