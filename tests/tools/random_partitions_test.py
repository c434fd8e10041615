# SPDX-License-Identifier: BSD-3-Clause
"""Random graphs of operations that NNAPI has and has not, with branches, loops, changes in place, containers and what
is kept: what they convert to gives the original's results, call after call. RANDOM_PARTITIONS=COUNT[:SEED] runs more of
them, or others."""

import os
import random
import unittest

import torch

from cli import CliTest, run
from partition_test import captured_output
from random_programs import CHANNELS, SIZE, Program
from stock_torch import FLOAT_TOLERANCE, StockTorchTest, call, images, load, structure, tensors

COUNT, _, SEED = os.environ.get("RANDOM_PARTITIONS", "30").partition(":")


class RandomPartitions(CliTest, StockTorchTest):
    def test_agree(self):
        partitioned = inside = 0
        for number in range(int(COUNT)):
            seed = int(SEED or 1) * 1000003 + number
            with self.subTest(seed=seed):
                partitioned += self.check(seed)
                inside += self.calls_inside()
        self.assertGreater(partitioned, int(COUNT) // 2)
        self.assertGreater(inside, int(COUNT) // 5, "few segments in branches and loops")

    def calls_inside(self) -> bool:
        """True if a branch or loop of the last result calls a segment."""
        out = self.folder / "out.pt"
        lines = load(out).code.splitlines() if out.exists() else []
        return any(line.startswith("    ") and "segment_" in line for line in lines)

    def check(self, seed: int) -> bool:
        torch.manual_seed(seed)
        module, source = Program(seed).build()
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        out.unlink(missing_ok=True)
        module.save(str(path))
        shape = f"1,{CHANNELS},{SIZE},{SIZE}"
        layout = random.Random(seed).choice(["--nhwc", "--nchw"])
        result = run(path, "--input", shape, "--input", shape, layout, "--min-segment-macs", "0", "-o", out)
        if result.code == 1 and "can't be lowered" in result.stderr:
            return False  # nothing of what is returned is left for NNAPI
        self.assertEqual(0, result.code, f"\n{source}\n{result}")
        samples = [[scale * images(1, CHANNELS, SIZE, SIZE, seed=seed), images(1, CHANNELS, SIZE, SIZE, seed=seed + 1)]
                   for scale in (0.2, 1.5, -0.6)]
        is_partitioned = hasattr(load(out), "segment_0")
        try:
            expected, expected_lines = self.results(path, samples)
            found, found_lines = self.results(out, samples)
            for one, other in zip(expected, found):
                self.assert_equal(one, other)
            if is_partitioned:
                self.assertEqual(expected_lines, found_lines)
        except Exception as error:
            raise AssertionError(f"{error}\n{source}") from error
        return is_partitioned

    def assert_equal(self, expected, found):
        """A program may give a tensor of one number."""
        self.assertEqual(structure(expected), structure(found))
        for one, other in zip(tensors(expected), tensors(found)):
            tolerance = FLOAT_TOLERANCE * max((one.max() - one.min()).item(), 1e-2)
            self.assertLessEqual((one - other).abs().max().item(), tolerance)

    @staticmethod
    def results(path, samples):
        """Returns the results of one module, called with each sample in turn, and the lines that it prints."""
        module = load(path)
        with captured_output() as lines:
            results = [call(module, *inputs) for inputs in samples]
        return results, lines


if __name__ == "__main__":
    unittest.main()
