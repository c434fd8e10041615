# SPDX-License-Identifier: BSD-3-Clause
"""A package of MobileNetV2 for three kinds of phones: its size, and which model runs where."""

import json
import pathlib
import subprocess
import tempfile
import unittest

import torch

from cli import ROOT, CliTest
from package_test import UNREFINED, run_app

SHAPE = "1,3,64,64"
# The DSP takes only padding that equals SAME: so do MobileNetV2's convolutions of stride 2 at sizes of 32 n + 1.
SAME = "1,3,33,33"


PROFILES = ROOT / "schemas" / "profiles"
# What each shipped profile's device takes whole: the only DSP wants integers of level 1, the GPU takes all.
BY_PROFILE = {"quant-dsp-8.1": "model 2 of 3 (level=1,quant=full)", "armnn-1.3": "model 1 of 3 (level=3)"}


class MobileNet(CliTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="nnapi-convert-test-")
        cls.addClassCleanup(folder.cleanup)
        command = [str(ROOT / "scripts" / "makers" / "make_models.py"), "--group", "zoo_quantised", "--only", "mobilenet_v2", "--",
                   folder.name]
        subprocess.run(["/usr/bin/python3", *command], check=True, stdout=subprocess.DEVNULL)
        cls.model = pathlib.Path(folder.name) / "mobilenet_v2_float.pt"

    def converted(self, model, name, *options, size=SHAPE):
        path = self.folder / name
        self.succeed(model, "--nhwc", "--runtime", "shim", "--input", size, *options, "-o", path)
        return path

    def test_each_shipped_profile(self):
        package = self.converted(self.model, "package.pt", "--calibrate", "random:8", *UNREFINED, "--package",
                                 "level=3; level=1,quant=full; level=4,per-channel", size=SAME)
        torch.manual_seed(1)
        x = torch.randn(1, 3, 33, 33)
        torch.save(x, self.folder / "x.pt")
        expected = torch.jit.load(str(self.model))(x)
        span = (expected.max() - expected.min()).item()
        profiles = sorted(PROFILES.glob("*.json"))
        self.assertEqual(set(BY_PROFILE), {path.stem for path in profiles})
        for path in profiles:
            device = json.loads(path.read_text())["device"]["name"]
            (found,), state = run_app(self.folder, package, ["x.pt"], profile=path, options={"device": device})
            self.assertTrue(state.startswith("nnapi, " + BY_PROFILE[path.stem]), (path.stem, state))
            self.assertLess((found - expected).abs().max().item(), 0.5 * span)

    def test_three_levels(self):
        data = ["--calibrate", "random:8", *UNREFINED]
        package = self.converted(self.model, "package.pt", *data, "--package",
                                 "level=4,quant=nnapi,per-channel; level=3; level=1")
        single = [self.converted(self.model, "float.pt"), self.converted(self.model, "integer.pt", *data)]
        self.assertLess(package.stat().st_size, 1.1 * sum(path.stat().st_size for path in single))
        torch.manual_seed(1)
        x = torch.randn(1, 3, 64, 64)
        torch.save(x, self.folder / "x.pt")
        expected = torch.jit.load(str(self.model))(x)
        span = (expected.max() - expected.min()).item()
        # What the float model has at level 3 runs at level 1, too.
        for level, text in ((1, "model 2 of 3"), (2, "model 2 of 3"), (8, "model 1 of 3")):
            (found,), state = run_app(self.folder, package, ["x.pt"], level=level)
            self.assertTrue(state.startswith("nnapi, " + text), (level, state))
            self.assertLess((found - expected).abs().max().item(), (1e-4 if level < 3 else 0.5) * span)


if __name__ == "__main__":
    unittest.main()
