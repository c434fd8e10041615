# SPDX-License-Identifier: BSD-3-Clause
"""What the command shows while it calibrates and verifies: shares that never fall, the time, and 100 % once, at the end."""

import os
import pty
import re
import subprocess
import unittest

import torch
from torch import nn

from calibrate_models import CalibrateTest
from cli import PROGRAM, environment


class Parts(nn.Module):
    """Three segments for NNAPI, with steps of the CPU between them."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(nn.Conv2d(3, 3, 3, padding=1) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
            x = torch.linalg.inv(torch.eye(16) * 4 + 0.01 * x)
        return self.layers[0](x)


class Progress(CalibrateTest):
    def shown(self, *arguments):
        """The shares that a terminal shows, by part."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], env=environment(), stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        text = b""
        while True:
            try:
                block = os.read(ours, 4096)
            except OSError:
                break
            if not block:
                break
            text += block
        os.close(ours)
        self.assertEqual(0, process.wait(), text.decode())
        shares = {}
        for part, share in re.findall(r"\r\x1b\[K(\w[\w ]*?) (\d+) %", text.decode()):
            shares.setdefault(part, []).append(int(share))
        return shares

    def assert_rising(self, shares):
        self.assertEqual(sorted(shares), shares)
        self.assertEqual(100, shares[-1])
        self.assertEqual(1, shares.count(100), shares)

    def test_a_whole_model(self):
        self.make_net()
        shares = self.shown(self.model, *self.spec, "--nhwc", "--calibrate", self.data, "--max-drop", "20%", "--verify", "-o",
                            self.folder / "out.pt")
        self.assert_rising(shares["quantise"])
        self.assertGreater(len(set(shares["quantise"])), 20)
        self.assert_rising(shares["verify"])

    def test_a_model_in_parts(self):
        """One share for all segments."""
        model = self.folder / "parts.pt"
        with torch.no_grad():
            torch.jit.trace(Parts().eval(), torch.rand(1, 3, 16, 16)).save(str(model))
        data = self.samples(list(torch.rand(20, 1, 3, 16, 16)), "data.pt")
        shares = self.shown(model, "--input", "1,3,16,16", "--nhwc", "--min-segment-macs", "0", "--calibrate", data, "-o",
                            self.folder / "out.pt")
        self.assertEqual(sorted(shares["quantise"]), shares["quantise"])
        self.assertGreater(len(set(shares["quantise"])), 20)

    def test_verify(self):
        self.make_net()
        out = self.convert(self.model, *self.spec, "--nhwc", out="float.pt")
        self.assertEqual({"verify": [25, 50, 75, 100]}, self.shown("verify", self.model, out))


if __name__ == "__main__":
    unittest.main()
