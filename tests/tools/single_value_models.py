# SPDX-License-Identifier: BSD-3-Clause
"""Models of [1, 3, 32, 32] with tensors of rank 0: numbers of Python, sums, extremes."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.head = nn.Conv2d(8, 4, 3, padding=1)


class Grid(Net):
    """Anchors as detectors make them: int64 and 0.5."""

    def forward(self, x):
        y = self.conv(x)
        return self.head(y) * 2 + (torch.arange(y.shape[3]) + 0.5), (y.argmax(1) + 0.5) * y[:, 0]


class Loss(Net):
    def forward(self, x):
        y = self.head(self.conv(x))
        return torch.stack([-0.5 * torch.sum(y), torch.mean(y * y) / 3, 1.5 - y.max()])


class Mixed(Net):
    """The same on the CPU, and results of it that NNAPI reads."""

    def forward(self, x):
        y = self.conv(x)
        products = torch.linalg.matrix_exp(torch.tanh(y))
        most = products.argmax(1, keepdim=True) * 2 + 0.5
        return self.head(y * most), products.mean() * 0.5 + torch.arange(2)


class Stacked(Net):
    """A result of single values beside operations that stay on the CPU."""

    def forward(self, x):
        y = self.conv(x)
        return torch.stack([y.mean(), y.max(), -y.min()]), torch.linalg.matrix_exp(torch.tanh(y))


class Coordinates(Net):
    """A channel of positions, from 0 to 1."""

    def forward(self, x):
        row = ((torch.arange(x.shape[3]) + 0.5) / x.shape[3]).expand(1, 1, 32, 32)
        y = self.conv(x)
        return self.head(torch.cat([y[:, :7], row], 1) / (y.max() + 1e-8))


class Rows(nn.Module):
    """Single values go in and out of a segment."""

    def forward(self, x):
        return torch.stack([x[1, 1], x[0, 1].relu(), (x @ x)[0, 0]])
