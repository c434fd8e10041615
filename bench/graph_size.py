#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how the CPU time of a conversion grows with the number of a graph's nodes: chains, chains with branches, and
layers with weights, of 1,000 to 16,000 nodes. Prints the exponent of the growth, which is the slope of a line through the
logarithms of size and time; the time of the smallest graph's process that is not its conversion, LibTorch's start, is left
out. Needs the release build and Debian's PyTorch, no network."""

import argparse
import math
import pathlib
import statistics
import sys
from typing import Callable, Dict, List

import torch

from bench import run

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = [1000, 2000, 4000, 8000, 16000]
MOST_EXPONENT = 1.1


def chain(nodes: int) -> Callable:
    def forward(x: torch.Tensor) -> torch.Tensor:
        for i in range(nodes // 2):
            x = torch.relu(x) if i % 2 else torch.sigmoid(x)
            x = x * 1.5
        return x
    return forward


def branches(nodes: int) -> Callable:
    def forward(x: torch.Tensor) -> torch.Tensor:
        for _ in range(nodes // 4):
            left = torch.relu(x)
            right = torch.sigmoid(x)
            x = torch.tanh(left + right)
        return x
    return forward


def weights(nodes: int) -> Callable:
    # PyTorch finds a submodule by a search through all of its parent's, so that a parent with thousands of them is slow.
    blocks = []
    for _ in range(nodes // 100):
        layers = [torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()) for _ in range(25)]
        blocks.append(torch.nn.Sequential(*layers))
    return torch.nn.Sequential(*blocks).eval()


SHAPES: Dict[str, Callable[[int], Callable]] = {"chain": chain, "branches": branches, "weights": weights}


def make(shape: str, nodes: int, folder: pathlib.Path) -> pathlib.Path:
    path = folder / f"graph_{shape}_{nodes}.pt"
    if not path.exists():
        with torch.no_grad():
            torch.jit.trace(SHAPES[shape](nodes), torch.rand(1, 8), check_trace=False).save(str(path))
    return path


def slope(sizes: List[int], seconds: List[float]) -> float:
    x, y = [math.log(size) for size in sizes], [math.log(each) for each in seconds]
    mean_x, mean_y = statistics.mean(x), statistics.mean(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(ROOT / "build" / "release" / "bin" / "nnapi-convert"))
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "bench", help="models and outputs")
    parser.add_argument("--runs", type=int, default=3, help="measured runs of each size; the fastest counts (default 3)")
    parser.add_argument("--check", action="store_true", help="exit 1 when an exponent is above the limit")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    log = arguments.work / "graph_size.log"
    start = min(run([arguments.binary, "ops"], log).cpu for _ in range(arguments.runs))
    within = True
    for shape in SHAPES:
        seconds = []
        for nodes in SIZES:
            model = make(shape, nodes, arguments.work)
            command = [arguments.binary, str(model), "--nchw", "--input", "1,8", "--quiet",
                       "-o", str(arguments.work / "graph_size.out.pt")]
            seconds.append(min(run(command, log).cpu for _ in range(arguments.runs)) - start)
            print(f"{shape:9} {nodes:6} nodes: {seconds[-1]:6.2f} s of CPU time beyond LibTorch's start", flush=True)
        exponent = slope(SIZES, seconds)
        within &= exponent <= MOST_EXPONENT
        print(f"{shape:9} exponent {exponent:.2f}   limit {MOST_EXPONENT} {'ok' if exponent <= MOST_EXPONENT else 'OVER'}")
    (arguments.work / "graph_size.out.pt").unlink()
    if arguments.check and not within:
        sys.exit(1)


if __name__ == "__main__":
    main()
