"""A package of MobileNetV2 for three kinds of phones: its size, and which model runs where."""

import json
import pathlib
import subprocess
import sys
import unittest

import torch

from cli import CliTest, environment
from package_test import BINDING, HOST, RUN

SHAPE = "1,3,64,64"


class MobileNet(CliTest):
    def converted(self, model, name, *options):
        path = self.folder / name
        self.succeed(model, "--nhwc", "--runtime", "shim", "--input", SHAPE, *options, "-o", path)
        return path

    def test_three_levels(self):
        command = [str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "make_models.py"), "--group",
                   "zoo_quantised", "--only", "mobilenet_v2", "--", str(self.folder)]
        subprocess.run(["/usr/bin/python3", *command], check=True, stdout=subprocess.DEVNULL)
        model = self.folder / "mobilenet_v2_float.pt"
        data = ["--calibrate", "random:8"]
        package = self.converted(model, "package.pt", *data, "--package",
                                 "level=4,quant=nnapi,per-channel; level=3; level=1")
        single = [self.converted(model, "float.pt"), self.converted(model, "integer.pt", *data)]
        self.assertLess(package.stat().st_size, 1.1 * sum(path.stat().st_size for path in single))
        torch.manual_seed(1)
        x = torch.randn(1, 3, 64, 64)
        torch.save(x, self.folder / "x.pt")
        expected = torch.jit.load(str(model))(x)
        span = (expected.max() - expected.min()).item()
        # What the float model has at level 3 runs at level 1, too.
        for level, folder, text in ((1, "level1", "model 2 of 3"), (2, "level2", "model 2 of 3"),
                                    (8, ".", "model 1 of 3")):
            extra = {"LD_LIBRARY_PATH": str(HOST / folder), "NNAPI_HOST_FEATURE_LEVEL": str(level),
                     "OMP_NUM_THREADS": "1"}
            done = subprocess.run([sys.executable, "-c", RUN, BINDING, package, self.folder, "x.pt"], timeout=300,
                                  env=environment(extra), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(0, done.returncode, done.stderr.decode())
            state = json.loads(done.stdout.decode().splitlines()[-1])
            self.assertTrue(state.startswith("nnapi, " + text), (level, state))
            found = torch.load(self.folder / "results.pt")[0]
            self.assertLess((found - expected).abs().max().item(), (1e-4 if level < 3 else 0.5) * span)


if __name__ == "__main__":
    unittest.main()
