# SPDX-License-Identifier: BSD-3-Clause
"""Results of `verify` for infinite values, NaN and other dtypes: files of one model against another model."""

import math
import unittest
from typing import List

import torch
from torch import nn
from torch.utils import bundled_inputs

from cli import CliTest, run
from stock_torch import load

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


class Pixels(nn.Module):
    """Classes of pixels, the first of which is preferred."""

    def __init__(self, preference):
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 4, 3)
        self.preference = preference

    def forward(self, x):
        return self.conv(x) + torch.tensor([self.preference, 0.0, 0.0, 0.0]).view(4, 1, 1)


class Classes(nn.Module):
    """The class of each pixel, of many that are near each other."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 64, 3)

    def forward(self, x):
        return self.conv(x).argmax(1)


class Words(nn.Module):
    """Functions of PyTorch, which scripts call, read the indices."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.bag = nn.EmbeddingBag(20, 8, mode="mean")
        self.table = nn.Embedding(5, 8)

    def forward(self, words, kinds):
        return self.bag(words) * self.table(kinds)


class Scaled(nn.Module):
    """Takes two numbers, whose values are given with a call."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x, times: int, scale: float):
        y = self.conv(x)
        for _ in range(times):
            y = y * scale
        return y


class Lengths(nn.Module):
    """Raises an error for lengths that are not those of x."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(8, 8)

    def forward(self, x, lengths):
        mask = torch.arange(int(lengths.max())).view(1, x.size(1), 1) < lengths.view(-1, 1, 1)
        return self.linear(x) * mask


class Choices(CliTest):
    def test_rounding_may_choose_others(self):
        """Numbers of classes are no magnitudes: with rounded weights, most have to be the same."""
        model, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.trace(Classes().eval(), torch.rand(1, 3, 32, 32)).save(str(model))
        size = ("--input", "1,3,32,32", "--nhwc")
        result = self.succeed(model, *size, "--fp16-weights", "--verify", "-o", out)
        self.assertRegex(result.stdout, r"int64 +[1-9].*\n.*or 50% of integers the same")
        self.succeed(model, *size, "--relax-fp16", "-o", out)
        self.succeed("verify", model, out)
        self.succeed("verify", model, out, "--fp16")
        self.assertEqual(4, run("verify", model, out, "--fp16", "--tolerance", "0.01").code)


class GivenValues(CliTest):
    """--input of verify: sizes of tensors and values of numbers."""

    def convert(self, *options):
        model, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.script(Scaled().eval()).save(str(model))
        self.succeed(model, "--input", "x=?,3,9,16", "--nhwc", "--min-segment-macs", "0", *options, "-o", out)
        return "verify", model, out

    def test_values_are_given(self):
        command = self.convert()
        self.fail_with(2, *command, needed=["input times is int and has no default", "--input times=VALUE"])
        result = self.succeed(*command, "--input", "times=2", "--input", "scale=1.5", "--input", "x=2,3,9,16")
        self.assertIn("[2, 8, 7, 14]", result.stdout)

    def test_what_fits_no_argument_is_refused(self):
        command = self.convert("--input", "scale=0.5")
        refused = {"heigth=3": "no argument heigth", "times=1.5": "is not a whole number", "x=3,9,16": "x takes ?,3,9,16",
                   "x=1,3,9,17": "x takes ?,3,9,16", "scale=2.5": "converted for another value of scale"}
        for spec, problem in refused.items():
            with self.subTest(spec=spec):
                self.fail_with(2, *command, "--input", spec, needed=[f"--input {spec.split('=')[0]}", problem])
        self.fail_with(2, *command, "--input", "1,3,9,16", "--input", "4", needed=["takes 1 tensor"])
        self.succeed(*command, "--input", "1,3,9,16", "--input", "times=1", "--input", "scale=0.5")


class RandomIndices(CliTest):
    def test_integers_of_bundled_inputs(self):
        path = self.folder / "lengths.pt"
        script = torch.jit.script(Lengths().eval())
        bundled_inputs.augment_model_with_bundled_inputs(script, [(torch.zeros(2, 6, 8), torch.tensor([6, 4]))])
        script.save(str(path))
        self.succeed(path, "-o", self.folder / "out.pt", "--verify", "--min-segment-macs", "0")

    def test_in_functions(self):
        path = self.folder / "words.pt"
        torch.jit.script(Words().eval()).save(str(path))
        out = self.folder / "out.pt"
        self.succeed(path, "--input", "64,6:int64", "--input", "64:int64", "--feature-level", "4", "-o", out,
                     "--verify")


class Changing(nn.Module):
    """Overwrites its second input, as a cache."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(16, 16)

    def forward(self, x, cache):
        y = self.linear(x) + cache
        cache.copy_(y)
        return y * 2


class Frames(nn.Module):
    """Keeps a list of tensors that are views of one memory."""

    frames: List[torch.Tensor]

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(8, 4)
        self.frames = list(torch.randn(6, 8).unbind(0))

    def forward(self, x):
        self.frames.append(x)
        self.frames = self.frames[1:]
        return self.linear(x) + torch.stack(self.frames).sum()


class StateOfViews(CliTest):
    def test_float_stand_in_has_the_same_state(self):
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        quantised = torch.quantization.quantize_dynamic(Frames().eval(), {nn.Linear}, dtype=torch.qint8)
        torch.jit.script(quantised).save(str(path))
        self.succeed(path, "--input", "8", "--min-segment-macs", "0", "-o", out)
        result = self.succeed("verify", path, out)
        self.assertIn("compared with the float model that the original stands for", result.stdout)
        self.assertRegex(result.stdout, r"\npassed \(4 samples")


class Numbers(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, y):
        return self.function(x, y)


class Infinite(CliTest):
    """The host's NNAPI gives the largest float32 where arithmetic would give an infinite number, as Android's does."""

    X = torch.tensor([1.0, -1.0, 0.0, 2.0, 3.0, math.inf, math.nan, -math.nan])
    Y = torch.tensor([0.0, 0.0, 0.0, 1.0, 4.0, 2.0, 1.0, 1.0])

    def converted(self, function, *options):
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.trace(Numbers(function).eval(), (torch.rand(8), torch.rand(8))).save(str(path))
        result = self.succeed(path, "--input", "8", "--input", "8", *options, "-o", out)
        return path, out, result.stderr

    def test_quotients_are_finite(self):
        _, out, _ = self.converted(lambda x, y: x / y)
        found = load(out)(self.X, self.Y)
        largest = torch.finfo(torch.float32).max
        self.assertEqual([largest, -largest, largest], [found[i].item() for i in (0, 1, 5)])
        self.assertTrue(found[2].isnan())
        path, out, _ = self.converted(lambda x, y: x + y)
        result = self.succeed("verify", path, out)
        self.assertIn("(infinite floats and NaN): output 0: another value where the original gives an infinite one or NaN",
                      result.stdout)

    def test_tests_of_finiteness_survive(self):
        functions = (lambda x, y: torch.isinf(x / y), lambda x, y: torch.isfinite(x / y),
                     lambda x, y: torch.isposinf(x / y), lambda x, y: torch.isneginf(x / y),
                     lambda x, y: (x / y) == math.inf, lambda x, y: (x / y) != math.inf, lambda x, y: (x / y) < math.inf,
                     lambda x, y: (x / y) <= -math.inf, lambda x, y: (x / y) > -math.inf,
                     lambda x, y: torch.isinf(torch.stack([x / y, y]).permute(1, 0)),
                     lambda x, y: torch.nan_to_num(x / y, 1.0, 2.0, 3.0), lambda x, y: torch.isinf(x),
                     lambda x, y: torch.isnan(x / y), lambda x, y: torch.trunc(x))
        for number, function in enumerate(functions):
            with self.subTest(number=number):
                _, out, _ = self.converted(function)
                expected, found = function(self.X, self.Y), load(out)(self.X, self.Y)
                self.assertTrue(torch.allclose(expected.double(), found.double(), equal_nan=True), f"{found} for {expected}")

    def test_infinite_results(self):
        _, out, _ = self.converted(lambda x, y: (torch.atanh(x), torch.logit(y)))
        x = torch.tensor([1.0, -1.0, 0.0, 0.5, 0.99, -0.3, math.nan, 0.1])
        y = torch.tensor([1.0, 0.0, 0.5, 0.9, 0.01, 0.3, math.nan, 0.6])
        for expected, found in zip((torch.atanh(x), torch.logit(y)), load(out)(x, y)):
            self.assertTrue(torch.allclose(expected, found, atol=1e-6, equal_nan=True), f"{found} for {expected}")

    def test_what_is_not_seen_is_told(self):
        self.assertIn("NaN that arithmetic makes of infinite numbers", self.converted(lambda x, y: (x / y).isnan())[2])
        self.assertNotIn("NaN that", self.converted(lambda x, y: (x.isnan(), y))[2])
        for function in (lambda x, y: (x.signbit(), y), lambda x, y: torch.copysign(torch.roll(x, 3, 0), y)):
            path, out, text = self.converted(function)
            self.assertIn("NaN counts as positive: NNAPI doesn't show its sign", text)
            result = self.succeed("verify", path, out)
            self.assertIn("passed but for the border values above", result.stdout)


class Divided(nn.Module):
    """Means over as many numbers as the caller says."""

    def forward(self, x, lengths):
        return x.sigmoid() / lengths.unsqueeze(1)


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

    def test_inputs_that_the_model_changes(self):
        """Both models get the same values."""
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.script(Changing().eval()).save(str(path))
        result = self.succeed(path, "--input", "4,16", "--input", "4,16", "-o", out, "--verify")
        self.assertIn("changes the caller's input in place", result.stderr)

    def test_divisors(self):
        """Made-up integers are positive where zeros and flags give infinite numbers."""
        x, lengths = torch.rand(8, 16), torch.arange(1, 9)
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.trace(Divided().eval(), (x, lengths)).save(str(path))
        result = self.succeed(path, "--input", "8,16", "--input", "8:int64", "-o", out, "--min-segment-macs", "0", "--verify")
        self.assertIn("passed", result.stdout)

    def test_other_dtype(self):
        out = self.convert(self.save("model", 0.5))
        self.fail_with(4, "verify", self.save("double", 0.5, 0, torch.float64), out,
                       needed=["output 0: dtype float32 found, float64 needed"])

    def test_classes_of_pictures_are_their_channels(self):
        """Two models whose pixels have other classes in some places. Along a row, the same pixel is the greatest."""
        pictures = [torch.rand(1, 3, 16, 16) for _ in range(3)]
        inputs = self.folder / "inputs.pt"
        torch.save([(picture,) for picture in pictures], inputs)
        one, other = Pixels(0), Pixels(0.2)
        paths = [self.folder / "one.pt", self.folder / "other.pt"]
        for model, path in zip((one, other), paths):
            torch.jit.trace(model.eval(), pictures[0]).save(str(path))
        text = run("verify", paths[1], self.convert(paths[0]), "--inputs", inputs).stdout
        with torch.no_grad():
            same = torch.stack([one(picture).argmax(1) == other(picture).argmax(1) for picture in pictures])
        (row,) = [line for line in text.splitlines() if line.startswith("0 ")]
        self.assertLess(same.float().mean().item(), 0.99)
        self.assertIn(f"{100 * same.float().mean().item():.1f}%", row)

    def test_tolerances_that_are_no_numbers(self):
        out, path = self.convert(self.save("model", 0.5)), self.folder / "model.pt"
        for text, found in (("", "an empty text"), ("-1", "-1"), ("nan", "nan")):
            self.fail_with(2, "verify", path, out, "--tolerance", text,
                           needed=[f"--tolerance: {found} found, a number of 0 or more needed"])


if __name__ == "__main__":
    unittest.main()
