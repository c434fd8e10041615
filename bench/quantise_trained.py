#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the quality of --calibrate on networks with trained weights, beside torch.ao on the same pictures: how far
the results are from the float network's, and the accuracy of classifiers. Two halves of the pictures take turns: a model
that is calibrated by the one is judged by the other. Where bench/quantise_onnxruntime.py left its results, they are in
the table, too; a row of another way to quantise ends with McNemar's p (bench/quantise.py). Needs a folder with the
networks' files (NETWORKS below) and pictures/NNN.jpg, NNN being the class of ImageNet; the release build, and Debian's
PyTorch and torchvision."""

import argparse
import lzma
import pathlib
import warnings
from typing import Dict, List, NamedTuple, Tuple

import numpy
import torch
from PIL import Image
from torchvision import transforms

from quantise import (BEST, OURS, RELEASE, ROOT, SHIM, STOCK, TORCH_AO, Model, Source, chances, convert, end, is_behind,
                      load_runtimes, of_onnxruntime, pairs)

FOLDER = ROOT / "build" / "bench" / "quantise_trained"
FOLDS = 2


class Network(NamedTuple):
    file: str
    size: Tuple[int, int]  # height, width
    mean: List[float]      # of pixels from 0 to 1
    std: List[float]
    crops: bool            # the middle of the picture; else all of it, stretched
    results: List[str]
    classes: bool = False  # the results are those of ImageNet's classes


NETWORKS = {
    "mobilenet": Network("mobilenet_v2_imagenet.pt.xz", (224, 224), [0.485, 0.456, 0.406], [0.229, 0.224, 0.225], True,
                         ["classes"], True),
    "faces": Network("face_rfb_320.pt", (240, 320), [127 / 255], [128 / 255], False, ["scores", "boxes"]),
    "pnet": Network("mtcnn_pnet.pt", (224, 224), [0.5], [128 / 255], True, ["boxes", "scores"]),
}


class Row(NamedTuple):
    """Of one way to quantise, over all pictures. Of networks that give no classes, the tensors are empty."""
    right: torch.Tensor     # bool[pictures]: the right class
    as_float: torch.Tensor  # bool[pictures]: float's class
    distances: List[float]  # RMS, per cent of the RMS of what float gives, one for each result


def pictures_of(network: Network, paths: List[pathlib.Path]) -> torch.Tensor:
    """As the network takes them."""
    shorter = max(256, *network.size) if network.crops else network.size
    steps = [transforms.Resize(shorter), *([transforms.CenterCrop(network.size)] if network.crops else []),
             transforms.ToTensor(), transforms.Normalize(network.mean, network.std)]
    transform = transforms.Compose(steps)
    return torch.stack([transform(Image.open(path).convert("RGB")) for path in paths])


def results_of(model: Model, pictures: torch.Tensor) -> List[torch.Tensor]:
    """One tensor for each result, with all pictures."""
    with torch.inference_mode():
        found = [model(picture) for picture in pictures.split(1)]
    as_tuples = [each if isinstance(each, tuple) else (each,) for each in found]
    return [torch.cat(each) for each in zip(*as_tuples)]


def unpacked(folder: pathlib.Path, name: str) -> pathlib.Path:
    source, path = folder / NETWORKS[name].file, FOLDER / f"{name}.pt"
    read = lzma.open if source.suffix == ".xz" else open
    with read(source, "rb") as stream:
        path.write_bytes(stream.read())
    return path


def torch_ao(path: pathlib.Path, engine: str, calibration: torch.Tensor) -> torch.jit.ScriptModule:
    """Histogram observers, and the backend's own settings, on TorchScript."""
    from torch.ao.quantization import get_default_qconfig  # pylint: disable=import-outside-toplevel
    from torch.ao.quantization.quantize_jit import convert_jit, prepare_jit  # pylint: disable=import-outside-toplevel

    torch.backends.quantized.engine = engine
    prepared = prepare_jit(torch.jit.load(str(path)).eval(), {"": get_default_qconfig(engine)})
    results_of(prepared, calibration)
    return convert_jit(prepared)


def row_of(expected: List[torch.Tensor], found: List[torch.Tensor], labels: torch.Tensor, network: Network) -> Row:
    distances = [100 * ((b - a).square().mean() / a.square().mean()).sqrt().item() for a, b in zip(expected, found)]
    if not network.classes:
        return Row(torch.empty(0).bool(), torch.empty(0).bool(), distances)
    top = found[0].argmax(1)
    return Row(top == labels, top == expected[0].argmax(1), distances)


def share(found: torch.Tensor) -> str:
    return f"{100 * found.double().mean().item():.1f} %"


def show(rows: Dict[str, Row], network: Network) -> None:
    right = {way: row.right for way, row in rows.items()}
    for way, row in rows.items():
        classes = f" accuracy {share(row.right)}, as float {share(row.as_float)}" if network.classes else ""
        distances = ", ".join(f"{name} {rms:.3f} %" for name, rms in zip(network.results, row.distances))
        print(f"  {way:41}{classes} RMS: {distances}{chances(right, way) if network.classes else ''}", flush=True)


def problems_of(rows: Dict[str, Row], network: Network) -> List[str]:
    problems = []
    for way, other in pairs(list(rows)):
        ours, theirs = rows[way], rows[other]
        for name, found, least in zip(network.results, ours.distances, theirs.distances):
            if found > least:
                problems.append(f"{other} has RMS distance {least:.3f} % of {name}, {way} {found:.3f} %")
        # One of a hundred pictures is more than the points that may be lost, so that only other tools are a measure.
        if is_behind(ours.right, theirs.right):
            problems.append(f"{other} has accuracy {share(theirs.right)}, {way} {share(ours.right)}")
    return problems


def export(path: pathlib.Path, folder: pathlib.Path, calibrating: torch.Tensor, judged: torch.Tensor) -> None:
    """Writes what bench/quantise_onnxruntime.py needs."""
    folder.mkdir(exist_ok=True)
    numpy.save(folder / "calibration.npy", calibrating.numpy())
    numpy.save(folder / "judging.npy", judged.numpy())
    torch.onnx.export(torch.jit.load(str(path)).eval(), calibrating[:1], str(folder / path.with_suffix(".onnx").name),
                      opset_version=14)


def measure(name: str, arguments: argparse.Namespace) -> List[str]:
    """Prints the table of a network; returns what is over its limit."""
    network, path = NETWORKS[name], unpacked(arguments.models, name)
    paths = sorted((arguments.models / "pictures").glob("*.jpg"))
    pictures, labels = pictures_of(network, paths), torch.tensor([int(each.stem) for each in paths])
    source = Source(path, ",".join(map(str, (1, 3, *network.size))), FOLDER / f"{name}.npy")
    expected = results_of(torch.jit.load(str(path)).eval(), pictures)
    found: Dict[str, List[torch.Tensor]] = {"float": expected}
    for fold in range(FOLDS):
        judged = torch.arange(fold, len(paths), FOLDS)
        calibrating = pictures[[i for i in range(len(paths)) if i % FOLDS != fold]]
        elsewhere = FOLDER / f"{name}_{fold}"
        if arguments.export:
            export(path, elsewhere, calibrating, pictures[judged])
            continue
        numpy.save(source.calibration, calibrating.numpy())
        ways: Dict[str, List[torch.Tensor]] = {}
        for weights in (SHIM, STOCK):
            for way, options in ((OURS, []), (BEST, ["--effort=best"]))[:2 if arguments.best else 1]:
                model = convert(source, weights, arguments.option + options, arguments.converter)
                ways[f"{weights}: {way}"] = results_of(model, pictures[judged])
            model = torch_ao(path, TORCH_AO[weights], calibrating)
            ways[f"{weights}: torch.ao {TORCH_AO[weights]}"] = results_of(model, pictures[judged])
            for method, results in of_onnxruntime(elsewhere, name, weights).items():
                ways[f"{weights}: ONNX Runtime {method}"] = results
        for way, parts in ways.items():
            for whole, part in zip(found.setdefault(way, [torch.empty_like(each) for each in expected]), parts):
                whole[judged] = part
    if arguments.export:
        return []
    print(f"{name} ({network.file}), {len(paths)} pictures")
    rows = {way: row_of(expected, results, labels, network) for way, results in found.items()}
    show(rows, network)
    return [f"{name}: {problem}" for problem in problems_of(rows, network)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=pathlib.Path, help="the folder with the networks and pictures/")
    parser.add_argument("--only", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--option", action="append", default=[], help="of nnapi-convert, such as --option=--effort=best")
    parser.add_argument("--best", action="store_true", help="measure --effort best, too")
    parser.add_argument("--export", action="store_true", help="only write what bench/quantise_onnxruntime.py needs")
    parser.add_argument("--converter", default=str(RELEASE / "bin" / "nnapi-convert"))
    parser.add_argument("--check", action="store_true", help="fail where a figure is over its limit")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    load_runtimes()
    FOLDER.mkdir(parents=True, exist_ok=True)
    problems = [problem for name in arguments.only for problem in measure(name, arguments)]
    end(problems, arguments.check)


if __name__ == "__main__":
    main()
