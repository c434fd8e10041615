#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the host's NNAPI against TorchScript: MobileNetV2 and ResNet-18 at 224x224, float and quantised, through
PyTorch's stock loader. Each number is of a process of its own with one thread, the two sides take turns, and medians are compared."""

import argparse
import ctypes
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import time
from typing import Dict, List, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASE = ROOT / "build" / "release"
LIBRARY = RELEASE / "lib" / "host" / "libneuralnetworks.so"
FOLDER = ROOT / "build" / "bench"
MAX_CPU = 3.0
MAX_MEMORY = 1.5
WARM_UP = 3


class Case(NamedTuple):
    name: str
    model: str
    options: List[str]


CASES = [
    Case("MobileNetV2", "mobilenet_v2.pt", ["--nhwc"]),
    Case("MobileNetV2, --quant core", "mobilenet_v2_quant.pt", ["--nhwc", "--quant", "core"]),
    Case("MobileNetV2, --quant full", "mobilenet_v2_quant.pt", ["--nhwc", "--quant", "full"]),
    Case("ResNet-18", "resnet18_224.pt", ["--nhwc"]),
    Case("ResNet-18, --quant full", "resnet18_224_quant.pt", ["--nhwc", "--quant", "full"]),
]


class Usage(NamedTuple):
    """Returns CPU seconds of an inference and of the process, and the process's peak of resident pages in bytes."""

    inference: float
    process: float
    memory: float


def infer(model_path: str, inferences: int, library: str) -> None:
    """Runs the model in a measured process, and prints the process's usage."""
    import torch  # pylint: disable=import-outside-toplevel

    torch.backends.quantized.engine = "qnnpack"
    torch.set_num_threads(1)  # threads that wait for each other would count as work
    if library:
        # PyTorch's loader asks for the library by its name, and gets the one that is loaded already.
        ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
    model = torch.jit.load(model_path).eval()
    image = model.get_all_bundled_inputs()[0][0]
    times = []
    with torch.inference_mode():
        for i in range(WARM_UP + inferences):
            start = time.process_time()
            model(image)
            if i >= WARM_UP:
                times.append(time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
    print(json.dumps([statistics.median(times), time.process_time(), peak]))


def measure(model: pathlib.Path, inferences: int, library: str) -> Usage:
    command = [sys.executable, __file__, "--infer", str(model), "--inferences", str(inferences), "--library", library]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Usage(*json.loads(result.stdout))


def median(usages: List[Usage]) -> Usage:
    return Usage(*(statistics.median(values) for values in zip(*usages)))


def convert(case: Case, converter: str) -> pathlib.Path:
    output = FOLDER / f"host_{CASES.index(case)}.pt"
    command = [converter, str(FOLDER / case.model), *case.options, "--bundle-inputs", "-q", "-o", str(output)]
    subprocess.run(command, check=True)
    return output


def compare(case: Case, runs: int, inferences: int, converter: str) -> bool:
    """Measures one case and prints a line; returns whether it is within the limits."""
    converted = convert(case, converter)
    usages: Dict[str, List[Usage]] = {"torch": [], "host": []}
    for _ in range(runs):
        usages["torch"].append(measure(FOLDER / case.model, inferences, ""))
        usages["host"].append(measure(converted, inferences, str(LIBRARY)))
    torch_usage, host = median(usages["torch"]), median(usages["host"])
    cpu = host.inference / torch_usage.inference
    memory = host.memory / torch_usage.memory
    print(
        f"{case.name:26} {1e3 * torch_usage.inference:7.1f} ms {1e3 * host.inference:7.1f} ms  x{cpu:4.2f}"
        f"   {torch_usage.memory / 1e6:5.0f} MB {host.memory / 1e6:5.0f} MB  x{memory:4.2f}"
        f"   process {torch_usage.process:4.2f} s {host.process:4.2f} s",
        flush=True,
    )
    return cpu <= MAX_CPU and memory <= MAX_MEMORY


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="processes of each side")
    parser.add_argument("--inferences", type=int, default=20, help="measured inferences of each process")
    parser.add_argument("--converter", default=str(RELEASE / "bin" / "nnapi-convert"))
    parser.add_argument("--check", action="store_true", help=f"fail above x{MAX_CPU} CPU time or x{MAX_MEMORY} memory")
    for option in ("--infer", "--library"):
        parser.add_argument(option, default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.infer:
        infer(arguments.infer, arguments.inferences, arguments.library)
        return
    script = str(ROOT / "scripts" / "makers" / "make_models.py")
    for group, name in (("demo", "mobilenet_v2"), ("bench", "resnet18_224")):
        subprocess.run([script, "--group", group, "--only", name, "--", str(FOLDER)], check=True)
    print("                          CPU: TorchScript       host        memory: TorchScript   host")
    within = [compare(case, arguments.runs, arguments.inferences, arguments.converter) for case in CASES]
    if arguments.check and not all(within):
        sys.exit(f"above x{MAX_CPU} CPU time or x{MAX_MEMORY} memory")


if __name__ == "__main__":
    main()
