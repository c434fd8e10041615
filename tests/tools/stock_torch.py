# SPDX-License-Identifier: BSD-3-Clause
"""Runs converted files through stock PyTorch, apart from the program's own `verify`: LD_LIBRARY_PATH must lead to the
host's libneuralnetworks.so, which PyTorch's NNAPI loader opens by that name."""

import unittest
import warnings
from typing import List, Sequence

import torch
from torch.jit.mobile import _load_for_lite_interpreter

torch.backends.quantized.engine = "qnnpack"
torch.set_num_threads(1)
warnings.filterwarnings("ignore", module="torch")

FLOAT_TOLERANCE = 1e-4  # of the range of the expected values


def load(path) -> torch.jit.ScriptModule:
    return torch.jit.load(str(path)).eval()


def load_lite(path):
    return _load_for_lite_interpreter(str(path))


def call(module, *inputs: torch.Tensor):
    with torch.no_grad():
        return module(*[tensor.clone() for tensor in inputs])


def tensors(value) -> List[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for part in value for tensor in tensors(part)]


def structure(value):
    """Nested tuples and lists with shapes and dtypes in place of tensors."""
    if isinstance(value, torch.Tensor):
        return (tuple(value.shape), value.dtype)
    return type(value), [structure(part) for part in value]


def real(tensor: torch.Tensor) -> torch.Tensor:
    return (tensor.dequantize() if tensor.is_quantized else tensor).double()


def images(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class StockTorchTest(unittest.TestCase):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)  # weights are the same in each run

    def assert_close(self, expected, found, tolerance: float = FLOAT_TOLERANCE):
        """Same structure, and values within a share of the range of each expected tensor, which must not be flat."""
        self.assertEqual(structure(expected), structure(found))
        for one, other in zip(tensors(expected), tensors(found)):
            one, other = real(one), real(other)
            spread = (one.max() - one.min()).item()
            self.assertGreater(spread, 1e-3, "a flat output shows nothing")
            self.assertLessEqual((one - other).abs().max().item(), tolerance * spread)

    def assert_quanta(self, expected: torch.Tensor, found: torch.Tensor, scale: float, quanta: int):
        """Equal shapes and dtypes, values at most some steps apart, which must not be flat."""
        self.assertEqual(structure(expected), structure(found))
        steps = (real(expected) - real(found)).abs().max().item() / scale
        self.assertGreater(real(expected).std().item(), 2 * scale, "a flat output shows nothing")
        self.assertLessEqual(steps, quanta + 1e-3)

    def assert_agree(self, original, converted, samples: Sequence[Sequence[torch.Tensor]], tolerance=FLOAT_TOLERANCE):
        for inputs in samples:
            self.assert_close(call(original, *inputs), call(converted, *inputs), tolerance)
