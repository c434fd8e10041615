# SPDX-License-Identifier: BSD-3-Clause
"""All of torchvision's quantisable networks, quantised in the two ways torch.ao has by default: one scale for a whole
weight (qnnpack), and one per output channel (fbgemm). Beside them the same networks in float."""

import copy
from typing import Dict, List

import torch
import torchvision
from torch import nn

from .common import BATCH_NORMS, Made, Recipe, images, made, settle
from .quantised import quantise
from .torchvision_zoo import BIG, enliven

NETWORKS = [
    "googlenet",
    "inception_v3",
    "mobilenet_v2",
    "mobilenet_v3_large",
    "resnet18",
    "resnet50",
    "resnext101_32x8d",
    "resnext101_64x4d",
    *(f"shufflenet_v2_x{width}" for width in ("0_5", "1_0", "1_5", "2_0")),
]
SIZES = {"inception_v3": 96}
SIZE = 64
STYLES = {"per_tensor": "qnnpack", "per_channel": "fbgemm"}
DEAD = 0.1  # share of channels


def build(name: str) -> nn.Module:
    options = {"init_weights": False, "aux_logits": False} if name in ("googlenet", "inception_v3") else {}
    return torchvision.models.quantization.__dict__[name](weights=None, quantize=False, **options)


def with_dead_channels(model: nn.Module, size: int) -> nn.Module:
    """Trained networks have channels that a relu never lets through. Folding the statistics of such a channel makes the
    weights of the depthwise convolution behind it hundreds of times larger than the others."""
    for norm in model.modules():
        if isinstance(norm, BATCH_NORMS):
            dead = torch.rand(norm.num_features) < DEAD
            norm.weight.data[dead] *= 0.01
            norm.bias.data[dead] = -1
    return settle(model, [images(6, size)])


def quantised_zoo_recipe(name: str, has_dead_channels: bool = False) -> Recipe:
    network, size = name, SIZES.get(name, SIZE)
    styles = STYLES
    if has_dead_channels:  # one scale for a whole weight leaves nothing of such a network
        name, styles = f"{name}_dead_channels", {"per_channel": STYLES["per_channel"]}
    files = [f"{name}_{kind}.pt" for kind in ("float", *styles)]

    def make() -> Dict[str, Made]:
        data = images(4, size)
        model = enliven(build(network), size)
        if has_dead_channels:
            with_dead_channels(model, size)
        count = 4 if sum(p.numel() for p in model.parameters()) > BIG else 12
        batches = [images(count, size) for _ in range(2)]
        made_files = {files[0]: made(traced_once(model, data), data)}
        model.fuse_model(is_qat=False)
        for style, configuration in styles.items():
            quantised = quantise(copy.deepcopy(model), batches, configuration)
            made_files[f"{name}_{style}.pt"] = made(traced_once(quantised, data), data)
        return made_files

    return Recipe(name, files, make, f"torchvision's {network}, float and quantised; input 1,3,{size},{size}")


def traced_once(model: nn.Module, data: torch.Tensor) -> torch.jit.ScriptModule:
    with torch.no_grad():
        return torch.jit.trace(model, data[:1], check_trace=False)


def quantised_zoo_recipes() -> List[Recipe]:
    dead = [quantised_zoo_recipe("mobilenet_v2", has_dead_channels=True)]
    return [quantised_zoo_recipe(name) for name in NETWORKS] + dead
