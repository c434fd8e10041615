# SPDX-License-Identifier: BSD-3-Clause
"""Float32 models with steps in float16 or bfloat16, such as those of torch.autocast, convert to float32 as a whole."""

import json
import unittest

import torch
from torch import nn

from float_widths import WIDTHS, WidthTest
from mobile_models import seeded
from stock_torch import call, load


class HalfLayers(nn.Module):
    """Convolutions of another width, and a norm and a linear layer in float32."""

    def __init__(self, width):
        super().__init__()
        self.width = width
        self.convolutions = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU()).to(width)
        self.norm = nn.BatchNorm2d(8)
        self.last = nn.Linear(8, 5)

    def forward(self, x, scale):
        x = self.convolutions(x.to(self.width)).float()
        x = self.norm(x).mean((2, 3))
        return self.last(x), x.to(self.width), scale * 2


class Autocast(nn.Module):
    """A block in bfloat16, state, and a result that is left in bfloat16."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU())
        self.last = nn.Linear(8, 5)
        self.register_buffer("total", torch.zeros(5))

    @torch.jit.export
    def sum(self):
        return self.total

    def steps(self, x):
        return self.last(self.layers(x).mean((2, 3)))

    def forward(self, x):
        with torch.cpu.amp.autocast(dtype=torch.bfloat16):
            y = self.steps(x)
            z = torch.mm(y, y.t()).float()
        self.total = self.total + y.float()[0]
        return y.float() * 2, torch.tanh(z * 0.1), y


class MixedDtypes(nn.Module):
    """Bools, indices and integers of tensors of every width, float64 steps beside those in float16."""

    def __init__(self, width):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.width = nn.Conv2d(2, 4, 3, padding=1), width
        self.register_buffer("scale", torch.tensor([1.25]).to(width))

    def forward(self, x, whole, double):
        y = self.layer(x)
        half = y.to(self.width)
        row = y[0, 0, 0]
        reduced = (half * 2, (half > 0) * 1.5, torch.where(half > 0, 1.5, 2.0), (half > 0).sum() * 1000.0,
                   half.argmax() / 2, torch.count_nonzero(half) * 1.0, torch.max(half, -1)[1] * 0.5, half * self.scale)
        doubles = (torch.where(double > 0, row, 1.0), (double > 0) * row, row.masked_fill(double > 0, 1.0),
                   row.clone().copy_(double), double.argmax(-1) * 1.5, torch.isnan(double) * row, double % 2,
                   double.long(), double == 16777216)
        return reduced, doubles, (whole * 1.5, whole + 0.5, 1.0 / (whole.abs() + 1), whole.sum() * 0.5,
                                  torch.round(y).long() * 0.5, torch.div(whole, 2, rounding_mode="floor"))


class ReducedSteps(WidthTest):
    def test_half_layers(self):
        """A float32 model with layers of another width computes in float32. Each argument keeps its own dtype."""
        for width in (torch.float16, torch.bfloat16):
            with self.subTest(width=width):
                module = seeded(lambda: HalfLayers(width)).eval()
                torch.jit.save(torch.jit.script(module), str(self.folder / "model.pt"))
                out, report = self.folder / "out.pt", self.folder / "report.json"
                result = self.succeed(self.folder / "model.pt", "--input", "2,3,16,16", "--input",
                                      f"2,5:{WIDTHS[width]}", "--verify", "--min-segment-macs", "0", "--report", report,
                                      "-o", out)
                self.assertEqual(1, result.stderr.count(f"some steps of the model compute in {WIDTHS[width]}:"))
                self.assertEqual(1, json.loads(report.read_text())["partition"]["mac_share"])
                x, scale = torch.rand(2, 3, 16, 16), torch.rand(2, 5).to(width)
                found = load(out)(x, scale)
                self.assertEqual([torch.float32, width, width], [each.dtype for each in found])
                module = module.float()
                module.width = torch.float32
                self.assert_rounded(call(module, x, scale.float()), found, width)

    def test_half_argument_by_name(self):
        module = seeded(lambda: HalfLayers(torch.float16)).eval()
        torch.jit.save(torch.jit.script(module), str(self.folder / "model.pt"))
        found = load(self.convert(self.folder / "model.pt", "--input", "scale=2,5:float16", "--input", "x=2,3,16,16",
                                  "--verify"))(torch.rand(2, 3, 16, 16), torch.rand(2, 5).half())
        self.assertEqual([torch.float32, torch.float16, torch.float16], [each.dtype for each in found])

    def test_half_state(self):
        """An attribute in float16 of a float32 model stays in float16 between calls."""
        class Kept(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(6, 6)
                self.h = torch.zeros(1, 6, dtype=torch.float16)

            @torch.jit.export
            def state(self):
                return self.h

            def forward(self, x):
                h = (self.h * 0.5).float() + self.layer(x)
                self.h = h.to(torch.float16)
                return h

        module = seeded(Kept)
        converted = self.convert_scripted(module, "--input", "1,6", "--min-segment-macs", "0")
        h = torch.zeros(1, 6)
        for _ in range(4):
            x = torch.randn(1, 6)
            with torch.no_grad():
                h = h.half().float() * 0.5 + module.layer(x)
                self.assert_rounded([h], [converted(x)], torch.float16)
            self.assertEqual(torch.float16, converted.state().dtype)

    def test_autocast_in_a_script(self):
        module = seeded(Autocast).eval()
        converted = self.convert_scripted(module, "--input", "2,3,16,16", "--verify", "--min-segment-macs", "0")
        x, total = torch.rand(2, 3, 16, 16), torch.zeros(5)
        for _ in range(3):
            with torch.no_grad():
                found, y = converted(x), module.steps(x)  # with weights that are not rounded
            total += y[0]
            self.assertEqual([torch.float32, torch.float32, torch.bfloat16], [each.dtype for each in found])
            self.assert_rounded([y * 2, torch.tanh(y @ y.t() * 0.1)], found[:2], torch.float32)
            self.assert_rounded([y], found[2:], torch.bfloat16)
        self.assertLess((converted.sum() - total).abs().max().item(), 1e-4)

    def test_autocast_in_a_trace(self):
        """A norm in float32 between layers in bfloat16 gives bfloat16, as PyTorch's does."""
        module = seeded(lambda: nn.Sequential(Autocast().layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)))
        x = torch.rand(2, 3, 32, 32)
        with torch.no_grad(), torch.cpu.amp.autocast(dtype=torch.bfloat16, cache_enabled=False):
            torch.jit.save(torch.jit.trace(module.eval(), x), str(self.folder / "model.pt"))
        found = load(self.convert(self.folder / "model.pt", "--input", "2,3,32,32", "--verify", "--nhwc"))(x)
        self.assertEqual(torch.bfloat16, found.dtype)
        with torch.no_grad():
            self.assert_rounded([module(x)], [found], torch.bfloat16)

    def test_cast_results_only(self):
        """A model whose results alone are rounded has no step in float16."""
        class Rounded(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(6, 4)

            def forward(self, x):
                return self.layer(x).half()

        torch.jit.save(torch.jit.script(seeded(Rounded)), str(self.folder / "model.pt"))
        result = self.succeed(self.folder / "model.pt", "--input", "2,6", "--verify", "--min-segment-macs", "0", "-o",
                              self.folder / "out.pt")
        self.assertNotIn("some steps of the model compute", result.stderr)

    def test_dtypes_of_integers_and_bools(self):
        """They are float32 where a number makes floats of them; float64 steps stay."""
        arguments = (torch.randn(1, 2, 4, 4, generator=torch.Generator().manual_seed(0)), torch.arange(4),
                     torch.tensor([16777217, 3, 1e-9, 1e10 + 1], dtype=torch.float64))
        specs = [word for spec in ("1,2,4,4", "4:int64", "4:float64") for word in ("--input", spec)]
        for width in WIDTHS:
            if width == torch.float64:
                continue
            module = MixedDtypes(width).eval()
            for saved in (torch.jit.trace(module, arguments), torch.jit.script(module)):
                path, out = self.folder / "model.pt", self.folder / "out.pt"
                saved.save(str(path))
                self.succeed(path, *specs, "--min-segment-macs", "0", "-o", out)
                for expected, found in zip(self.flat(call(module, *arguments)), self.flat(call(load(out), *arguments))):
                    self.assertEqual(expected.dtype, found.dtype)
                    self.assertTrue(torch.allclose(expected.double(), found.double(), 1e-2, 1e-2), (expected, found))

    def flat(self, value):
        return [value] if isinstance(value, torch.Tensor) else [tensor for part in value for tensor in self.flat(part)]

    def test_one_compressed_weight(self):
        """A float32 model that keeps a weight in float16 computes in float32."""
        class Compressed(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(6, 4)
                self.weight = nn.Parameter(torch.randn(5, 6).half(), requires_grad=False)

            def forward(self, x):
                return self.layer(x), nn.functional.linear(x, self.weight.float())

        module = seeded(Compressed).eval()
        torch.jit.save(torch.jit.script(module), str(self.folder / "model.pt"))
        out = self.folder / "out.pt"
        result = self.succeed(self.folder / "model.pt", "--input", "3,6", "--verify", "-o", out)
        self.assertNotIn("the model computes in", result.stderr)
        x = torch.randn(3, 6)
        for one, other in zip(module(x), load(out)(x)):
            self.assertEqual(torch.float32, other.dtype)
            self.assertLess((one - other).abs().max().item(), 1e-4)


if __name__ == "__main__":
    unittest.main()
