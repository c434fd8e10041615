#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Converts every model of folders of real files, runs original and result on stock PyTorch, and writes a table.

    NNAPI_CONVERT=build/release/bin/nnapi-convert scripts/sweeps/real_files.py FOLDER... --table new.json --against old.json

A folder is searched with its subfolders. A model is a .pt, .ptl, .pt2 or .pt.xz file, or a Python script that writes
model.pt or model.ptl, inputs.pt (a list of tuples of arguments) and case.json (options) to $CASE_OUT. Options and inputs
of a file come from, in this order: NAME.json beside it, the entry of scripts/sweeps/real_files.json that matches its name, the
tensor in NAME.input.pt beside it. --against fails where a row got worse than in an older table: another outcome, a
smaller share of the original's convolutions and products on NNAPI, or a larger error than the model's tolerance.
"""

import argparse
import fnmatch
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Dict, Iterator, List, NamedTuple, Optional

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("NNAPI_CONVERT", ROOT / "build/release/bin/nnapi-convert")).resolve()
HOST = PROGRAM.parents[1] / "lib" / "host"
KNOWN = pathlib.Path(__file__).with_suffix(".json")
SUFFIXES = (".pt", ".ptl", ".pt2", ".pt.xz")
BESIDE = (".input.pt", ".expected.pt")  # tensors of a file, no models
OUTCOMES = ("whole", "parts", "refused", "original fails", "wrong", "internal error", "timeout")  # from the best on
TIMEOUT = 600  # seconds
TOLERANCE = 1e-4  # of each output's range


class Case(NamedTuple):
    name: str
    path: pathlib.Path
    options: List[str]
    inputs: pathlib.Path  # what torch.save wrote: a list of tuples of arguments
    tolerance: float      # of the range; of a detector, the share of confident detections that may be lost
    may_fail: bool = False  # the original itself refuses these options, for example a wrong size


def unpacked(path: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    if path.suffix != ".xz":
        return path
    target = folder / path.stem
    with lzma.open(path) as packed, open(target, "wb") as plain:
        shutil.copyfileobj(packed, plain)
    return target


def settings_of(path: pathlib.Path) -> Optional[Dict]:
    own = path.with_name(path.name + ".json")
    if own.exists():
        return json.loads(own.read_text())
    for pattern, settings in json.loads(KNOWN.read_text()).items():
        if fnmatch.fnmatch(path.name.removesuffix(".xz"), pattern):
            return settings
    return None


def random_value(shape, generator):
    """A tensor for a list of numbers; a list of values for a list of lists."""
    import torch

    if all(isinstance(size, int) for size in shape):
        return torch.rand(*shape, generator=generator)
    return [random_value(each, generator) for each in shape]


def write_pictures(pattern: str, path: pathlib.Path, shape, target: pathlib.Path):
    """Lists of one picture each, [3, height, width] in 0 to 1: what a detector takes."""
    import numpy
    import PIL.Image
    import torch

    pictures = []
    for picture in sorted(path.parent.glob(pattern)):
        image = PIL.Image.open(picture).convert("RGB").resize((shape[2], shape[1]))
        pictures.append(([torch.from_numpy(numpy.asarray(image).copy()).permute(2, 0, 1).float() / 255],))
    torch.save(pictures, target)


def write_random_inputs(shapes, target: pathlib.Path):
    import torch

    generator = torch.Generator().manual_seed(0)
    torch.save([tuple(random_value(shape, generator) for shape in shapes) for _ in range(3)], target)


def stored_inputs(path: pathlib.Path) -> Optional[pathlib.Path]:
    """The tensor beside NAME.traced.pt is NAME.input.pt."""
    beside = path.with_name(path.name.rsplit(".", 2)[0] + ".input.pt")
    return beside if beside.exists() else None


def spec_of(tensor) -> str:
    sizes = ",".join(map(str, tensor.shape))
    return f"{sizes}:quint8:{tensor.q_scale()!r}:{tensor.q_zero_point()}" if tensor.is_quantized else sizes


def cases_of_file(path: pathlib.Path, folder: pathlib.Path) -> Iterator[Case]:
    import torch

    settings = settings_of(path) or {}
    model, options = unpacked(path, folder), settings.get("options", [])
    tolerance, inputs = settings.get("tolerance", TOLERANCE), folder / "inputs.pt"
    stored = stored_inputs(path)
    if "inputs" not in settings and stored:
        tensor = torch.load(stored)
        torch.save([(tensor,)], inputs)
        options = ["--input", spec_of(tensor), *options]
    for name, variant in {"": [], **settings.get("variants", {})}.items():
        own = variant if isinstance(variant, dict) else {"options": variant}
        shapes, own_inputs = own.get("inputs", settings.get("inputs")), inputs
        if shapes:
            own_inputs = folder / f"inputs{name}.pt"
            if "pictures" in settings:
                write_pictures(settings["pictures"], path, shapes[0][0], own_inputs)
            else:
                write_random_inputs(shapes, own_inputs)
        if own_inputs.exists():
            yield Case(" ".join([path.name, name]).strip(), model, [*options, *own["options"]], own_inputs, tolerance)


def cases_of_script(path: pathlib.Path, folder: pathlib.Path) -> Iterator[Case]:
    environment = {**os.environ, "CASE_OUT": str(folder), "PYTHONPATH": str(path.parent)}
    done = subprocess.run([sys.executable, "-W", "ignore", path], env=environment, capture_output=True, timeout=TIMEOUT)
    if done.returncode != 0 or not (folder / "case.json").exists():
        return  # a module that the scripts share
    case = json.loads((folder / "case.json").read_text())
    model = folder / pathlib.Path(case["file"]).name
    for name, options in case.get("variants", {"": case["opts"]}).items():
        title = " ".join([path.name, name]).strip()
        yield Case(title, model, options, folder / "inputs.pt", case["tol"], may_fail=name == "wrong")


def cases_in(root: pathlib.Path, work: pathlib.Path) -> Iterator[Case]:
    for number, path in enumerate(sorted(root.rglob("*"))):
        folder = work / f"{root.name}_{number}"
        is_model = path.name.endswith(SUFFIXES) and not path.name.endswith(BESIDE)
        if not path.is_file() or not (is_model or path.suffix == ".py"):
            continue
        folder.mkdir()
        yield from (cases_of_file if is_model else cases_of_script)(path, folder)


def lost_detections(expected, found) -> float:
    """The share of the original's detections with a score of at least 0.5 that the result has not."""
    import torchvision

    def detections(result):
        return result[1][0] if isinstance(result, tuple) else result[0]

    kept = count = 0
    for one, other in zip(map(detections, expected), map(detections, found)):
        overlaps = torchvision.ops.box_iou(one["boxes"], other["boxes"]) > 0.5
        agrees = overlaps & (one["labels"][:, None] == other["labels"][None])
        confident = one["scores"] >= 0.5
        count += int(confident.sum())
        kept += int((agrees.any(1) & confident).sum())
    return 1 - kept / max(count, 1)


def errors_of(original: str, converted: str, inputs: str, report: str) -> Dict:
    """Runs both; the largest distance of an output, of its range."""
    import torch
    import torchvision  # noqa: F401  its operators

    torch.set_num_threads(1)

    def leaves(value):
        if isinstance(value, torch.Tensor):
            return [(value.dequantize() if value.is_quantized else value).double()]
        if isinstance(value, (bool, int, float)):
            return [torch.tensor(float(value)).double()]
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else []
        return [leaf for part in parts for leaf in leaves(part)]

    def given(value, interface):
        """The argument as the file takes it: --quant full and nnapi take the integers of float values."""
        is_rounded = interface.get("dtype") == "quint8" and isinstance(value, torch.Tensor) and not value.is_quantized
        scale, zero_point = interface.get("scale"), interface.get("zero_point")
        return torch.quantize_per_tensor(value, scale, zero_point, torch.quint8) if is_rounded else value

    def results(path, interface=()):
        for engine in ("qnnpack", "onednn", "fbgemm"):
            torch.backends.quantized.engine = engine
            try:
                if path.endswith(".ptl"):
                    from torch.jit.mobile import _load_for_lite_interpreter as load
                else:
                    load = torch.jit.load
                model = load(path)
                with torch.no_grad():
                    all_inputs = torch.load(inputs)
                    if interface:
                        all_inputs = [[given(*pair) for pair in zip(each, interface)] for each in all_inputs]
                    return [model(*arguments) for arguments in all_inputs]
            except RuntimeError as error:
                last = error
        raise last

    try:
        expected = results(original)
    except Exception as error:
        return {"outcome": "original fails", "detail": str(error).strip().splitlines()[-1][:200]}
    error, values = 0.0, []
    stated = json.loads(pathlib.Path(report).read_text()).get("inputs", [])
    found_results = results(converted, stated if "quint8" in str(stated) else ())
    if "'scores'" in str(expected):
        return {"error": lost_detections(expected, found_results)}
    for one, other in zip(expected, found_results):
        one, other = leaves(one), leaves(other)
        if [each.shape for each in one] != [each.shape for each in other]:
            return {"outcome": "wrong", "detail": "other results"}
        for want, found in zip(one, other):
            if not want.numel():
                continue
            spread = (want.max() - want.min()).item() or max(want.abs().max().item(), 1.0)
            error = max(error, ((want - found).abs().max().item()) / spread)
            if not torch.equal(want.isnan(), found.isnan()):
                error = float("inf")
            values.append(want.flatten())
    if not values:
        return {"error": error, "detail": "all results are empty"}
    return {"error": error}


def compared(case: Case, out: pathlib.Path, report: pathlib.Path) -> Dict:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(HOST)}
    command = [sys.executable, "-W", "ignore", __file__, "--compare", case.path, out, case.inputs, report]
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        return {"outcome": "wrong", "detail": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1][:200]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def share_of(report: Dict) -> float:
    products = report.get("partition", {}).get("products")
    return products["nnapi"] / products["all"] if products and products["all"] else 1.0


def row_of(case: Case, work: pathlib.Path) -> Dict:
    out, report = work / ("out" + case.path.suffix), work / "report.json"
    for each in (out, report):
        each.unlink(missing_ok=True)
    command = [PROGRAM, case.path, *case.options, "--report", report, "-o", out]
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return {"outcome": "timeout"}
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error: " in line] or [f"exit {done.returncode}"]
        is_internal = done.returncode in (70,) or done.returncode < 0
        return {"outcome": "internal error" if is_internal else "refused", "detail": lines[0][:300]}
    content = json.loads(report.read_text())
    row = {"outcome": "parts" if "partition" in content else "whole", "share": round(share_of(content), 4),
           "operations": content.get("operation_count", 0)}
    found = compared(case, out, report)
    row.update(found)
    if found.get("error", 0.0) > case.tolerance:
        row["outcome"] = "wrong"
    return row


def is_worse(new: Dict, old: Dict) -> bool:
    one, other = OUTCOMES.index(new["outcome"]), OUTCOMES.index(old["outcome"])
    return one > other or (one == other and new.get("share", 0) < old.get("share", 0) - 1e-3)


def shown(name: str, row: Dict) -> str:
    error = f"{row['error']:.1e}" if "error" in row else "-"
    share = f"{100 * row['share']:.1f} %" if "share" in row else "-"
    return f"{name:46} {row['outcome']:14} {share:>8} {row.get('operations', '-'):>5} {error:>8}  {row.get('detail', '')}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path, help="write the rows as JSON")
    parser.add_argument("--against", type=pathlib.Path, help="an older table: fail where a row got worse")
    parser.add_argument("--only", default="*", help="a pattern of names of rows")
    parser.add_argument("--compare", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.compare:
        print(json.dumps(errors_of(*options.compare)))
        return 0
    if not options.folders or not all(folder.is_dir() for folder in options.folders):
        parser.error("name folders of models that exist")
    rows = {}
    with tempfile.TemporaryDirectory() as work:
        for root in options.folders:
            for case in cases_in(root.resolve(), pathlib.Path(work)):
                if fnmatch.fnmatch(case.name, options.only):
                    rows[case.name] = row_of(case, pathlib.Path(work))
                    print(shown(case.name, rows[case.name]), flush=True)
    if options.table:
        options.table.write_text(json.dumps(rows, indent=1) + "\n")
    bad = [name for name, row in rows.items() if row["outcome"] in ("wrong", "internal error", "timeout")]
    old = json.loads(options.against.read_text()) if options.against else {}
    worse = [name for name, row in old.items() if name in rows and is_worse(rows[name], row)]
    gone = [name for name in old if name not in rows and fnmatch.fnmatch(name, options.only)]
    for title, names in (("wrong or failed", bad), ("worse than before", worse), ("no longer there", gone)):
        if names:
            print(f"{title}: {', '.join(names)}")
    counts = {outcome: sum(row["outcome"] == outcome for row in rows.values()) for outcome in OUTCOMES}
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count))
    return 1 if bad or worse or gone or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
