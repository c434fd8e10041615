# SPDX-License-Identifier: BSD-3-Clause
"""Small networks, each about one way in which sizes become other sizes. NETWORKS: a name, a module, the open sizes of its
arguments, and the least and the largest value of each."""

from typing import Callable, Dict, List, NamedTuple, Tuple

import torch
from torch import nn
from torch.nn import functional


class Applied(nn.Module):
    """A layer, and then a step of sizes."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer


class Ceil(Applied):
    def forward(self, x):
        x = functional.max_pool2d(self.layer(x), [3, 3], [2, 2], [1, 1], [1, 1], True)
        return functional.avg_pool2d(x, [2, 2], [2, 2], [0, 0], True, False)


class Averages(Applied):
    def forward(self, x):
        x = self.layer(x)
        return functional.avg_pool2d(x, 3, 1, 1) + functional.avg_pool2d(x, [3, 3], [1, 1], [1, 1], False, False)


class Whole(Applied):
    def forward(self, x):
        x = self.layer(x)
        return functional.adaptive_avg_pool2d(x, 1).flatten(1), functional.adaptive_max_pool2d(x, 1).flatten(1)


class Excited(Applied):
    def forward(self, x):
        x = self.layer(x)
        return x * torch.sigmoid(x.mean([2, 3], keepdim=True)) + x.amax([2, 3], keepdim=True)


class Larger(Applied):
    def forward(self, x):
        x = functional.interpolate(self.layer(x), scale_factor=2.0)
        return functional.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)


class Back(Applied):
    def forward(self, x):
        y = functional.max_pool2d(self.layer(x), 2)
        return functional.interpolate(y, size=[x.size(2), x.size(3)], mode="bilinear", align_corners=True)


class Shuffled(Applied):
    def forward(self, x):
        return functional.pixel_unshuffle(functional.pixel_shuffle(self.layer(x), 2), 2)


class Padded(Applied):
    def forward(self, x):
        y = functional.pad(self.layer(x), [1, 2, 0, 3])
        return y[:, :, 1:-1, 2:], functional.pad(x, [1, 1, 1, 1], mode="reflect")


class ToMultiple(Applied):
    def forward(self, x):
        x = functional.pad(x, [0, (8 - x.size(3) % 8) % 8, 0, (8 - x.size(2) % 8) % 8])
        return self.layer(x)


class Sides(Applied):
    """Sizes of one side in a computation of the other."""

    def forward(self, x):
        x = self.layer(x)
        return x * float(x.size(2)) / float(x.size(3)) + x.mean(2, keepdim=True) - x.mean(3, keepdim=True)


class Crossed(Applied):
    def forward(self, x):
        x = self.layer(x).flatten(2)
        return torch.softmax(x.transpose(1, 2) @ x * 0.1, -1)


class Normed(Applied):
    def forward(self, x):
        x = self.layer(x)
        x = (x - x.mean([2, 3], keepdim=True)) / (x.var([2, 3], unbiased=False, keepdim=True) + 1e-5).sqrt()
        return functional.layer_norm(x.permute(0, 2, 3, 1), [8])


class Grouped(Applied):
    def forward(self, x):
        return functional.group_norm(self.layer(x), 2)


class Turned(Applied):
    def forward(self, x):
        x = self.layer(x)
        return torch.flip(x, [2]), torch.cat([x, x[:, :, :1]], 2), torch.stack([x, -x], 1)


class Windows(Applied):
    def forward(self, x):
        batch, height, width = x.size(0), x.size(2), x.size(3)
        y = self.layer(x).view(batch, 8, height // 2, 2, width // 2, 2)
        return y.permute(0, 2, 4, 3, 5, 1).reshape(-1, 4, 8).sum(1)


class Steps(Applied):
    """The layer over steps stays on the CPU; layers beside it don't."""

    def __init__(self, layer, width):
        super().__init__(layer)
        self.first, self.last = nn.Linear(8, 8), nn.Linear(width, 5)

    def forward(self, x):
        return self.last(self.layer(torch.tanh(self.first(x)))[0])


class Frames(Applied):
    def forward(self, x):
        y = functional.relu(self.layer(x))
        return functional.avg_pool1d(y, 2), y.mean(2), torch.cumsum(y, 2)


class Tokens(Applied):
    def forward(self, x):
        places = torch.arange(x.size(1))
        return self.layer(x) + torch.sin(places.float() * 0.1)[None, :, None]


class Masked(Applied):
    def forward(self, x):
        y = self.layer(x)
        keep = torch.tril(torch.ones(x.size(1), x.size(1)))
        scores = (y @ y.transpose(1, 2)).masked_fill(keep[None] == 0, -10000.0)
        return torch.softmax(scores, -1) @ y


class Rotated(Applied):
    def forward(self, x):
        y = self.layer(x)
        angle = torch.arange(x.size(1)).float()[:, None] * torch.tensor([1.0, 0.1, 0.01, 0.001])[None]
        one, two = y.chunk(2, -1)
        return torch.cat([one * angle.cos() - two * angle.sin(), one * angle.sin() + two * angle.cos()], -1)


class Heads(Applied):
    """What is behind the step on the CPU begins with two open sizes."""

    def forward(self, x):
        batch, length = x.size(0), x.size(1)
        y = torch.sort(self.layer(x), -1)[0].view(batch, length, 4, 2).transpose(1, 2)
        return torch.softmax(y @ y.transpose(2, 3), -1) @ y


class Placed(Applied):
    """Numbers of rows and columns from the CPU meet a picture whose sizes were divided and rounded."""

    def forward(self, x):
        y = self.layer(x)
        ones = torch.ones(1, y.size(2), y.size(3))
        places = torch.stack([ones.cumsum(1), ones.cumsum(2)], -1) * 0.1
        tokens = y.flatten(2).transpose(1, 2)
        tokens = tokens + torch.cat([places.sin(), places.cos(), places, places], -1).flatten(1, 2)
        heads = tokens.view(-1, 1, 2, 4).permute(1, 2, 0, 3)
        return torch.softmax(heads @ heads.transpose(2, 3), -1) @ heads


class Pair(Applied):
    def forward(self, x, y):
        x = self.layer(x)
        return torch.cat([x, self.layer(y)], 1), x.mean(1, keepdim=True) + y[:, :1]


class Sorted(Applied):
    """The CPU sorts what the network gives; NNAPI goes on."""

    def forward(self, x):
        y = self.layer(x)
        return torch.relu(torch.sort(y, -1)[0]) + y * 2.0


class Kept(Applied):
    """How many elements are kept, their values tell."""

    def forward(self, x):
        y = self.layer(x)
        flat = y.flatten()
        kept = flat[torch.nonzero(flat > 0.2).squeeze(1)]
        return y * 2.0 + 1.0, torch.relu(kept * 3.0 - 0.9)


class Summed(Applied):
    """NNAPI takes no sum along an open size."""

    def forward(self, x):
        y = self.layer(x)
        return torch.sigmoid(torch.cumsum(y, -2)) * y


class Network(NamedTuple):
    name: str
    make: Callable[[], nn.Module]
    inputs: Dict[str, str]  # as --input takes them, with a letter for each open size
    sizes: Dict[str, Tuple[int, int]]  # the least and the largest of each letter
    steps: Dict[str, int] = {}  # the size is a multiple


def convolution(stride=1):
    return nn.Conv2d(3, 8, 3, stride, 1)


PICTURE, SIDES = {"x": "B,3,H,W"}, {"B": (1, 3), "H": (8, 40), "W": (8, 40)}
ROWS, LENGTHS = {"x": "B,L,8"}, {"B": (1, 3), "L": (2, 60)}

NETWORKS: List[Network] = [
    *(Network(kind.__name__, lambda kind=kind: kind(convolution()), PICTURE, SIDES)
      for kind in (Averages, Ceil, Whole, Excited, Larger, Back, Shuffled, Padded, ToMultiple, Sides, Normed, Grouped, Turned)),
    Network("Crossed", lambda: Crossed(convolution(4)), PICTURE, SIDES),
    Network("Strided", lambda: nn.Sequential(convolution(2), nn.ReLU(), nn.Conv2d(8, 8, 3, 2, 1, groups=8), nn.Conv2d(8, 4, 1)),
            {"input": "B,3,H,W"}, SIDES),
    Network("Dilated", lambda: nn.Sequential(nn.Conv2d(3, 8, 3, 1, 2, 2), nn.ConvTranspose2d(8, 4, 3, 2, 1, 1)),
            {"input": "B,3,H,W"}, SIDES),
    Network("Windows", lambda: Windows(convolution()), PICTURE, SIDES, {"H": 2, "W": 2}),
    Network("Lstm", lambda: Steps(nn.LSTM(8, 12, batch_first=True), 12), {"x": "1,L,8"}, {"L": (2, 60)}),
    Network("Gru", lambda: Steps(nn.GRU(8, 12, bidirectional=True), 24), {"x": "L,1,8"}, {"L": (2, 60)}),
    Network("Frames", lambda: Frames(nn.Conv1d(8, 6, 5, 2, 2)), {"x": "B,8,L"}, {"B": (1, 3), "L": (8, 90)}),
    Network("Rows", lambda: nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4)), {"input": "B,L,8"},
            LENGTHS),
    Network("Tokens", lambda: Tokens(nn.Embedding(50, 8)), {"x": "B,L:int64"}, LENGTHS),
    Network("Masked", lambda: Masked(nn.Linear(8, 8)), ROWS, LENGTHS),
    Network("Rotated", lambda: Rotated(nn.Linear(8, 8)), ROWS, LENGTHS),
    Network("Heads", lambda: Heads(nn.Linear(8, 8)), ROWS, LENGTHS),
    Network("Placed", lambda: Placed(nn.Conv2d(3, 8, 5, 4)), {"x": "1,3,H,W"}, {"H": (8, 60), "W": (8, 60)}),
    Network("Pair", lambda: Pair(nn.Linear(8, 8)), {"x": "1,L,8", "y": "1,M,8"}, {"L": (2, 60), "M": (2, 60)}),
]


def gives_a_tensor(network: Network) -> bool:
    torch.manual_seed(0)
    schema = torch.jit.script(network.make()).forward.schema
    return len(schema.arguments) == 2 and isinstance(schema.returns[0].type, torch._C.TensorType)


def with_step(network: Network, step) -> Network:
    """The network with one step behind it that the CPU runs."""
    return Network(f"{network.name}{step.__name__}", lambda: step(network.make()), {"x": next(iter(network.inputs.values()))},
                   network.sizes, network.steps)


def stepped() -> List[Network]:
    return [with_step(network, step) for network in NETWORKS if gives_a_tensor(network) for step in (Sorted, Kept, Summed)]
