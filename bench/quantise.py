#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the quality of --calibrate on networks that are trained here: accuracy on held-back pictures, and the RMS
distance of results from the float network's, beside torch.ao on the same data. Where bench/quantise_onnxruntime.py left
its results in the folder, they are in the table, too. A row of another way to quantise ends with McNemar's p: how often
chance alone makes accuracies differ as much as this row's and ours do (with --best, that of --effort best follows).
Needs the release build and Debian's dataset-fashion-mnist."""

import argparse
import ctypes
import math
import pathlib
import subprocess
import sys
import warnings
from typing import Callable, Dict, Iterator, List, NamedTuple, Tuple

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
BEST = f"{OURS} --effort best"
CHANCE = 0.05  # from this McNemar's p on, two accuracies differ by chance
TECHNIQUES = ["equalise", "search-ranges", "refine-ranges", "correct-bias", "pool-layers"]

Model = Callable[[torch.Tensor], torch.Tensor]


class Quality(NamedTuple):
    accuracy: float  # points
    rms: float  # share of the RMS of what float gives, in per cent
    agreement: float  # points: pictures with float's top-1
    right: torch.Tensor  # bool[pictures]


class Data(NamedTuple):
    calibration: torch.Tensor
    judged: Pictures


def quality(expected: torch.Tensor, found: torch.Tensor, labels: torch.Tensor) -> Quality:
    rms = ((found - expected).square().mean() / expected.square().mean()).sqrt().item()
    return Quality(100 * accuracy(found, labels), 100 * rms, 100 * accuracy(found, expected.argmax(1)),
                   found.argmax(1) == labels)


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


def mcnemar(one: torch.Tensor, other: torch.Tensor) -> float:
    """The p of McNemar's exact test, two-sided. Each argument tells which pictures a network gets right."""
    only_one, only_other = int((one & ~other).sum()), int((other & ~one).sum())
    differing = only_one + only_other
    rarer = sum(math.comb(differing, count) for count in range(min(only_one, only_other) + 1))
    return min(1.0, 2 * rarer / 2 ** differing)


def is_behind(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether `one` gets fewer right, and by more than chance."""
    return bool(one.sum() < other.sum()) and mcnemar(one, other) < CHANCE


def pairs(ways: List[str]) -> Iterator[Tuple[str, str]]:
    """Each of our ways with each that it may not be behind: other tools' and, of --effort best, the default."""
    for ours in ways:
        weights, _, way = ours.partition(": ")
        if way not in (OURS, BEST):
            continue
        rivals = [other for other in ways if other.startswith((f"{weights}: torch", f"{weights}: ONNX"))]
        fast = f"{weights}: {OURS}"
        yield from ((ours, other) for other in rivals + ([fast] if way == BEST and fast in ways else []))


def chances(rows: Dict[str, torch.Tensor], way: str) -> str:
    """McNemar's p of a row beside each of ours that is held against it; nothing for others."""
    found = [f"{mcnemar(rows[ours], rows[way]):.3f}" for ours, other in pairs(list(rows)) if other == way]
    return f"  p {', '.join(found)}" if found else ""


def problems_of(rows: Dict[str, Quality]) -> List[str]:
    """What is over its limit, of the ways to quantise one network."""
    problems = []
    for way, found in rows.items():
        weights, _, tool = way.partition(": ")
        lost = rows["float"].accuracy - found.accuracy
        if tool in (OURS, BEST) and lost > MOST_LOST[weights]:
            problems.append(f"{way}: {lost:.2f} points of accuracy lost, {MOST_LOST[weights]} allowed")
    for way, other in pairs(list(rows)):
        ours, found = rows[way], rows[other]
        if ours.rms > found.rms:
            problems.append(f"{other} has RMS distance {found.rms:.3f} %, {way} {ours.rms:.3f} %")
        if is_behind(ours.right, found.right):
            problems.append(f"{other} has accuracy {found.accuracy:.2f} %, {way} {ours.accuracy:.2f} %")
    return problems


def of_onnxruntime(folder: pathlib.Path, name: str, weights: str) -> Dict[str, List[torch.Tensor]]:
    """The results that bench/quantise_onnxruntime.py left, of each way to calibrate."""
    return {path.name.split(".")[1]: [torch.from_numpy(each) for each in numpy.load(path).values()]
            for path in sorted(folder.glob(f"{name}.*.{weights}.npz"))}


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
        rows[way] = quality(expected, results, data.judged.labels)

    def run(quantised: Model) -> torch.Tensor:
        return results_of(quantised, data.judged.images)

    judge("float", expected)
    for weights in (SHIM, STOCK):
        judge(f"{weights}: {OURS}", run(convert(source, weights, [], arguments.converter)))
        if arguments.best:
            judge(f"{weights}: {BEST}", run(convert(source, weights, ["--effort=best"], arguments.converter)))
        judge(f"{weights}: torch.ao {TORCH_AO[weights]}", run(torch_ao(model, TORCH_AO[weights], data.calibration)))
        for method, results in of_onnxruntime(FOLDER, name, weights).items():
            judge(f"{weights}: ONNX Runtime {method}", results[0])
        for technique in TECHNIQUES if arguments.techniques else []:
            options = ["--without", technique]
            judge(f"{weights}: without {technique}", run(convert(source, weights, options, arguments.converter)))
    right = {way: found.right for way, found in rows.items()}
    for way, found in rows.items():
        print(f"  {way:41} {found.accuracy:6.2f} {found.rms:8.3f} {found.agreement:8.2f}{chances(right, way)}")
    return [f"{name}: {problem}" for problem in problems_of(rows)]


def arguments_of() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--samples", type=int, default=200, help="pictures to calibrate by")
    parser.add_argument("--pictures", type=int, default=2000, help="pictures that judge")
    parser.add_argument("--techniques", action="store_true", help="switch each technique off, too")
    parser.add_argument("--best", action="store_true", help="measure --effort best, too")
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
