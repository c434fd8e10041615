# SPDX-License-Identifier: BSD-3-Clause
"""What techniques of --calibrate are for: a network that is far from float without one, and near with it. Equalisation
has its test beside the others of --calibrate."""

import unittest

import torch
from torch import nn

from calibrate_models import CalibrateTest, snr
from stock_torch import call, load

SAMPLES, JUDGED, WIDTH = 200, 100, 64


def inputs(count):
    """Features that go together, each around its own mean."""
    shared = torch.randn(4, WIDTH, generator=torch.Generator().manual_seed(1))
    generator = torch.Generator().manual_seed(2)
    return torch.randn(count, 4, generator=generator) @ shared * 0.3 + shared[:1].sign() * 2 + 0.5


class CoarseWeights(nn.Module):
    """One weight that is far larger than the others leaves them a coarse scale."""

    def __init__(self):
        super().__init__()
        self.last = nn.Linear(WIDTH, 32)
        with torch.no_grad():
            self.last.weight.normal_(0, 0.02)
            self.last.weight[0, 0] = 2

    def forward(self, x):
        return self.last(x)


class UselessOutliers(nn.Module):
    """A feature that is rarely set, then large, and read by nothing."""

    def __init__(self):
        super().__init__()
        self.last = nn.Linear(WIDTH, 10)
        with torch.no_grad():
            self.last.weight[:, 1] = 0

    def forward(self, x):
        return self.last(x)


class BothOutliers(nn.Module):
    """Beside it, results that are large where another feature is, which is as rare."""

    def __init__(self):
        super().__init__()
        self.useless, self.rare = UselessOutliers(), nn.Linear(WIDTH, 400)
        with torch.no_grad():
            self.rare.weight *= 0.01
            self.rare.weight[:, 1] = 0
            self.rare.weight[:10, 2] = 5
            self.rare.bias[:10] = -15

    def forward(self, x):
        return self.useless(x), torch.relu(self.rare(x))


class SmallAverages(nn.Module):
    """Averages of images in which few places are large: the scale that holds those is coarse for averages."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(1, 8, 1), nn.Linear(8, 10)

    def forward(self, x):
        y = torch.relu(self.first(x.view(-1, 1, 8, 8)))
        return self.last(nn.functional.adaptive_avg_pool2d(y, 1).flatten(1))


def with_large_places(samples):
    generator = torch.Generator().manual_seed(6)
    places = torch.randint(WIDTH, (len(samples),), generator=generator)
    samples[torch.arange(len(samples)), places] = 30 * torch.rand(len(samples), generator=generator)
    return samples


def with_outliers(samples):
    samples[::33, 1] = 1000
    samples[:, 2] = 0.5
    samples[1::33, 2] = 4
    return samples


class Techniques(CalibrateTest):
    def lowest_snr(self, model, samples, *without):
        """Of all outputs, on samples that the calibration hasn't seen."""
        torch.manual_seed(3)
        path = self.trace(model, samples[:4])
        data = self.samples(list(samples[:SAMPLES].unsqueeze(1)))
        options = [option for name in without for option in ("--without", name)]
        out = self.convert(path, "--input", f"1,{WIDTH}", "--calibrate", data, *options)
        first, second = load(path), load(out)
        results = [(call(first, sample), call(second, sample)) for sample in samples[SAMPLES:].unsqueeze(1)]
        outputs = [pair if isinstance(pair[0], tuple) else ((pair[0],), (pair[1],)) for pair in results]
        return min(snr(torch.cat([expected[i] for expected, _ in outputs]), torch.cat([found[i] for _, found in outputs]))
                   for i in range(len(outputs[0][0])))

    def model(self, make):
        torch.manual_seed(4)
        return make()

    def gain(self, make, samples, technique):
        """The SNR with the technique, and without it."""
        other = self.lowest_snr(self.model(make), samples, technique)
        found = self.lowest_snr(self.model(make), samples)
        return found, other

    def coarse(self):
        samples = inputs(SAMPLES + JUDGED)
        samples[:, 0] *= 0.05
        return samples

    def test_correct_bias(self):
        found, other = self.gain(CoarseWeights, self.coarse(), "correct-bias")
        self.assertGreater(found, other + 4)

    def test_search_ranges(self):
        found, other = self.gain(UselessOutliers, with_outliers(inputs(SAMPLES + JUDGED)), "search-ranges")
        self.assertLess(other, 10)
        self.assertGreater(found, 25)

    def test_refine_ranges(self):
        found, other = self.gain(BothOutliers, with_outliers(inputs(SAMPLES + JUDGED)), "refine-ranges")
        self.assertLess(other, 10)
        self.assertGreater(found, 20)

    def test_pool_layers(self):
        samples = torch.randn(SAMPLES + JUDGED, WIDTH, generator=torch.Generator().manual_seed(5))
        found, other = self.gain(SmallAverages, with_large_places(samples), "pool-layers")
        self.assertGreater(found, other + 6)


del CalibrateTest  # its tests are those of its own file

if __name__ == "__main__":
    unittest.main()
