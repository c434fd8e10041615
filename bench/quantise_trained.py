#!/usr/bin/python3
"""Measures the quality of --calibrate on networks with trained weights, beside torch.ao on the same pictures: how far
the results are from the float network's, and the accuracy of classifiers. Two halves of the pictures take turns: a model
that is calibrated by the one is judged by the other. Needs a folder with the networks' files (NETWORKS below) and
pictures/NNN.jpg, NNN being the class of ImageNet; the release build, and Debian's PyTorch and torchvision."""

import argparse
import lzma
import pathlib
import warnings
from typing import Dict, List, NamedTuple, Tuple

import numpy
import torch
from PIL import Image
from torchvision import transforms

from quantise import MOST_LOST, OURS, RELEASE, ROOT, SHIM, STOCK, TORCH_AO, Model, Source, convert, end, load_runtimes

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
    """Of one way to quantise, over all pictures."""
    accuracy: float   # per cent; 0 for networks that give no classes
    agreement: float  # per cent of pictures with float's top-1; the same
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
        return Row(0, 0, distances)
    top = found[0].argmax(1)
    shares = [100 * top.eq(other).double().mean().item() for other in (labels, expected[0].argmax(1))]
    return Row(shares[0], shares[1], distances)


def show(way: str, row: Row, network: Network) -> None:
    classes = f" accuracy {row.accuracy:5.1f} %, as float {row.agreement:5.1f} %" if network.classes else ""
    distances = ", ".join(f"{name} {share:.2f} %" for name, share in zip(network.results, row.distances))
    print(f"  {way:30}{classes} RMS: {distances}", flush=True)


def problems_of(rows: Dict[str, Row], network: Network) -> List[str]:
    problems = []
    for weights, most in MOST_LOST.items():
        ours, other = rows[f"{weights}: {OURS}"], rows[f"{weights}: torch.ao"]
        for name, found, theirs in zip(network.results, ours.distances, other.distances):
            if found > theirs:
                problems.append(f"{weights}: RMS distance of {name} {found:.3f} %, torch.ao's {theirs:.3f} %")
        # One of a hundred pictures is more than the points allowed, so that losing no more than torch.ao is enough.
        if ours.accuracy < min(rows["float"].accuracy - most, other.accuracy):
            problems.append(f"{weights}: accuracy {ours.accuracy} %, torch.ao {other.accuracy} %")
    return problems


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
        numpy.save(source.calibration, calibrating.numpy())
        for weights in (SHIM, STOCK):
            ways = {OURS: convert(source, weights, arguments.option, arguments.converter),
                    "torch.ao": torch_ao(path, TORCH_AO[weights], calibrating)}
            for way, model in ways.items():
                results = found.setdefault(f"{weights}: {way}", [torch.empty_like(each) for each in expected])
                for whole, part in zip(results, results_of(model, pictures[judged])):
                    whole[judged] = part
    print(f"{name} ({network.file}), {len(paths)} pictures")
    rows = {way: row_of(expected, results, labels, network) for way, results in found.items()}
    for way, row in rows.items():
        show(way, row, network)
    return [f"{name}: {problem}" for problem in problems_of(rows, network)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=pathlib.Path, help="the folder with the networks and pictures/")
    parser.add_argument("--only", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--option", action="append", default=[], help="of nnapi-convert, such as --option=--effort=best")
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
