# SPDX-License-Identifier: BSD-3-Clause
"""The samples of PyTorch's own database of operators and modules, each as a module whose tensors are the arguments of
forward: `torch.testing._internal.common_methods_invocations.op_db` and `common_modules.module_db`."""

import dataclasses
import sys
import types
import unittest
import warnings
import zlib
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

warnings.filterwarnings("ignore")


def import_expecttest() -> None:
    """PyTorch's testing package asks for this package, which Debian's doesn't bring; nothing here uses it."""
    try:
        import expecttest  # noqa: F401
    except ImportError:
        stub = types.ModuleType("expecttest")
        stub.ACCEPT = False
        stub.TestCase = unittest.TestCase
        stub.assert_expected_inline = lambda *arguments, **options: None
        sys.modules["expecttest"] = stub


import_expecttest()

import torch  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402
from torch.testing._internal.common_modules import module_db  # noqa: E402

torch.set_num_threads(1)

DTYPES = (torch.float32, torch.int64, torch.bool)  # the first that an operator takes


@dataclasses.dataclass
class Sample:
    text: str  # "float32[3, 4], dim=1"
    tensors: List[torch.Tensor]  # the inputs of forward
    call: Callable  # with those tensors
    module: Optional[torch.nn.Module] = None  # that holds what it needs


@dataclasses.dataclass(frozen=True)
class Place:
    """Takes the place of a tensor in an operator's arguments."""

    number: int


def taken_out(value: Any, tensors: List[torch.Tensor]) -> Any:
    """Moves the tensors of a value to the list; returns the value with places instead of tensors."""
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        tensors.append(value.detach())
        return Place(len(tensors) - 1)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields") and not isinstance(value, torch.Size):
        return type(value)(taken_out(each, tensors) for each in value)
    if isinstance(value, dict):
        return {key: taken_out(each, tensors) for key, each in value.items()}
    return value


def put_back(value: Any, tensors: List[torch.Tensor]) -> Any:
    if isinstance(value, Place):
        return tensors[value.number]
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields") and not isinstance(value, torch.Size):
        return type(value)(put_back(each, tensors) for each in value)
    if isinstance(value, dict):
        return {key: put_back(each, tensors) for key, each in value.items()}
    return value


def type_text(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype)[6:]}{list(tensor.shape)}"


def value_text(value: Any, tensors: List[torch.Tensor]) -> str:
    if isinstance(value, Place):
        return type_text(tensors[value.number])
    if isinstance(value, (list, tuple)):
        inner = ", ".join(value_text(each, tensors) for each in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return str(value)


def sample_of(operator: Callable, arguments: tuple, named: Dict[str, Any], prefix: str = "") -> Sample:
    tensors: List[torch.Tensor] = []
    arguments, named = taken_out(tuple(arguments), tensors), taken_out(dict(named), tensors)

    def call(*inputs):
        return operator(*put_back(arguments, inputs), **put_back(named, inputs))

    words = [value_text(each, tensors) for each in arguments]
    words += [f"{name}={value_text(each, tensors)}" for name, each in named.items()]
    return Sample(prefix + ", ".join(words), tensors, call, operator if isinstance(operator, torch.nn.Module) else None)


def samples_of_operator(info) -> Iterator[Sample]:
    dtypes = info.supported_dtypes("cpu")
    dtype = next((each for each in DTYPES if each in dtypes), torch.complex64)
    for given in info.sample_inputs("cpu", dtype, requires_grad=False):
        yield sample_of(info.op, (given.input, *given.args), given.kwargs)


def samples_of_module(info) -> Iterator[Sample]:
    inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=False)
    for given in inputs:
        made, forward = given.constructor_input, given.forward_input
        if forward is None:
            continue
        module = info.module_cls(*made.args, **made.kwargs).eval()
        text = value_text([*made.args], []) + value_text(tuple(made.kwargs.items()), []) + " of "
        yield sample_of(module, forward.args, forward.kwargs, text)


def operators() -> Dict[str, Callable[[], Iterator[Sample]]]:
    """Returns name and samples of each operator, then of each module, in the database's order."""
    found: Dict[str, Callable] = {}
    for info in op_db:
        name = info.name + (f" ({info.variant_test_name})" if info.variant_test_name else "")
        found[name] = lambda info=info: samples_of_operator(info)
    for info in module_db:
        found[info.name.replace("nn_", "nn.", 1)] = lambda info=info: samples_of_module(info)
    return found


def distinct_samples(name: str, make: Callable[[], Iterator[Sample]], most: int) -> Tuple[List[Sample], int]:
    """Returns a limited number of samples that differ in shapes or arguments, evenly spread, and the number of all."""
    torch.manual_seed(zlib.crc32(name.encode()))
    found: Dict[str, Sample] = {}
    with torch.no_grad():
        for sample in make():
            found.setdefault(sample.text, sample)
    all_samples = list(found.values())
    if most <= 0 or len(all_samples) <= most:
        return all_samples, len(all_samples)
    return [all_samples[i * len(all_samples) // most] for i in range(most)], len(all_samples)


def module_for(sample: Sample) -> torch.nn.Module:
    """Makes a module whose forward takes each tensor by a name: x0, x1..."""
    names = ", ".join(f"x{i}" for i in range(len(sample.tensors)))
    scope: Dict[str, Any] = {"call": sample.call}
    exec(f"def forward(self, {names}):\n    return call({names})\n", scope)
    made = type("Sample", (torch.nn.Module,), {"forward": scope["forward"]})()
    if sample.module is not None:
        made.add_module("inner", sample.module)  # so that tracing knows its weights
    return made.eval()
