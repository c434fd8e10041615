# SPDX-License-Identifier: BSD-3-Clause
"""Stretches inside of branches and loops go to NNAPI, and the control flow stays TorchScript."""

import itertools
import json
import unittest

from block_models import MODELS
from cli import run
from partition_test import captured_output
from scripted_model import ScriptedModelTest
from stock_torch import StockTorchTest, call, images, load

SHAPE = ("--input", "1,4,8,8", "--nhwc")
SAMPLES = [images(1, 4, 8, 8, seed=1).abs() + 0.1, 3 * images(1, 4, 8, 8, seed=2), -images(1, 4, 8, 8, seed=3).abs()]


class Blocks(ScriptedModelTest, StockTorchTest):
    models = MODELS

    def partition(self, *arguments):
        """Returns the report's part on segments; a model that NNAPI runs whole is one segment."""
        self.succeed(self.path, *SHAPE, *arguments, "--report", self.report, "-o", self.out)
        whole = {"segments": [{}], "counted_mac_share": 1.0, "cpu": []}
        return json.loads(self.report.read_text()).get("partition", whole)

    def check(self, name, least_share=1.0):
        """Runs each sample twice: the first call must not affect the second."""
        self.save(name)
        partition = self.partition("--min-segment-macs", "0")
        original, converted = load(self.path), load(self.out)
        for sample in SAMPLES:
            self.assert_agree(original, converted, 2 * [[sample]])
        self.assertGreaterEqual(partition["counted_mac_share"], least_share)
        return partition

    def segment_calls(self, *opening):
        """Calls of segments in the code below the first line that begins so."""
        lines = load(self.out).code.splitlines()
        first = next(i for i, line in enumerate(lines) if line.strip().startswith(opening))
        depth = len(lines[first]) - len(lines[first].lstrip())
        inside = itertools.takewhile(lambda line: len(line) - len(line.lstrip()) > depth, lines[first + 1:])
        return sum("segment_" in line for line in inside)


class Inside(Blocks):
    def test_loop(self):
        self.assertEqual(3, len(self.check("Rounds")["segments"]))
        self.assertGreater(self.segment_calls("while", "for"), 0)

    def test_branches_and_loops_in_each_other(self):
        self.check("Ways")
        self.assertGreater(self.segment_calls("if"), 2)

    def test_branch_that_raises(self):
        self.check("Raising")
        with self.assertRaisesRegex(Exception, "too large"):
            load(self.out)(2000 + SAMPLES[0])

    def test_sizes_that_change_are_unknown(self):
        self.check("Growing", 0)
        self.assertEqual(0, self.segment_calls("while", "for"))

    def test_worth_and_number_count_all_blocks(self):
        self.save("Ways")
        counts = []
        for number in (1, 2, 3):
            partition = self.partition("--min-segment-macs", "0", "--max-segments", str(number))
            counts.append(len(partition["segments"]))
            self.assert_agree(load(self.path), load(self.out), [[sample] for sample in SAMPLES])
        self.assertEqual([1, 2, 3], counts)
        small = run(self.path, *SHAPE, "--min-segment-macs", "1000000", "-o", self.out)
        self.assertEqual(1, small.code, small)
        self.assertIn("no segment is worth a call", small.stderr)

    def test_verified_and_inspected(self):
        self.save("Ways")
        partition = self.partition("--min-segment-macs", "0", "--verify")
        shown = json.loads(self.succeed("inspect", self.out, "--format", "json").stdout)
        self.assertEqual([part["operation_count"] for part in partition["segments"]],
                         [part["operation_count"] for part in shown["segments"]])


class Changes(Blocks):
    def test_in_place(self):
        for name in ("ViewChanged", "CarriedView", "ChangedByRounds", "Turned"):
            with self.subTest(model=name):
                self.check(name, 0.3)

    def test_filled_constants(self):
        for name in ("FilledInBranch", "FilledInLoop"):
            with self.subTest(model=name):
                self.check(name)

    def test_lists_and_dicts(self):
        for name in ("LongerList", "ListOfRounds", "DictOfRounds"):
            with self.subTest(model=name):
                self.check(name, 0.4)

    def test_list_read_backwards_by_a_loop(self):
        self.check("ReadBackwards", 0)
        self.partition("--control-flow", "nnapi", "--runtime", "shim", "--feature-level", "4", "--min-segment-macs", "0",
                       "--verify")

    def test_tensor_of_which_only_sizes_are_read_stays(self):
        partition = self.check("SizesOfRows")
        self.assertEqual(1, partition["segments"][-1]["outputs"])

    def test_order_of_effects(self):
        original = self.save("Noisy")
        self.partition("--min-segment-macs", "0")
        converted, lines = load(self.out), []
        for module in (original, converted):
            with captured_output() as printed:
                for sample in SAMPLES:
                    call(module, sample)
            lines.append(printed)
        self.assertGreater(len(lines[0]), 5)
        self.assertEqual(lines[0], lines[1])
        self.check("Noisy")


if __name__ == "__main__":
    unittest.main()
