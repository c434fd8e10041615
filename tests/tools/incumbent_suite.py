#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the cases of PyTorch's own tests of its NNAPI converter (incumbent_cases.py) on this one.

Each case is traced, converted by the command in a process of its own, and run by stock PyTorch on the host's NNAPI,
beside eager PyTorch. All must agree, those that PyTorch's converter refuses included; but where a case runs with
another input scale than it was converted with, the module must say so. What has flexible sizes runs at a second size,
too. One line for each test; the exit code is 1 if anything fails.

  incumbent_suite.py [TEST...]     all tests, or those named
"""

import argparse
import concurrent.futures
import ctypes
import pathlib
import sys
import tempfile
import warnings
import zlib
from typing import Dict, List

import torch

import cli
import incumbent_cases
from incumbent_cases import Case, Row
from stock_torch import FLOAT_TOLERANCE, call, load, real, structure, tensors

PROCESSES = 2
SAMPLES = 3
SHARE_OFF = {  # of quantised results that may be one quantum off; NNAPI and qnnpack round differently
    "test_avg_pool2d": 0.2,
    "test_adaptive_avg_pool2d": 0.2,
    "test_conv2d": 0.03,
    "test_conv2d_transpose": 0.1,
}


def load_nnapi() -> None:
    """Loads the host's NNAPI, which PyTorch's loader then finds by its name."""
    ctypes.CDLL(str(pathlib.Path(cli.PROGRAM).parent.parent / "lib" / "host" / "libneuralnetworks.so"))


def draws(case: Case, sample: int) -> List[torch.Tensor]:
    generator = torch.Generator().manual_seed(sample + 1)
    return [argument.draw(generator) for argument in case.arguments]


def layout_option(case: Case) -> str:
    marked = [str(number) for number, argument in enumerate(case.arguments) if argument.is_nhwc]
    return f"--nhwc={','.join(marked)}" if marked else "--nchw"


def memory_format(case: Case) -> torch.memory_format:
    return torch.channels_last if case.arguments[0].is_nhwc else torch.contiguous_format


def convert(case: Case, source: pathlib.Path, out: pathlib.Path) -> cli.Result:
    specs = [word for argument in case.arguments for word in ("--input", argument.spec)]
    return cli.run(source, *specs, layout_option(case), "--min-segment-macs", "0", "-o", out)


def same_parameters(one: torch.Tensor, other: torch.Tensor) -> bool:
    return (one.q_scale(), one.q_zero_point()) == (other.q_scale(), other.q_zero_point())


def difference(expected: torch.Tensor, found: torch.Tensor, share_off: float) -> str:
    if not expected.is_quantized:
        distance = (real(expected) - real(found)).abs().max().item()
        spread = (real(expected).max() - real(expected).min()).item()
        return "" if distance <= FLOAT_TOLERANCE * spread else f"{distance:.3g} off, in a range of {spread:.3g}"
    if not same_parameters(expected, found):
        return "another scale or zero point"
    steps = (expected.int_repr().int() - found.int_repr().int()).abs()
    share = (steps > 0).double().mean().item()
    if steps.max() > 1:
        return f"{steps.max()} quanta off"
    return "" if share <= share_off else f"{share:.3f} of the values are 1 quantum off"


def compare(case: Case, expected, found, share_off: float) -> None:
    if structure(expected) != structure(found):
        raise AssertionError(f"{structure(expected)} needed, {structure(found)} found")
    for one, other in zip(tensors(expected), tensors(found)):
        text = difference(one, other, share_off)
        if text:
            raise AssertionError(text)
        if case.keeps_layout and not other.is_contiguous(memory_format=memory_format(case)):
            raise AssertionError(f"strides {other.stride()} found, {memory_format(case)} needed")


def check_not_flat(results: List) -> None:
    """Checks that each output varies within itself or over the samples, so that comparisons mean something."""
    for output in zip(*map(tensors, results)):
        values = torch.stack([real(tensor) for tensor in output])
        if not torch.isfinite(values).all() or (values.std(dim=0).max() < 1e-3 * values.abs().max()):
            raise AssertionError("the output does not depend on the input: this tests nothing")


def check_agrees(case: Case, converted, share_off: float) -> None:
    samples = [draws(case, sample) for sample in range(SAMPLES)]
    results = [call(case.module, *inputs) for inputs in samples]
    check_not_flat(results)
    for expected, inputs in zip(results, samples):
        compare(case, expected, call(converted, *inputs), share_off)


def check_other_scale_is_refused(case: Case, converted) -> None:
    argument = case.arguments[0]
    found, wanted = argument.quint8[0], argument.quint8_of_conversion[0]
    needed = f"nnapi-convert: input input: scale {found:.17g} found, {wanted} needed"
    try:
        call(converted, *draws(case, 0))
    except Exception as error:
        if needed in str(error):
            return
        raise AssertionError(f'"{needed}" needed in the message: {error}') from error
    raise AssertionError("it runs with another scale than it was converted with")


def check(row: Row, case: Case, result: cli.Result, out: pathlib.Path) -> None:
    if result.code != 0 or result.stderr:
        raise AssertionError(str(result))
    share_off = SHARE_OFF.get(row.name, 0.0)
    if case.has_other_scale:
        check_other_scale_is_refused(case, load(out))
    else:
        check_agrees(case, load(out), share_off)
    grown = case.grown()
    if grown:
        check_agrees(grown, load(out), share_off)


def make_cases(row: Row) -> List[Case]:
    torch.manual_seed(zlib.crc32(row.name.encode()))
    cases = row.cases()
    assert len(cases) == row.conversions, f"{row.name}: {len(cases)} conversions, {row.conversions} needed"
    refused = sum(case.is_refused_there for case in cases)
    assert refused == row.refused_there, f"{row.name}: {refused} refused cases, {row.refused_there} needed"
    return cases


def trace(case: Case, path: pathlib.Path) -> None:
    with torch.no_grad():
        torch.jit.trace(case.module.eval(), tuple(draws(case, 0)), check_trace=False).save(str(path))


def run_row(row: Row, cases: List[Case], pool, folder: pathlib.Path) -> int:
    """Converts all cases at once, then looks at the results; gives the number of those that passed."""
    jobs = []
    for number, case in enumerate(cases):
        source, out = folder / f"{row.name}_{number}.pt", folder / f"{row.name}_{number}_out.pt"
        trace(case, source)
        jobs.append((case, out, pool.submit(convert, case, source, out)))
    problems: Dict[int, str] = {}
    for number, (case, out, job) in enumerate(jobs):
        try:
            check(row, case, job.result(), out)
        except Exception as error:
            problems[number] = f"  {number}: {' '.join(a.spec for a in case.arguments)} {layout_option(case)}: {error}"
    print(f"{row.name:28} {len(cases) - len(problems):3} of {len(cases)} passed", *problems.values(), sep="\n",
          flush=True)
    return len(cases) - len(problems)


def check_counts(cases: List[Case]) -> None:
    found = (len(cases), sum(case.is_refused_there for case in cases), sum(case.has_other_scale for case in cases))
    needed = (incumbent_cases.CONVERSIONS, incumbent_cases.REFUSED_THERE, incumbent_cases.OTHER_SCALES)
    assert found == needed, f"{found} conversions, refused ones and ones with another scale; {needed} needed"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", metavar="TEST", help="test_prelu, for example")
    names = parser.parse_args().tests
    warnings.filterwarnings("ignore")
    load_nnapi()
    cases = {row.name: make_cases(row) for row in incumbent_cases.ROWS}
    check_counts(sum(cases.values(), []))
    rows = [row for row in incumbent_cases.ROWS if not names or row.name in names]
    with tempfile.TemporaryDirectory(prefix="nnapi-convert-test-") as folder, \
            concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        passed = sum(run_row(row, cases[row.name], pool, pathlib.Path(folder)) for row in rows)
    needed = sum(row.conversions for row in rows)
    print(f"{passed} of {needed} conversions in {len(rows)} tests passed")
    return 0 if passed == needed else 1


if __name__ == "__main__":
    sys.exit(main())
