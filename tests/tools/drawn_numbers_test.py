# SPDX-License-Identifier: BSD-3-Clause
"""Steps of programs that draw random numbers, sort tuples and convolve between pixels: without PyTorch, by the shim."""

import unittest

import numpy
import torch
import torchvision
from torch import nn
from typing import List, Tuple

from shim_process import ShimProcessTest
from stock_torch import images


class Noise(nn.Module):
    """A generator's noise, which its weight takes away; another result shows it."""

    def __init__(self):
        super().__init__()
        self.layer, self.weight = nn.Conv2d(3, 8, 3, padding=1), nn.Parameter(torch.zeros(1))

    def forward(self, x):
        x = self.layer(x)
        noise = x.new_empty(x.size(0), 1, x.size(2), x.size(3)).normal_()
        return nn.functional.leaky_relu(x + self.weight * noise, 0.2), noise + torch.randn_like(noise)


class Sampled(nn.Module):
    """Tokens that are drawn by their probabilities."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 6)

    def forward(self, x):
        shares = torch.softmax(3 * self.layer(x), 1)
        return shares, torch.multinomial(shares, 4000, True)


class Sorted(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 6)

    def forward(self, x):
        scores = self.layer(x)
        pairs: List[Tuple[float, int]] = []
        for i in range(6):
            pairs.append((float(scores[0, i].round()), 5 - i))
        pairs.sort(reverse=True)
        numbers: List[int] = []
        for _, number in pairs:
            numbers.append(number)
        return scores, torch.tensor(numbers)


class Deformed(nn.Module):
    def __init__(self):
        super().__init__()
        self.offset = nn.Conv2d(3, 3 * 9, 3, padding=1)
        self.layer = torchvision.ops.DeformConv2d(3, 8, 3, padding=1)
        self.last = nn.Conv2d(8, 8, 3)

    def forward(self, x):
        y, x_offset, mask = torch.chunk(2 * self.offset(x), 3, 1)
        return self.last(self.layer(x, torch.cat([y, x_offset], 1), torch.sigmoid(mask)))


class DrawnNumbers(ShimProcessTest):
    def convert_for_shim(self, model, shape, *options):
        return self.convert(model, "--input", shape, "--nhwc", "--runtime", "shim", "--min-segment-macs", "0",
                            "--no-torchscript", *options)

    def test_noise(self):
        model = self.script(Noise)
        out = self.convert_for_shim(model, "1,3,16,16")
        calls = [{"x": images(1, 3, 16, 16)} for _ in range(2)]
        found, again = self.results(out, calls), self.results(out, calls)
        expected, _ = torch.jit.load(str(model))(calls[0]["x"])
        self.assert_same(expected, found["0/[0]"])
        noise = [found["0/[1]"], found["1/[1]"]]
        self.assertAlmostEqual(2 ** 0.5, noise[0].std(), delta=0.2)
        self.assertGreater(numpy.abs(noise[0] - noise[1]).max(), 0.1)
        numpy.testing.assert_array_equal(again["0/[1]"], noise[0])  # each start draws the same

    def test_multinomial(self):
        model = self.script(Sampled)
        out = self.convert_for_shim(model, "2,16")
        call = {"x": torch.randn(2, 16, generator=torch.Generator().manual_seed(1))}
        found = self.results(out, [call])
        shares, _ = torch.jit.load(str(model))(call["x"])
        self.assert_same(shares, found["0/[0]"])
        drawn = found["0/[1]"]
        self.assertEqual(((2, 4000), numpy.dtype("int64")), (drawn.shape, drawn.dtype))
        for row, counts in zip(shares.detach().numpy(), map(numpy.bincount, drawn)):
            numpy.testing.assert_allclose(numpy.pad(counts, (0, 6 - len(counts))) / 4000, row, atol=0.04)

    def test_sorted_tuples(self):
        model = self.script(Sorted)
        out = self.convert_for_shim(model, "1,16")
        orders = set()
        for seed in range(4):
            call = {"x": 2 * torch.randn(1, 16, generator=torch.Generator().manual_seed(seed))}
            _, order = torch.jit.load(str(model))(call["x"])
            self.assertEqual(order.tolist(), self.results(out, [call])["0/[1]"].tolist())
            orders.add(tuple(order.tolist()))
        self.assertGreater(len(orders), 1)

    def test_deformable_convolution(self):
        torch.manual_seed(0)
        model, net = self.folder / "model.pt", Deformed().eval()
        torch.jit.trace(net, images(1, 3, 12, 10)).save(str(model))
        out = self.convert_for_shim(model, "1,3,12,10")
        for seed in range(2):
            x = torch.randn(1, 3, 12, 10, generator=torch.Generator().manual_seed(seed))
            self.assert_same(net(x), self.results(out, [{"x": x}])["0/"])


if __name__ == "__main__":
    unittest.main()
