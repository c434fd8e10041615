#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Converts torchvision's networks for LiteRT, runs each file in LiteRT under Node, and compares with TorchScript.

  litert_zoo.py [--group zoo|zoo_quantised|zoo_video] [--only NAME...] [--work FOLDER] [--seconds N]

Float networks have to agree within 1e-4 of the output's range (transformers 1e-3). Of a quantised network LiteRT's RMS
distance from the float twin has to be at most 1.05 times that of the file for NNAPI, over 32 samples. A line of JSON for
each network is added to FOLDER/GROUP.jsonl, and networks that are there already are left out."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("NNAPI_BUILD", ROOT / "build/release"))
sys.path.insert(0, str(ROOT / "tests/tools"))

QUANTISED_SAMPLES = 32
LARGEST_RATIO = 1.05


def listed(group):
    command = [str(ROOT / "scripts/makers/make_models.py"), "--group", group, "--list"]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [line for line in listing.splitlines() if "; input " in line]
    return {line.split()[0]: line.split("; input ")[1].strip() for line in lines}


def flatten(value):
    import torch
    if isinstance(value, torch.Tensor):
        return [value]
    values = value.values() if isinstance(value, dict) else value
    return [tensor for each in values for tensor in flatten(each)]


def is_nhwc(shape, found):
    return len(shape) == 4 and list(found) == [shape[0], shape[2], shape[3], shape[1]]


def write_input(tensor, port, path):
    """Writes a tensor as the file takes it."""
    import numpy
    values = tensor.numpy()
    shape = list(tensor.shape)
    values = values.transpose(0, 2, 3, 1) if is_nhwc(shape, port["shape"]) and shape != port["shape"] else values
    if port["type"] == "int8":
        raise RuntimeError("a quantised input")
    values.astype(numpy.float32).tofile(path)


def read_output(path, port, reference):
    import numpy
    import torch
    values = numpy.fromfile(path, numpy.float32)
    shape = list(reference.shape)
    if is_nhwc(shape, port["shape"]) and shape != port["shape"]:
        values = values.reshape(port["shape"]).transpose(0, 3, 1, 2).copy()
    return torch.from_numpy(values).reshape(shape)


def run_litert(model, inputs, references, work):
    import litert
    ports = litert.run([{"model": str(model)}], work)[0]
    if "error" in ports:
        raise RuntimeError(ports["error"])
    samples = []
    for number, tensor in enumerate(inputs):
        write_input(tensor, ports["inputs"][0], work / f"in{number}.bin")
        samples.append({"in": [str(work / f"in{number}.bin")],
                        "out": [str(work / f"out{number}_{i}.bin") for i in range(len(references[number]))]})
    report = litert.run([{"model": str(model), "samples": samples}], work)[0]
    if "error" in report:
        raise RuntimeError(report["error"])
    results = [[read_output(name, port, reference)
                for name, port, reference in zip(sample["out"], report["outputs"], expected)]
               for sample, expected in zip(samples, references)]
    return results, report


def convert(model, shape, work, arguments):
    """Converts for LiteRT at the lowest level that does; returns its report of operations."""
    for level in ("3", "4", "6", "7"):
        command = [str(BIN / "bin/nnapi-convert"), str(model), "--nhwc", "--input", shape, "--feature-level", level,
                   "-q", "--report", str(work / "report.json"), "--litert", str(work / "out.tflite"), "--fallback", "none"]
        before = os.times()
        done = subprocess.run(command + arguments, capture_output=True, text=True)
        after = os.times()
        if done.returncode == 0:
            report = json.loads((work / "report.json").read_text())
            cpu = after.children_user + after.children_system - before.children_user - before.children_system
            return {"cpu": cpu, "operations": report["operation_count"], "level": level}
    raise RuntimeError("refused: " + done.stderr.strip()[:600])


def operators(work):
    done = subprocess.run([str(BIN / "bin/nnapi-convert"), "inspect", str(work / "out.tflite"), "--format", "json"],
                          capture_output=True, text=True, check=True)
    counts = {}
    for subgraph in json.loads(done.stdout)["subgraphs"]:
        for each in subgraph["operators"]:
            counts[each["name"]] = counts.get(each["name"], 0) + 1
    return counts


def samples_of(shape, count):
    import torch
    torch.manual_seed(7)
    return [torch.rand([int(size) for size in shape.split(",")]) * 4 - 2 for _ in range(count)]


def error_of_range(results, references):
    worst = 0.0
    for found, expected in zip(results, references):
        for left, right in zip(found, expected):
            span = float(right.max() - right.min()) or 1.0
            worst = max(worst, float((left - right).abs().max()) / span)
    return worst


def distance(results, references):
    import torch
    squares = [((a - b).double() ** 2).mean() for found, expected in zip(results, references)
               for a, b in zip(found, expected)]
    return float(torch.stack(squares).mean().sqrt())


def run_module(path, inputs):
    import torch
    module = torch.jit.load(str(path)).eval()
    with torch.no_grad():
        return [[t.dequantize() if t.is_quantized else t for t in flatten(module(each.clone()))] for each in inputs]


def measure_float(model, shape, work, name):
    row = convert(model, shape, work, [])
    inputs = samples_of(shape, 2)
    references = run_module(model, inputs)
    results, report = run_litert(work / "out.tflite", inputs, references, work)
    row.update(operators=operators(work), all_xnnpack=report["all_xnnpack"], error=error_of_range(results, references))
    tolerance = 1e-3 if name.startswith(("vit", "swin", "maxvit")) else 1e-4
    row["passed"] = row["error"] <= tolerance
    return row


def measure_quantised(model, shape, work, twin):
    import torch
    torch.backends.quantized.engine = "qnnpack"
    row = convert(model, shape, work, ["--quant", "core", "-o", str(work / "out.pt")])
    inputs = samples_of(shape, QUANTISED_SAMPLES)
    references = run_module(twin, inputs)
    nnapi = distance(run_module(work / "out.pt", inputs), references)
    results, report = run_litert(work / "out.tflite", inputs, references, work)
    row.update(operators=operators(work), all_xnnpack=report["all_xnnpack"],
               ratio=distance(results, references) / nnapi)
    row["passed"] = row["ratio"] <= LARGEST_RATIO
    return row


def models_of(group, name, work):
    """The files of a network: pairs of its variant and the file."""
    if group == "zoo_quantised":
        return [(kind, work / f"{name}_{kind}.pt") for kind in ("per_tensor", "per_channel")]
    if group == "zoo_video":
        return [(form, work / f"{name}_{form}.pt") for form in ("traced", "scripted")]
    return [("traced", work / f"{name}.pt")]


def measure(group, name, shape, work):
    command = [str(ROOT / "scripts/makers/make_models.py"), str(work), "--group", group, "--only", name]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    rows = []
    for variant, model in models_of(group, name, work):
        if not model.exists():
            continue
        try:
            row = (measure_quantised(model, shape, work, work / f"{name}_float.pt") if group == "zoo_quantised"
                   else measure_float(model, shape, work, name))
        except (RuntimeError, KeyError, ValueError) as error:
            row = {"passed": False, "error": str(error)[:800]}
        rows.append({"name": name, "variant": variant, **row})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", default="zoo", choices=("zoo", "zoo_quantised", "zoo_video"))
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/litert_zoo")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no other network after so long")
    arguments = parser.parse_args()
    import litert
    if litert.missing():
        print("not run: " + litert.missing())
        return 77
    if "NNAPI_ZOO_HOST" not in os.environ:  # PyTorch's loader looks for NNAPI's library here
        environment = {**os.environ, "NNAPI_ZOO_HOST": "1", "LD_LIBRARY_PATH": str(BIN / "lib/host")}
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)
    arguments.work.mkdir(parents=True, exist_ok=True)
    rows_file = arguments.work / f"{arguments.group}.jsonl"
    rows = [json.loads(line) for line in rows_file.read_text().splitlines()] if rows_file.exists() else []
    known = {row["name"] for row in rows}
    begin = time.monotonic()
    for name, shape in listed(arguments.group).items():
        if name in known or (arguments.only is not None and name not in arguments.only):
            continue
        if time.monotonic() - begin > arguments.seconds:
            break
        work = arguments.work / name
        for row in measure(arguments.group, name, shape, work):
            rows.append(row)
            with rows_file.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print("passed" if row["passed"] else "FAILED", name, row["variant"],
                  row.get("ratio", row.get("error")), row.get("operations"), row.get("all_xnnpack"), flush=True)
        shutil.rmtree(work)
    failed = [row["name"] for row in rows if not row["passed"]]
    print(f"{len(rows)} variants, {len(rows) - len(failed)} passed; failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
