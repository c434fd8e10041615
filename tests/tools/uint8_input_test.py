"""Pictures of uint8, which models bring to float32 themselves: NNAPI takes the bytes and does all of it."""

import json
import unittest

import torch
from torch import nn
from torch.utils import bundled_inputs

from cli import CliTest
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


class Uint8Input(CliTest, StockTorchTest):
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


if __name__ == "__main__":
    unittest.main()
