# SPDX-License-Identifier: BSD-3-Clause
"""--strip: nothing in a file tells where on the author's machine the model was written."""

import pathlib
import unittest
import zipfile

import torch
from torch import nn

from cli import CliTest

THIS_FILE = pathlib.Path(__file__).name.encode()
PYTORCHS_FILES = b"functional.py"
RANGES = [("--runtime", "pytorch"), ("--runtime", "shim"), ("--runtime", "shim", "--no-torchscript"),
          ("--runtime", "shim", "--fallback", "cpu")]


class Mixed(nn.Module):
    """A step on the CPU between two segments, a branch that the input decides, and a method that stays as it is."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.first(x))
        x = torch.sort(x, 1)[0] + torch.cumsum(x, 1)
        if bool(x.sum() > 0):
            x = x * 2.0
        return torch.nn.functional.softmax(self.last(x), 1)

    @torch.jit.export
    def count(self, x: torch.Tensor) -> int:
        return x.size(0) + 1


class Straight(nn.Module):
    """No branch, for what leaves nothing to PyTorch."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.first(x))
        x = torch.sort(x, 1)[0] + torch.cumsum(x, 1)
        return torch.nn.functional.softmax(self.last(x), 1)


class Strip(CliTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.model = self.folder / "model.pt"
        self.straight = self.folder / "straight.pt"
        torch.jit.script(Mixed().eval()).save(str(self.model))
        torch.jit.script(Straight().eval()).save(str(self.straight))

    def records_with_places(self, *options):
        leaves_nothing = "--fallback" in options or "--package" in options
        model = self.straight if leaves_nothing else self.model
        out = self.convert(model, "--input", "3,8", "--min-segment-macs", "0", *options)
        with zipfile.ZipFile(out) as archive:
            return {name.split("/", 1)[1] for name in archive.namelist()
                    if any(place in archive.read(name) for place in (THIS_FILE, PYTORCHS_FILES))}

    def test_no_place_is_left(self):
        for options in RANGES:
            with self.subTest(options=options):
                before = self.records_with_places(*options)
                self.assertTrue(before, "the file has none anyway")
                self.assertEqual(set(), self.records_with_places(*options, "--strip"))

    def test_methods_and_packages(self):
        for options in (("--method", "forward"), ("--package", "level=4; level=3")):
            with self.subTest(options=options):
                self.assertEqual(set(), self.records_with_places("--runtime", "shim", *options, "--strip"))

    def test_programs_hold_places(self):
        self.assertIn("extra/nnapi_shim.program", " ".join(sorted(self.records_with_places("--runtime", "shim"))))


if __name__ == "__main__":
    unittest.main()
