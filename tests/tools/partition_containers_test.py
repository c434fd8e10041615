# SPDX-License-Identifier: BSD-3-Clause
"""Tensors on their way through lists, dicts and objects reach NNAPI; changes in place reach all who share them."""

import json
import unittest

import torch

from container_models import MODELS, KeepsObject, Scale
from partition_blocks_test import SAMPLES, Blocks
from stock_torch import images, load


class Containers(Blocks):
    models = MODELS

    def test_pyramid_is_whole(self):
        self.check("Pyramid")
        self.assertNotIn("partition", json.loads(self.report.read_text()))

    def test_batch_that_is_filled(self):
        """The batch changes in place: no constant may stand for it, but for the numbers beside it."""
        self.check("BatchOfImages")

    def test_taken_out_of_a_list(self):
        self.save("TakesFromList")
        partition = self.partition("--min-segment-macs", "0")
        self.assertEqual(1.0, partition["counted_mac_share"])
        for sample in SAMPLES:
            (expected, length), (found, found_length) = (load(path)(sample) for path in (self.path, self.out))
            self.assert_close(expected, found)
            self.assertEqual(length, found_length)

    def test_changes_reach_all_names(self):
        partition = self.check("ChangedInLists")
        self.assertEqual(2, len(partition["segments"]))

    def test_constants_are_new_each_time(self):
        self.save("GivesConstants")
        self.succeed(self.path, "--input", "1,4,8,8", "-o", self.out)
        converted = load(self.out)
        for _ in range(2):
            constant = converted(images(1, 4, 8, 8))[1]
            self.assertTrue(torch.equal(torch.ones(2, 3), constant))
            constant.mul_(7)


class Objects(Blocks):
    models = MODELS

    def save_script(self, model):
        torch.jit.script(model.eval()).save(str(self.path))

    def check_calls(self):
        """A state that the first call sets and the later ones read."""
        partition = self.partition("--min-segment-macs", "0")
        self.assertEqual(1, partition["mac_share"])
        for order in (SAMPLES, SAMPLES[::-1]):
            self.assert_agree(load(self.path), load(self.out), [[sample] for sample in order])

    def test_none_until_the_first_call(self):
        self.save("KeepsObject")
        self.check_calls()
        converted = load(self.out)
        self.assertIsNone(converted.state_0_scale)
        converted(SAMPLES[1])
        self.assertEqual(SAMPLES[1].abs().max().item(), converted.state_0_scale.factor)

    def test_there_from_the_start(self):
        self.save_script(KeepsObject(Scale(0.25, 3)))
        self.check_calls()

    def test_in_a_list(self):
        self.save("KeepsObjects")
        self.check_calls()


if __name__ == "__main__":
    unittest.main()
