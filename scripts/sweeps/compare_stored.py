#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs converted files on stored inputs. Each line of stdin names a converted file and a file of (inputs, results) by
torch.save, with a tab between; the answer is one line of JSON with the largest difference from these results, in parts
of each one's range, or what went wrong. LD_LIBRARY_PATH has to lead to the host's libneuralnetworks.so."""

import json
import sys

import torch

torch.set_num_threads(1)


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if value is None:
        return []
    return [each for part in (value.values() if isinstance(value, dict) else value) for each in tensors(part)]


def distance(expected, found) -> float:
    if expected.shape != found.shape or expected.dtype != found.dtype:
        raise ValueError(f"{found.dtype} {list(found.shape)} found, {expected.dtype} {list(expected.shape)} needed")
    if not expected.is_floating_point():
        return 0.0 if torch.equal(expected, found) else float("inf")
    spread = (expected.max() - expected.min()).item() if expected.numel() > 1 else expected.abs().item()
    return (expected - found).abs().max().item() / spread


def compare(out: str, results: str) -> float:
    inputs, expected = torch.load(results)
    with torch.no_grad():
        found = tensors(torch.jit.load(out).eval()(*inputs))
    if len(found) != len(expected):
        raise ValueError(f"{len(found)} results found, {len(expected)} needed")
    return max(distance(one, other) for one, other in zip(expected, found))


def main() -> int:
    for line in sys.stdin:
        try:
            answer = {"error_of_range": compare(*line.rstrip("\n").split("\t"))}
        except Exception as error:
            answer = {"error": (str(error).strip().splitlines() or [type(error).__name__])[-1]}
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
