# SPDX-License-Identifier: BSD-3-Clause
"""Static quantisation by torch.ao, and the interfaces that quantised models are traced with."""

import copy
from typing import Dict, Sequence

import torch
from torch import nn
from torch.ao import quantization

from .common import Made, bundle, made, trace


def quantise(model: nn.Module, batches: Sequence[torch.Tensor], style: str = "qnnpack") -> nn.Module:
    """Quantises a fused, quantisable model in eval mode. `style` names torch.ao's default configuration:
    qnnpack has per-tensor weights, fbgemm per-channel ones."""
    model.qconfig = quantization.get_default_qconfig(style)
    quantization.prepare(model, inplace=True)
    with torch.no_grad():
        for batch in batches:
            model(batch)
    return quantization.convert(model, inplace=True)


def quantised_core(model: nn.Module) -> nn.Module:
    """The model between its boundary steps: takes and gives quint8."""
    core = copy.deepcopy(model)
    core.quant = nn.Identity()
    core.dequant = nn.Identity()
    return core


def quantised_files(
    prefix: str, float_model: nn.Module, quantised_model: nn.Module, data: torch.Tensor
) -> Dict[str, Made]:
    """The float twin and four ways to hand over one quantised model: float or quint8 interface, with bundled inputs
    or without."""
    example = data[:1]
    codes = quantised_model.quant(data)
    core = quantised_core(quantised_model)
    bundled_data, bundled_codes = [(example,)], [(codes[:1].contiguous(),)]
    return {
        f"{prefix}_float.pt": made(trace(float_model, example), data),
        f"{prefix}.pt": made(bundle(trace(quantised_model, example), bundled_data), data),
        f"{prefix}_unbundled.pt": made(trace(quantised_model, example), data),
        f"{prefix}_quint8.pt": made(trace(core, codes[:1]), codes),
        f"{prefix}_quint8_bundled.pt": made(bundle(trace(core, codes[:1]), bundled_codes), codes),
    }


def quantised_names(prefix: str) -> Sequence[str]:
    suffixes = ["_float", "", "_unbundled", "_quint8", "_quint8_bundled"]
    return [f"{prefix}{suffix}.pt" for suffix in suffixes]
