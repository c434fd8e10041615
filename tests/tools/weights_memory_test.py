# SPDX-License-Identifier: BSD-3-Clause
"""A weight is in memory by pieces, whatever its size: the peak of a conversion doesn't grow with the weights."""

import subprocess
import sys
import unittest

import torch
from torch import nn

from cli import PROGRAM, CliTest, environment

MEGABYTE = 1 << 20
MOST_GROWTH = 24 * MEGABYTE
# Linux counts the memory of the process that starts a command as the command's. So a small one starts it.
MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


class Net(nn.Module):
    """With --nhwc the linear layer's columns move."""

    def __init__(self, results):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.linear = nn.Linear(16 * 32 * 32, results)

    def forward(self, x):
        return self.linear(torch.flatten(torch.relu(self.conv(x)), 1))


class PeakMemory(CliTest):
    def peak(self, results, *options):
        """Returns the largest resident memory of a conversion, in bytes."""
        model = self.folder / f"model_{results}.pt"
        if not model.exists():
            torch.jit.trace(Net(results).eval(), torch.rand(1, 3, 32, 32), check_trace=False).save(str(model))
        command = [PROGRAM, str(model), "--input", "1,3,32,32", *options, "-q", "-o", str(self.folder / "out.pt")]
        done = subprocess.run([sys.executable, "-c", MEASURE, *command], env=environment(), stdout=subprocess.PIPE,
                              check=True, timeout=120)
        return int(done.stdout)

    def test_a_weight_of_128_megabytes(self):
        # The self-check's samples run the model, so all of its weights are in memory then.
        for options in (["--nchw"], ["--nhwc"], ["--nhwc", "--runtime", "shim", "--no-self-check"]):
            with self.subTest(options=options):
                growth = self.peak(2048, *options) - self.peak(2, *options)
                self.assertLess(growth, MOST_GROWTH, f"{growth / MEGABYTE:.0f} MB more")


if __name__ == "__main__":
    unittest.main()
