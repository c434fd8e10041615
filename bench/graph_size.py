#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how the CPU time of a conversion grows with the number of a graph's nodes: chains, chains with branches, joins of
many tensors and many results of 1,000 to 100,000 nodes, and layers with weights of 1,000 to 16,000 nodes. Prints the exponent of the growth, which is the slope of a line through the
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
sys.path.insert(0, str(ROOT / "scripts/checks"))
import hostile_models  # noqa: E402
from hostile_models import forward  # noqa: E402

SIZES = [1000, 5000, 25000, 100000]
SIZES_OF_TRACES = [1000, 2000, 4000, 8000, 16000]
MOST_EXPONENT = 1.2


# Code as PyTorch saves it, as tracing takes minutes. Constants are numbers: PyTorch itself takes time that grows as the square
# of a function's different constant tensors when it reads a file.

def chain(nodes: int) -> str:
    lines = [f"x{i + 1} = {('torch.relu({})', 'torch.mul({}, 1.5)', 'torch.sigmoid({})')[i % 3].format(f'x{i}')}"
             for i in range(nodes)]
    return forward("\n".join(["x0 = torch.tanh(x)", *lines]), f"x{nodes}")


def branches(nodes: int) -> str:
    lines = [f"l{i} = torch.relu(x{i})\nr{i} = torch.sigmoid(x{i})\nx{i + 1} = torch.tanh(torch.add(l{i}, r{i}))"
             for i in range(nodes // 4)]
    return forward("\n".join(["x0 = torch.tanh(x)", *lines]), f"x{nodes // 4}")


def parts(nodes: int) -> List[str]:
    return [f"x{i} = torch.mul(x, {i}.5)" for i in range(nodes)]


def join(nodes: int) -> str:
    names = ", ".join(f"x{i}" for i in range(nodes))
    return forward("\n".join([*parts(nodes), f"y = torch.cat([{names}])"]), "y")


def results(nodes: int) -> str:
    names = ", ".join(f"x{i}" for i in range(nodes))
    return forward("\n".join(parts(nodes)), f"({names})", returns=f"Tuple[{', '.join(['Tensor'] * nodes)}]")


def weights(nodes: int) -> Callable:
    # PyTorch finds a submodule by a search through all of its parent's, so that a parent with thousands of them is slow.
    blocks = []
    for _ in range(nodes // 100):
        layers = [torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()) for _ in range(25)]
        blocks.append(torch.nn.Sequential(*layers))
    return torch.nn.Sequential(*blocks).eval()


CODE: Dict[str, Callable[[int], str]] = {"chain": chain, "branches": branches, "join": join, "results": results}


def make(shape: str, nodes: int, folder: pathlib.Path) -> pathlib.Path:
    path = folder / f"graph_{shape}_{nodes}.pt"
    if not path.exists():
        if shape in CODE:
            hostile_models.write(hostile_models.Hostile(shape, CODE[shape](nodes), []), path)
        else:
            with torch.no_grad():
                torch.jit.trace(weights(nodes), torch.rand(1, 8), check_trace=False).save(str(path))
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
    for shape in (*CODE, "weights"):
        seconds = []
        sizes = SIZES if shape in CODE else SIZES_OF_TRACES
        for nodes in sizes:
            model = make(shape, nodes, arguments.work)
            command = [arguments.binary, str(model), "--nchw", "--input", "1,8", "--quiet",
                       "-o", str(arguments.work / "graph_size.out.pt")]
            seconds.append(min(run(command, log).cpu for _ in range(arguments.runs)) - start)
            print(f"{shape:9} {nodes:6} nodes: {seconds[-1]:6.2f} s of CPU time beyond LibTorch's start", flush=True)
        exponent = slope(sizes, seconds)
        within &= exponent <= MOST_EXPONENT
        print(f"{shape:9} exponent {exponent:.2f}   limit {MOST_EXPONENT} {'ok' if exponent <= MOST_EXPONENT else 'OVER'}")
    (arguments.work / "graph_size.out.pt").unlink()
    if arguments.check and not within:
        sys.exit(1)


if __name__ == "__main__":
    main()
