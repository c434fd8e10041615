# SPDX-License-Identifier: BSD-3-Clause
"""A share of what scripts/sweeps/random_sizes.py runs by hand."""

import itertools
import sys
import unittest

import torch

from cli import ROOT, CliTest

sys.path.insert(0, str(ROOT / "scripts/sweeps"))
import random_sizes  # noqa: E402
import size_models  # noqa: E402

CALLS, SEED = 5, 3
SHARE = 5  # one network of so many has a step on the CPU: each of the three kinds comes


class RandomSizes(CliTest):
    def test_each_network(self):
        """The runtimes take turns."""
        self.check(random_sizes.networks())

    def test_with_a_step_on_the_cpu(self):
        self.check(size_models.stepped()[::SHARE])

    def check(self, networks):
        torch.ops.load_library(str(random_sizes.SHIM))
        for network, runtime in zip(networks, itertools.cycle(random_sizes.RUNTIMES)):
            with self.subTest(network=network.name, runtime=runtime):
                problems, tried = random_sizes.problems_of(network, runtime, CALLS, SEED, self.folder)
                self.assertEqual([], problems)
                self.assertGreater(tried, 2)


if __name__ == "__main__":
    unittest.main()
