# SPDX-License-Identifier: BSD-3-Clause
"""Compositions of PyTorch that are one operation of NNAPI: on the CPU they stay PyTorch's operators."""

import unittest
import warnings

import torch
import torch.nn.functional as F
from torch import nn

from cli import CliTest
from stock_torch import StockTorchTest, images, load

SHAPE = (1, 3, 32, 32)
warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)


class ResponseNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3)

    def forward(self, x):
        return F.local_response_norm(torch.relu(self.conv(x)), 5)


class NormOfChosen(nn.Module):
    """How many rows there are depends on values."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3)

    def forward(self, x):
        y = self.conv(x).permute(2, 0, 1, 3)
        mean = y.mean((1, 2, 3))
        return F.lp_pool2d(y[mean > mean.mean()], 2.0, 2)


class Recognised(CliTest, StockTorchTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)

    def check(self, module, *arguments):
        samples = [[images(*SHAPE, seed=seed)] for seed in range(3)]
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.trace(module.eval(), samples[0]).save(str(path))
        self.succeed(path, "--input", "1,3,32,32", "--nhwc", *arguments, "--verify", "-o", out)
        converted = load(out)
        self.assertNotIn("nnapi_convert.", converted.code)
        self.assert_agree(module, converted, samples)

    def test_levels_without_it(self):
        for level in ("1", "2"):
            with self.subTest(level=level):
                self.check(ResponseNorm(), "--feature-level", level)

    def test_rows_that_depend_on_values(self):
        self.check(NormOfChosen())


if __name__ == "__main__":
    unittest.main()
