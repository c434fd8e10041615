# SPDX-License-Identifier: BSD-3-Clause
"""Models with operators that LibTorch lacks: torchvision's are known without their library, which verify needs to run
the original; others are read when their library is given."""

import unittest

import torch
import torchvision
from torch import nn

from cli import CliTest

LIBRARY = torchvision.extension._get_extension_path("_C")


class Regions(nn.Module):
    def __init__(self, pool):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, stride=2, padding=1)
        self.pool = pool

    def forward(self, picture, corner, size):
        boxes = torch.cat([corner[:, :1] * 0, corner, corner + size], 1)
        return self.pool(self.conv(picture), boxes)


def sample():
    return torch.randn(1, 3, 24, 24), torch.rand(5, 2) * 12, torch.rand(5, 2) * 12


class Torchvision(CliTest):
    def check(self, pool):
        torch.manual_seed(1)
        model, inputs, out = self.folder / "regions.pt", self.folder / "inputs.pt", self.folder / "out.pt"
        torch.jit.trace(Regions(pool).eval(), sample()).save(str(model))
        torch.save((sample(), sample()), inputs)
        specs = ["--input", "1,3,24,24", "--input", "5,2", "--input", "5,2"]
        for layout in ["--nhwc", "--nchw"]:
            self.succeed(model, *specs, layout, "-o", out)
            text = self.succeed("verify", model, out, "--inputs", inputs, "--torch-library", LIBRARY).stdout
            self.assertIn("passed (2 samples", text)
        return model, out, inputs

    def test_roi_align(self):
        for aligned in [False, True]:
            self.check(lambda x, boxes: torchvision.ops.roi_align(x, boxes, (3, 4), 0.5, 2, aligned))

    def test_roi_pool(self):
        self.check(lambda x, boxes: torchvision.ops.roi_pool(x, boxes, (7, 7), 0.5))

    def test_without_the_library(self):
        model, out, inputs = self.check(lambda x, boxes: torchvision.ops.roi_pool(x, boxes, 2, 0.5))
        needed = ["the operator torchvision::roi_pool has no CPU kernel; give the library that has it with "
                  "--torch-library"]
        self.fail_with(4, "verify", model, out, "--inputs", inputs, needed=needed)


class OtherLibraries(CliTest):
    def test_unknown_operator(self):
        library = torch.library.Library("of_a_test", "DEF")
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x * 2, "CPU")

        class Twice(nn.Module):
            def forward(self, x):
                return torch.ops.of_a_test.twice(x)

        model = self.folder / "twice.pt"
        torch.jit.trace(Twice().eval(), torch.rand(3)).save(str(model))
        needed = ["the operator of_a_test::twice is not registered; give the library that has it with --torch-library"]
        self.fail_with(3, model, "-o", self.folder / "out.pt", needed=needed)

    def test_no_library(self):
        self.fail_with(3, self.fixture("bundled.pt"), "--torch-library", "nothing.so", "-o", self.folder / "out.pt",
                       needed=["can't load the library nothing.so"])

    def test_a_name_without_a_folder(self):
        """The system's loader looks for it, and not in this folder."""
        (self.folder / "here.so").write_bytes(b"")
        self.fail_with(3, self.fixture("bundled.pt"), "--torch-library", "here.so", "-o", "out.pt", cwd=self.folder,
                       needed=["for the file in this folder write ./here.so"])


if __name__ == "__main__":
    unittest.main()
