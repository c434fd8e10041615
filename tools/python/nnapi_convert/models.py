# SPDX-License-Identifier: BSD-3-Clause
"""Writes PyTorch's objects as files that the command reads. PyTorch is never imported here: who gives one of its
objects has imported it."""

import contextlib
import os
import pathlib
import sys
import warnings
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from .errors import ConversionWarning

# How many samples of a DataLoader are taken, unless the caller says otherwise.
DEFAULT_SAMPLES = 200


class Example(NamedTuple):
    """The arguments of one call of the model: by position, and by name."""
    positional: Tuple[Any, ...]
    named: Dict[str, Any]

    @property
    def size(self) -> int:
        """How many arguments there are."""
        return len(self.positional) + len(self.named)


class Saved(NamedTuple):
    path: str
    how: str  # file, torch.export, torch.export.save, torch.jit.trace or torch.jit.save
    problem: Optional[str]  # why torch.export failed, where a trace took its place


def loaded_torch() -> Any:
    """PyTorch, if the caller has imported it, else None."""
    return sys.modules.get("torch")


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def is_tensor(value: Any) -> bool:
    torch = loaded_torch()
    return torch is not None and isinstance(value, torch.Tensor)


def read_example(example: Any) -> Optional[Example]:
    """A tensor is the one argument, a tuple or list has the arguments in order, a dict has them by name."""
    if example is None:
        return None
    if isinstance(example, dict) or hasattr(example, "keys"):
        return Example((), {str(name): example[name] for name in example.keys()})
    if isinstance(example, (tuple, list)):
        return Example(tuple(example), {})
    if is_tensor(example):
        return Example((example,), {})
    raise TypeError(f"example: {type(example).__name__} found; needed: a tensor, a tuple of arguments, or a dict of "
                    "named ones")


def specs_of(example: Example) -> List[str]:
    """What --input says of the example's tensors; nothing if an argument is anything else."""
    specs = []
    for name, value in [("", value) for value in example.positional] + list(example.named.items()):
        if not is_tensor(value) or value.is_quantized:
            return []
        sizes = ",".join(str(size) for size in value.shape) or "scalar"
        dtype = str(value.dtype).split(".")[-1]
        specs.append((f"{name}=" if name else "") + sizes + ("" if dtype == "float32" else f":{dtype}"))
    return specs


@contextlib.contextmanager
def without_fast_path(torch: Any, model: Any) -> Iterator[None]:
    """Keeps PyTorch from its fused encoder layers, which are one operator that a trace can't take apart."""
    switch = getattr(torch.backends, "mha", None)
    if switch is not None:
        before = switch.get_fastpath_enabled()
        switch.set_fastpath_enabled(False)
        try:
            with torch.no_grad():
                yield
        finally:
            switch.set_fastpath_enabled(before)
        return
    kinds = (torch.nn.TransformerEncoderLayer, torch.nn.MultiheadAttention)
    if not any(isinstance(module, kinds) for module in model.modules()):
        with torch.no_grad():
            yield
        return
    # Earlier releases have no switch: they leave the fast path where a gradient is asked for.
    frozen = [parameter for parameter in model.parameters()
              if parameter.is_floating_point() and not parameter.requires_grad]
    try:
        for parameter in frozen:
            parameter.requires_grad_(True)
        with torch.enable_grad():
            yield
    finally:
        for parameter in frozen:
            parameter.requires_grad_(False)


def check_is_for_inference(model: Any) -> None:
    """Dropout and batch norms compute otherwise in training, and nobody deploys that by intent."""
    names = [name or "the model" for name, module in model.named_modules() if module.training]
    if names:
        count = sum(1 for _ in model.modules())
        raise ValueError(f"model: {names[0]} is in training mode ({len(names)} of {count} modules are); call "
                         "model.eval() first")


def one_line(problem: BaseException) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[0] if lines else ''}"


def can_export(torch: Any) -> bool:
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    return version >= (2, 1)


def export(torch: Any, model: Any, example: Example, path: pathlib.Path) -> None:
    # A submodule that is not imported with torch in its first releases.
    __import__("torch.export")
    with without_fast_path(torch, model):
        program = torch.export.export(model, example.positional, example.named or None)
        torch.export.save(program, str(path))


def trace(torch: Any, model: Any, example: Example, path: pathlib.Path) -> None:
    options: Dict[str, Any] = {"check_trace": False, "strict": False}
    if example.named and not example.positional:
        if not can_export(torch):
            raise TypeError(f"example: arguments by name found, and PyTorch {torch.__version__} traces by position "
                            "alone; give a tuple")
        options["example_kwarg_inputs"] = example.named
    with without_fast_path(torch, model):
        torch.jit.trace(model, example.positional or None, **options).save(str(path))


def save_module(torch: Any, model: Any, example: Optional[Example], folder: pathlib.Path, exports: bool) -> Saved:
    check_is_for_inference(model)
    if example is None:
        raise TypeError("example: nothing found, and an nn.Module is recorded by a call; give the arguments of one "
                        "call, such as (torch.rand(1, 3, 224, 224),)")
    problem = None
    if exports and can_export(torch):
        path = folder / "model.pt2"
        try:
            export(torch, model, example, path)
            return Saved(str(path), "torch.export", None)
        except Exception as error:  # torch.export raises whatever the model's code meets
            problem = one_line(error)
            warnings.warn("torch.export fails, and torch.jit.trace takes its place, which records one way "
                          f"through branches: {problem}", ConversionWarning, stacklevel=5)
    path = folder / "model.pt"
    trace(torch, model, example, path)
    return Saved(str(path), "torch.jit.trace", problem)


def save_model(model: Any, example: Optional[Example], folder: pathlib.Path, exports: bool = True) -> Saved:
    """Returns a file of the model: its own path, or a file in the folder."""
    if is_path(model):
        return Saved(os.fspath(model), "file", None)
    torch = loaded_torch()
    if torch is not None:
        if isinstance(model, torch.jit.ScriptModule):
            path = folder / "model.pt"
            model.save(str(path))
            return Saved(str(path), "torch.jit.save", None)
        exported = getattr(sys.modules.get("torch.export"), "ExportedProgram", None)
        if exported is not None and isinstance(model, exported):
            path = folder / "model.pt2"
            torch.export.save(model, str(path))
            return Saved(str(path), "torch.export.save", None)
        if isinstance(model, torch.nn.Module):
            return save_module(torch, model, example, folder, exports)
    raise TypeError(f"model: {type(model).__name__} found; needed: an nn.Module, a ScriptModule, an ExportedProgram, "
                    "or the path of a .pt, .ptl or .pt2 file")


def save_inputs(inputs: Any, folder: pathlib.Path) -> str:
    """A file for --inputs: a tuple of tensors, or a list of such tuples."""
    if is_path(inputs):
        return str(os.fspath(inputs))
    torch = loaded_torch()
    if torch is None:
        raise TypeError(f"inputs: {type(inputs).__name__} found, a file or tensors needed")
    path = folder / "inputs.pt"
    value = (inputs,) if is_tensor(inputs) else tuple(inputs)
    torch.save(value, str(path))
    return str(path)


def arguments_of(batch: Any, example: Optional[Example]) -> Tuple[Tuple[Any, ...], int]:
    """The model's arguments in what a DataLoader gives, and how many values were left out, such as classes."""
    if is_tensor(batch):
        return (batch,), 0
    if isinstance(batch, dict) or hasattr(batch, "keys"):
        if example is None or not example.named:
            raise TypeError("calibrate: batches are dicts; give example as a dict, which names the model's arguments")
        missing = [name for name in example.named if name not in batch]
        if missing:
            found = ", ".join(map(str, batch.keys()))
            raise KeyError(f"calibrate: a batch lacks {missing[0]}, which example has; it has {found}")
        return tuple(batch[name] for name in example.named), len(batch) - len(example.named)
    values = tuple(batch)
    if example is None:
        if len(values) == 1:
            return values, 0
        raise TypeError(f"calibrate: batches have {len(values)} values, and it is not known how many the model takes; "
                        "give example, the arguments of one call, or batches of tensors alone")
    if len(values) < example.size:
        raise ValueError(f"calibrate: batches have {len(values)} values, and the model takes {example.size}")
    return values[:example.size], len(values) - example.size


def rows_of(example: Optional[Example]) -> int:
    """How many rows of a batch are one call of the model."""
    if example is None:
        return 1
    first = example.positional[0] if example.positional else next(iter(example.named.values()))
    return int(first.shape[0]) if is_tensor(first) and first.dim() > 0 else 1


def calls_in(arguments: Tuple[Any, ...], rows: int) -> Iterator[Tuple[Any, ...]]:
    """Cuts a batch into calls of so many rows; what is left over is too small for a call."""
    count = int(arguments[0].shape[0])
    if any(not is_tensor(value) or value.dim() == 0 or int(value.shape[0]) != count for value in arguments):
        raise ValueError("calibrate: the values of a batch need to be tensors with as many rows each")
    for start in range(0, count - rows + 1, rows):
        yield tuple(value[start:start + rows].detach().cpu().contiguous().clone() for value in arguments)


def save_samples(data: Any, example: Optional[Example], folder: pathlib.Path, most: int) -> str:
    """A value of --calibrate: a text or path as it is, else a file of the samples that a DataLoader, tensors or tuples
    of tensors are."""
    if is_path(data):
        return str(os.fspath(data))
    torch = loaded_torch()
    if torch is None:
        raise TypeError(f"calibrate: {type(data).__name__} found; needed: a folder, a file, tensors or a DataLoader")
    rows = rows_of(example)
    samples: List[Any] = []
    left_out = 0
    for batch in [data] if is_tensor(data) else data:
        arguments, left_out = arguments_of(batch, example)
        for call in calls_in(arguments, rows):
            samples.append(call[0] if len(call) == 1 else call)
            if len(samples) == most:
                break
        if len(samples) == most:
            break
    if not samples:
        raise ValueError(f"calibrate: no sample found: a call of the model takes {rows} rows, and no batch has as many")
    if left_out:
        warnings.warn(f"calibrate: batches have {left_out} more values than the model has arguments; the first values "
                      "are taken, and the others (classes?) are left out", ConversionWarning, stacklevel=5)
    path = folder / "samples.pt"
    torch.save(samples, str(path))
    return str(path)
