# SPDX-License-Identifier: BSD-3-Clause
"""Small networks of videos, each in the manner of one of torchvision's."""

from typing import Callable, Dict, List

import torch
from torch import nn

from .common import Made, Recipe, init_weights, settle, traced
from .video_zoo import videos

FRAMES, SIZE = 6, 32


class Unit(nn.Sequential):
    def __init__(self, inputs: int, outputs: int, kernel, stride=1, activation=True):
        padding = tuple(size // 2 for size in kernel)
        layers = [nn.Conv3d(inputs, outputs, kernel, stride, padding, bias=False), nn.BatchNorm3d(outputs)]
        super().__init__(*layers, *([nn.ReLU(inplace=True)] if activation else []))


class Separate(nn.Sequential):
    """A kernel of height and width, then one of depth."""

    def __init__(self, inputs: int, outputs: int, stride=1, activation=True):
        super().__init__(
            Unit(inputs, outputs, (1, 3, 3), (1, stride, stride)),
            Unit(outputs, outputs, (3, 1, 1), (stride, 1, 1), activation),
        )


class Block(nn.Module):
    def __init__(self, first: nn.Module, second: nn.Module, shortcut: nn.Module):
        super().__init__()
        self.first, self.second, self.shortcut = first, second, shortcut

    def forward(self, video):
        result = self.second(self.first(video))
        result += self.shortcut(video)
        return torch.relu(result)


def cube_block(inputs: int, outputs: int, stride: int) -> nn.Module:
    shortcut = Unit(inputs, outputs, (1, 1, 1), stride, False) if stride > 1 else nn.Identity()
    return Block(Unit(inputs, outputs, (3, 3, 3), stride), Unit(outputs, outputs, (3, 3, 3), 1, False), shortcut)


def separate_block(inputs: int, outputs: int, stride: int) -> nn.Module:
    shortcut = Unit(inputs, outputs, (1, 1, 1), stride, False) if stride > 1 else nn.Identity()
    return Block(Separate(inputs, outputs, stride), Separate(outputs, outputs, 1, False), shortcut)


def residual_net(stem: nn.Module, block: Callable[[int, int, int], nn.Module]) -> nn.Module:
    blocks = [block(8, 8, 1), block(8, 8, 1), block(8, 12, 2), block(12, 12, 1)]
    return nn.Sequential(stem, *blocks, nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(12, 10))


class Branches(nn.Module):
    """S3D's inception block."""

    def __init__(self, inputs: int):
        super().__init__()
        self.branches = nn.ModuleList(
            [
                Unit(inputs, 6, (1, 1, 1)),
                nn.Sequential(Unit(inputs, 4, (1, 1, 1)), Separate(4, 8)),
                nn.Sequential(nn.MaxPool3d(3, 1, 1), Unit(inputs, 4, (1, 1, 1))),
            ]
        )

    def forward(self, video):
        return torch.cat([branch(video) for branch in self.branches], 1)


def joined_net() -> nn.Module:
    stem = [Unit(3, 8, (1, 7, 7), (1, 2, 2)), nn.MaxPool3d((1, 3, 3), (1, 2, 2), (0, 1, 1))]
    blocks = [Branches(8), nn.MaxPool3d(3, 2, 1), Branches(18)]
    return nn.Sequential(*stem, *blocks, nn.AvgPool3d((2, 4, 4), 1), nn.Conv3d(18, 10, 1), nn.Flatten())


def video_net(name: str, build: Callable[[], nn.Module], about: str) -> Recipe:
    def make() -> Dict[str, Made]:
        model = settle(init_weights(build()), [videos(8, FRAMES, SIZE)])
        return {f"{name}.pt": traced(model, [(row[None],) for row in videos(3, FRAMES, SIZE)])}

    return Recipe(name, [f"{name}.pt"], make, f"{about}; input 1,3,{FRAMES},{SIZE},{SIZE}")


def video_recipes() -> List[Recipe]:
    return [
        video_net("video_cubes", lambda: residual_net(Unit(3, 8, (3, 7, 7), (1, 2, 2)), cube_block), "as r3d_18"),
        video_net("video_separate", lambda: residual_net(Separate(3, 8, 1), separate_block), "as r2plus1d_18"),
        video_net("video_joined", joined_net, "as s3d"),
    ]
