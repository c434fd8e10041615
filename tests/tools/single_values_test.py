# SPDX-License-Identifier: BSD-3-Clause
"""Tensors of rank 0: Python's numbers in traces, which archives keep as such tensors, and single values between CPU and
NNAPI."""

import unittest

import torch

from cli import CliTest
from single_value_models import Coordinates, Grid, Loss, Mixed, Rows, Stacked
from stock_torch import StockTorchTest, call, images, load, load_lite

SHAPE = (1, 3, 32, 32)


class SingleValues(CliTest, StockTorchTest):
    models = {model.__name__: model for model in (Grid, Loss, Mixed, Stacked, Coordinates, Rows)}

    def convert(self, name, shape, *arguments, suffix="pt"):
        module = self.models[name]().eval()
        samples = [[images(*shape, seed=seed)] for seed in range(3)]
        path, out = self.folder / "model.pt", self.folder / f"out.{suffix}"
        torch.jit.trace(module, *samples[0]).save(str(path))
        self.succeed(path, "--input", ",".join(map(str, shape)), *arguments, "-o", out)
        return module, out, samples

    def test_agree_with_python(self):
        for name in ("Grid", "Loss", "Mixed", "Stacked"):
            for layout in ("--nhwc", "--nchw"):
                with self.subTest(name=name, layout=layout):
                    module, out, samples = self.convert(name, SHAPE, layout)
                    self.assert_agree(module, load(out), samples)

    def test_are_whole(self):
        """Without float64, nothing is left for the CPU."""
        for name in ("Grid", "Loss", "Coordinates"):
            with self.subTest(name=name):
                module, out, samples = self.convert(name, SHAPE, "--nhwc", "--feature-level", "4", "--fallback", "none")
                self.assert_agree(module, load(out), samples)

    def test_lite_interpreter(self):
        """It would make float64 of the trace itself."""
        for name in ("Grid", "Mixed"):
            with self.subTest(name=name):
                module, out, samples = self.convert(name, SHAPE, "--nhwc", suffix="ptl")
                lite = load_lite(out)
                for inputs in samples:
                    self.assert_close(call(module, *inputs), call(lite, *inputs))

    def test_every_level(self):
        for level in ("1", "2", "3"):
            with self.subTest(level=level):
                module, out, samples = self.convert("Rows", (2, 2), "--nchw", "--feature-level", level,
                                                    "--min-segment-macs", "0")
                self.assert_agree(module, load(out), samples)


if __name__ == "__main__":
    unittest.main()
