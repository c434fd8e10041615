# SPDX-License-Identifier: BSD-3-Clause
"""Integers come out as they are, or the converter says which may not."""

import unittest

import torch
from torch import nn

from cli import CliTest, run
from stock_torch import call, load

LARGE = torch.tensor([[1763812345, -(2**31), 2**24 + 1], [2**31 - 1, -(2**24) - 1, 3]])
WIDE = "int64 numbers have 32 bits on NNAPI"


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class IntegerTest(CliTest):
    def save(self, function, *samples):
        path = self.folder / "model.pt"
        torch.jit.trace(Function(function).eval(), samples).save(str(path))
        return path

    def specs(self, samples):
        names = {torch.int64: "int64", torch.int32: "int32", torch.float32: "float32"}
        return [part for sample in samples
                for part in ("--input", ",".join(map(str, sample.shape)) + ":" + names[sample.dtype])]

    def converted(self, function, *samples, options=()):
        """Returns the result and the messages."""
        path, out = self.save(function, *samples), self.folder / "out.pt"
        result = self.succeed(path, *self.specs(samples), *options, "-o", out)
        return load(out), result.stderr

    def assert_exact(self, function, *samples, options=()):
        converted, text = self.converted(function, *samples, options=options)
        expected, found = call(function, *samples), call(converted, *samples)
        self.assertEqual(expected.dtype, found.dtype)
        self.assertTrue(torch.equal(expected, found), f"{found} instead of {expected}")
        return text


class BesideConvolution(IntegerTest):
    """Functions of the results of a convolution, which NNAPI runs."""

    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.layer = nn.Conv2d(3, 4, 3).requires_grad_(False)
        self.picture = torch.randn(1, 3, 8, 8)


class BeyondDtypes(BesideConvolution):
    """Numbers that the tensor's dtype has not stay on the CPU, or are refused."""

    def test_they_stay_on_the_cpu(self):
        numbers = torch.tensor([[3, -7, 2**30]], dtype=torch.int32)
        for function in (lambda q: q >= 1e10, lambda q: q == 5000000000, lambda q: q.remainder(5000000000)):
            path = self.save(lambda x, q, function=function: (self.layer(x), function(q)), self.picture, numbers)
            self.check(path, "--input", "1,3,8,8", "--input", "1,3:int32", needed="with int32; needed: a number of int32")
        path = self.save(lambda x: (self.layer(x), self.layer(x) > 1e39), self.picture)
        self.check(path, "--input", "1,3,8,8", needed="the number 1e+39 with float32")

    def check(self, path, *specs, needed):
        result = self.succeed(path, *specs, "--nhwc", "--verify", "-o", self.folder / "out.pt")
        self.assertIn(needed, result.stderr)

    def test_refused(self):
        path = self.save(lambda q: q >= 1e10, torch.ones(2, 3, dtype=torch.int32))
        self.fail_with(1, path, "--input", "2,3:int32", "--fallback", "none", "-o", self.folder / "out.pt",
                       needed=["the number 10000000000", "a number of int32"])


def doubled(mask):
    return mask * 1 + mask * 1


class Neutral(nn.Module):
    """A mask times 1 is a number, though LibTorch's executor drops the product."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Conv2d(3, 4, 3)
        self.register_buffer("table", torch.arange(4.0))

    def forward(self, x):
        y = self.layer(x)
        mask = y > 0
        marks = mask * 1
        marks.masked_fill_(mask, 5)
        return (marks, marks * 2, mask + 0, doubled(mask), -(mask * 1), (self.table > 1) * 1, mask.sum() / 1, mask * 1.0,
                y * 1, y / 1, y - 0)


class NeutralArithmetic(CliTest):
    def test_dtypes(self):
        module, picture = Neutral().eval(), torch.randn(1, 3, 8, 8, generator=torch.Generator().manual_seed(0))
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.script(module).save(str(path))
        self.succeed(path, "--input", "1,3,8,8", "--nhwc", "--verify", "-o", out)
        for expected, found in zip(call(module, picture), call(load(out), picture)):
            self.assertEqual(expected.dtype, found.dtype)
            self.assertTrue(torch.allclose(expected.float(), found.float(), 1e-5, 1e-5), (expected, found))


class Bytes(BesideConvolution):
    def test_any_and_all_give_bytes(self):
        numbers = torch.arange(4, dtype=torch.uint8)
        self.check(lambda x, u: (self.layer(x), u.any(0).float() + self.layer(x), u.all(), (u > 1).byte().any(-1) + u.any(0)),
                   numbers)

    def test_a_bool_of_rank_0(self):
        numbers = torch.arange(4, dtype=torch.uint8)
        self.check(lambda x, u: (self.layer(x), u + torch.tensor(True), u * torch.tensor(False)), numbers)

    def check(self, function, numbers):
        path, out = self.save(function, self.picture, numbers), self.folder / "out.pt"
        self.succeed(path, "--input", "1,3,8,8", "--input", "4:uint8", "--nhwc", "--min-segment-macs", "0", "--verify",
                     "-o", out)
        for expected, found in zip(call(function, self.picture, numbers), call(load(out), self.picture, numbers)):
            self.assertEqual(expected.dtype, found.dtype)
            self.assertTrue(torch.allclose(expected.float(), found.float(), 1e-5, 1e-5), (expected, found))


class InPlace(BesideConvolution):
    def test_comparisons_keep_the_dtype(self):
        """They write 0 and 1 into the tensor."""
        def compare(x):
            y = self.layer(x)
            y.gt_(0.1)
            flags = y.clone()
            flags.logical_not_()
            return y, y.mean(), 1.0 - y, flags

        path, out = self.save(compare, self.picture), self.folder / "out.pt"
        self.succeed(path, "--input", "1,3,8,8", "--nhwc", "--verify", "-o", out)
        results = call(load(path), self.picture)
        self.assertEqual([0.0, 1.0], results[0].unique().tolist())
        for expected, found in zip(results, call(load(out), self.picture)):
            self.assertEqual(expected.dtype, found.dtype)
            self.assertTrue(torch.equal(expected, found))

    def test_arithmetic_keeps_the_dtype(self):
        """Values of a wider dtype wrap, or are rounded, when they are written in place."""
        def widen(x, small, large, double):
            y = self.layer(x)
            bytes_ = (small + 250).to(torch.uint8)
            bytes_.mul_(large)
            y.add_(double.sin())
            numbers = small.clone()
            numbers.mul_(large)
            sums = small.to(torch.int16)
            sums.cumsum_(1)
            parts = small.to(torch.uint8)
            parts[:, 1:].add_(large[:, 1:])
            marks = y.clone()
            marks[:, 0].gt_(0.1)
            return y.sum(), y / 2, bytes_ // 2, numbers // 2, sums, parts, marks, marks.mean()

        numbers = torch.tensor([[2**33 + 7, 2**31, 300]])
        arguments = self.picture, torch.tensor([[3, 5, 9]], dtype=torch.int32), numbers, torch.full((1,), 1e-9).double()
        path, out = self.save(widen, *arguments), self.folder / "out.pt"
        shapes = "1,3,8,8:float32", "1,3:int32", "1,3:int64", "1:float64"
        self.succeed(path, *(word for shape in shapes for word in ("--input", shape)), "--nhwc", "--verify", "-o", out)
        for expected, found in zip(call(load(path), *arguments), call(load(out), *arguments)):
            self.assertEqual(expected.dtype, found.dtype)
            self.assertTrue(torch.allclose(expected, found, 1e-5, 1e-5), (expected, found))


class Moves(IntegerTest):
    def check(self, functions, level):
        for number, function in enumerate(functions):
            for dtype in (torch.int64, torch.int32):
                with self.subTest(number=number, dtype=dtype):
                    self.assert_exact(function, LARGE.to(dtype),
                                      options=["--fallback", "none", "--feature-level", str(level)])

    def test_lowest_level(self):
        self.check([lambda t: torch.cat([t, t]).view(2, 2, 3), lambda t: torch.cat([t, t.flip(1), t], 1),
                    lambda t: t.unsqueeze(1), lambda t: t[:, ::2], lambda t: t.repeat(2, 1), lambda t: t.flip(1)], 3)

    def test_in_halves(self):
        self.check([lambda t: t.t(), lambda t: t.reshape(-1), lambda t: t[1], lambda t: torch.stack([t, t], 1)], 4)

    def test_by_places(self):
        self.check([lambda t: t.t(), lambda t: t.reshape(-1)], 6)

    def test_refused(self):
        path = self.save(lambda t: t.t() + 0, LARGE)
        self.fail_with(1, path, "--input", "2,3:int64", "--fallback", "none", "-o", self.folder / "out.pt", needed=[
            "aten::t: integers that may be above 2^24, which NNAPI moves at feature level 3 as float32 only; needed: "
            "integers that float32 holds; hint: use --min-api 30 (feature level 4)"])

    def test_no_advice_of_what_was_done(self):
        """The default already leaves to the CPU what NNAPI can't do."""
        for function in (lambda t: t.cumsum(1), lambda t: t.amax(1)):
            with self.subTest(function=function):
                path = self.save(function, LARGE)
                refused = self.fail_with(1, path, "--input", "2,3:int64", "-o", self.folder / "out.pt",
                                         needed=["integers that may be above 2^24"])
                self.assertNotIn("--fallback", refused.stderr)

    def test_stay_with_pytorch(self):
        converted, _ = self.converted(lambda x, t: (torch.relu(x), t.t()), torch.ones(1, 3), LARGE,
                                      options=["--min-segment-macs", "0"])
        self.assertTrue(torch.equal(LARGE.t(), call(converted, torch.ones(1, 3), LARGE)[1]))


class Calculations(IntegerTest):
    def test_exact(self):
        divisor = torch.tensor([[7, -3, 16777217], [-1000, 2, 5]])
        for number, function in enumerate((
                lambda t: torch.div(t, divisor, rounding_mode="trunc"), lambda t: torch.fmod(t, divisor),
                lambda t: t.amax(1), lambda t: torch.max(t, 0)[0], lambda t: torch.sort(t.int(), 1)[0])):
            with self.subTest(number=number):
                self.assert_exact(function, LARGE, options=["--fallback", "none", "--feature-level", "4"])

    def test_sums_are_folded(self):
        for function in (lambda t: t.sum(1), lambda t: t.sum(), lambda t: t.prod(0)):
            text = self.assert_exact(function, torch.tensor([[16777217, 3, 5], [9, 2, 4], [1, 1, -7]]),
                                     options=["--fallback", "none", "--feature-level", "4"])
            self.assertIn(WIDE, text)


class SumsOfFloats(IntegerTest):
    """Floats lose their fractions before they are reduced to an integer, not after."""

    FUNCTIONS = (lambda x: torch.sum(x, dtype=torch.int32), lambda x: x.sum(1, keepdim=True, dtype=torch.int64),
                 lambda x: torch.prod(x[:, :3], 1, dtype=torch.int32), lambda x: torch.prod(x[0], dtype=torch.int64),
                 lambda x: torch.cumsum(x, -1, dtype=torch.int32), lambda x: x.cumprod(0, dtype=torch.int64))
    SAMPLE = torch.tensor([[7.5, 1.5, 3.5, 0.5, 2.5], [-7.9, 1.7, -3.3, -0.9, 2.2]])

    def test_exact(self):
        for number, function in enumerate(self.FUNCTIONS):
            for level in (3, 4, 7):
                with self.subTest(number=number, level=level):
                    text = self.assert_exact(function, self.SAMPLE, options=["--feature-level", str(level)])
                    if number < 4 and level >= 4:
                        self.assertNotIn("rounded", text)
                    else:
                        self.assertIn("integers above 2^24 come out rounded", text)

    def test_verify_has_fractions(self):
        """The sum of what was rounded is another one for numbers with fractions on both sides of 1."""
        cut, rounded = self.FUNCTIONS[0], lambda x: x.sum().to(torch.int32)
        for sample in (self.SAMPLE, self.SAMPLE[0, :3]):
            _, _ = self.converted(rounded, sample)
            result = run("verify", self.save(cut, sample), self.folder / "out.pt")
            self.assertEqual(4, result.code, str(result))
            self.assertRegex(result.stdout, r"\nsample \d+ \(fractions between whole numbers\): output 0: ")


class Warnings(IntegerTest):
    def test_names_inputs(self):
        for function in (lambda a, b: a * b, lambda a, b: torch.cat([a, b])):
            _, text = self.converted(function, LARGE, LARGE, options=["--feature-level", "4"])
            self.assertRegex(text, WIDE + r", and larger ones come out wrong: inputs \w+, \w+\n")
            self.assertEqual(1, text.count(WIDE))

    def test_names_results(self):
        _, text = self.converted(lambda a: a.sum(1), LARGE.int(), options=["--feature-level", "4"])
        needed = r", and larger ones come out wrong: results of aten::sum at \S*integers_test.py:\d+"
        self.assertRegex(text, WIDE + needed)

    def test_names_results_of_the_cpu(self):
        """A sum of products of masks, computed on the CPU, goes to NNAPI as a condition: 2^49 is 0 there."""
        linear = nn.Linear(3, 64)

        class Masked(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = linear

            def forward(self, x, mask):
                return self.linear(x).softmax(1).masked_fill((mask * mask + mask * mask).to(torch.bool), 0.5)

        path, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.script(Masked().eval()).save(str(path))
        options = ["--input", "2,3", "--input", "2,1:int64", "--min-segment-macs", "0", "--fallback", "partition"]
        result = run(path, "-o", out, *options)
        self.assertEqual(0, result.code, f"\n{result}")
        self.assertRegex(result.stderr, WIDE + r", and larger ones come out wrong: results of aten::add")
        x = torch.randn(2, 3)
        with torch.no_grad():
            for mask in ([[0], [1]], [[-3], [2]]):
                found = load(out)(x, torch.tensor(mask))
                self.assertLessEqual((found - Masked()(x, torch.tensor(mask))).abs().max().item(), 1e-5)
        failed = run(path, "-o", out, *options, "--verify")
        self.assertEqual(4, failed.code, f"\n{failed}")
        self.assertIn("(whole numbers near 2^24): output 0: off by", failed.stdout)

    def test_indices_are_small(self):
        table = nn.Embedding(30, 8)
        ids = torch.tensor([[1, 29, 4], [0, 3, 3]])
        path, out = self.folder / "model.pt", self.folder / "out.pt"

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = table

            def forward(self, ids):
                return self.table(ids.t().reshape(-1)).view(3, 2, 8).sum(0)

        torch.jit.trace(Net().eval(), ids).save(str(path))
        result = run(path, "--input", "2,3:int64", "--fallback", "none", "--min-segment-macs", "0", "-o", out)
        self.assertEqual((0, ""), (result.code, result.stderr))

    def test_places_are_small(self):
        path = self.save(lambda x: x.argmax(1).unsqueeze(0).t() + 1, torch.randn(4, 9))
        result = self.succeed(path, "--input", "4,9", "--fallback", "none", "--min-segment-macs", "0", "-o",
                              self.folder / "out.pt")
        self.assertEqual("", result.stderr)


if __name__ == "__main__":
    unittest.main()
