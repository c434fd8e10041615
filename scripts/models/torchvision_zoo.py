# SPDX-License-Identifier: BSD-3-Clause
"""All of torchvision's classification and segmentation networks, traced as they come, with seeded weights that keep
their activations alive."""

from typing import Callable, Dict, List

import torch
import torchvision
from torch import nn

from .common import Made, Recipe, images, init_weights, made, settle, standardise

vision = torchvision.models

SIZES = {"inception_v3": 299}
BIG = 60e6  # parameters: fewer pictures settle the statistics of larger nets

CLASSIFIERS = [
    "alexnet",
    *(f"convnext_{size}" for size in ("tiny", "small", "base", "large")),
    *(f"densenet{depth}" for depth in (121, 161, 169, 201)),
    *(f"efficientnet_b{number}" for number in range(8)),
    *(f"efficientnet_v2_{size}" for size in "sml"),
    "googlenet",
    "inception_v3",
    "maxvit_t",
    *(f"mnasnet{width}" for width in ("0_5", "0_75", "1_0", "1_3")),
    "mobilenet_v2",
    "mobilenet_v3_large",
    "mobilenet_v3_small",
    *(f"regnet_x_{size}" for size in ("400mf", "800mf", "1_6gf", "3_2gf", "8gf", "16gf", "32gf")),
    *(f"regnet_y_{size}" for size in ("400mf", "800mf", "1_6gf", "3_2gf", "8gf", "16gf", "32gf", "128gf")),
    *(f"resnet{depth}" for depth in (18, 34, 50, 101, 152)),
    *(f"resnext{name}" for name in ("50_32x4d", "101_32x8d", "101_64x4d")),
    *(f"shufflenet_v2_x{width}" for width in ("0_5", "1_0", "1_5", "2_0")),
    "squeezenet1_0",
    "squeezenet1_1",
    *(f"swin_{size}" for size in "tsb"),
    *(f"swin_v2_{size}" for size in "tsb"),
    *(f"vgg{depth}{norm}" for depth in (11, 13, 16, 19) for norm in ("", "_bn")),
    *(f"vit_{name}" for name in ("b_16", "b_32", "l_16", "l_32", "h_14")),
    "wide_resnet50_2",
    "wide_resnet101_2",
]

SEGMENTERS = [
    "deeplabv3_mobilenet_v3_large",
    "deeplabv3_resnet50",
    "deeplabv3_resnet101",
    "fcn_resnet50",
    "fcn_resnet101",
    "lraspp_mobilenet_v3_large",
]

def build(name: str) -> nn.Module:
    options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    return vision.__dict__[name](weights=None, **options)


def build_segmenter(name: str) -> nn.Module:
    return vision.segmentation.__dict__[name](weights=None, weights_backbone=None)


def enliven(model: nn.Module, size: int) -> nn.Module:
    """Replaces weights that untrained torchvision nets have at 0, and settles the statistics of batch norms."""
    init_weights(model)
    for name, parameter in model.named_parameters():
        if "layer_scale" in name:
            nn.init.uniform_(parameter, 0.3, 0.6)
        elif name.endswith("class_token"):
            nn.init.normal_(parameter)
        elif "relative_position_bias_table" in name:
            nn.init.normal_(parameter, std=0.5)
    kinds = {type(module) for module in model.modules()}
    count = 2 if sum(p.numel() for p in model.parameters()) > BIG else 6
    if any(issubclass(kind, nn.BatchNorm2d) for kind in kinds):
        return settle(without_dropout(model), [images(count, size)])
    if nn.LayerNorm in kinds or any(issubclass(kind, nn.LayerNorm) for kind in kinds):
        return model.eval()
    return standardise(model, images(count, size))


def without_dropout(model: nn.Module) -> nn.Module:
    """Switches off dropped paths: settling runs in training mode, and the statistics would lack these paths."""
    for module in model.modules():
        if hasattr(module, "p") and isinstance(module.p, float):
            module.p = 0.0
    return model


def zoo_recipe(name: str, make_model: Callable[[str], nn.Module], prefix: str = "") -> Recipe:
    size = SIZES.get(name, 224)
    file = f"{prefix}{name}.pt"

    def make() -> Dict[str, Made]:
        data = images(2, size)
        model = enliven(make_model(name), size)
        with torch.no_grad():
            module = torch.jit.trace(model, data[:1], check_trace=False, strict=False)
        return {file: made(module, data)}

    return Recipe(prefix + name, [file], make, f"torchvision's {name}; input 1,3,{size},{size}")


def zoo_recipes() -> List[Recipe]:
    return [zoo_recipe(name, build) for name in CLASSIFIERS] + [
        zoo_recipe(name, build_segmenter, "segmentation_") for name in SEGMENTERS
    ]
