# SPDX-License-Identifier: BSD-3-Clause
"""A network of pictures for the tests of --emit-python and --emit-kotlin."""

import torch
from torch import nn


class Classes(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Conv2d(3, 8, 3, padding=1), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)).mean([2, 3]))
