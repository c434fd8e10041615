"""Results of `verify` for infinite values, NaN and other dtypes: files of one model against another model."""

import math
import unittest

import torch
from torch import nn

from cli import CliTest, run

INPUT = ["--input", "1,3,16,16"]


class Scores(nn.Module):
    """Scores with some values that are the same in all of them."""

    def __init__(self, value, column=0, dtype=torch.float32):
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 8, 3)
        self.value, self.column, self.dtype = value, column, dtype

    def forward(self, x):
        y = self.conv(x)
        mask = torch.arange(14) == self.column
        return y.masked_fill(mask, self.value).to(self.dtype)


class VerifyValues(CliTest):
    def save(self, name, *arguments):
        path = self.folder / f"{name}.pt"
        torch.jit.trace(Scores(*arguments).eval(), torch.rand(1, 3, 16, 16)).save(str(path))
        return path

    def convert(self, path):
        out = self.folder / "out.pt"
        self.succeed(path, *INPUT, "--nhwc", "-o", out)
        return out

    def assert_differ(self, path, out):
        result = run("verify", path, out)
        self.assertEqual(4, result.code)
        self.assertIn("FAILED", result.stdout)

    def test_same_places(self):
        for value in (-math.inf, math.inf, math.nan):
            with self.subTest(value=value):
                path = self.save("model", value)
                result = self.succeed("verify", path, self.convert(path))
                self.assertNotIn("warning", result.stdout)

    def test_other_places(self):
        for value in (-math.inf, math.nan):
            with self.subTest(value=value):
                out = self.convert(self.save("other", value, 1))
                self.assert_differ(self.save("model", value, 0), out)

    def test_finite_instead(self):
        out = self.convert(self.save("other", 0.5))
        self.assert_differ(self.save("model", -math.inf), out)

    def test_other_dtype(self):
        out = self.convert(self.save("model", 0.5))
        self.fail_with(4, "verify", self.save("double", 0.5, 0, torch.float64), out,
                       needed=["output 0: dtype float32 found, float64 needed"])


if __name__ == "__main__":
    unittest.main()
