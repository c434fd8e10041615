#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Exports the example programs of PyTorch 2 (torch._export.db.examples), and tells what becomes of each.

    export_examples.py write FOLDER    with PyTorch 2.9 or later: writes FOLDER/NAME.pt2 and what PyTorch gives for it
    export_examples.py table FOLDER    with PyTorch 1.13.1: converts each file of FOLDER, runs it on the host's NNAPI,
                                       and prints the table of docs/generated/exported-examples.md

LD_LIBRARY_PATH must lead to the host's libneuralnetworks.so for `table`; NNAPI_CONVERT names the program.
"""
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import torch

TOLERANCE = 1e-4  # of the range of what PyTorch 2 gives
HEAD = """# Example programs of PyTorch 2

The programs of `torch._export.db.examples`, exported by PyTorch {version}, converted with `--fallback=partition`, and run on the
host's NNAPI. "Agrees": results are those of PyTorch 2. `scripts/makers/export_examples.py` makes this page.

| program | outcome |
|---|---|"""


def exported(case):
    """The program, or why PyTorch 2 itself exports none."""
    error = None
    for strict in (False, True):
        try:
            return torch.export.export(case.model, case.example_args, case.example_kwargs or {},
                                       dynamic_shapes=case.dynamic_shapes, strict=strict), None
        except Exception as found:  # whatever export raises
            error = error or type(found).__name__
    return None, error


def write(folder):
    from torch._export.db.examples import all_examples
    refused = {}
    for name, case in sorted(all_examples().items()):
        program, error = exported(case)
        if program is None:
            refused[name] = error
            continue
        torch.export.save(program, str(folder / f"{name}.pt2"))
        arguments, keywords = copy.deepcopy((case.example_args, case.example_kwargs or {}))
        with torch.no_grad():
            results = program.module()(*arguments, **keywords)
        torch.save((case.example_args, case.example_kwargs or {}, results), folder / f"{name}.results")
    (folder / "programs.json").write_text(json.dumps({"version": torch.__version__, "refused": refused}))


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (int, float)):
        return [torch.tensor(value)]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else []
    return [each for part in parts for each in tensors(part)]


def difference(found, expected):
    """What is wrong with the results, or nothing."""
    found, expected = tensors(found), tensors(expected)
    if len(found) != len(expected):
        return f"{len(found)} results, {len(expected)} expected"
    for one, other in zip(found, expected):
        if one.shape != other.shape:
            return f"shape {list(one.shape)}, {list(other.shape)} expected"
        one, other = one.double(), other.double()
        spread = (other.max() - other.min()).item() if other.numel() else 0
        if other.numel() and (one - other).abs().max().item() > TOLERANCE * max(spread, 1):
            return f"off by {(one - other).abs().max().item():.3g}"
    return None


def message(stderr):
    """The reason in an error: that of its first operation, without the file and the folder of the source."""
    text = stderr.split("error: ", 1)[-1]
    if "can't be lowered" in text.splitlines()[0]:
        text = text.splitlines()[1].strip()
    text = text.splitlines()[0].split(".pt2: ", 1)[-1]
    return re.sub(r"^\S*/(?=[^/\s]+:\d+: )", "", text).replace("|", "\\|")


def outcome(path, folder):
    out = folder / "out.pt"
    command = [os.environ.get("NNAPI_CONVERT", "build/release/bin/nnapi-convert"), str(path), "-o", str(out),
               "--fallback=partition", "--min-segment-macs=0"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if result.returncode == 1 or result.returncode == 2:
        return f"refused: {message(result.stderr)}"
    if result.returncode != 0:
        return f"FAILS with exit code {result.returncode}: {message(result.stderr)}"
    arguments, keywords, expected = torch.load(path.with_suffix(".results"))
    module = torch.jit.load(str(out))
    names = [argument.name for argument in module.forward.schema.arguments[1:]]
    given = [*arguments, *(keywords[name] for name in names[len(arguments):])]
    with torch.no_grad():
        found = module(*given)
    wrong = difference(found, expected)
    return "agrees" if wrong is None else f"DIFFERS: {wrong}"


def table(folder):
    told = json.loads((folder / "programs.json").read_text())
    rows = {name: f"PyTorch 2 exports none: {error}" for name, error in told["refused"].items()}
    with tempfile.TemporaryDirectory() as work:
        for path in sorted(folder.glob("*.pt2")):
            try:
                rows[path.stem] = outcome(path, pathlib.Path(work))
            except Exception as error:  # a row tells of it
                rows[path.stem] = f"FAILS: {str(error).splitlines()[-1]}"
    print(HEAD.format(version=told["version"].split("+")[0]))
    for name, row in sorted(rows.items()):
        print(f"| `{name}` | {row} |")
    return 1 if any(row.startswith(("FAILS", "DIFFERS")) for row in rows.values()) else 0


def main():
    action, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    return table(folder) if action == "table" else write(folder)


if __name__ == "__main__":
    sys.exit(main())
