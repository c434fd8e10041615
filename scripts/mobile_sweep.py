#!/usr/bin/python3
"""Converts networks in the forms of mobile apps: plain, after optimize_for_mobile, as .ptl, quantised dynamically, and
in float16. All forms have to convert, agree, and keep the plain file's share of multiply-adds on NNAPI.

    NNAPI_CONVERT=build/release/bin/nnapi-convert LD_LIBRARY_PATH=build/release/lib/host /usr/bin/python3 \
        scripts/mobile_sweep.py [NAME...]
"""

import json
import pathlib
import re
import sys
import tempfile

import torch
import torchvision
from torch import nn
from torch.utils.mobile_optimizer import optimize_for_mobile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "tools"))
from cli import run  # noqa: E402
from mobile_models import Cells, Clamps, Residual, Sequence

torch.backends.quantized.engine = "qnnpack"
torch.set_num_threads(1)

IMAGE = (1, 3, 64, 64)
NETS = {name: (lambda name=name: getattr(torchvision.models, name)(), IMAGE) for name in (
    "mobilenet_v2", "mobilenet_v3_small", "resnet18", "squeezenet1_1", "shufflenet_v2_x0_5", "mnasnet0_5",
    "efficientnet_b0")}
NETS["ssdlite320_mobilenet_v3_large"] = (
    lambda: torchvision.models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None),
    (3, 320, 320))
SMALL = {"Clamps": (Clamps, (1, 3, 16, 16)), "Residual": (lambda: Residual(False), (1, 3, 16, 16)),
         "Sequence": (Sequence, (3, 6, 10)), "Cells": (Cells, (4, 10))}


def live(model, shape):
    """Batch norms with the statistics of real activations, so that outputs vary."""
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    if norms and len(shape) == 4:
        for module in norms:
            module.momentum = 0.5
        for module in model.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        model.train()
        with torch.no_grad():
            for _ in range(4):
                model(torch.randn(8, *shape[1:]))
    return model.eval()


def is_list(shape):
    return len(shape) == 3 and shape[0] == 3 and shape[1] > 100


def scripted(model, shape):
    return torch.jit.script(model) if is_list(shape) else torch.jit.trace(model, torch.randn(shape))


def forms(make, shape, folder):
    """Files by the name of their form; what can't be made is left out with a word."""
    def model():
        torch.manual_seed(0)
        return live(make(), shape)

    def plain(path):
        torch.jit.save(scripted(model(), shape), str(path))

    def lite(path):
        optimize_for_mobile(scripted(model(), shape))._save_for_lite_interpreter(str(path))

    def dynamic(path):
        types = {nn.Linear, nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell, nn.RNNCell}
        quantised = torch.quantization.quantize_dynamic(model(), types, dtype=torch.qint8)
        torch.jit.save(scripted(quantised, shape), str(path))

    def half(path):
        torch.jit.save(torch.jit.script(model().half()), str(path))

    for name, write, suffix in (("plain", plain, "pt"), ("mobile", lite, "ptl"), ("dynamic", dynamic, "pt"),
                                ("half", half, "pt")):
        path = folder / f"{name}.{suffix}"
        try:
            write(path)
        except Exception as error:  # a net that PyTorch itself can't bring into this form
            print(f"  {name:<8} not made by PyTorch: {str(error).strip().splitlines()[-1][:120]}")
            continue
        yield name, path


def mac_share(report):
    return report["partition"]["mac_share"] if "partition" in report else 1.0


def convert(path, shape, folder):
    """The report, or what went wrong."""
    spec = ("images[0]=" if is_list(shape) else "") + ",".join(map(str, shape))
    report = folder / "report.json"
    verified = [] if is_list(shape) else ["--verify"]  # what a detector of random weights keeps is chance
    result = run(path, "--input", spec, "--nhwc", *verified, "--report", report, "-o", folder / "out.pt")
    if result.code != 0:
        return None, f"exit code {result.code}: {result.stderr.strip().splitlines()[-1]}"
    report = json.loads(report.read_text())
    for output in report.get("verification", {}).get("outputs", []):
        if output["is_constant"]:
            return None, "an output is the same everywhere"
    return report, re.sub(r"\s+", " ", result.stdout.strip().splitlines()[-1]) if verified else "not run"


def sweep(name, make, shape):
    """The number of forms that fail."""
    failures = 0
    print(name, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        needed = None
        for form, path in forms(make, shape, pathlib.Path(folder)):
            report, said = convert(path, shape, pathlib.Path(folder))
            share = mac_share(report) if report else None
            needed = share if form == "plain" else needed
            is_kept = report is not None and (share == needed or (share is not None and share >= needed - 1e-6))
            failures += not is_kept
            shown = "unknown" if share is None else f"{100 * share:.2f} %"
            print(f"  {form:<8} {'ok' if is_kept else 'FAILED'}  {shown if report else ''}  {said}", flush=True)
    return failures


def main(names):
    nets = {**SMALL, **NETS}
    return sum(sweep(name, *nets[name]) for name in names or nets)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
