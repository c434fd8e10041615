# SPDX-License-Identifier: BSD-3-Clause
"""Networks of quantisation-aware training that were saved before convert(): NNAPI runs them whole, by the scales that
their observers left."""

import unittest

import torch
import torch.ao.quantization as quantization
from torch import nn

from cli import CliTest
from stock_torch import StockTorchTest, load


def trained(engine: str, fused: bool):
    """With observers that have seen data, and are off."""
    norm = [nn.BatchNorm2d(8)] if fused else []
    net = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), *norm, nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)).train()
    if fused:
        quantization.fuse_modules_qat(net, [["0", "1", "2"]], inplace=True)
    net.qconfig = quantization.get_default_qat_qconfig(engine)
    quantization.prepare_qat(net, inplace=True)
    for _ in range(8):
        net(torch.randn(4, 3, 16, 16))
    net.eval().apply(quantization.disable_observer)
    return net


class Slow(nn.Module):
    """Fake quantisation that scripts, by the module that isn't fused."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.fake = quantization.FakeQuantize()
        self.last = nn.Linear(4, 5)

    def forward(self, x):
        return self.last(self.fake(torch.relu(self.conv(x))).mean([2, 3]))


class Observers(CliTest, StockTorchTest):
    def converted(self, module, *options):
        path = self.folder / "model.pt"
        module.save(str(path))
        result = self.succeed(path, "--input", "1,3,16,16", "--fallback", "none", "-o", self.folder / "out.pt", *options)
        return load(self.folder / "out.pt"), result

    def assert_near(self, module, converted):
        """A sum that lies on the border of two levels may round to either: a level of 255, where few are."""
        for seed in range(3):
            x = torch.randn(1, 3, 16, 16, generator=torch.Generator().manual_seed(seed))
            with torch.no_grad():
                expected, found = module(x), converted(x)
            spread = (expected.max() - expected.min()).item()
            self.assertGreater(spread, 0.05)
            self.assertLess((expected - found).abs().max().item(), 0.03 * spread)

    def test_traced(self):
        for engine in ("qnnpack", "fbgemm"):
            for fused in (False, True):
                with self.subTest(engine=engine, fused=fused):
                    net = trained(engine, fused)
                    traced = torch.jit.trace(net, torch.randn(1, 3, 16, 16), check_trace=False)
                    converted, result = self.converted(traced, "--nhwc", "--verify")
                    self.assert_near(net, converted)
                    self.assertIn("100 % on NNAPI", result.stdout)

    def test_fake_quantisation_that_is_off(self):
        net = trained("qnnpack", False)
        net.apply(quantization.disable_fake_quant)
        traced = torch.jit.trace(net, torch.randn(1, 3, 16, 16))
        self.assert_near(net, self.converted(traced)[0])

    def test_scripted(self):
        net = Slow().train()
        for _ in range(4):
            net(torch.randn(2, 3, 16, 16))
        net.eval()
        net.fake.disable_observer()
        self.assert_near(net, self.converted(torch.jit.script(net))[0])

    def test_observers_that_are_on(self):
        net = trained("qnnpack", False)
        net.apply(quantization.enable_observer)
        path = self.folder / "model.pt"
        torch.jit.trace(net, torch.randn(1, 3, 16, 16), check_trace=False).save(str(path))
        self.fail_with(1, path, "--input", "1,3,16,16", "--fallback", "none", "-o", self.folder / "out.pt",
                       needed=["observer is on", "disable_observer"])


if __name__ == "__main__":
    unittest.main()
