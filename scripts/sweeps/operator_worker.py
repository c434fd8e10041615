# SPDX-License-Identifier: BSD-3-Clause
"""A process that traces samples of operators, and runs converted ones on PyTorch's own NNAPI loader: operators.py
starts it, writes a request as JSON on a line of its stdin, and reads lines of JSON from its stdout. What ends or stops
this process costs one sample."""

import copy
import json
import os
import pathlib
import random
import sys
from typing import Any, Dict, List

import operator_outcomes as outcomes
import operator_samples
import torch

TOLERANCE = 1e-4  # of the range of the expected values
MAX_FLOAT = torch.finfo(torch.float32).max
INPUT_DTYPES = (torch.float32, torch.int32, torch.int64, torch.bool, torch.uint8)  # that --input can name

# Nothing is written to the memory that they give.
UNWRITTEN = frozenset({"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"})

OPERATORS = operator_samples.operators()


def answer(channel, value: Any) -> None:
    channel.write(json.dumps(value) + "\n")
    channel.flush()


def flat(value: Any) -> List[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"a result of type {type(value).__name__}")
    return [tensor for part in value for tensor in flat(part)]


def seeded(seed: int, call, tensors: List[torch.Tensor]):
    random.seed(seed)
    torch.manual_seed(seed)
    with torch.no_grad():
        return [tensor.detach() for tensor in flat(call(*[tensor.clone() for tensor in tensors]))]


def difference(expected: List[torch.Tensor], found: List[torch.Tensor]) -> str:
    """Returns the difference between two results; an empty text if they agree."""
    if len(expected) != len(found):
        return f"{len(found)} tensors, not {len(expected)}"
    for number, (one, other) in enumerate(zip(expected, found)):
        problem = difference_of(one, other)
        if problem:
            return f"output {number}: {problem}" if len(expected) > 1 else problem
    return ""


def difference_of(expected: torch.Tensor, found: torch.Tensor) -> str:
    wanted, given = operator_samples.type_text(expected), operator_samples.type_text(found)
    if wanted != given:
        return f"{given}, not {wanted}"
    if not expected.is_floating_point() and not expected.is_complex():
        wrong = int((expected != found).sum())
        return f"{wrong} of {expected.numel()} elements differ" if wrong else ""
    one, other = expected.double(), found.double()
    if not expected.is_complex():  # arithmetic of Android's CPU gives the largest float32 for an infinite number
        other = torch.where(other == one.clamp(-MAX_FLOAT, MAX_FLOAT), one, other)
    finite = one.isfinite()
    if not torch.equal(finite, other.isfinite()) or not torch.equal(one.isnan(), other.isnan()):
        return "other elements are NaN or infinite"
    infinite = ~finite & ~one.isnan()
    if not torch.equal(one[infinite], other[infinite]):
        return "infinite elements of another sign"
    one, other = one[finite], other[finite]
    if one.numel() == 0:
        return ""
    scale = max((one.max() - one.min()).item(), one.abs().max().item(), 1e-6)
    error = (one - other).abs().max().item() / scale
    return f"off by {error:.1e} of the range" if error > TOLERANCE else ""


def exact_results(sample: operator_samples.Sample, expected: List[torch.Tensor]) -> List[torch.Tensor]:
    """Returns the results calculated with float64; None if the operator doesn't take float64."""
    if not any(tensor.dtype == torch.float32 for tensor in [*sample.tensors, *expected]):
        return []
    call = sample.call if sample.module is None else copy.deepcopy(sample.module).double()
    wide = [tensor.double() if tensor.dtype == torch.float32 else tensor for tensor in sample.tensors]
    try:
        found = seeded(0, call, wide)
    except Exception:
        return []
    return found if [tensor.shape for tensor in found] == [tensor.shape for tensor in expected] else []


def is_nearer(exact: List[torch.Tensor], expected: List[torch.Tensor], found: List[torch.Tensor]) -> bool:
    """Returns True if the result is at least as near to the exact numbers as PyTorch's float32 result: where the exact
    result is 0, as in the normalisation of one element, PyTorch's float32 result is only its rounding error."""
    if not exact or len(exact) != len(found):
        return False
    for sure, wanted, given in zip(exact, expected, found):
        if given.shape != wanted.shape or given.dtype != wanted.dtype:
            return False
        if not wanted.is_floating_point():
            if not torch.equal(given, wanted):
                return False
        elif not all(tensor.isfinite().all() for tensor in (sure, wanted, given)):
            return False
        elif (given.double() - sure).abs().max() > (wanted.double() - sure).abs().max():
            return False
    return True


def beside_another(sample: operator_samples.Sample) -> operator_samples.Sample:
    """Adds an operation on the first tensor to the operator: NNAPI then has something to run even if the operator's
    results are inputs or constants."""

    def call(*tensors):
        first = tensors[0]
        return sample.call(*tensors), first.logical_not() if first.dtype == torch.bool else first.clone().neg()

    return operator_samples.Sample(sample.text, sample.tensors, call, sample.module)


def trace(request: Dict[str, Any], channel) -> None:
    name, folder = request["operator"], pathlib.Path(request["folder"])
    samples, count = operator_samples.distinct_samples(name, OPERATORS[name], request["most"])
    answer(channel, {"samples": len(samples), "distinct": count})
    for number, sample in enumerate(samples):
        if number < request["begin"] or number not in request.get("numbers", [number]):
            continue
        answer(channel, {"number": number, "text": sample.text})
        try:
            sample = beside_another(sample) if request.get("beside") else sample
            answer(channel, traced(sample, folder, number, unwritten=name in UNWRITTEN))
        except Exception as error:
            answer(channel, {"problem": f"the original doesn't trace: {first_line(error)}"})


def traced(sample, folder: pathlib.Path, number: int, unwritten: bool = False) -> Dict[str, Any]:
    expected = seeded(0, sample.call, sample.tensors)
    types = [operator_samples.type_text(tensor) for tensor in sample.tensors]
    found = {"inputs": types, "results": [operator_samples.type_text(tensor) for tensor in expected]}
    if unwritten or difference(expected, seeded(1, sample.call, sample.tensors)):
        return {**found, "problem": "random numbers, or memory that nothing was written to"}
    if not sample.tensors:
        return {**found, "problem": "no tensor goes in"}
    for tensor, text in zip(sample.tensors, types):
        if tensor.numel() == 0:
            return {**found, "problem": f"an input without elements: {text}"}
        if tensor.dtype not in INPUT_DTYPES or tensor.layout != torch.strided:
            return {**found, "problem": f"an input of {text}, {tensor.layout}"}
    with torch.no_grad():
        module = torch.jit.trace(operator_samples.module_for(sample), [tensor.clone() for tensor in sample.tensors],
                                 check_trace=False, strict=False)
    problem = difference(expected, seeded(0, module, sample.tensors))
    if problem:
        if difference(seeded(0, module, sample.tensors), seeded(1, module, sample.tensors)):
            return {**found, "problem": "random numbers, or memory that nothing was written to"}
        return {**found, "problem": f"the original doesn't trace: the traced module gives {problem}"}
    folder.mkdir(parents=True, exist_ok=True)
    module.save(str(folder / f"{number}.pt"))
    values = {"inputs": sample.tensors, "expected": expected, "exact": exact_results(sample, expected)}
    torch.save(values, folder / f"{number}.values")
    return found


def first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    return lines[-1 if "Traceback of TorchScript" in str(error) else 0][:300]


def problem_of(saved: Dict[str, List[torch.Tensor]], found: List[torch.Tensor]) -> str:
    problem = difference(saved["expected"], found)
    if not problem or is_nearer(saved["exact"], saved["expected"], found):
        return ""
    has_nan = any(tensor.is_floating_point() and tensor.isnan().any() for tensor in saved["inputs"])
    return f"{outcomes.OF_NAN}: {problem}" if has_nan else problem


def run(request: Dict[str, Any], channel) -> None:
    for converted, values in request["files"]:
        answer(channel, {"begins": converted})
        try:
            saved = torch.load(values)
            module = torch.jit.load(converted).eval()
            problem = problem_of(saved, seeded(0, module, saved["inputs"]))
            if not problem:
                again = problem_of(saved, seeded(0, module, saved["inputs"]))
                problem = again and f"in the second call, {again}"
            answer(channel, {"problem": problem})
        except Exception as error:
            answer(channel, {"problem": f"it raises: {first_line(error)}"})


def main() -> None:
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    torch.set_num_threads(1)
    answer(channel, {"ready": True})
    for line in sys.stdin:
        request = json.loads(line)
        {"trace": trace, "run": run}[request["do"]](request, channel)
        answer(channel, {"done": True})


if __name__ == "__main__":
    main()
