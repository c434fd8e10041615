# SPDX-License-Identifier: BSD-3-Clause
"""torchvision's networks of videos and of optical flow, traced, and the former scripted too, with seeded weights that
keep their activations alive. Sizes are small where the network takes any; the multiscale transformers are built for
them."""

from typing import Dict, List, Tuple
from unittest import mock

import torch
import torchvision
from torch import nn
from torchvision.models.video import mvit

from .common import Made, Recipe, made, settle
from .torchvision_zoo import without_dropout

SIZES = {  # frames, height and width
    "mc3_18": (8, 64),
    "mvit_v1_b": (8, 64),
    "mvit_v2_s": (8, 64),
    "r2plus1d_18": (8, 64),
    "r3d_18": (8, 64),
    "s3d": (16, 224),  # its last pool is 7 by 7
}
FORMS = ("traced", "scripted")
FLOWS = ("raft_large", "raft_small")
FLOW_SIZE = 128
FLOW_UPDATES = 2


def videos(count: int, frames: int, size: int) -> torch.Tensor:
    noise = torch.randn(count, 3, frames, size, size)
    coarse = torch.randn(count, 3, max(2, frames // 4), max(2, size // 8), max(2, size // 8))
    smooth = nn.functional.interpolate(coarse, size=(frames, size, size), mode="trilinear", align_corners=False)
    return smooth + 0.5 * torch.randn(count, 3, 1, 1, 1) + 0.2 * noise


def build(name: str, frames: int, size: int) -> nn.Module:
    """Makes a transformer of another size: torchvision fixes the size in its builders."""
    made_by = mvit._mvit
    sizes = {"spatial_size": (size, size), "temporal_size": frames}
    with mock.patch.object(mvit, "_mvit", lambda **options: made_by(**{**options, **sizes})):
        return torchvision.models.video.__dict__[name](weights=None)


def enliven(model: nn.Module, data: torch.Tensor) -> nn.Module:
    for module in model.modules():
        if isinstance(module, nn.BatchNorm3d):
            nn.init.uniform_(module.weight, 0.8, 1.2)
            nn.init.uniform_(module.bias, -0.1, 0.8)
    for name, parameter in model.named_parameters():
        if "pos_encoding" in name or "rel_pos" in name:
            nn.init.normal_(parameter, std=0.3)
    if any(isinstance(module, nn.BatchNorm3d) for module in model.modules()):
        return settle(without_dropout(model), [data])
    return model.eval()


def write_form(model: nn.Module, form: str, *arguments: torch.Tensor) -> torch.jit.ScriptModule:
    with torch.no_grad():
        if form == "scripted":
            return torch.jit.script(model)
        return torch.jit.trace(model, arguments, check_trace=False)


def video_recipe(name: str) -> Recipe:
    frames, size = SIZES[name]
    files = [f"{name}_{form}.pt" for form in FORMS]

    def make() -> Dict[str, Made]:
        data = videos(2, frames, size)
        model = enliven(build(name, frames, size), data)
        return {file: made(write_form(model, form, data[:1]), data) for file, form in zip(files, FORMS)}

    return Recipe(name, files, make, f"torchvision's {name}; input 1,3,{frames},{size},{size}")


class LastFlow(nn.Module):
    """Returns the flow after a fixed number of updates."""

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network

    def forward(self, first, second):
        return self.network(first, second, num_flow_updates=FLOW_UPDATES)[-1]


def pair_of_images() -> Tuple[torch.Tensor, torch.Tensor]:
    first = videos(1, 1, FLOW_SIZE)[:, :, 0].clamp(-1, 1)
    return first, (0.9 * first.roll((2, 3), (2, 3)) + 0.1 * torch.randn_like(first)).clamp(-1, 1)


def flow_recipe(name: str) -> Recipe:
    def make() -> Dict[str, Made]:
        model = LastFlow(torchvision.models.optical_flow.__dict__[name](weights=None)).eval()
        samples = [pair_of_images() for _ in range(2)]
        return {f"{name}_traced.pt": Made(write_form(model, "traced", *samples[0]), samples)}

    shape = f"1,3,{FLOW_SIZE},{FLOW_SIZE}"
    return Recipe(name, [f"{name}_traced.pt"], make,
                  f"torchvision's {name}, {FLOW_UPDATES} updates; input {shape} {shape}")


def video_zoo_recipes() -> List[Recipe]:
    return [video_recipe(name) for name in SIZES]


def flow_zoo_recipes() -> List[Recipe]:
    return [flow_recipe(name) for name in FLOWS]
