# SPDX-License-Identifier: BSD-3-Clause
"""Tensors without elements, and tensors that NNAPI can't address, never reach a file."""

import unittest

import torch
from torch import nn

from scripted_model import ScriptedModelTest


class Accumulator(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = torch.zeros([0, 4])
        for i in range(3):
            rows = torch.cat([rows, x * (i + 1.0)])
        return rows


class AccumulatorInParts(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = torch.cat([torch.zeros([0, 4]), torch.relu(x @ x)])
        rest = torch.nextafter(rows, torch.zeros(1)) @ x
        return torch.cat([rest, torch.zeros([0]), x])


class EmptySlicesInParts(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x[:0], torch.nextafter(torch.relu(x @ x), torch.zeros(1)) @ x, x])


class EmptyResult(nn.Module):
    def forward(self, x: torch.Tensor):
        first, rest = torch.split(x, [0, 4], 1)
        return torch.relu(x @ x), x[:, :0] + 1.0, first, rest


class EmptyStatistics(nn.Module):
    """In evaluation mode a batch norm's two statistics are empty."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.register_buffer("mean", torch.randn(4))
        self.register_buffer("var", torch.rand(4) + 0.5)

    def forward(self, x: torch.Tensor):
        return torch.native_batch_norm(x @ x, None, None, self.mean, self.var, False, 0.1, 1e-5)


class EmptySlice(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[0:0, :]


class EmptySliceOfConvolution(nn.Module):
    """The addition reads a tensor without elements, and so nothing of it is worth a segment."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv1d(4, 8, 1)

    def forward(self, x: torch.Tensor):
        y = self.conv(x)
        return y, y[2:2] + 1.0, torch.split(y, [0, 8], 0)[0]


class EmptyTensorsTest(ScriptedModelTest):
    models = {model.__name__: model for model in (Accumulator, AccumulatorInParts, EmptySlicesInParts, EmptyResult,
                                                  EmptyStatistics, EmptySlice, EmptySliceOfConvolution)}

    def test_what_is_written_runs(self):
        for name in self.models.keys() - {"EmptySlice"}:
            with self.subTest(name):
                self.save(name)
                self.succeed(self.path, "-o", self.out, "--input", "4,4", "--min-segment-macs", "0", "--verify")

    def test_empty_statistics_convert(self):
        self.save("EmptyStatistics")
        self.succeed(self.path, "-o", self.out, "--input", "4,4", "--fallback", "none", "--verify")

    def test_reasons_name_the_empty_tensor(self):
        self.save("EmptySlice")
        error = self.fail_with(1, self.path, "-o", self.out, "--input", "4,4", "--min-segment-macs", "0",
                               needed=["aten::slice: its result has no elements: float32[0, 4]"])
        self.assertNotIn("known only when the model runs", error.stderr)
        self.save("EmptySliceOfConvolution")
        warnings = self.succeed(self.path, "-o", self.out, "--input", "4,4", "--min-segment-macs", "0",
                                "--verify").stderr
        for reason in ("aten::slice: its result has no elements: float32[0, 4]",
                       "aten::add: its input has no elements: float32[0, 4]"):
            self.assertIn(reason, warnings)
        self.assertNotIn("known only when the model runs", warnings)

    def test_too_large_inputs(self):
        self.save("Accumulator")
        for sizes in ("1,3,2000000000,2000000000", "1,3,20000,20000"):
            for options in ([], ["--fallback", "none"], ["--runtime", "shim"]):
                self.fail_with(1, self.path, "-o", self.out, "--input", sizes, *options,
                               needed=["has more than 4294967295 bytes, the most that NNAPI can address"])
                self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
