# SPDX-License-Identifier: BSD-3-Clause
"""Functions made of exponentials keep the digits of small numbers, and give PyTorch's infinities, as far as
Android's arithmetic has them, and NaN."""

import unittest

import torch
from torch import nn

from cli import CliTest
from stock_torch import call, load

# The relative error allowed from 1e-8 to 1e3; measured: 2.2e-7 at most.
TOLERANCE = 2e-6
FUNCTIONS = {"expm1": torch.expm1, "log1p": torch.log1p, "asinh": torch.asinh, "sinh": torch.sinh, "cosh": torch.cosh,
             "atanh": torch.atanh, "acosh": torch.acosh, "log_sigmoid": nn.functional.logsigmoid,
             "softplus": nn.functional.softplus, "elu": nn.functional.elu, "selu": nn.functional.selu,
             "celu": lambda x: nn.functional.celu(x, 0.5)}
INFINITY, NAN = float("inf"), float("nan")
SPECIALS = [INFINITY, -INFINITY, NAN, 0.0, -0.0, 1e-30, -1e-30, 1.0, -1.0, 88.9, -88.9, 1e20]


def finite(tensor):
    """Android's arithmetic gives the largest float32 in place of an infinite number."""
    largest = torch.finfo(torch.float32).max
    return tensor.clamp(-largest, largest)


class Functions(nn.Module):
    def forward(self, x):
        return [function(x) for function in FUNCTIONS.values()]


class Exponentials(CliTest):
    def converted(self, module, *samples):
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.trace(module.eval(), samples).save(str(path))
        specs = [part for sample in samples for part in ("--input", ",".join(map(str, sample.shape)))]
        self.succeed(path, *specs, "--fallback", "none", "-o", out)
        return load(out)

    def test_functions(self):
        sizes = torch.logspace(-8, 3, 300)
        x = torch.cat([sizes, -sizes, torch.tensor(SPECIALS)])
        converted = self.converted(Functions(), x)
        for name, expected, found in zip(FUNCTIONS, Functions()(x.double()), call(converted, x)):
            # where a function of float64 is finite and that of float32 isn't, float32's overflow counts
            expected = expected.float().double()
            with self.subTest(function=name):
                is_finite = expected.isfinite()
                unequal = ~is_finite & ~((finite(found.double()) == finite(expected)) | (found.isnan() & expected.isnan()))
                unequal &= ~(x.isnan() if name in ("elu", "selu", "celu") else torch.zeros_like(unequal))  # ELU(NaN) is 0
                if name in ("asinh", "acosh", "atanh"):
                    unequal &= ~x.isinf()  # arithmetic on infinite numbers is finite
                self.assertEqual([], x[unequal].tolist())
                normal = is_finite & (expected.abs() > 1e-37)
                error = ((found.double() - expected).abs() / expected.abs())[normal]
                self.assertLess(error.max().item(), TOLERANCE, x[normal][error.argmax()].item())

    def test_cosine_of_large_numbers(self):
        class Net(nn.Module):
            def forward(self, x):
                return torch.cos(x)

        x = torch.cat([torch.linspace(-10, 10, 200), torch.logspace(1, 7, 300), torch.tensor([2.0**24 + 2, -(2.0**31)])])
        expected, found = torch.cos(x.double()), call(self.converted(Net(), x), x)
        self.assertLess((found.double() - expected).abs().max().item(), 1e-6)

    def test_masked_sums(self):
        class Net(nn.Module):
            def forward(self, x, y):
                return torch.logsumexp(x, 1), torch.logsumexp(x, 0, True), torch.logaddexp(x, y)

        x = torch.tensor([[-INFINITY, -INFINITY, -INFINITY], [-INFINITY, 2.0, -3.0], [INFINITY, 1.0, -INFINITY],
                          [0.5, -1e-8, 30.0], [NAN, 0.0, 1.0]])
        y = torch.tensor([[-INFINITY, 1.0, INFINITY], [3.0, 2.0, -40.0], [INFINITY, 2.0, 0.0], [0.0, 1.0, -INFINITY],
                          [1.0, -INFINITY, 0.0]])
        converted = self.converted(Net(), x, y)
        for expected, found in zip(Net()(x, y), call(converted, x, y)):
            torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6, equal_nan=True)

    def test_sums_of_nothing(self):
        """The logarithm of a sum that is 0 is minus infinity, whatever arithmetic it goes through."""
        class Net(nn.Module):
            def forward(self, x, y):
                return torch.logaddexp(x, y), torch.logaddexp2(x, y), torch.logcumsumexp(x, 1)

        x = torch.tensor([[-INFINITY, -INFINITY, 2.0, -INFINITY], [-INFINITY, INFINITY, 1.0, 0.0]])
        y = torch.tensor([[-INFINITY, 1.0, -INFINITY, -INFINITY], [INFINITY, 3.0, -2.0, INFINITY]])
        converted = self.converted(Net(), x, y)
        for expected, found in zip(Net()(x, y), call(converted, x, y)):
            torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)

    def test_logarithms_of_0(self):
        class Net(nn.Module):
            def forward(self, x, y, z):
                return torch.log2(x), torch.log10(x), torch.xlogy(y, x), torch.log1p(x - 1), torch.log1p(z), torch.log2(z)

        x = torch.tensor([0.0, 1.0, 0.0, 4.0, 0.5, 0.0, 8.0])
        y = torch.tensor([2.0, 3.0, -2.0, 0.0, 1.5, 0.0, 0.0])
        z = torch.tensor([0.0, 1.0, INFINITY, 4.0, 0.5, 1e20, 1e-20])
        converted = self.converted(Net(), x, y, z)
        for expected, found in zip(Net()(x, y, z), call(converted, x, y, z)):
            torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


if __name__ == "__main__":
    unittest.main()
