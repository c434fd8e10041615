#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""CPU time and peak memory of converting one model as TorchScript (.pt) and as an exported program (.pt2).

    bench/exported.py write FOLDER    with PyTorch 2.6 or later: a perceptron with weights of 512 MB, in both forms
    bench/exported.py run FOLDER      converts each three times, in turns, and prints the medians

NNAPI_CONVERT names the program.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

WIDTH, LAYERS, RUNS = 4000, 8, 3


def write(folder):
    import torch
    from torch import nn
    torch.manual_seed(0)
    layers = [part for _ in range(LAYERS) for part in (nn.Linear(WIDTH, WIDTH), nn.ReLU())]
    module, sample = nn.Sequential(*layers).eval(), torch.randn(1, WIDTH)
    torch.jit.trace(module, sample).save(str(folder / "model.pt"))
    torch.export.save(torch.export.export(module, (sample,)), str(folder / "model.pt2"))


def convert(path, out):
    """CPU seconds and peak memory in MB of one run, which is a child of a process of its own."""
    program = os.environ.get("NNAPI_CONVERT", "build/release/bin/nnapi-convert")
    child = os.fork()
    if child == 0:
        code = subprocess.run([program, str(path), "--input", f"1,{WIDTH}", "-o", out], stderr=subprocess.DEVNULL,
                              check=False).returncode
        os._exit(code)
    _, status, used = os.wait4(child, 0)
    if status != 0:
        raise SystemExit(f"{path} does not convert")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def run(folder):
    figures = {"model.pt": [], "model.pt2": []}
    with tempfile.TemporaryDirectory() as work:
        for _ in range(RUNS):
            for name, runs in figures.items():
                runs.append(convert(folder / name, os.path.join(work, "out.pt")))
    for name, runs in figures.items():
        seconds, megabytes = (statistics.median(column) for column in zip(*runs))
        print(f"{name:10} {seconds:5.2f} s of CPU time, {megabytes:5.0f} MB at most")


def main():
    action, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    write(folder) if action == "write" else run(folder)


if __name__ == "__main__":
    main()
