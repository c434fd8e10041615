#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Converts networks in the forms of mobile apps: plain, after optimize_for_mobile as .ptl, quantised dynamically, and in
float16. All forms have to convert, agree, and keep the plain file's share of multiply-adds on NNAPI.

    NNAPI_CONVERT=build/release/bin/nnapi-convert LD_LIBRARY_PATH=build/release/lib/host \\
        scripts/sweeps/mobile_sweep.py --work FOLDER --table docs/generated/mobile.md [NAME...]

A network's rows are kept in the work folder: a second run goes on where the first one stopped.
"""

import argparse
import json
import pathlib
import sys
import tempfile
from typing import Callable, NamedTuple, Tuple

import torch
import torchvision
from torch import nn
from torch.utils.mobile_optimizer import optimize_for_mobile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests/tools")]
from cli import run  # noqa: E402
from mobile_models import Cells, Clamps, Residual, Sequence  # noqa: E402
from models import torchvision_zoo, video_zoo  # noqa: E402
from models.common import images  # noqa: E402

torch.backends.quantized.engine = "qnnpack"
torch.set_num_threads(1)

TRANSFORMERS = ("maxvit_t", "swin_t", "swin_v2_t", "vit_b_16")  # their sizes are fixed
CLASSIFIERS = (  # one of each family, of two sizes where apps use both
    "alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "efficientnet_v2_s", "googlenet", "inception_v3",
    "mnasnet0_5", "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small", "regnet_x_400mf", "regnet_y_400mf",
    "resnet18", "resnext50_32x4d", "shufflenet_v2_x0_5", "squeezenet1_1", "vgg11_bn", "wide_resnet50_2", *TRANSFORMERS)
SEGMENTERS = ("deeplabv3_mobilenet_v3_large", "fcn_resnet50", "lraspp_mobilenet_v3_large")
VIDEOS = ("r3d_18",)
DETECTORS = ("fasterrcnn_mobilenet_v3_large_320_fpn", "fcos_resnet50_fpn", "keypointrcnn_resnet50_fpn",
             "maskrcnn_resnet50_fpn", "retinanet_resnet50_fpn", "ssd300_vgg16", "ssdlite320_mobilenet_v3_large")
SMALL = {"Clamps": (Clamps, (1, 3, 16, 16)), "Residual": (lambda: Residual(False), (1, 3, 16, 16)),
         "Sequence": (Sequence, (3, 6, 10)), "Cells": (Cells, (4, 10))}
FORMS = ("plain", "mobile", "dynamic", "half")
TIMEOUT = 900  # seconds; transformers take long on a busy machine
TITLE = """# Files of the mobile world

One network of each of torchvision {version}'s families, and small ones of this project's tests, with seeded weights and live
activations, in four forms: traced; after `optimize_for_mobile`, as `.ptl`; quantised by `quantize_dynamic` (linear layers,
LSTM, GRU and cells); scripted in float16. A cell has the share of the multiply-adds that NNAPI runs, and the largest distance
from TorchScript, of the output's range (for dynamic quantisation, from the float model of the rounded weights).
`scripts/sweeps/mobile_sweep.py` makes this page.

| network | traced | `.ptl` | dynamic | float16 |
|---|---|---|---|---|
"""


class Network(NamedTuple):
    make: Callable[[], nn.Module]
    shape: Tuple[int, ...]
    is_detector: bool = False  # takes a list of pictures; with random weights its results are chance
    tolerance: float = 1e-4    # of the output's range


def picture_network(name, build):
    size = 224 if name in TRANSFORMERS else torchvision_zoo.SIZES.get(name, 96)
    return Network(lambda: torchvision_zoo.enliven(build(name), size), (1, 3, size, size),
                   tolerance=1e-3 if name in TRANSFORMERS else 1e-4)


def video_network(name):
    frames, size = video_zoo.SIZES[name]
    return Network(lambda: video_zoo.enliven(video_zoo.build(name, frames, size), video_zoo.videos(2, frames, size)),
                   (1, 3, frames, size, size))


def detector(name):
    build = getattr(torchvision.models.detection, name)
    return Network(lambda: build(weights=None, weights_backbone=None).eval(), (3, 320, 320), True)


NETWORKS = {
    **{name: Network(lambda make=make: make().eval(), shape) for name, (make, shape) in SMALL.items()},
    **{name: picture_network(name, torchvision_zoo.build) for name in CLASSIFIERS},
    **{name: picture_network(name, torchvision_zoo.build_segmenter) for name in SEGMENTERS},
    **{name: video_network(name) for name in VIDEOS},
    **{name: detector(name) for name in DETECTORS},
}


def forms(network, folder):
    """The file of each form, or the reason why PyTorch itself can't make it."""
    def model():
        torch.manual_seed(0)
        return network.make()

    def scripted(net):
        if network.is_detector:
            return torch.jit.script(net)
        example = images(1, network.shape[-1]) if network.shape[:2] == (1, 3) and len(network.shape) == 4 else (
            torch.randn(network.shape))
        with torch.no_grad():
            return torch.jit.trace(net, example, check_trace=False, strict=False)

    def plain(path):
        torch.jit.save(scripted(model()), str(path))

    def mobile(path):
        optimize_for_mobile(scripted(model()))._save_for_lite_interpreter(str(path))

    def dynamic(path):
        types = {nn.Linear, nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell, nn.RNNCell}
        torch.jit.save(scripted(torch.quantization.quantize_dynamic(model(), types, dtype=torch.qint8)), str(path))

    def half(path):
        torch.jit.save(torch.jit.script(model().half()), str(path))

    for form, write in zip(FORMS, (plain, mobile, dynamic, half)):
        path = folder / f"{form}.{'ptl' if form == 'mobile' else 'pt'}"
        try:
            write(path)
        except Exception as error:  # a net that PyTorch itself can't bring into this form
            yield form, None, str(error).strip().splitlines()[-1][:120]
            continue
        yield form, path, ""


def mac_share(report):
    return report["partition"]["mac_share"] if "partition" in report else 1.0


def convert(path, network, folder):
    """The share and the distance, or what went wrong."""
    spec = ("images[0]=" if network.is_detector else "") + ",".join(map(str, network.shape))
    report, out = folder / "report.json", folder / "out.pt"
    result = run(path, "--input", spec, "--nhwc", "--report", report, "-o", out, timeout=TIMEOUT)
    if result.code != 0:
        return {"problem": f"exit code {result.code}: {result.stderr.strip().splitlines()[-1]}"}
    cell = {"share": mac_share(json.loads(report.read_text())), "distance": None}
    if network.is_detector:
        return cell
    verified = run("verify", path, out, "--tolerance", str(network.tolerance), "--format", "json",
                   timeout=TIMEOUT)
    if verified.code not in (0, 4):
        return {"problem": verified.stderr.strip().splitlines()[-1]}
    outputs = json.loads(verified.stdout)["outputs"]
    if any(output["is_constant"] for output in outputs):
        return {"problem": "an output is the same everywhere"}
    cell["distance"] = max(output["relative_error"] for output in outputs)
    return cell if verified.code == 0 else {"problem": f"results differ, {cell['distance']:.1e}"}


def sweep(network):
    """What came of each form."""
    cells = {}
    with tempfile.TemporaryDirectory() as folder:
        for form, path, problem in forms(network, pathlib.Path(folder)):
            cells[form] = convert(path, network, pathlib.Path(folder)) if path else {"not_made": problem}
            if path:
                path.unlink()
    return cells


def is_kept(cells, form):
    """True if the form converts, agrees, and has the plain file's share."""
    cell, plain = cells[form], cells["plain"]
    if "not_made" in cell:
        return True
    if "problem" in cell or "problem" in plain:
        return False
    return plain["share"] is None or (cell["share"] is not None and cell["share"] >= plain["share"] - 1e-6)


def text_of(cell):
    if "not_made" in cell:
        return "not made by PyTorch"
    if "problem" in cell:
        return "**" + cell["problem"].replace("|", "\\|") + "**"
    share = "unknown" if cell["share"] is None else f"{100 * cell['share']:.4g} %"
    return share if cell["distance"] is None else f"{share}, {cell['distance']:.1e}"


def table(rows):
    text = TITLE.format(version=torchvision.__version__.split("+")[0])
    for name, cells in rows.items():
        text += f"| {name} | " + " | ".join(text_of(cells[form]) for form in FORMS) + " |\n"
    made = [(cells, form) for cells in rows.values() for form in FORMS if "not_made" not in cells[form]]
    return text + f"\n{sum(is_kept(*each) for each in made)} of {len(made)} files convert, agree and keep the share.\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="networks; all if none is given")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/mobile"), help="the work folder")
    parser.add_argument("--table", type=pathlib.Path, help="write the page")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    rows = {}
    for name in options.names or NETWORKS:
        kept = options.work / f"{name}.json"
        if not kept.exists():
            kept.write_text(json.dumps(sweep(NETWORKS[name])))
        rows[name] = json.loads(kept.read_text())
        for form, cell in rows[name].items():
            print(f"{name:<28} {form:<8} {'ok' if is_kept(rows[name], form) else 'FAILED'}  {text_of(cell)}", flush=True)
    if options.table:
        options.table.write_text(table(rows))
    return 0 if all(is_kept(cells, form) for cells in rows.values() for form in FORMS) else 1


if __name__ == "__main__":
    sys.exit(main())
