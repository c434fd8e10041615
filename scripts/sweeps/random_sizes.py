#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random sizes, by a seed, for the networks of tests/tools/size_models.py and open_models.py with open sizes: converted
for PyTorch's loader and for the shim, each call is compared with PyTorch's own result.

    scripts/sweeps/random_sizes.py [--calls 10000] [--seed 1] [--network NAME] [--steps]

With --steps each network has a step that the CPU runs behind it: a sort, a selection by values, or a sum along an open size.

Prints a line for each network: calls that agree, and the first that doesn't. The exit code is 1 if
one is wrong, or raises where PyTorch doesn't. NNAPI_CONVERT names the program, LD_LIBRARY_PATH leads to the host's
NNAPI; the shim is beside that."""

import argparse
import pathlib
import random
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tools"))

import torch  # noqa: E402

import open_models  # noqa: E402
import size_models  # noqa: E402
from cli import run  # noqa: E402
from size_models import Network  # noqa: E402
from stock_torch import load, tensors  # noqa: E402

SHIM = ROOT / "build/release/lib/libnnapi_shim_torch.so"
RUNTIMES = {"pytorch": (), "shim": ("--runtime", "shim")}
TOLERANCE = 1e-4  # of the range


def of_open_model(network) -> Network:
    """Each mark becomes a letter of its own; sizes lie between those of its calls. Arguments of a text share one."""
    letters, inputs, sizes = iter("HWLM"), {}, {}
    for place, (name, spec) in enumerate(network.inputs.items()):
        words, _, dtype = spec.partition(":")
        found = []
        for axis, word in enumerate(words.split(",")):
            values = [call[place][axis] for call in network.calls]
            if word == "?" and place > 0:
                word = next(iter(sizes))
            elif word == "?":
                word = next(letters)
                sizes[word] = min(values), max(values)
            found.append(word)
        inputs[name] = ",".join(found) + (":" + dtype if dtype else "")
    return Network(network.make.__name__, network.make, inputs, sizes)


def networks():
    return [*size_models.NETWORKS, *map(of_open_model, open_models.NETWORKS)]


def spec_of(text: str) -> str:
    words, _, dtype = text.partition(":")
    marks = ["?" if word.isalpha() else word for word in words.split(",")]
    return ",".join(marks) + (":" + dtype if dtype else "")


def arguments(network: Network, sizes, generator):
    for text in network.inputs.values():
        words, _, dtype = text.partition(":")
        shape = [sizes[word] if word.isalpha() else int(word) for word in words.split(",")]
        if dtype == "int64":
            yield torch.randint(0, 2, shape, generator=generator)
        else:
            yield torch.randn(shape, generator=generator)


def difference(expected, found) -> str:
    if len(tensors(expected)) != len(tensors(found)):
        return f"{len(tensors(found))} results found, {len(tensors(expected))} needed"
    for number, (right, result) in enumerate(zip(tensors(expected), tensors(found))):
        if right.shape != result.shape or right.dtype != result.dtype:
            return f"result {number}: {list(result.shape)} found, {list(right.shape)} needed"
        if right.numel() == 0:
            continue
        span = max(float(right.max() - right.min()), 1e-3)
        error = float((right.double() - result.double()).abs().max())
        if not error <= TOLERANCE * span:
            return f"result {number}: {error / span:.2g} of the range off"
    return ""


def converted(network: Network, runtime: str, folder: pathlib.Path):
    """The original and the converted module."""
    torch.manual_seed(0)
    model = torch.jit.script(network.make().eval())
    path, out = folder / "model.pt", folder / "out.pt"
    model.save(str(path))
    given = [word for name, text in network.inputs.items() for word in ("--input", f"{name}={spec_of(text)}")]
    done = run(path, *given, "--nhwc", "--min-segment-macs", "0", *RUNTIMES[runtime], "-o", out)
    if done.code != 0:
        raise RuntimeError(done.stderr)
    return model, load(out)


def drawn(network: Network, generator: random.Random):
    sizes = {}
    for letter, (least, most) in network.sizes.items():
        step = network.steps.get(letter, 1)
        sizes[letter] = generator.randint(-(-least // step), most // step) * step
    return sizes


def problems_of(network: Network, runtime: str, calls: int, seed: int, folder: pathlib.Path):
    """What is wrong, and the number of sets of sizes that were tried."""
    model, module = converted(network, runtime, folder)
    generator, values = random.Random(f"{seed} {network.name}"), torch.Generator().manual_seed(seed)
    problems, tried = [], set()
    for _ in range(calls):
        sizes = drawn(network, generator)
        tried.add(tuple(sizes.values()))
        inputs = list(arguments(network, sizes, values))
        with torch.no_grad():
            expected = model(*[each.clone() for each in inputs])
            try:
                problem = difference(expected, module(*inputs))
            except RuntimeError as error:
                problem = str(error).strip().splitlines()[-1]
        if problem:
            problems.append(f"{sizes}: {problem}")
    return problems, len(tried)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=10000, help="of all networks and runtimes together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--network", help="this one alone")
    parser.add_argument("--steps", action="store_true", help="networks with a step on the CPU")
    options = parser.parse_args()
    torch.ops.load_library(str(SHIM))
    chosen = [each for each in (size_models.stepped() if options.steps else networks()) if options.network in (None, each.name)]
    calls = -(-options.calls // (len(chosen) * len(RUNTIMES)))
    wrong = total = 0
    with tempfile.TemporaryDirectory() as folder:
        for network in chosen:
            for runtime in RUNTIMES:
                problems, tried = problems_of(network, runtime, calls, options.seed, pathlib.Path(folder))
                total, wrong = total + calls, wrong + len(problems)
                print(f"{network.name:14} {runtime:8} {calls - len(problems)} of {calls} agree, {tried} sets of sizes"
                      + (f"; {problems[0]}" if problems else ""), flush=True)
    print(f"{len(chosen)} networks: {total - wrong} of {total} calls agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
