# SPDX-License-Identifier: BSD-3-Clause
"""What a network of the sweep is, and weights that keep its activations alive. For PyTorch 2."""

from typing import Callable, NamedTuple, Tuple

import torch
from torch import nn

ALL_KINDS = ("traced", "scripted", "exported")
SAMPLES = 6  # of which batch norms have the statistics
BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
# Classes of torchvision's blocks that add a branch to what they get.
RESIDUAL_BLOCKS = ("BasicBlock", "Bottleneck", "MBConv", "FusedMBConv", "InvertedResidual", "_InvertedResidual",
                   "ResBottleneckBlock", "ResidualBlock")
SHORTCUTS = ("downsample", "proj")  # submodules of such blocks beside the branch


class Network(NamedTuple):
    name: str
    group: str  # vision, audio or transformers
    make: Callable[[], nn.Module]
    inputs: Callable[[], Tuple[torch.Tensor, ...]]
    kinds: Tuple[str, ...] = ALL_KINDS


def enliven(model: nn.Module, inputs: Callable[[], Tuple[torch.Tensor, ...]]) -> nn.Module:
    """Replaces parameters that are the same everywhere, gives matrices the scale of their inputs, and takes the
    statistics of batch norms from the network's own activations."""
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
            fan_in = module.weight[0].numel()
            nn.init.normal_(module.weight, std=(1.5 / fan_in) ** 0.5)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.5)
    scales = {id(module.weight) for module in model.modules() if isinstance(module, (*BATCH_NORMS, nn.LayerNorm))}
    for parameter in model.parameters():
        value = parameter.flatten()[0].item()
        if id(parameter) in scales:  # some models begin with others than 1
            nn.init.uniform_(parameter, 0.7, 1.3)
        elif parameter.numel() == 1 or not bool((parameter == value).all()):
            continue
        elif value == 0:
            nn.init.normal_(parameter, std=0.1)
        elif abs(value) < 0.1:
            nn.init.uniform_(parameter, 0.3, 0.6)  # scales of layers
        else:
            nn.init.uniform_(parameter, 0.7 * value, 1.3 * value)
    weaken_branches(model)
    return settle(model.eval(), inputs)


def weaken_branches(model: nn.Module) -> None:
    """Gives the last batch norm of each residual branch a small scale, as training does. With branches as strong as
    what they are added to, each block of a random network multiplies rounding errors: of some dozen blocks, float32
    leaves no right digit."""
    for block in model.modules():
        has_shortcut = getattr(block, "use_res_connect", True) and getattr(block, "apply_residual", True)
        has_shortcut = has_shortcut and not hasattr(block, "branch1")  # ShuffleNet's joins its branches
        if type(block).__name__ not in RESIDUAL_BLOCKS or not has_shortcut:
            continue
        norms = [module for name, module in block.named_modules()
                 if isinstance(module, BATCH_NORMS) and not name.startswith(SHORTCUTS)]
        if norms:
            nn.init.uniform_(norms[-1].weight, 0.05, 0.15)


def settle(model: nn.Module, inputs: Callable[[], Tuple[torch.Tensor, ...]]) -> nn.Module:
    norms = [module for module in model.modules() if isinstance(module, BATCH_NORMS)]
    hooks = [module.register_forward_pre_hook(take_statistics) for module in norms]
    if hooks:
        with torch.no_grad():
            model(*several(inputs))
    for hook in hooks:
        hook.remove()
    return model


def several(inputs: Callable[[], Tuple[torch.Tensor, ...]]) -> Tuple[torch.Tensor, ...]:
    """A batch for each argument: the statistics of one input alone would let another one's activations explode."""
    return tuple(torch.cat(tensors) for tensors in zip(*(inputs() for _ in range(SAMPLES))))


def take_statistics(norm, inputs) -> None:
    """Means and variances of each channel, with some of the mean of all: a channel may be flat."""
    values = inputs[0]
    axes = [axis for axis in range(values.dim()) if axis != 1]
    if norm.running_mean is None or values.numel() == values.shape[1]:
        return
    norm.running_mean.copy_(values.mean(axes))
    variance = values.var(axes, unbiased=False)
    norm.running_var.copy_(variance + 0.1 * variance.mean() + 1e-3)


class Picked(nn.Module):
    """Positional tensors in, tensors out: transformers give objects with caches and None among their results."""
    def __init__(self, model: nn.Module, names: Tuple[str, ...], picked: Tuple[str, ...], options: dict):
        super().__init__()
        self.model, self.names, self.picked, self.options = model, names, picked, options

    def forward(self, *arguments):
        results = self.model(**dict(zip(self.names, arguments)), **self.options)
        values = tuple(getattr(results, name) for name in self.picked)
        return values if len(values) > 1 else values[0]
