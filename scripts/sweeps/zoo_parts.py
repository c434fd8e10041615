# SPDX-License-Identifier: BSD-3-Clause
"""The part of zoo.py for networks that NNAPI may run in parts: videos, detectors and optical flow. Each variant, a form
of a network, is converted in NHWC for PyTorch's own loader, and a row says what share of it NNAPI runs, what stays on
the CPU and why, and how the results compare."""

import collections
import json
import os
import pathlib
import subprocess
import sysconfig
from typing import Dict, List

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMS = ("traced", "scripted")
LEAST_FOUND_AGAIN = 0.95  # of detections
TORCHVISION = pathlib.Path("/usr/lib/python3/dist-packages/torchvision")  # its operators, as Debian has them

HEADERS = {
    "video": """
## Videos

torchvision's 6 networks of videos, traced and scripted, with seeded weights and live activations. Columns as above; in
NHWC, 2 samples. **NNAPI**: the share of the multiply-adds that go to NNAPI, **segments**: in how many compiled models,
**on the CPU**: the operators that stay, and how often. The multiscale transformers are built for 8 frames of 64 by 64.
""",
    "detection": """
## Detectors

torchvision's 12 detectors, traced (for one image) and scripted (for a list of images), with few candidates. Weights are
seeded; the statistics of batch norms are real, and the heads' weights scaled so that scores and boxes spread.

**NNAPI** is the share of the multiply-adds; for the heads of an R-CNN, whose rows depend on values, it counts as many
rows as are expected at most (docs/partition.md). "not of 4" would be so many convolutions and products on the CPU whose
sizes nobody knows.

Suppression and top-k are discontinuous: two scores that differ by rounding swap places, and the last one kept may be
another. **found again** counts detections (of 3 images) of either side that have a like on the other one: the same
label, a score within 1e-3, a box within 1e-3 of the image's size; those whose score is within 1e-3 of the lowest kept
may be missing. 95 % are demanded. **error**: of the matched ones, the largest difference of scores, and of boxes in
parts of the image's size (`scripts/sweeps/compare_detections.py`).
""",
    "flow": """
## Optical flow

torchvision's 2 networks of optical flow, traced, with 2 updates of the flow.
""",
}


def cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


def library_options(group: str) -> List[str]:
    if group != "detection":
        return []
    library = TORCHVISION / f"_C{sysconfig.get_config_var('EXT_SUFFIX')}"
    return ["--torch-library", str(library)]


def inputs(model: pathlib.Path, shape: str, group: str) -> List[str]:
    """Scripted detectors take a list of images, without an axis for the batch."""
    if group == "detection" and model.stem.endswith("_scripted"):
        return [f"images[0]={shape.split(',', 1)[1]}"]
    return shape.split()


def convert(binary: pathlib.Path, model: pathlib.Path, shape: str, group: str) -> Dict:
    report = model.with_suffix(".json")
    report.unlink(missing_ok=True)
    command = [str(binary), str(model), "-o", str(out_of(model)), "--nhwc", "--report", str(report), "-q"]
    command += [option for size in inputs(model, shape, group) for option in ("--input", size)]
    before = os.times()
    done = subprocess.run([*command, *library_options(group)], capture_output=True, text=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    if done.returncode != 0:
        first = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[0]
        return {"error": first.replace("nnapi-convert: error: ", ""), "cpu": cpu}
    return {"report": json.loads(report.read_text()), "cpu": cpu}


def out_of(model: pathlib.Path) -> pathlib.Path:
    return model.with_suffix(".out.pt")


def verify(binary: pathlib.Path, model: pathlib.Path, tolerance: str) -> Dict:
    command = [str(binary), "verify", str(model), str(out_of(model)), "--samples", "2", "--tolerance", tolerance]
    done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True)
    if done.returncode not in (0, 4):
        return {"error": done.stderr.strip().splitlines()[0]}
    outputs = json.loads(done.stdout)["outputs"]
    return {"passed": done.returncode == 0, "error_of_range": max(o["relative_error"] or 0 for o in outputs)}


def compare_detections(binary: pathlib.Path, model: pathlib.Path, shape: str) -> Dict:
    command = [str(ROOT / "scripts" / "sweeps" / "compare_detections.py"), str(model), str(out_of(model)), shape]
    library = binary.resolve().parent.parent / "lib" / "host"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    return json.loads(done.stdout)


def measure(group: str, name: str, shape: str, binary: pathlib.Path, work: pathlib.Path) -> Dict:
    row: Dict = {"shape": shape, "forms": {}}
    for form in FORMS:
        model = work / f"{name}_{form}.pt"
        if not model.exists():
            continue
        result = {"megabytes": model.stat().st_size / 1e6, **convert(binary, model, shape, group)}
        if "report" in result:
            is_transformer = name.startswith("mvit")
            result["comparison"] = (
                compare_detections(binary, model, shape)
                if group == "detection"
                else verify(binary, model, "1e-3" if is_transformer else "1e-4")
            )
        row["forms"][form] = result
    return row


def share(partition: Dict) -> str:
    if partition["mac_share"] is None:
        return "unknown"
    uncounted = sum(entry["macs"] is None for entry in partition["cpu"])
    return f"{100 * partition['mac_share']:.1f} %" + (f", not of {uncounted}" if uncounted else "")


def on_the_cpu(report: Dict) -> str:
    if "partition" not in report:
        return "nothing"
    counts = collections.Counter(entry["op"].split("::")[-1] for entry in report["partition"]["cpu"])
    named = ", ".join(f"{op} {count}" for op, count in counts.most_common(4))
    rest = sum(counts.values()) - sum(count for _, count in counts.most_common(4))
    return named + (f", {rest} others" if rest else "")


def comparison_cells(comparison: Dict) -> List[str]:
    """Returns the share of detections found again (empty if nothing is matched) and the error."""
    if "error" in comparison:
        return ["", f"**failed**: {cell(comparison['error'])[:120]}"]
    if "detections" in comparison:
        total = 2 * comparison["detections"]
        again = total - comparison["missing"]
        failed = "" if found_again(comparison) else " **failed**"
        return [f"{again} of {total}{failed}", f"{comparison['score_error']:.1e}, {comparison['box_error']:.1e}"]
    return ["", f"{comparison['error_of_range']:.1e}" + ("" if comparison["passed"] else " **failed**")]


def found_again(comparison: Dict) -> bool:
    total = 2 * comparison["detections"]
    return total > 0 and total - comparison["missing"] >= LEAST_FOUND_AGAIN * total


def form_row(group: str, name: str, form: str, shape: str, result: Dict) -> str:
    start = [name, form, shape, f"{result['megabytes']:.0f}"]
    columns = len(columns_of(group)) - len(start)
    if "error" in result:
        return f"| {' | '.join(start)} | refused: {cell(result['error'])[:200]} |" + " |" * (columns - 1)
    report = result["report"]
    partition = report.get("partition")
    found, error = comparison_cells(result["comparison"])
    cells = [
        str(report["feature_level"]),
        share(partition) if partition else "all",
        str(len(partition["segments"])) if partition else "1",
        str(report["operation_count"]),
        str(report["operations"].get("TRANSPOSE", 0)),
        on_the_cpu(report),
        *([found] if group == "detection" else []),
        error,
        f"{result['cpu']:.1f}",
    ]
    return f"| {' | '.join([*start, *cells])} |"


def columns_of(group: str) -> List[str]:
    columns = ["network", "form", "input", "MB", "level", "NNAPI", "segments", "operations", "TRANSPOSE", "on the CPU"]
    return [*columns, *(["found again"] if group == "detection" else []), "error", "CPU s"]


def rows_of(group: str, name: str, row: Dict) -> str:
    return "\n".join(form_row(group, name, form, row["shape"], result) for form, result in row["forms"].items())


def table(group: str, rows: Dict[str, Dict]) -> List[str]:
    columns = columns_of(group)
    lines = [HEADERS[group], f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    return lines + [rows_of(group, name, row) for name, row in rows.items()]
