# SPDX-License-Identifier: BSD-3-Clause
"""Writes networks in the forms in which PyTorch 2 saves them, with the inputs and PyTorch 2's own results."""

import json
import pathlib
import time
import warnings
import zlib
from typing import List, Optional

import torch
from torch.utils.bundled_inputs import augment_model_with_bundled_inputs, bundle_large_tensor

from .network import Network, enliven

SUFFIX = {"traced": "traced.pt", "scripted": "scripted.pt", "exported": "pt2"}
LEAST_DIFFERENCE = 1e-3  # between the results of two inputs, in parts of the range


def tensors(value) -> List[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if value is None:
        return []
    return [each for part in (value.values() if isinstance(value, dict) else value) for each in tensors(part)]


def check_is_live(network: Network, model) -> None:
    """The results of a network differ for different inputs, and within each tensor of floats."""
    with torch.no_grad():
        one, other = tensors(model(*network.inputs())), tensors(model(*network.inputs()))
    for first, second in zip(one, other):
        if not first.is_floating_point():
            continue
        spread = (first.max() - first.min()).item() if first.numel() > 1 else first.abs().item()
        assert spread > 0 and torch.isfinite(first).all(), "a result is flat or not finite"
        difference = (first - second).abs().max().item()
        assert difference > LEAST_DIFFERENCE * spread, "the results don't depend on the inputs"


def is_bundled(inputs) -> bool:
    """A script with arguments of integers (lengths, tokens) holds its example: sizes may depend on the values."""
    return not all(tensor.is_floating_point() for tensor in inputs)


def save(kind: str, model, inputs, path: pathlib.Path) -> None:
    with torch.no_grad():
        if kind == "traced":
            torch.jit.save(torch.jit.trace(model, inputs, check_trace=False, strict=False), str(path))
        elif kind == "scripted":
            script = torch.jit.script(model)
            if is_bundled(inputs):
                bundled = tuple(bundle_large_tensor(tensor) for tensor in inputs)
                augment_model_with_bundled_inputs(script, [bundled])
            torch.jit.save(script, str(path))
        else:
            torch.export.save(torch.export.export(model, inputs), str(path))


def write_kind(kind: str, model, inputs, path: pathlib.Path) -> Optional[str]:
    """Returns why PyTorch itself doesn't write this kind of file, or None."""
    try:
        save(kind, model, inputs, path)
        return None
    except Exception as error:
        path.unlink(missing_ok=True)
        lines = [line for line in str(error).strip().splitlines() if line.strip()]
        return f"{type(error).__name__}: {lines[0] if lines else ''}"[:300]


def write(network: Network, folder: pathlib.Path, most_parameters: float) -> None:
    torch.manual_seed(zlib.crc32(network.name.encode()))
    start = time.monotonic()
    model = network.make().eval()
    about = {"group": network.group, "torch": torch.__version__, "kinds": {}}
    about["bundled"] = is_bundled(network.inputs())
    about["parameters"] = sum(parameter.numel() for parameter in model.parameters())
    if about["parameters"] > most_parameters:
        print(f"{network.name}: {about['parameters'] / 1e6:.0f} million parameters, left out", flush=True)
        return
    enliven(model, network.inputs)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    check_is_live(network, model)
    inputs = network.inputs()
    with torch.no_grad():
        expected = model(*inputs)
    for kind in network.kinds:
        about["kinds"][kind] = write_kind(kind, model, inputs, folder / f"{network.name}.{SUFFIX[kind]}")
    torch.save((inputs, tensors(expected)), folder / f"{network.name}.results")
    about["inputs"] = [[list(tensor.shape), str(tensor.dtype).split(".")[-1]] for tensor in inputs]
    (folder / f"{network.name}.about.json").write_text(json.dumps(about))
    failed = {kind: error for kind, error in about["kinds"].items() if error}
    print(f"{time.monotonic() - start:5.0f} s {network.name} {failed or ''}", flush=True)


def write_all(networks: List[Network], folder: pathlib.Path, most_parameters: float) -> int:
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    failures = 0
    for network in networks:
        try:
            write(network, folder, most_parameters)
        except Exception as error:
            failures += 1
            print(f"{network.name}: can't be made: {type(error).__name__}: {str(error)[:300]}", flush=True)
    return failures
