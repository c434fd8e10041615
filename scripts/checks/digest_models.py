# SPDX-License-Identifier: BSD-3-Clause
"""The models that digest_outputs.py converts, and with which options."""

import importlib
import pathlib
import shutil
import sys
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURE = (1, 3, 16, 16)


class Run(NamedTuple):
    model: str  # file name, and "" for none
    options: Tuple[str, ...]


def options_of(text: str) -> Tuple[str, ...]:
    return tuple(text.split())


# The models of build/models and testdata/models that are small or the only one of their kind.
SAVED: Dict[str, List[str]] = {
    "attention_block": ["--nhwc"],
    "autoencoder": ["--nhwc", "--nchw --feature-level 3", "--nhwc --feature-level 1", "--nhwc --runtime shim"],
    "bag_classifier": ["", "--runtime shim", "--feature-level 2"],
    "dcgan": ["--nhwc", "--runtime shim --nhwc"],
    "denoiser": ["--nhwc --input 1,1,?,?", "--nhwc --input 1,1,32,32 --runtime shim", "--nhwc --input ?,1,32,32"],
    "espcn": ["--nhwc --input 1,1,?,?", "--nhwc --input 1,1,24,24", "--input 1,1,?,? --runtime shim"],
    "fbnet": ["--nhwc", "--nhwc --runtime shim", "--nhwc --device-profile quant-dsp-8.1"],
    "keyword_spotter": ["", "--nhwc", "--runtime shim", "--relax-fp16"],
    "local_norms": ["--nhwc", "--nhwc --runtime shim"],
    "lstm_tagger": ["", "--runtime shim", "--feature-level 3", "--fallback none"],
    "mlp": ["", "--input ?,784", "--input 1,784", "--input 1,784 --runtime shim", "--input ?,784 --runtime shim"],
    "mobilenet_v2_quant": ["--nhwc", "--nhwc --quant none", "--nhwc --quant full --runtime shim",
                           "--nhwc --quant nnapi", "--quant core --nhwc --runtime shim"],
    "mobilenet_v2_quant_quint8": ["--nhwc", "--nhwc --quant core", "--nhwc --quant full"],
    "speech_net": ["", "--runtime shim", "--nhwc"],
    "squeezenet1_1": ["--nhwc", "--nhwc --bundle-inputs", "--nhwc --runtime shim"],
    "ssdlite": ["--nhwc", "--nhwc --runtime shim", "--nhwc --fallback none"],
    "style_net": ["--nhwc", "--nhwc --input 1,3,?,?", "--nhwc --device-profile armnn-1.3"],
    "transformer_encoder": ["", "--runtime shim", "--nhwc --fallback none"],
    "tuple_output": ["--nhwc", "--runtime shim --nhwc"],
    "two_input": ["--nhwc", "--nhwc=1", "--nhwc=5", "--nhwc --runtime shim"],
    "unet_bilinear": ["--nhwc", "--nhwc --feature-level 1"],
    "unet_nearest": ["--nhwc --runtime shim"],
    "unet_transposed": ["--nhwc"],
    "video_cubes": ["--nhwc", "--nhwc --min-segment-macs 0", "--runtime shim --nhwc", "--max-segments 1"],
    "video_joined": ["--nhwc", "--nhwc --runtime shim"],
    "video_separate": ["--nhwc", "--nhwc --fallback none"],
    "yolo_head": ["--nhwc", "--runtime shim --nhwc"],
}

FIXTURES = ["", "--nhwc --runtime shim"]
QUANTISED_FIXTURES = ["--nhwc", "--quant none", "--quant core --nhwc", "--quant full --nhwc --runtime shim",
                      "--quant nnapi --nhwc"]
MODES = ("auto", "none", "core", "full", "nnapi")
LAYER = "--input 1,4,8,8 --nhwc --min-segment-macs 0"

# Models of tests/tools, by module, with their inputs if these aren't one input of [1, 4, 8, 8].
SCRIPTED: Dict[str, Dict[str, str]] = {
    "argument_models": {
        "TakesList": "--input pictures[0]=4,8,8 --input pictures[1]=4,10,8",
        "TakesDict": "--input features[skip]=1,4,8,8 --input features[low]=1,4,8,8",
        "TakesTuple": "--input x=1,4,8,8 --input state[0]=1,4,8,8 --input state[1][0]=1,4,8,8",
        "TakesOptional": "--input x=1,4,8,8 --input mask=1,4,8,8",
        "TakesMask": "--input x=1,4,8,8",
        "TakesNumbers": "--input 1,4,8,8",
        "Exchanges": "--input pictures[0]=4,8,8",
        "KeepsState": "--input 1,4,8,8",
    },
    "behaviour_models": {name: "--input 1,4,8,8" for name in (
        "Kept", "SetTwice", "SetByOtherName", "KeepsBox", "RaisesBetween", "ViewOfContiguous", "DropoutIsNoCopy",
        "ElementsChanged", "OperatorLists", "RepeatedKeys", "ReadAndSet", "LeavesLoop", "KeptTwice", "ReadsInOrder")},
    "block_models": {name: "--input 1,4,8,8" for name in (
        "Rounds", "Ways", "Raising", "Growing", "ChangedByRounds", "ViewChanged", "CarriedView", "Turned",
        "FilledInBranch", "FilledInLoop", "LongerList", "ListOfRounds", "DictOfRounds", "Noisy", "BranchOfTheCpu",
        "HalfKnown", "Effects", "Chain", "SeldomRun", "ManyRounds")},
    "container_models": {name: "--input 1,4,8,8" for name in (
        "Pyramid", "KeepsObject", "KeepsObjects", "ChangedInLists", "GivesConstants", "TakesFromList")},
    "result_models": {name: "--input 1,3,12,12" for name in ("Detector", "Mixed", "Nested")},
    "single_value_models": {name: "--input 1,3,32,32" for name in (
        "Grid", "Loss", "Mixed", "Stacked", "Coordinates")},
}

# Quantised models that NNAPI runs in parts: traced models, and scripted models.
TRACED_QUANTISED = ("Sorted", "Ends", "Island", "Mixed", "FloatResult")
SCRIPTED_QUANTISED = ("Returns", "Branching", "OneOfTwo", "OneOfTwoScales", "OneOfTwoFloats", "FloatRead", "Changed",
                      "AnyNumber")
QUANTISED_INPUT = "--input 1,3,16,16 --nhwc --min-segment-macs 0"


class Case(NamedTuple):
    name: str
    inputs: List[Tuple[str, str]]
    weights: List[Tuple[str, str]]
    source: str
    is_plain: bool  # nothing else is needed to make and to convert it


def read_cases(path: pathlib.Path) -> Iterator[Case]:
    """Yields the cases of a file; testdata/ops/README.md has the format."""
    case: Optional[Case] = None
    in_source = False
    for line in path.read_text().splitlines():
        words = line.split()
        if line.startswith("case "):
            if case is not None:
                yield case
            case, in_source = Case(words[1], [], [], "", True), False
        elif case is None or not words or words[0] == "#":
            continue
        elif line[0] != " ":
            in_source = words[0] == "source"
            if words[0] in ("input", "weight"):
                (case.inputs if words[0] == "input" else case.weights).append((words[1], words[2]))
            elif words[0] in ("packed", "runtime", "engine", "control_flow", "quant"):
                case = case._replace(is_plain=False)
        elif in_source:
            case = case._replace(source=case.source + line + "\n")
    if case is not None:
        yield case


def chosen_cases(folder: pathlib.Path, count: int) -> Iterator[Tuple[str, Case]]:
    """Returns the first cases of each file."""
    for path in sorted(folder.glob("**/*.case")):
        cases = [case for case in read_cases(path) if case.is_plain]
        for case in cases[:count]:
            yield f"{folder.name}_{path.parent.name}_{path.stem}_{case.name}", case


def random_weight(torch, spec: str):
    sizes, *rest = spec.split(":")
    shape = [] if sizes == "scalar" else [int(size) for size in sizes.split(",")]
    if rest and rest[0] == "int64":
        return torch.full(shape, 3)
    return torch.randn(shape) if not rest or rest[0] == "float32" else None


def save_case(torch, case: Case, path: pathlib.Path) -> bool:
    """Returns False for a case that needs more than floats and Python's resolver."""
    weights = [(name, random_weight(torch, spec)) for name, spec in case.weights]
    if any(weight is None for _, weight in weights):
        return False
    plain = type("Case", (torch.nn.Module,), {})()  # of a class of its own: forward is defined once
    for name, weight in weights:
        plain.register_buffer(name, weight)
    module = torch.jit.script(plain)
    names = {"ops": torch.ops, "torch": torch}  # that sources use
    try:
        module._c._define(module._concrete_type, case.source, names.get)
    except RuntimeError:
        return False
    module.save(str(path))
    return True


def save_scripted(torch, folder: pathlib.Path) -> None:
    for module, models in SCRIPTED.items():
        for name in models:
            torch.manual_seed(0)
            net = getattr(importlib.import_module(module), name)().eval()
            torch.jit.script(net).save(str(folder / f"{module}_{name}.pt"))


def save_quantised(torch, folder: pathlib.Path) -> None:
    quant_models = importlib.import_module("quant_models")
    for name in (*TRACED_QUANTISED, *SCRIPTED_QUANTISED):
        torch.manual_seed(0)
        net = quant_models.quantised(getattr(quant_models, name)(), PICTURE)
        is_traced = name in TRACED_QUANTISED
        module = torch.jit.trace(net, quant_models.pictures(PICTURE)[0]) if is_traced else torch.jit.script(net)
        module.save(str(folder / f"quant_models_{name}.pt"))


def all_cases() -> Iterator[Tuple[str, Case]]:
    yield from chosen_cases(ROOT / "testdata" / "ops", 1)
    yield from chosen_cases(ROOT / "testdata" / "bad", 2)


def make(folder: pathlib.Path, saved: pathlib.Path) -> None:
    """Writes the models that don't exist yet."""
    if (folder / "complete").exists():
        return
    import torch

    sys.path.insert(0, str(ROOT / "tests" / "tools"))
    folder.mkdir(parents=True, exist_ok=True)
    for name in SAVED:
        shutil.copy(saved / f"{name}.pt", folder / f"{name}.pt")
    for path in (ROOT / "testdata" / "models").glob("*.pt*"):
        shutil.copy(path, folder / f"fixture_{path.name}")
    save_scripted(torch, folder)
    save_quantised(torch, folder)
    for name, case in all_cases():
        torch.manual_seed(0)
        save_case(torch, case, folder / f"{name}.pt")
    (folder / "complete").touch()


def case_runs(folder: pathlib.Path) -> Iterator[Run]:
    for number, (name, case) in enumerate(all_cases()):
        if not (folder / f"{name}.pt").exists():
            continue
        inputs = [word for spec in case.inputs for word in ("--input", "=".join(spec))]
        layout = ("--nhwc", "--nchw", "--nhwc --runtime shim", "--nhwc --fallback none")[number % 4]
        yield Run(f"{name}.pt", (*inputs, *options_of(layout)))


def runs(folder: pathlib.Path) -> Iterator[Run]:
    for name, all_options in SAVED.items():
        yield from (Run(f"{name}.pt", options_of(options)) for options in all_options)
    for path in sorted(folder.glob("fixture_*.pt*")):
        kind = QUANTISED_FIXTURES if "quant" in path.name and "float" not in path.name else FIXTURES
        yield from (Run(path.name, options_of(options)) for options in kind)
    for number, (module, models) in enumerate(SCRIPTED.items()):
        for name, inputs in models.items():
            more = ("", "--runtime shim", "--quant core", "--bundle-inputs")[number % 4]
            yield Run(f"{module}_{name}.pt", options_of(f"{inputs} --nhwc --min-segment-macs 0 {more}"))
            yield Run(f"{module}_{name}.pt", options_of(f"{inputs} --fallback none"))
    for name in (*TRACED_QUANTISED, *SCRIPTED_QUANTISED):
        for mode in MODES:
            yield Run(f"quant_models_{name}.pt", options_of(f"{QUANTISED_INPUT} --quant {mode}"))
    yield from case_runs(folder)
