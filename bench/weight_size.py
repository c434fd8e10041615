#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how the CPU time of a conversion grows with the weights: eight linear layers of 10 MB to 4 GB in all, beside
cp of the same file. The CPU time of the same network with weights of 1 MB, most of which is the start of LibTorch, is
left out of the conversion's. Needs the release build, Debian's PyTorch and 12 GB of disk, no network."""

import argparse
import pathlib
import statistics
import sys

import torch

from bench import run

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = 8
LEAST = 1
SIZES = [10, 100, 1000, 4000]  # megabytes
MOST_TIMES_CP = 3


def width_of(megabytes: int) -> int:
    return round((megabytes * 1e6 / 4 / LAYERS) ** 0.5)


def make(megabytes: int, folder: pathlib.Path) -> pathlib.Path:
    path = folder / f"weights_{megabytes}.pt"
    if path.exists():
        return path
    width = width_of(megabytes)
    row = torch.rand(width) / width
    layers = [torch.nn.utils.skip_init(torch.nn.Linear, width, width) for _ in range(LAYERS)]
    with torch.no_grad():
        for number, layer in enumerate(layers):
            layer.weight.copy_(row.roll(number))
            layer.bias.fill_(0.1)
        torch.jit.trace(torch.nn.Sequential(*layers).eval(), torch.rand(1, width), check_trace=False).save(str(path))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(ROOT / "build" / "release" / "bin" / "nnapi-convert"))
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "bench", help="models and outputs")
    parser.add_argument("--runs", type=int, default=5, help="measured runs of each size; medians count (default 5)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="MB")
    parser.add_argument("--check", action="store_true", help="exit 1 when a conversion is above the limit")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    log, out = arguments.work / "weight_size.log", arguments.work / "weight_size.out.pt"

    def usage(megabytes: int):
        model = make(megabytes, arguments.work)
        convert = [arguments.binary, str(model), "--input", f"1,{width_of(megabytes)}", "--nchw", "-q", "-o", str(out)]
        converted, copied = [], []
        for _ in range(arguments.runs + 1):  # the first run warms the file cache
            converted.append(run(convert, log))
            copied.append(run(["/bin/cp", str(model), str(out)], log))
        return [statistics.median(each.cpu for each in runs[1:]) for runs in (converted, copied)]

    start, _ = usage(LEAST)
    print(f"start {start:.2f} s of CPU time", flush=True)
    within = True
    for megabytes in arguments.sizes:
        cpu, copied = usage(megabytes)
        times = (cpu - start) / copied
        within &= times <= MOST_TIMES_CP
        print(f"{megabytes:5} MB: {cpu - start:6.3f} s beyond the start, cp {copied:6.3f} s, {times:5.2f} times   limit "
              f"{MOST_TIMES_CP} {'ok' if times <= MOST_TIMES_CP else 'OVER'}", flush=True)
    out.unlink()
    if arguments.check and not within:
        sys.exit(1)


if __name__ == "__main__":
    main()
