# SPDX-License-Identifier: BSD-3-Clause
"""The small networks that bench/quantise.py quantises, trained here on Debian's dataset-fashion-mnist."""

import gzip
import pathlib
from typing import Callable, Dict, NamedTuple

import numpy
import torch
from torch import nn
from torch.nn import functional

DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
MEAN, STD = 0.286, 0.353  # of the pictures for training
BATCH = 64


class Pictures(NamedTuple):
    images: torch.Tensor  # float32[n, 1, 28, 28], normalised
    labels: torch.Tensor


def read_pictures(part: str) -> Pictures:
    """Reads "train" (60,000 pictures) or "t10k" (10,000)."""
    if not DATA.exists():
        raise SystemExit(f"{DATA} is missing: apt-get install dataset-fashion-mnist")

    def numbers(kind: str, header: int) -> numpy.ndarray:
        packed = (DATA / f"{part}-{kind}-ubyte.gz").read_bytes()
        return numpy.frombuffer(gzip.decompress(packed), numpy.uint8, -1, header)

    pixels, labels = numbers("images-idx3", 16), numbers("labels-idx1", 8)
    images = torch.from_numpy(pixels.copy()).view(-1, 1, 28, 28).float().div(255).sub(MEAN).div(STD)
    return Pictures(images, torch.from_numpy(labels.copy()).long())


def conv_norm(inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False),
                         nn.BatchNorm2d(outputs))


class Plain(nn.Module):
    """Convolutions with biases, pools, and two fully connected layers."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 49, 64),
            nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x):
        return self.layers(x)


class InvertedResidual(nn.Module):
    """MobileNetV2's block."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        hidden = inputs * 4
        self.expand = conv_norm(inputs, hidden, 1)
        self.depthwise = conv_norm(hidden, hidden, 3, stride, hidden)
        self.project = conv_norm(hidden, outputs, 1)
        self.adds = inputs == outputs and stride == 1

    def forward(self, x):
        y = torch.relu(self.expand(x))
        y = torch.relu(self.depthwise(y))
        y = self.project(y)
        return x + y if self.adds else y


class Depthwise(nn.Module):
    """Inverted residuals."""

    def __init__(self):
        super().__init__()
        self.first = conv_norm(1, 16, 3, 2)
        sizes = ((16, 16, 1), (16, 24, 2), (24, 24, 1))
        self.blocks = nn.Sequential(*(InvertedResidual(*size) for size in sizes))
        self.last = nn.Linear(24, 10)

    def forward(self, x):
        return self.last(self.blocks(torch.relu(self.first(x))).mean((2, 3)))


def spread_channels(model: nn.Module) -> None:
    """Gives the channels of batch norms sizes that differ by 100 and more, as those of MobileNets do. The depthwise
    convolution takes the factor out again, so that the network computes the same."""
    generator = torch.Generator().manual_seed(1)
    for block in model.modules():
        if not isinstance(block, InvertedResidual):
            continue
        expand, depthwise = block.expand[1], block.depthwise[1]
        factors = torch.pow(10.0, torch.rand(expand.num_features, generator=generator) * 2.5 - 1.25)
        with torch.no_grad():
            expand.weight *= factors
            expand.bias *= factors
            depthwise.running_mean *= factors
            depthwise.running_var.copy_((depthwise.running_var + depthwise.eps) * factors.square() - depthwise.eps)


class Squeeze(nn.Module):
    """MobileNetV3's block: squeeze and excitation, and hardswish."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        hidden = inputs * 4
        self.expand = conv_norm(inputs, hidden, 1)
        self.depthwise = conv_norm(hidden, hidden, 3, stride, hidden)
        self.squeeze, self.excite = nn.Conv2d(hidden, hidden // 4, 1), nn.Conv2d(hidden // 4, hidden, 1)
        self.project = conv_norm(hidden, outputs, 1)
        self.act, self.gate, self.pool, self.relu = nn.Hardswish(), nn.Hardsigmoid(), nn.AdaptiveAvgPool2d(1), nn.ReLU()
        self.adds = inputs == outputs and stride == 1

    def forward(self, x):
        y = self.act(self.depthwise(self.act(self.expand(x))))
        y = y * self.gate(self.excite(self.relu(self.squeeze(self.pool(y)))))
        y = self.project(y)
        return x + y if self.adds else y


class SqueezeExcite(nn.Module):
    """A small MobileNetV3."""

    def __init__(self):
        super().__init__()
        self.first, self.act = conv_norm(1, 16, 3, 2), nn.Hardswish()
        self.blocks = nn.Sequential(Squeeze(16, 16, 1), Squeeze(16, 24, 2), Squeeze(24, 24, 1))
        self.wide, self.last = nn.Linear(24, 64), nn.Linear(64, 10)

    def forward(self, x):
        y = self.blocks(self.act(self.first(x))).mean((2, 3))
        return self.last(self.act(self.wide(y)))


class Attention(nn.Module):
    """A transformer's block."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads  # of 16 values each
        self.first_norm, self.second_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.project = nn.Linear(width, width)
        self.up, self.act, self.down = nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        self.softmax = nn.Softmax(-1)

    def split(self, x):
        return x.view(-1, 49, self.heads, 16).transpose(1, 2)

    def forward(self, x):
        y = self.first_norm(x)
        scores = torch.matmul(self.split(self.query(y)), self.split(self.key(y)).transpose(2, 3)) * 0.25
        y = torch.matmul(self.softmax(scores), self.split(self.value(y)))
        x = x + self.project(y.transpose(1, 2).flatten(2))
        return x + self.down(self.act(self.up(self.second_norm(x))))


class VisionTransformer(nn.Module):
    """A small ViT: patches of 4x4 pixels, 49 of them."""

    def __init__(self, width: int = 32, heads: int = 2):
        super().__init__()
        self.patches = nn.Conv2d(1, width, 4, 4)
        self.positions = nn.Parameter(torch.randn(1, 49, width) * 0.1)
        self.blocks = nn.Sequential(*(Attention(width, heads) for _ in range(2)))
        self.norm, self.last = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2) + self.positions
        return self.last(self.norm(self.blocks(x)).mean(1))


class Network(NamedTuple):
    make: Callable[[], nn.Module]
    title: str
    pictures: int  # for training, in an epoch
    epochs: int
    spreads: bool = False


NETWORKS: Dict[str, Network] = {
    "plain": Network(Plain, "plain CNN", 12000, 3),
    "depthwise": Network(Depthwise, "depthwise, channels spread", 12000, 3, spreads=True),
    "squeeze": Network(SqueezeExcite, "squeeze and excitation, hardswish", 12000, 3),
    "vit": Network(VisionTransformer, "small ViT", 12000, 3),
}


def train(network: Network, train_data: Pictures) -> nn.Module:
    """Trains with a fixed seed; the same weights come out on the same machine each time."""
    torch.manual_seed(0)
    model = network.make().train()
    steps = network.epochs * (network.pictures // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), 4e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, steps)
    for _ in range(network.epochs):
        for rows in torch.randperm(len(train_data.labels))[:network.pictures].split(BATCH):
            if len(rows) < BATCH:
                continue
            optimizer.zero_grad()
            functional.cross_entropy(model(train_data.images[rows]), train_data.labels[rows]).backward()
            optimizer.step()
            schedule.step()
    model.eval()
    if network.spreads:
        spread_channels(model)
    return model


def trained(name: str, folder: pathlib.Path, train_data: Pictures) -> nn.Module:
    """The weights come from the folder where they are already."""
    weights = folder / f"{name}.weights"
    model = NETWORKS[name].make().eval()
    if not weights.exists():
        torch.save(train(NETWORKS[name], train_data).state_dict(), str(weights))
    model.load_state_dict(torch.load(str(weights)))
    return model


def results_of(model: Callable[[torch.Tensor], torch.Tensor], images: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return torch.cat([model(image) for image in images.split(1)])


def accuracy(results: torch.Tensor, labels: torch.Tensor) -> float:
    return (results.argmax(1) == labels).double().mean().item()
