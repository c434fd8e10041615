"""Tensors of rank 0: Python's numbers in traces, which archives keep as such tensors, and single values between CPU and
NNAPI."""

import unittest

import torch
from torch import nn

from cli import CliTest
from stock_torch import StockTorchTest, call, images, load, load_lite

SHAPE = (1, 3, 32, 32)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.head = nn.Conv2d(8, 4, 3, padding=1)


class Grid(Net):
    """Anchors as detectors make them: int64 and 0.5."""

    def forward(self, x):
        y = self.conv(x)
        return self.head(y) * 2 + (torch.arange(y.shape[3]) + 0.5), (y.argmax(1) + 0.5) * y[:, 0]


class Loss(Net):
    def forward(self, x):
        y = self.head(self.conv(x))
        return torch.stack([-0.5 * torch.sum(y), torch.mean(y * y) / 3, 1.5 - y.max()])


class Mixed(Net):
    """The same on the CPU, and results of it that NNAPI reads."""

    def forward(self, x):
        y = self.conv(x)
        products = torch.cumprod(torch.tanh(y), 1)
        most = products.argmax(1, keepdim=True) * 2 + 0.5
        return self.head(y * most), products.sum() * 0.5 + torch.arange(2)


class Stacked(Net):
    """A result of single values beside what stays on the CPU."""

    def forward(self, x):
        y = self.conv(x)
        return torch.stack([y.mean(), y.max(), -y.min()]), torch.cumprod(torch.tanh(y), 1)


class Coordinates(Net):
    """A channel of positions, from 0 to 1."""

    def forward(self, x):
        row = ((torch.arange(x.shape[3]) + 0.5) / x.shape[3]).expand(1, 1, 32, 32)
        y = self.conv(x)
        return self.head(torch.cat([y[:, :7], row], 1) / (y.max() + 1e-8))


class Rows(nn.Module):
    """Single values go in and out of a segment."""

    def forward(self, x):
        return torch.stack([x[1, 1], x[0, 1].relu(), (x @ x)[0, 0]])


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
