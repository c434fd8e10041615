# SPDX-License-Identifier: BSD-3-Clause
"""A share of what scripts/random_sizes.py runs by hand."""

import itertools
import sys
import unittest

import torch

from cli import ROOT, CliTest

sys.path.insert(0, str(ROOT / "scripts"))
import random_sizes  # noqa: E402

CALLS, SEED = 5, 3


class RandomSizes(CliTest):
    def test_each_network(self):
        """The runtimes take turns."""
        torch.ops.load_library(str(random_sizes.SHIM))
        for network, runtime in zip(random_sizes.networks(), itertools.cycle(random_sizes.RUNTIMES)):
            with self.subTest(network=network.name, runtime=runtime):
                problems, tried = random_sizes.problems_of(network, runtime, CALLS, SEED, self.folder)
                self.assertEqual([], problems)
                self.assertGreater(tried, 2)


if __name__ == "__main__":
    unittest.main()
