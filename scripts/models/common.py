# SPDX-License-Identifier: BSD-3-Clause
"""Helpers for all model makers: seeds, data, weights that keep activations alive, tracing, and a check of the
result."""

import dataclasses
import os
import pathlib
import tempfile
import zlib
from typing import Callable, Dict, List, Sequence, Tuple

import torch
from torch import nn
from torch.utils.bundled_inputs import augment_model_with_bundled_inputs, bundle_large_tensor

Arguments = Tuple[torch.Tensor, ...]


@dataclasses.dataclass
class Made:
    """One file to write. `samples` are arguments of forward. Its outputs must differ between samples, except the
    outputs listed in `constant`."""

    module: torch.jit.ScriptModule
    samples: Sequence[Arguments]
    constant: Tuple[int, ...] = ()
    lite: bool = False


@dataclasses.dataclass
class Recipe:
    """Makes one or more files; `make` is called with the seed already set."""

    name: str
    files: List[str]
    make: Callable[[], Dict[str, Made]]
    about: str


def set_seed(name: str) -> None:
    torch.manual_seed(zlib.crc32(name.encode()))


def images(count: int, size: int, channels: int = 3) -> torch.Tensor:
    """Makes half white noise, half smooth pictures with colour casts: a net sees both dull and busy pictures."""
    noise = torch.randn(count, channels, size, size)
    coarse = torch.randn(count, channels, max(2, size // 8), max(2, size // 8))
    smooth = nn.functional.interpolate(coarse, size=(size, size), mode="bilinear", align_corners=False)
    cast = torch.randn(count, channels, 1, 1)
    mixed = smooth + 0.5 * cast + 0.2 * noise
    mixed[::2] = noise[::2]
    return mixed


CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d)
BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def init_weights(model: nn.Module) -> nn.Module:
    """Sets Kaiming weights, and batch norms and biases that are not neutral, so that dropping one shows. Batch norms
    lean to the positive side of relu, as in trained nets: fewer dead values, and quantisation that loses little."""
    for module in model.modules():
        if isinstance(module, (*CONVOLUTIONS, nn.Linear)):
            nn.init.kaiming_uniform_(module.weight, mode="fan_in", nonlinearity="relu")
            if module.bias is not None:
                nn.init.uniform_(module.bias, -0.2, 0.2)
        elif isinstance(module, BATCH_NORMS):
            nn.init.uniform_(module.weight, 0.8, 1.2)
            nn.init.uniform_(module.bias, -0.1, 0.8)
    return model


def settle(model: nn.Module, batches: Sequence[torch.Tensor]) -> nn.Module:
    """Gives batch norms the real statistics of seeded data, then switches to eval."""
    norms = [m for m in model.modules() if isinstance(m, BATCH_NORMS)]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # a plain average over the batches
    model.train()
    with torch.no_grad():
        for batch in batches:
            model(batch)
    return model.eval()


def standardise(model: nn.Module, batch: torch.Tensor) -> nn.Module:
    """For nets without batch norm: gives each layer's output zero mean by channel and unit variance over the batch,
    layer by layer. Without it a deep net's output hardly depends on its input."""

    def adjust(layer, inputs, output):
        axes = [axis for axis in range(output.dim()) if axis != 1]
        mean = output.mean(axes)
        scale = (output - mean.reshape([-1] + [1] * (output.dim() - 2))).std()
        layer.weight.div_(scale)
        layer.bias.sub_(mean).div_(scale)
        return layer.forward(*inputs)

    layers = [m for m in model.modules() if isinstance(m, (nn.Conv2d, nn.Linear))]
    handles = [layer.register_forward_hook(adjust) for layer in layers]
    with torch.no_grad():
        model.eval()(batch)
    for handle in handles:
        handle.remove()
    return model


def trace(model: nn.Module, *arguments: torch.Tensor, check: bool = True) -> torch.jit.ScriptModule:
    with torch.no_grad():
        return torch.jit.trace(model, arguments, check_trace=check)


def traced(model: nn.Module, samples: Sequence[Arguments], **options) -> Made:
    """Makes a file with all samples bundled: the converter can't guess their values, for example indices."""
    return Made(bundle(trace(model, *samples[0]), samples), samples, **options)


def bundle(module: torch.jit.ScriptModule, samples: Sequence[Arguments]) -> torch.jit.ScriptModule:
    augment_model_with_bundled_inputs(module, [tuple(map(bundle_large_tensor, arguments)) for arguments in samples])
    return module


def made(module: torch.jit.ScriptModule, data: torch.Tensor, **options) -> Made:
    """Makes a file whose forward takes one tensor; each row of data is a sample."""
    return Made(module, [(data[i : i + 1],) for i in range(len(data))], **options)


def flatten(value) -> List[torch.Tensor]:
    """Returns all tensors in nested tuples, lists and dicts as floats."""
    if isinstance(value, torch.Tensor):
        return [value.dequantize() if value.is_quantized else value]
    if isinstance(value, dict):
        value = value.values()
    return [tensor for item in value for tensor in flatten(item)]


def check_alive(name: str, entry: Made) -> None:
    """Checks that each output is finite, not flat, and differs between samples: else comparisons prove nothing."""
    if not entry.samples:  # of results whose sizes depend on values; the recipe has looked at them
        return
    with torch.no_grad():
        results = [flatten(entry.module(*[a.clone() for a in arguments])) for arguments in entry.samples]
    for index in set(range(len(results[0]))) - set(entry.constant):
        stacked = torch.stack([result[index].double() for result in results])
        spread = (stacked - stacked.mean(dim=0)).pow(2).mean().sqrt()
        size = stacked.pow(2).mean().sqrt()
        if not torch.isfinite(stacked).all() or not size > 1e-4 or not spread > 0.05 * size:
            raise SystemExit(f"{name}: output {index} is dead (rms {size:.3g}, over samples {spread:.3g})")


def save(entry: Made, path: pathlib.Path) -> None:
    """Writes a file beside its place and renames it: an interrupted run leaves no half file behind."""
    with tempfile.TemporaryDirectory(dir=path.parent) as aside:
        partial = os.path.join(aside, path.name)
        if entry.lite:
            entry.module._save_for_lite_interpreter(partial)
        else:
            entry.module.save(partial)
        os.replace(partial, path)


def write(recipe: Recipe, out_dir: pathlib.Path) -> None:
    torch.backends.quantized.engine = "qnnpack"
    set_seed(recipe.name)
    files = recipe.make()
    assert sorted(files) == sorted(recipe.files), f"{recipe.name} made {sorted(files)}"
    for file, entry in files.items():
        check_alive(file, entry)
        save(entry, out_dir / file)
        print(f"{out_dir / file}  {(out_dir / file).stat().st_size / 1e6:.2f} MB", flush=True)
