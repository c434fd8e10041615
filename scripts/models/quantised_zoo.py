"""All of torchvision's quantisable networks, quantised in the two ways torch.ao has by default: one scale for a whole
weight (qnnpack), and one per output channel (fbgemm). Beside them the same networks in float."""

import copy
from typing import Dict, List

import torch
import torchvision
from torch import nn

from .common import Made, Recipe, images, made
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


def build(name: str) -> nn.Module:
    options = {"init_weights": False, "aux_logits": False} if name in ("googlenet", "inception_v3") else {}
    return torchvision.models.quantization.__dict__[name](weights=None, quantize=False, **options)


def quantised_zoo_recipe(name: str) -> Recipe:
    size = SIZES.get(name, SIZE)
    files = [f"{name}_{kind}.pt" for kind in ("float", *STYLES)]

    def make() -> Dict[str, Made]:
        data = images(4, size)
        model = enliven(build(name), size)
        count = 4 if sum(p.numel() for p in model.parameters()) > BIG else 12
        batches = [images(count, size) for _ in range(2)]
        made_files = {files[0]: made(traced_once(model, data), data)}
        model.fuse_model(is_qat=False)
        for style, configuration in STYLES.items():
            quantised = quantise(copy.deepcopy(model), batches, configuration)
            made_files[f"{name}_{style}.pt"] = made(traced_once(quantised, data), data)
        return made_files

    return Recipe(name, files, make, f"torchvision's {name}, float and quantised; input 1,3,{size},{size}")


def traced_once(model: nn.Module, data: torch.Tensor) -> torch.jit.ScriptModule:
    with torch.no_grad():
        return torch.jit.trace(model, data[:1], check_trace=False)


def quantised_zoo_recipes() -> List[Recipe]:
    return [quantised_zoo_recipe(name) for name in NETWORKS]
