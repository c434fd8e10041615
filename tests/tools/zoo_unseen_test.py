# SPDX-License-Identifier: BSD-3-Clause
"""Networks of torchvision that no rule was written for: those whose operations all have rules convert and agree, others
are refused with every reason."""

import sys
import unittest

import torch
import torchvision

from cli import ROOT, CliTest, problems_of_failure, run
from stock_torch import StockTorchTest, load

sys.path.insert(0, str(ROOT / "scripts"))
from models import common  # noqa: E402

vision = torchvision.models


class Unseen(CliTest, StockTorchTest):
    def trace(self, build, size):
        common.set_seed(type(self).__name__)
        model = common.init_weights(build())
        has_norms = any(isinstance(module, torch.nn.BatchNorm2d) for module in model.modules())
        pictures = common.images(8, size)
        model = common.settle(model, [pictures]) if has_norms else common.standardise(model, pictures)
        path = self.folder / "model.pt"
        common.trace(model, pictures[:1], check=False).save(str(path))
        return path, pictures

    def check(self, build, size):
        """The program's verification and stock PyTorch agree that results are the same, and that they vary."""
        path, pictures = self.trace(build, size)
        for layout in ("--nhwc", "--nchw"):
            with self.subTest(layout=layout):
                out = self.convert(path, "--input", f"1,3,{size},{size}", layout)
                self.succeed("verify", path, out)
                self.assert_agree(load(path), load(out), [[pictures[i : i + 1]] for i in range(2)])

    def check_or_refused(self, build, size):
        """If rules are missing, each refusal has a source line and a reason, and no file is written."""
        path, pictures = self.trace(build, size)
        out = self.folder / "out.pt"
        result = run(path, "--input", f"1,3,{size},{size}", "--nhwc", "--verify", "-o", out)
        if result.code == 0:
            self.assert_agree(load(path), load(out), [[pictures[:1]]])
            return
        self.assertEqual((1, []), (result.code, problems_of_failure(result)), f"\n{result}")
        self.assertFalse(out.exists())
        lines = result.stderr.splitlines()[1:]
        self.assertGreater(len(lines), 1)
        for line in lines:
            self.assertRegex(line, r"^  \S+\.py:\d+: \w+::\w+: .+")


class MnasNet(Unseen):
    def test_converts(self):
        self.check(lambda: vision.mnasnet0_5(weights=None), 64)


class DenseNet121(Unseen):
    def test_converts(self):
        self.check(lambda: vision.densenet121(weights=None), 64)


class GoogLeNet(Unseen):
    def test_converts(self):
        self.check(lambda: vision.googlenet(weights=None, aux_logits=False, init_weights=False), 64)


class ResNeXt50(Unseen):
    def test_converts(self):
        self.check(lambda: vision.resnext50_32x4d(weights=None), 64)


class AlexNet(Unseen):
    def test_converts(self):
        self.check(lambda: vision.alexnet(weights=None), 224)


class Vgg11(Unseen):
    """Without its classifier, which is half a gigabyte."""

    def test_converts(self):
        self.check(lambda: vision.vgg11_bn(weights=None, init_weights=False).features, 64)


class RegNet(Unseen):
    def test_converts(self):
        self.check(lambda: vision.regnet_x_400mf(weights=None), 64)


class MobileNetV3(Unseen):
    def test_converts_or_says_why(self):
        self.check_or_refused(lambda: vision.mobilenet_v3_small(weights=None), 64)


class EfficientNet(Unseen):
    def test_converts_or_says_why(self):
        self.check_or_refused(lambda: vision.efficientnet_b0(weights=None), 64)


class ShuffleNet(Unseen):
    def test_converts_or_says_why(self):
        self.check_or_refused(lambda: vision.shufflenet_v2_x0_5(weights=None), 64)



class Deep(CliTest, StockTorchTest):
    def test_scripted_swin(self):
        """Each block's sizes are known only once what the block before writes into its mask is computed."""
        common.set_seed("deep swin")
        net = vision.SwinTransformer(patch_size=[4, 4], embed_dim=16, depths=[2, 2, 22, 2], num_heads=[1, 2, 2, 2],
                                     window_size=[4, 4], num_classes=10)
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.script(net.eval()).save(str(path))
        self.succeed(path, "--input", "1,3,96,96", "--nhwc", "--fallback", "none", "-o", out)
        pictures = common.images(2, 96)
        self.assert_agree(load(path), load(out), [[pictures[i : i + 1]] for i in range(2)])


if __name__ == "__main__":
    unittest.main()
