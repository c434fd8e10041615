# SPDX-License-Identifier: BSD-3-Clause
"""`verify` tries numbers at the borders of the inputs' dtypes, and never says plainly that a model passed which is wrong
there."""

import json
import unittest

import torch
from torch import nn

from cli import CliTest, run



class Grid(nn.Module):
    def forward(self, x, places):
        return nn.functional.grid_sample(x, places, align_corners=False)


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, groups=8),
                                    nn.Hardswish(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))

    def forward(self, x):
        return torch.softmax(self.layers(x), 1)


class Points(nn.Module):
    """Orders points by scores that saturate."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.scores, self.places = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(3, 2, 3, padding=1)

    def forward(self, x):
        scores, order = torch.sigmoid(self.scores(x)).flatten(1).topk(10)
        places = self.places(x).flatten(2)[0].t()
        return scores, places[(order % 64)[0]]


class Words(nn.Module):
    """Indices of rows of a table."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.table, self.layer = nn.Embedding(20, 6), nn.Linear(6, 4)

    def forward(self, x):
        return self.layer(self.table(x)).sum(1)


class Borders(CliTest):
    def save(self, function, sample, name="model.pt"):
        path = self.folder / name
        module = function if isinstance(function, nn.Module) else Function(function)
        torch.jit.trace(module.eval(), sample).save(str(path))
        return path

    def verify_other(self, function, other, sample, spec):
        """Verifies the conversion of `other` against `function`, which differs only at borders; returns the output."""
        out = self.convert(self.save(other, sample, "other.pt"), "--nchw", "--input", spec)
        return run("verify", self.save(function, sample), out)

    def assert_failed(self, result, name):
        self.assertEqual(4, result.code, str(result))
        self.assertIn("FAILED", result.stdout)
        self.assertRegex(result.stdout, rf"\nsample \d+ \({name}\): ")

    def test_wide_integers_are_told(self):
        sample = torch.tensor([[1, 2, 3]])
        path = self.save(lambda t: torch.cat([t, t]).view(2, -1), sample)
        result = self.succeed("verify", path, self.convert(path, "--input", "1,3:int64"))
        self.assertIn("warning: sample 7 (whole numbers beyond 32 bits): output 0: ", result.stdout)
        self.assertIn("passed but for the border values above (4 samples", result.stdout)

    def test_large_integers_fail(self):
        for dtype, spec in ((torch.int64, "2,6:int64"), (torch.int32, "2,6:int32")):
            sample = torch.arange(12, dtype=dtype).reshape(2, 6)
            result = self.verify_other(lambda t: t.flip(1), lambda t: t.float().flip(1).to(t.dtype), sample, spec)
            self.assert_failed(result, r"whole numbers near 2\^24")

    def test_saturated_integers_fail(self):
        sample = torch.arange(12, dtype=torch.int32).reshape(2, 6)
        result = self.verify_other(lambda t: t.flip(1), lambda t: t.clamp(max=2**30).flip(1), sample, "2,6:int32")
        self.assert_failed(result, r"whole numbers near 2\^31")

    def test_floats(self):
        sample = torch.rand(2, 6)
        result = self.verify_other(lambda t: t * 2, lambda t: t.clamp(-50, 50) * 2, sample, "2,6")
        self.assert_failed(result, "floats from 1e-8 to 1e4, and both zeros")

    def test_indices_of_nan_are_told(self):
        """Places that are NaN become other numbers on NNAPI, or an index that it refuses."""
        path = self.folder / "grid.pt"
        torch.jit.trace(Grid(), (torch.rand(1, 3, 4, 5, 6), torch.rand(1, 2, 2, 2, 3))).save(str(path))
        out = self.convert(path, "--input", "1,3,4,5,6", "--input", "1,2,2,2,3")
        result = self.succeed("verify", path, out)
        self.assertRegex(result.stdout, r"\nwarning: sample \d+ \(infinite floats and NaN\): output 0: ")

    def test_numbers_of_rank_0(self):
        sample = torch.arange(6, dtype=torch.int32)
        result = self.verify_other(lambda t: t.max(), lambda t: t.clamp(max=2**30).max(), sample, "6:int32")
        self.assert_failed(result, r"whole numbers near 2\^31")

    def test_infinite_values(self):
        sample = torch.rand(2, 6)
        result = self.verify_other(lambda t: t * 2, lambda t: t.clamp(-1e5, 1e5) * 2, sample, "2,6")
        self.assertEqual(0, result.code, str(result))
        self.assertIn("(infinite floats and NaN)", result.stdout)
        self.assertIn("passed but for", result.stdout)

    def test_ordinary_networks_pass(self):
        for module, sample, spec in ((Classifier(), torch.rand(1, 3, 17, 17), "1,3,17,17"),
                                     (Words(), torch.tensor([[3, 4, 5]]), "1,3:int64")):
            path = self.save(module, sample)
            result = self.succeed(path, "--nhwc", "--input", spec, "--verify", "-o", self.folder / "out.pt")
            self.assertRegex(result.stdout, r"\npassed \(4 samples; needed: [^\n]+\)\n")

    def test_order_of_saturated_numbers_is_told(self):
        path = self.save(Points(), torch.rand(1, 3, 8, 8))
        result = self.succeed(path, "--nhwc", "--input", "1,3,8,8", "--verify", "-o", self.folder / "out.pt")
        self.assertIn("warning: sample 5 (floats from 1e-8 to 1e4, and both zeros): output 1: ", result.stdout)
        self.assertIn("passed but for the border values above", result.stdout)

    def test_fake_quantised_values_are_finite(self):
        """PyTorch's kernel gives the least integer for an infinite number, as the processor's cast does."""
        path = self.save(lambda t: torch.fake_quantize_per_tensor_affine(t, 0.1, 3, 0, 255), torch.rand(3, 4))
        result = self.succeed(path, "--input", "3,4", "--verify", "-o", self.folder / "out.pt")
        self.assertNotIn("infinite", result.stdout)

    def test_report(self):
        path = self.save(lambda t: t.flip(1), torch.tensor([[1, 2, 3]]))
        report = self.folder / "report.json"
        self.succeed(path, "--input", "1,3:int64", "--verify", "--report", report, "-o", self.folder / "out.pt")
        verification = json.loads(report.read_text())["verification"]
        self.assertEqual(3, verification["border_samples"])
        self.assertEqual([False], [finding["is_fault"] for finding in verification["borders"]])

    def test_quotients_that_exist(self):
        """The least number of all divided by -1 ends PyTorch's process."""
        path = self.save(lambda i: (torch.floor_divide(i, -1), i.float() * 2), torch.ones(4, 4, dtype=torch.int32))
        self.succeed(path, "--input", "4,4:int32", "--min-segment-macs", "0", "--verify", "-o", self.folder / "out.pt")

    def test_own_inputs_have_no_borders(self):
        path, samples = self.save(lambda t: t.flip(1), torch.tensor([[1, 2, 3]])), self.folder / "samples.pt"
        torch.save((torch.tensor([[1, 2, 3]]),), samples)
        result = self.succeed("verify", path, self.convert(path, "--input", "1,3:int64"), "--inputs", samples)
        self.assertIn("\npassed (1 sample;", result.stdout)


if __name__ == "__main__":
    unittest.main()
