# SPDX-License-Identifier: BSD-3-Clause
"""Open sizes in LiteRT's files: the file computes what depends on them, and runs at each size."""

import unittest

import torch
from torch import nn
from torch.nn import functional

import litert
from cli import CliTest


class Skipping(nn.Module):
    """A resize by a transposed convolution, and a concatenation with what it came from."""

    def __init__(self):
        super().__init__()
        self.first, self.down = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.up, self.last = nn.ConvTranspose2d(16, 8, 2, stride=2), nn.Conv2d(16, 2, 1)

    def forward(self, x):
        first = functional.relu(self.first(x))
        return self.last(torch.cat([first, self.up(functional.relu(self.down(first)))], 1))


class Resizing(nn.Module):
    """Transposed convolutions whose sums are cut, a padded pool, resizes to sizes that are computed, a slice."""

    def __init__(self):
        super().__init__()
        self.first, self.up = nn.Conv2d(3, 8, 3, 2, 1), nn.ConvTranspose2d(8, 8, 4, 2, 1)
        self.wider, self.last = nn.ConvTranspose2d(8, 4, 3, 2, 1, output_padding=1), nn.Conv2d(4, 4, 1)
        self.pool = nn.MaxPool2d(3, 2, 1)

    def forward(self, x):
        y = self.wider(self.pool(self.up(functional.relu(self.first(x)))))
        y = functional.interpolate(self.last(functional.channel_shuffle(y, 2)), scale_factor=2.0)
        y = functional.interpolate(y, size=[x.size(2) // 4, x.size(3) // 4], mode="bilinear", align_corners=False)
        return torch.where(y > 0, y, y * 0.5)[:, :, 1:-1]


class Heads(nn.Module):
    """Attention over a batch and a length that are both open."""

    def __init__(self):
        super().__init__()
        self.table, self.parts, self.last = nn.Embedding(100, 32), nn.Linear(32, 96), nn.Linear(32, 9)

    def forward(self, x):
        batch, length = x.size(0), x.size(1)
        y = self.table(x)
        query, key, value = self.parts(y).view(batch, length, 3, 4, 8).permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(query @ key.transpose(-1, -2) / 3.0, -1)
        return self.last((weights @ value).transpose(1, 2).reshape(batch, length, 32) + y)


class Frames(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.last = nn.Conv1d(40, 16, 5, padding=2), nn.Linear(16, 7)

    def forward(self, x):
        return torch.softmax(self.last(functional.relu(self.layer(x)).transpose(1, 2)), -1)


NETWORKS = [(Skipping, "?,3,?,?", ["1,3,16,16", "2,3,24,32", "3,3,64,8"]),
            (Resizing, "?,3,?,?", ["1,3,32,32", "2,3,48,64", "1,3,64,40"]),
            (Heads, "?,?:int64", ["1,7", "3,20", "2,33"]),
            (Frames, "?,40,?", ["1,40,9", "3,40,100", "2,40,33"])]


@unittest.skipIf(litert.missing(), litert.missing())
class LitertSizes(CliTest):
    def test_all_sizes(self):
        for network, spec, sizes in NETWORKS:
            torch.manual_seed(0)
            model, out = self.folder / "model.pt", self.folder / "out.tflite"
            torch.jit.script(network().eval()).save(str(model))
            said = self.succeed(model, "--input", spec, "--litert", out, "--verify")
            self.assertIn("passed", said.stdout)
            for each in sizes:
                with self.subTest(network=network.__name__, sizes=each):
                    self.succeed("verify", model, out, "--input", each)

    def test_a_method_beside_forward(self):
        """The runtime for open sizes knows the first signature alone: the message says so."""
        class Coder(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Conv2d(3, 4, 1)

            def forward(self, x):
                return self.layer(x)

            @torch.jit.export
            def decode(self, y):
                return torch.relu(y)

        model, out = self.folder / "model.pt", self.folder / "out.tflite"
        torch.jit.script(Coder().eval()).save(str(model))
        self.succeed(model, "--method", "forward", "--method", "decode", "--input", "x=1,3,?,?", "--input", "y=1,4,?,?",
                     "--litert", out)
        self.fail_with(3, "verify", model, out, "--method", "decode", needed=["decode has open sizes", "--input"])


if __name__ == "__main__":
    unittest.main()
