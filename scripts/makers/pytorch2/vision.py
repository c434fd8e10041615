# SPDX-License-Identifier: BSD-3-Clause
"""torchvision's networks, with small pictures where the network allows it. Without its detectors: they take lists of
pictures, can't be exported, and with random weights find too little to compare; zoo.py has them."""

from typing import Iterator, List

import torch
import torchvision

from .network import Network

vision = torchvision.models

FIXED_SIZES = {"inception_v3": 96, "vit_b_16": 224, "vit_b_32": 224, "vit_l_16": 224, "vit_l_32": 224, "vit_h_14": 224,
               "maxvit_t": 224, "alexnet": 96,
               **{f"efficientnet_v2_{size}": 128 for size in "sml"}}
SIZE = 64
VIDEO = {"mc3_18": (8, 32), "r2plus1d_18": (8, 32), "r3d_18": (8, 32), "s3d": (16, 64), "mvit_v1_b": (16, 224),
         "mvit_v2_s": (16, 224), "swin3d_t": (8, 64), "swin3d_s": (8, 64), "swin3d_b": (8, 64)}
FLOW = ("raft_small", "raft_large")


def names_of(module) -> List[str]:
    return torchvision.models.list_models(module=module)


def options_of(name: str) -> dict:
    return {"init_weights": False} if name in ("googlenet", "inception_v3") else {}


def pictures(*shape: int):
    return lambda: (torch.randn(shape),)


def build(name: str):
    return lambda: vision.get_model(name, weights=None, **options_of(name))


def build_segmenter(name: str):
    return lambda: vision.get_model(name, weights=None, weights_backbone=None)


class Flow(torch.nn.Module):
    """The last one of the flows: others are its refinements."""
    def __init__(self, name: str):
        super().__init__()
        self.model = vision.get_model(name, weights=None)

    def forward(self, first: torch.Tensor, second: torch.Tensor):
        return self.model(first, second, 2)[-1]


def networks() -> Iterator[Network]:
    for name in names_of(vision):
        size = FIXED_SIZES.get(name, SIZE)
        yield Network(name, "vision", build(name), pictures(1, 3, size, size))
    for name in names_of(vision.segmentation):
        yield Network(f"segmentation_{name}", "vision", build_segmenter(name), pictures(1, 3, SIZE, SIZE))
    for name in names_of(vision.video):
        frames, size = VIDEO[name]
        yield Network(name, "vision", build(name), pictures(1, 3, frames, size, size))
    for name in FLOW:
        yield Network(name, "vision", lambda name=name: Flow(name),
                      lambda: (torch.rand(1, 3, 128, 128) * 2 - 1, torch.rand(1, 3, 128, 128) * 2 - 1))
