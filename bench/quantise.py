#!/usr/bin/python3
"""Measures the quality of --calibrate on networks that are trained here: accuracy on held-back pictures, and the RMS
distance of results from the float network's, beside torch.ao on the same data. Where bench/quantise_onnxruntime.py left
its results in the folder, they are in the table, too. Needs the release build and Debian's dataset-fashion-mnist."""

import argparse
import ctypes
import pathlib
import subprocess
import sys
import warnings
from typing import Callable, Dict, List, NamedTuple

import numpy
import torch

from quantise_networks import NETWORKS, Pictures, accuracy, read_pictures, results_of, trained

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASE = ROOT / "build" / "release"
LIBRARY = RELEASE / "lib" / "host" / "libneuralnetworks.so"
FOLDER = ROOT / "build" / "bench" / "quantise"
SHIM, STOCK = "per channel", "per tensor"
MOST_LOST = {SHIM: 0.5, STOCK: 1.0}  # points of accuracy, from float
RUNTIMES = {SHIM: "shim", STOCK: "pytorch"}
TORCH_AO = {SHIM: "onednn", STOCK: "qnnpack"}
OURS = "nnapi-convert"
TECHNIQUES = ["equalise", "search-ranges", "refine-ranges", "correct-bias", "pool-layers"]

Model = Callable[[torch.Tensor], torch.Tensor]


class Quality(NamedTuple):
    accuracy: float  # points
    rms: float  # share of the RMS of what float gives, in per cent
    agreement: float  # points: pictures with float's top-1


class Data(NamedTuple):
    calibration: torch.Tensor
    judged: Pictures


def quality(expected: torch.Tensor, found: torch.Tensor, labels: torch.Tensor) -> Quality:
    rms = ((found - expected).square().mean() / expected.square().mean()).sqrt().item()
    return Quality(100 * accuracy(found, labels), 100 * rms, 100 * accuracy(found, expected.argmax(1)))


class Source(NamedTuple):
    """What the command is given."""
    model: pathlib.Path
    shape: str
    calibration: pathlib.Path


def convert(source: Source, weights: str, options: List[str], converter: str) -> torch.jit.ScriptModule:
    out = source.model.with_name(f"{source.model.stem}_out.pt")
    command = [converter, str(source.model), "--nhwc", "--input", source.shape, "--calibrate", str(source.calibration),
               "--runtime", RUNTIMES[weights], "-q", "-o", str(out), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return torch.jit.load(str(out)).eval()


def torch_ao(model: torch.nn.Module, engine: str, calibration: torch.Tensor) -> torch.nn.Module:
    """Histogram observers, and the backend's own settings."""
    from torch.ao.quantization import get_default_qconfig_mapping  # pylint: disable=import-outside-toplevel
    from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx  # pylint: disable=import-outside-toplevel

    torch.backends.quantized.engine = engine
    prepared = prepare_fx(model, get_default_qconfig_mapping(engine), (calibration[:1],))
    results_of(prepared, calibration)
    return convert_fx(prepared)


def chance(one: Quality, other: Quality, pictures: int) -> float:
    """Points by which two accuracies differ by chance: twice the deviation where as many pictures of those that the two
    see otherwise than float are right in either."""
    seen_otherwise = (200 - one.agreement - other.agreement) / 100 * pictures
    return 200 * seen_otherwise ** 0.5 / pictures


def problems_of(rows: Dict[str, Quality], pictures: int) -> List[str]:
    """What is over its limit, of the ways to quantise one network."""
    problems = []
    for weights, most in MOST_LOST.items():
        ours = rows[f"{weights}: {OURS}"]
        lost = rows["float"].accuracy - ours.accuracy
        if lost > most:
            problems.append(f"{weights}: {lost:.2f} points of accuracy lost, {most} allowed")
        rivals = (f"{weights}: torch", f"{weights}: ONNX")
        others = {way: found for way, found in rows.items() if way.startswith(rivals)}
        for way, found in others.items():
            if ours.rms > found.rms:
                problems.append(f"{way} has RMS distance {found.rms:.3f} %, {OURS} {ours.rms:.3f} %")
            if ours.accuracy < found.accuracy - chance(ours, found, pictures):
                problems.append(f"{way} has accuracy {found.accuracy:.2f} %, {OURS} {ours.accuracy:.2f} %")
    return problems


def measure(name: str, data: Data, arguments: argparse.Namespace) -> List[str]:
    """Prints the table of a network; returns what is over its limit."""
    model = trained(name, FOLDER, arguments.train)
    source = Source(FOLDER / f"{name}.pt", "1,1,28,28", FOLDER / "calibration.npy")
    with torch.no_grad():
        torch.jit.trace(model, data.calibration[:1]).save(str(source.model))
    expected = results_of(model, data.judged.images)
    if arguments.export:
        torch.onnx.export(model, data.calibration[:1], str(FOLDER / f"{name}.onnx"), opset_version=14)
        return []
    rows: Dict[str, Quality] = {}
    print(f"{NETWORKS[name].title}: accuracy %, RMS distance %, top-1 as float %")

    def judge(way: str, results: torch.Tensor) -> None:
        found = rows[way] = quality(expected, results, data.judged.labels)
        print(f"  {way:34} {found.accuracy:6.2f} {found.rms:8.3f} {found.agreement:8.2f}", flush=True)

    def run(quantised: Model) -> torch.Tensor:
        return results_of(quantised, data.judged.images)

    judge("float", expected)
    for weights in (SHIM, STOCK):
        judge(f"{weights}: {OURS}", run(convert(source, weights, [], arguments.converter)))
        judge(f"{weights}: torch.ao {TORCH_AO[weights]}", run(torch_ao(model, TORCH_AO[weights], data.calibration)))
        for found in sorted(FOLDER.glob(f"{name}.*.{weights}.npy")):
            judge(f"{weights}: ONNX Runtime {found.name.split('.')[1]}", torch.from_numpy(numpy.load(found)))
        for technique in TECHNIQUES if arguments.techniques else []:
            options = ["--without", technique]
            judge(f"{weights}: without {technique}", run(convert(source, weights, options, arguments.converter)))
    return [f"{name}: {problem}" for problem in problems_of(rows, len(expected))]


def arguments_of() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--samples", type=int, default=200, help="pictures to calibrate by")
    parser.add_argument("--pictures", type=int, default=2000, help="pictures that judge")
    parser.add_argument("--techniques", action="store_true", help="switch each technique off, too")
    parser.add_argument("--export", action="store_true", help="only write what bench/quantise_onnxruntime.py needs")
    parser.add_argument("--converter", default=str(RELEASE / "bin" / "nnapi-convert"))
    parser.add_argument("--check", action="store_true", help="fail where a figure is over its limit")
    return parser.parse_args()


def load_runtimes() -> None:
    # PyTorch's loader asks for the library by its name, and gets the one that is loaded already.
    ctypes.CDLL(str(LIBRARY), ctypes.RTLD_GLOBAL)
    torch.ops.load_library(str(RELEASE / "lib" / "libnnapi_shim_torch.so"))


def end(problems: List[str], is_checked: bool) -> None:
    """Prints figures over their limits; with `is_checked` the program fails for them."""
    for problem in problems:
        print(problem)
    if problems and is_checked:
        sys.exit("over the limit")


def main() -> None:
    arguments = arguments_of()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    load_runtimes()
    FOLDER.mkdir(parents=True, exist_ok=True)
    arguments.train = read_pictures("train")
    judged = Pictures(*(tensor[:arguments.pictures] for tensor in read_pictures("t10k")))
    data = Data(arguments.train.images[-arguments.samples:], judged)
    numpy.save(FOLDER / "calibration.npy", data.calibration.numpy())
    numpy.save(FOLDER / "judging.npy", data.judged.images.numpy())
    problems = [problem for name in arguments.only for problem in measure(name, data, arguments)]
    end(problems, arguments.check)


if __name__ == "__main__":
    main()
