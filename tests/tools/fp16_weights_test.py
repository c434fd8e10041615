# SPDX-License-Identifier: BSD-3-Clause
"""--fp16-weights: files of half the size, whose models compute in float32 with rounded weights."""

import copy
import os
import unittest

import torch
from torch import nn

from mobile_models import seeded
from stock_torch import call, images, load, load_lite
from stored_weights import RUNTIMES, StoredWeightsTest


def net():
    return nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(256, 300), nn.ReLU(), nn.Linear(300, 10))


def rounded(module):
    """The module with its weights and biases of more than 64 numbers rounded to float16."""
    module = copy.deepcopy(module)
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.numel() > 64:
                parameter.copy_(parameter.half().float())
    return module


class Float16Weights(StoredWeightsTest):
    def test_half_the_size_and_the_rounded_weights(self):
        module = seeded(net)
        path = self.save(module)
        for runtime in RUNTIMES:
            whole, _ = self.converted(path, "--runtime", runtime, "--fallback", "none")
            half, result = self.converted(path, "--runtime", runtime, "--fallback", "none", "--fp16-weights", "--verify",
                                          name="half.pt")
            self.assertIn("max error at most 0.01 of the output's range", result.stdout)
            self.assertEqual("", result.stderr)
            weights = 2 * sum(each.numel() for each in module.parameters())
            self.assertAlmostEqual(os.path.getsize(whole) - os.path.getsize(half), weights, delta=0.05 * weights)
            loaded = load(half)
            for seed in range(3):
                x = images(2, 3, 16, 16, seed=seed)
                found = call(loaded, x)
                self.assert_close(call(rounded(module), x), found)
                self.assertEqual(torch.float32, found.dtype)
            error = (call(module, x) - found).abs().max() / found.std()
            self.assertTrue(1e-5 < error < 1e-2, error)

    def test_lite_interpreter_and_flexible_sizes(self):
        module = seeded(net)
        path = self.save(module)
        for runtime in RUNTIMES:
            out, _ = self.converted(path, "--runtime", runtime, "--fp16-weights", name="out.ptl", sizes="?,3,16,16")
            for rows in (1, 3):
                loaded = load_lite(out)
                for _ in range(2):
                    x = images(rows, 3, 16, 16)
                    self.assert_close(call(rounded(module), x), call(loaded, x))

    def test_saved_again(self):
        """A module that has run is saved and loaded again."""
        module = seeded(net)
        out, _ = self.converted(self.save(module), "--fp16-weights")
        loaded = load(out)
        call(loaded, images(2, 3, 16, 16))
        clone = self.folder / "again.pt"
        loaded.comp = None
        torch.jit.save(loaded, str(clone))
        x = images(2, 3, 16, 16, seed=4)
        self.assert_close(call(rounded(module), x), call(load(clone), x))

    def test_partitioned(self):
        class Mixed(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.last = seeded(net), seeded(lambda: nn.Linear(10, 100))

            def forward(self, x):
                return self.last(torch.cumprod(self.first(x), 1))

        module = Mixed()
        for runtime in RUNTIMES:
            out, _ = self.converted(self.save(module), "--fp16-weights", "--verify", "--runtime", runtime,
                                    "--min-segment-macs", "0")
            x = images(2, 3, 16, 16)
            self.assert_close(call(rounded(module), x), call(load(out), x), 1e-3)

    def test_weights_that_float16_has_not(self):
        module = seeded(net)
        with torch.no_grad():
            module[6].weight[3, 5] = 1e5
            module[8].weight.mul_(1e-6)
            module[8].bias.mul_(1e-6)
        out, result = self.converted(self.save(module), "--fp16-weights", "--verify")
        self.assertIn("--fp16-weights: 2 of ", result.stderr)
        self.assertIn("weights stay float32: float16 has no numbers of their size", result.stderr)
        x = images(2, 3, 16, 16)
        expected, found = call(module, x), call(load(out), x)
        self.assertLess((expected - found).abs().max() / (expected.max() - expected.min()), 1e-2)

    def test_nothing_to_round(self):
        out, result = self.converted(self.save(nn.ReLU()), "--fp16-weights", "--min-segment-macs", "0")
        self.assertIn("--fp16-weights: no weight of NNAPI's part is float32 and large enough", result.stderr)

    def test_per_op(self):
        path = self.save(seeded(net))
        for runtime in RUNTIMES:
            out, _ = self.converted(path, "--runtime", runtime, "--fp16-weights")
            self.succeed("verify", path, out, "--per-op")
            self.succeed("inspect", out)


if __name__ == "__main__":
    unittest.main()
