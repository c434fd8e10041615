#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what --calibrate costs: CPU time beside running the model on the same pictures in TorchScript, and memory
beside a plain conversion. Takes a TorchScript model of MobileNet's interface (float32[1, 3, 224, 224]) and a folder of
pictures; the runs take turns, and medians are shown. Needs the release build and Debian's PyTorch."""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from typing import Dict, List, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ["--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225", "--resize", "256", "--crop", "224"]
MOST_TIME, MOST_MEMORY = 3, 2
TORCHSCRIPT, PLAIN, CALIBRATING = "TorchScript", "conversion", "calibration"
# Runs the pictures as apps do: decoded, resized, normalised, in inference mode. The import is not counted.
RUN = """
import pathlib, sys, time, torch
from PIL import Image
from torchvision import transforms as t
torch.set_num_threads(1)
make = t.Compose([t.Resize(256), t.CenterCrop(224), t.ToTensor(),
                  t.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
begin = time.process_time()
model = torch.jit.load(sys.argv[1]).eval()
with torch.inference_mode():
    for path in sorted(pathlib.Path(sys.argv[2]).iterdir()):
        model(make(Image.open(path).convert("RGB")).unsqueeze(0))
print(time.process_time() - begin)
"""


class Cost(NamedTuple):
    seconds: float  # of CPU, in user mode and the system's
    megabytes: float  # at most, resident


def run(command: List[str]) -> Cost:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"}, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    is_own_count = command[0] == sys.executable
    return Cost(float(output) if is_own_count else usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("pictures", type=pathlib.Path)
    parser.add_argument("--runtime", default="pytorch", choices=["pytorch", "shim"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="fail where a figure is over its limit")
    arguments = parser.parse_args()
    model, pictures = str(arguments.model), str(arguments.pictures)
    with tempfile.TemporaryDirectory() as folder:
        convert = [str(ROOT / "build" / "release" / "bin" / "nnapi-convert"), model, "--nhwc", "--input", "1,3,224,224",
                   "--runtime", arguments.runtime, "-q", "-o", f"{folder}/out.pt"]
        commands = {TORCHSCRIPT: [sys.executable, "-W", "ignore", "-c", RUN, model, pictures], PLAIN: convert,
                    CALIBRATING: [*convert, "--calibrate", pictures, *PICTURE]}
        found: Dict[str, List[Cost]] = {name: [] for name in commands}
        for _ in range(arguments.runs):
            for name, command in commands.items():
                found[name].append(run(command))
    median = {name: Cost(*map(statistics.median, zip(*costs))) for name, costs in found.items()}
    for name, cost in median.items():
        print(f"{name:12} {cost.seconds:6.1f} s of CPU {cost.megabytes:6.0f} MB")
    time = median[CALIBRATING].seconds / median[TORCHSCRIPT].seconds
    memory = median[CALIBRATING].megabytes / median[PLAIN].megabytes
    print(f"calibration takes {time:.2f} times TorchScript's CPU time (at most {MOST_TIME}), "
          f"{memory:.2f} times a conversion's memory (at most {MOST_MEMORY})")
    if arguments.check and (time > MOST_TIME or memory > MOST_MEMORY):
        sys.exit("over the limit")


if __name__ == "__main__":
    main()
