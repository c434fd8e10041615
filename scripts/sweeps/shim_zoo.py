#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""shim_zoo.py FOLDER [--only NAME] [--table FILE]: converts models for the shim, runs the files in processes without
PyTorch (shim_call.py), and compares with the originals in PyTorch. FOLDER holds what
`make_models.py FOLDER --group zoo_detection` and `--group zoo_flow` wrote; other models are named as MODEL:SPEC[:SPEC...],
with an input's PATH=SIZES in each SPEC. Writes a table in Markdown. Exit code 1 if a model doesn't run or differs.

Detections are matched as compare_detections.py does; other results may differ by 1e-4 of the range."""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import warnings
import zipfile
from typing import Dict, List, Tuple

import numpy
import torch
import torchvision  # noqa: F401, registers the operators

from compare_detections import unmatched
from zoo_parts import LEAST_FOUND_AGAIN, library_options

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = 3
OF_RANGE = 1e-4
HEAD = """# Torchvision's models in parts, without PyTorch

`scripts/makers/make_models.py FOLDER --group zoo_detection` and `--group zoo_flow` make the models, and `scripts/sweeps/shim_zoo.py FOLDER
--table FILE` this page: files written with `--runtime shim` run in processes without PyTorch, on the host's NNAPI, on three
pictures each. "Found again" is the share of detections that both sides have; "error" is the largest difference of matched boxes
and scores, or of other results as a share of the range.
"""
Specs = List[Tuple[str, List[int]]]


def image(sizes: List[int], seed: int) -> torch.Tensor:
    values = torch.randn(sizes, generator=torch.Generator().manual_seed(seed))
    if len(sizes) < 3:
        return values
    flat = values.reshape(-1, 1, *sizes[-2:])
    return (torch.nn.functional.avg_pool2d(flat, 5, 1, 2) * 2 + 0.2 * flat).sigmoid().reshape(sizes)


def leaves(value, path=""):
    """Yields (path, array) as the shim names results."""
    if isinstance(value, dict):
        for key, element in value.items():
            yield from leaves(element, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", None)
        for i, element in enumerate(value):
            part = (f".{names[i]}" if path else names[i]) if names else f"[{i}]"
            yield from leaves(element, path + part)
    elif isinstance(value, torch.Tensor):
        yield path, value.detach().contiguous().numpy()
    elif value is not None:
        yield path, numpy.array(value)


def nested(arguments: Dict[str, torch.Tensor]) -> List:
    """Puts "images[0]" into a list."""
    result: Dict = {}
    for path, value in arguments.items():
        name, bracket, _ = path.partition("[")
        if bracket:
            result.setdefault(name, []).append(value)
        else:
            result[name] = value
    return list(result.values())


def parts(arrays: Dict[str, numpy.ndarray]):
    """Returns boxes, scores and labels, if the arrays are a detector's."""
    values = [torch.from_numpy(array.copy()) for array in arrays.values()]
    boxes = [value for value in values if value.dim() == 2 and value.shape[1] == 4]
    scores = [value for value in values if value.dim() == 1 and value.is_floating_point()]
    labels = [value for value in values if value.dim() == 1 and value.dtype == torch.int64]
    return (boxes[0], scores[0], labels[0]) if boxes and scores and labels else None


def compare(expected: Dict[str, numpy.ndarray], found: Dict[str, numpy.ndarray], size: int):
    """Returns (detections, missing, error)."""
    if set(expected) != set(found):
        raise RuntimeError(f"results {sorted(found)} found, {sorted(expected)} needed")
    one, other = parts(expected), parts(found)
    if one is not None:
        missing, error = 0, 0.0
        for left, right in ((one, other), (other, one)):
            lost, of_scores, of_boxes = unmatched(left, right, size)
            missing, error = missing + lost, max(error, of_scores, of_boxes)
        return len(one[1]), missing, error
    error = 0.0
    for path, left in expected.items():
        right = found[path]
        if left.shape != right.shape or left.dtype != right.dtype:
            raise RuntimeError(f"{path}: {right.dtype} {right.shape} found, {left.dtype} {left.shape} needed")
        if left.size:
            span = float(left.max()) - float(left.min()) or abs(float(left.flat[0])) or 1.0
            error = max(error, float(numpy.abs(left.astype("f8") - right.astype("f8")).max()) / span)
    return 0, 0, error


def run(model: pathlib.Path, specs: Specs, build: pathlib.Path, work: pathlib.Path) -> Dict:
    out = work / "out.pt"
    options = [word for path, sizes in specs for word in ("--input", f"{path}={','.join(map(str, sizes))}")]
    command = [build / "bin/nnapi-convert", model, "--nhwc", "--runtime", "shim", *options, "-o", out]
    command += library_options("detection")
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        return {"error": done.stderr.strip().splitlines()[0]}
    warnings_of = [line for line in done.stderr.splitlines() if "needs PyTorch" in line]
    if warnings_of:
        return {"error": done.stderr.strip()[:400]}
    original = torch.jit.load(str(model)).eval()
    with zipfile.ZipFile(out) as archive:
        index = next(archive.read(name) for name in archive.namelist() if name.endswith("extra/nnapi_shim.index"))
    has_names = index.startswith(b"program")  # else arguments are numbers
    calls, expected = {}, []
    for seed in range(SAMPLES):
        arguments = {path: image(sizes, seed) for path, sizes in specs}
        calls.update({f"{seed}/{path if has_names else i}": value.numpy()
                      for i, (path, value) in enumerate(arguments.items())})
        with torch.no_grad():
            result = original(*nested(arguments))
        if isinstance(result, tuple) and len(result) == 2 and result[0] == {}:  # a scripted detector: losses, detections
            expected.append({path: array for path, array in leaves(result)})
        else:
            expected.append(dict(leaves(result)))
    numpy.savez(work / "calls.npz", **calls)
    command = [sys.executable, ROOT / "scripts/sweeps/shim_call.py", build / "lib/libnnapi_shim.so", out, work / "calls.npz",
               work / "results.npz"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env={"LD_LIBRARY_PATH": str(build / "lib/host"), "PATH": "/usr/bin:/bin"})
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    results = numpy.load(work / "results.npz")
    total, missing, error = 0, 0, 0.0
    for seed in range(SAMPLES):
        own = {key.partition("/")[2]: results[key] for key in results.files if key.startswith(f"{seed}/")}
        try:
            detections, lost, worst = compare(expected[seed], own, max(specs[0][1]))
        except RuntimeError as problem:
            return {"error": str(problem)}
        total, missing, error = total + detections, missing + lost, max(error, worst)
    passes = missing <= (1 - LEAST_FOUND_AGAIN) * 2 * total if total else error <= OF_RANGE
    return {"detections": total, "missing": missing, "worst": error, "passes": passes}


def named_models(folder: pathlib.Path) -> Dict[pathlib.Path, Specs]:
    sys.path.insert(0, str(ROOT / "scripts"))
    from models import detection_zoo, video_zoo

    result: Dict[pathlib.Path, Specs] = {}
    for recipe in [*detection_zoo.detection_zoo_recipes(), *video_zoo.flow_zoo_recipes()]:
        sizes = [[int(size) for size in shape.split(",")] for shape in recipe.about.split("input ")[1].split()]
        for file in recipe.files:
            if not (folder / file).exists():
                continue
            if file.endswith("_scripted.pt") and len(sizes) == 1:
                result[folder / file] = [("images[0]", sizes[0][1:])]
            else:
                model = torch.jit.load(str(folder / file))
                names = [argument.name for argument in model.forward.schema.arguments[1:]]
                result[folder / file] = list(zip(names, sizes))
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--model", action="append", default=[], metavar="MODEL:PATH=SIZES")
    parser.add_argument("--only", default="")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--table", type=pathlib.Path)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    models = named_models(arguments.folder)
    for text in arguments.model:
        file, *specs = text.split(":")
        models[pathlib.Path(file)] = [(spec.split("=")[0], [int(size) for size in spec.split("=")[1].split(",")])
                                      for spec in specs]
    rows, failed = [], 0
    for model, specs in models.items():
        if arguments.only not in model.name:
            continue
        with tempfile.TemporaryDirectory() as work:
            row = run(model, specs, arguments.build.resolve(), pathlib.Path(work))
        passes = row.get("passes", False)
        failed += not passes
        if "error" in row:
            rows.append(f"| {model.stem} | {row['error'].replace('|', '/')} | | |")
        else:
            again = f"{1 - row['missing'] / 2 / row['detections']:.3f}" if row["detections"] else ""
            rows.append(f"| {model.stem} | {'agrees' if passes else '**differs**'} | {again} | {row['worst']:.1e} |")
        print(rows[-1], flush=True)
    text = "\n".join([HEAD, "| model | without PyTorch | found again | error |", "|---|---|---|---|", *sorted(rows), ""])
    if arguments.table:
        arguments.table.write_text(text)
    print(f"{len(rows)} models, {failed} fail")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
