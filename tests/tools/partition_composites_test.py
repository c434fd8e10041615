# SPDX-License-Identifier: BSD-3-Clause
"""Operators that are made of others: one that the CPU runs whole stays the operator that it is."""

import re
import unittest

import torch
import torch.nn.functional as F
from torch import nn

from scripted_model import ScriptedModelTest
from stock_torch import StockTorchTest, images, load


class Distances(nn.Module):
    """A convolution, and distances too small for a call of NNAPI."""

    def __init__(self):
        super().__init__()
        self.features = nn.Conv2d(3, 32, 3, padding=1)
        self.places = nn.Parameter(torch.randn(4, 8))

    def forward(self, picture):
        features = self.features(picture)
        rows = features[0, :4, 0, :8].nextafter(torch.zeros(()))
        shares = torch.sigmoid(rows) * 0.5
        return features, F.pairwise_distance(rows, self.places), torch.cdist(rows, self.places), torch.logit(shares)


class DistancesBetween(nn.Module):
    """A composite of layers' results: NNAPI runs it with them."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 32, 3, padding=1), nn.Conv2d(3, 32, 3, padding=1)

    def forward(self, picture):
        return F.cosine_similarity(self.first(picture), self.second(picture.nextafter(torch.zeros(()))), 1)


class Composites(ScriptedModelTest, StockTorchTest):
    models = {"Distances": Distances, "DistancesBetween": DistancesBetween}

    def convert(self, name):
        original = self.save(name)
        plan = self.succeed(self.path, "--input", "1,3,32,32", "-o", self.out, "--dump-after", "partition").stdout
        samples = [[images(1, 3, 32, 32, seed=seed)] for seed in range(3)]
        self.assert_agree(original, load(self.out), samples)
        cpu = "".join(re.findall(r"^CPU\n((?:  .*\n)*)", plan, re.MULTILINE))
        return re.findall(r"= (aten::\w+)", cpu)

    def test_whole_on_the_cpu(self):
        operators = self.convert("Distances")
        for composite in ("aten::pairwise_distance", "aten::cdist", "aten::logit"):
            self.assertEqual(1, operators.count(composite), operators)
        for part in ("aten::norm", "aten::sub", "aten::log", "aten::div"):
            self.assertNotIn(part, operators)

    def test_on_nnapi_with_its_layers(self):
        self.assertEqual(["aten::nextafter"], self.convert("DistancesBetween"))


if __name__ == "__main__":
    unittest.main()
