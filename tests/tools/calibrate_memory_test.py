# SPDX-License-Identifier: BSD-3-Clause
"""Calibrating takes less than twice the memory of a conversion: samples and statistics go back to the system."""

import pathlib
import subprocess
import time
import unittest

import torch
import torchvision

from calibrate_models import write_png
from cli import PROGRAM, CliTest, environment

PICTURES = 100
NORMALISED = ("--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225", "--crop", "224")


class CalibrationMemory(CliTest):
    def peak_of(self, *arguments) -> int:
        """The largest memory of the command in bytes, as the system counts it until shortly before the end."""
        process = subprocess.Popen([PROGRAM, *map(str, arguments), "-q"], env=environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL)
        peak = 0
        while process.poll() is None:
            for worker in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
                try:
                    status = pathlib.Path(f"/proc/{worker}/status").read_text()
                except OSError:  # it ended
                    continue
                peak = max([peak, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))])
            time.sleep(0.005)
        self.assertEqual(0, process.returncode)
        self.assertGreater(peak, 0)
        return peak * 1024

    def test_mobilenet(self):
        torch.manual_seed(0)
        model = torchvision.models.mobilenet_v2(weights=None).eval()
        torch.jit.save(torch.jit.trace(model, torch.rand(1, 3, 224, 224)), str(self.folder / "model.pt"))
        pictures = self.folder / "pictures"
        pictures.mkdir()
        for number in range(PICTURES):
            write_png(pictures / f"{number:03}.png", torch.randint(0, 256, (224, 224, 3), dtype=torch.uint8).numpy())
        options = (self.folder / "model.pt", "--nhwc", "--input", "1,3,224,224", "-o", self.folder / "out.pt")
        plain = max(self.peak_of(*options) for _ in range(3))
        calibrating = self.peak_of(*options, "--calibrate", pictures, *NORMALISED)
        self.assertLess(calibrating, 2 * plain, f"{calibrating / 1e6:.0f} MB against {plain / 1e6:.0f} MB")


if __name__ == "__main__":
    unittest.main()
