# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of uint8, which models bring to float32 themselves: NNAPI takes the bytes and does all of it. Inputs of
dtypes and sizes that NNAPI lacks: the CPU reads them, and the layers behind go to NNAPI."""

import json
import unittest

import torch
from torch import nn
from torch.utils import bundled_inputs

from cli import CliTest
from shim_process import ShimProcessTest
from stock_torch import StockTorchTest, call, load, load_lite

SHAPE = (1, 24, 24, 3)


class Camera(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1))
        self.register_buffer("deviation", torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1))
        self.layers = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 8, 3, stride=2))

    def forward(self, picture):
        x = picture.permute(0, 3, 1, 2).float() / 255
        return self.layers((x - self.mean) / self.deviation)


def picture(seed):
    return torch.randint(0, 256, SHAPE, dtype=torch.uint8, generator=torch.Generator().manual_seed(seed))


class Classes(nn.Module):
    """Classes of pixels as int64, and their scores."""

    def __init__(self):
        super().__init__()
        self.camera = Camera()

    def forward(self, picture):
        x = self.camera(picture)
        return x.argmax(1), x.softmax(1)


class Mask(nn.Module):
    """Classes of pixels as uint8, which NNAPI has not, and their scores."""

    def __init__(self):
        super().__init__()
        self.camera = Camera()

    def forward(self, picture):
        x = self.camera(picture)
        return x.argmax(1).to(torch.uint8), x.softmax(1)


class Uint8Input(ShimProcessTest, StockTorchTest):
    def setUp(self):
        super().setUp()
        self.module = Camera().eval()
        self.traced = torch.jit.trace(self.module, picture(0))
        self.path, self.out = self.folder / "camera.pt", self.folder / "out.pt"
        self.traced.save(str(self.path))
        self.spec = ",".join(map(str, SHAPE)) + ":uint8"

    def check(self, converted):
        for seed in range(3):
            self.assert_close(call(self.module, picture(seed)), call(converted, picture(seed)))

    def test_converts(self):
        for arguments in (["--nhwc"], ["--nchw", "--quant", "none"]):
            with self.subTest(arguments=arguments):
                report = self.folder / "report.json"
                self.succeed(self.path, "--input", self.spec, *arguments, "--verify", "--report", report,
                             "-o", self.out)
                self.assertNotIn("partition", json.loads(report.read_text()))  # NNAPI runs the whole model
                self.check(load(self.out))

    def test_lite_interpreter(self):
        out = self.folder / "out.ptl"
        self.succeed(self.path, "--input", self.spec, "--nhwc", "-o", out)
        self.check(load_lite(out))

    def test_shim(self):
        self.succeed(self.path, "--input", self.spec, "--nhwc", "--runtime", "shim", "--verify", "-o", self.out)

    def test_without_pytorch(self):
        """An argument has its name, and classes stay int64."""
        path = self.folder / "classes.pt"
        torch.jit.save(torch.jit.trace(Classes().eval(), picture(0)), str(path))
        done = self.succeed(path, "--input", self.spec, "--nhwc", "--runtime", "shim", "--verify", "-o", self.out)
        self.assertNotIn("warning", done.stderr)
        self.check_without_pytorch(Classes().eval())

    def test_a_step_on_the_cpu_without_pytorch(self):
        """The step for the bytes is no reason to need PyTorch, though NNAPI has no uint8."""
        path = self.folder / "mask.pt"
        torch.jit.save(torch.jit.trace(Mask().eval(), picture(0)), str(path))
        for fallback in ("partition", "partition-cpu"):
            report = self.folder / "report.json"
            self.succeed(path, "--input", self.spec, "--nhwc", "--runtime", "shim", "--min-segment-macs", "0", "--fallback",
                         fallback, "--report", report, "--no-torchscript", "-o", self.out)
            self.assertIn("partition", json.loads(report.read_text()))
            self.succeed("verify", path, self.out)
            self.check_without_pytorch(Mask().eval())

    def check_without_pytorch(self, module):
        seen = []
        for seed in range(3):
            expected = module(picture(seed))
            found = self.results(self.out, [{"picture": picture(seed)}])
            for number, each in enumerate(expected):
                self.assert_same(each, found[f"0/[{number}]"])
                self.assertGreater(len(each.unique()), 1)
            seen.append(expected[0])
        self.assertFalse(torch.equal(seen[0], seen[1]))

    def test_of_bundled_inputs(self):
        sample = torch.tensor([[[[7]]]], dtype=torch.uint8).expand(SHAPE)  # PyTorch bundles few numbers only
        bundled_inputs.bundle_inputs(self.traced, [(sample,)]).save(str(self.path))
        self.succeed(self.path, "--nhwc", "-o", self.out)
        converted = load(self.out)
        self.check(converted)
        self.assertTrue(torch.equal(sample, converted.get_all_bundled_inputs()[0][0]))

    def test_whole(self):
        self.succeed(self.path, "--input", self.spec, "--nhwc", "--fallback", "none", "-o", self.out)

    def test_other_dtypes(self):
        self.succeed(self.path, "--input", self.spec, "--nhwc", "-o", self.out)
        with self.assertRaisesRegex(Exception, "uint8|Byte"):
            call(load(self.out), picture(0).float())


class Microphone(nn.Module):
    """Integers that are brought to floats before the layers."""

    def __init__(self, limit):
        super().__init__()
        torch.manual_seed(0)
        self.limit = limit
        self.layers = nn.Sequential(nn.Conv1d(2, 16, 5), nn.ReLU(), nn.Conv1d(16, 8, 5))

    def forward(self, x):
        return self.layers(x.float() / self.limit)


class Plain(nn.Module):
    """Nothing has weights."""

    def forward(self, x):
        return torch.tanh(x * 2) + x.mean(-1, keepdim=True)


class Spectrum(nn.Module):
    """Computes with complex numbers, on the CPU, before and beside its layers."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Conv1d(2, 16, 5), nn.ReLU(), nn.Conv1d(16, 8, 5))

    def forward(self, x):
        y = torch.fft.fft(x)
        return self.layers(y.abs() * 0.1), x.conj() * 2, torch.real(x) - y.imag


class Joined(nn.Module):
    """More rows may come, and none do."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(8, 4)

    def forward(self, x, more):
        return torch.cat([self.linear(x), more])


class OtherInputs(CliTest, StockTorchTest):
    def convert_and_run(self, module, specs, *arguments, script=False):
        """Gives what the converted module gives, and what the command said."""
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        make = torch.jit.script(module.eval()) if script else torch.jit.trace(module.eval(), arguments)
        make.save(str(path))
        options = [option for spec in specs for option in ("--input", spec)]
        said = self.succeed(path, *options, "--verify", "-o", out)
        self.assertTrue(load(out).segment_0)
        return call(load(out), *arguments), said.stderr

    def test_small_integers(self):
        for dtype, limit in ((torch.int8, 127), (torch.int16, 32767)):
            with self.subTest(dtype=dtype):
                x = torch.randint(-limit, limit, (1, 2, 64), dtype=dtype)
                module = Microphone(limit)
                found, _ = self.convert_and_run(module, [f"1,2,64:{str(dtype)[6:]}"], x)
                self.assert_close(call(module, x), found)

    def test_complex_numbers(self):
        x = torch.randn(1, 2, 64, dtype=torch.complex64)
        for script in (False, True):
            found, _ = self.convert_and_run(Spectrum(), ["1,2,64:complex64"], x, script=script)
            expected = call(Spectrum().eval(), x)
            self.assertEqual([t.dtype for t in expected], [t.dtype for t in found])
            self.assert_close([expected[0], torch.view_as_real(expected[1]), expected[2]],
                              [found[0], torch.view_as_real(found[1].resolve_conj()), found[2]])

    def test_no_elements(self):
        x = torch.randn(3, 8)
        found, _ = self.convert_and_run(Joined(), ["3,8", "0,4"], x, torch.zeros(0, 4))
        self.assert_close(call(Joined().eval(), x, torch.zeros(0, 4)), found)

    def test_advice(self):
        """A dtype that was given is not asked for."""
        path = self.folder / "model.pt"
        torch.jit.script(Plain().eval()).save(str(path))
        found = self.fail_with(1, path, "--input", "3,16:float64", "-o", self.folder / "out.pt")
        self.assertNotIn("--input DIMS:DTYPE", found.stderr)


if __name__ == "__main__":
    unittest.main()
