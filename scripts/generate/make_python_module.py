#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Python module into a folder: the sources of tools/python, and commands.py, whose functions have the
options of the program's own --help-all with types and docstrings.

    make_python_module.py build/release/bin/nnapi-convert FOLDER

make-wheel.py and the tests run it."""

import argparse
import keyword
import pathlib
import re
import shutil
import subprocess
import textwrap
from typing import Dict, List, NamedTuple

from make_completions import help_of

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "tools/python/nnapi_convert"
# Options that the functions set themselves, or that are for people at a terminal.
OWN = {"convert": {"output", "dump-after", "help", "help-all", "version", "quiet", "verbose"},
       "check": {"format", "help", "help-all", "quiet", "verbose"},
       "verify": {"format", "inputs", "help", "help-all", "quiet", "verbose", "per-op"},
       "inspect": {"format", "help", "quiet", "verbose"},
       "batch": {"output", "help", "help-all", "quiet", "verbose"}}
NUMBERS = {"N": "Number", "INT": "int", "UINT": "int", "FLOAT": "float", "DB": "float", "SECONDS": "Number"}
PATHS = {"FILE", "TABLE", "OUT", "DIR", "FLOAT.pt"}
MOST_CHOICES = 6  # more are no help in a type
DATA = {"calibrate": "Any", "verify-inputs": "Any"}  # also PyTorch's objects, where a function reads these


class Option(NamedTuple):
    name: str
    value: str  # the name of its value, "" for a flag
    repeats: bool
    choices: List[str]
    about: str

    @property
    def python(self) -> str:
        name = self.name.replace("-", "_")
        return name + "_" if keyword.iskeyword(name) else name

    @property
    def takes_numbers(self) -> bool:
        """Whether a flag takes numbers of arguments, as --nhwc=0,2."""
        return not self.value and f"--{self.name}=" in self.about

    @property
    def joins(self) -> bool:
        return "," in self.value

    def hint(self, command: str) -> str:
        if not self.value:
            return "Union[bool, str, Sequence[int]]" if self.takes_numbers else "bool"
        if self.name in DATA and command in ("convert", "check"):
            return "Any"
        if 0 < len(self.choices) <= MOST_CHOICES:
            one = "Literal[{}]".format(", ".join(f'"{choice}"' for choice in self.choices))
        elif self.joins:
            return "Union[None, str, float, Sequence[float]]"
        else:
            one = "PathLike" if self.value in PATHS else NUMBERS.get(self.value, "str")
            one = "Union[str, float]" if self.value == "SHARE" else one
        if self.repeats and self.choices:
            one = "str"  # twice the choices are too long for a signature
        return f"Union[None, {one}, Sequence[{one}]]" if self.repeats else f"Optional[{one}]"

    @property
    def default(self) -> str:
        return "None" if self.value else "False"


def options_of(text: str) -> List[Option]:
    """The options of a help text. The description goes on in lines that are indented further."""
    found = []
    pattern = r"^  (?:-\w,)?--([\w-]+)(?: (\S+))?( \.\.\.)?(?:  +(.*))?$((?:\n {10,}\S.*$)*)"
    for name, value, repeats, first, rest in re.findall(pattern, text, re.M):
        about = " ".join((first + " " + rest).split())
        choices = re.search(r" ?\{(.*?)\}", about)
        found.append(Option(name, value, bool(repeats), choices.group(1).split(", ") if choices else [], about))
    return found


def first_lines(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split())


def paragraph(text: str, indent: str, width: int = 116) -> str:
    return textwrap.fill(text.replace("\\", "\\\\"), width, initial_indent=indent, subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False)


def option_docs(options: List[Option]) -> List[str]:
    lines = []
    for option in options:
        lines += [f"        {option.python}:", paragraph(option.about + MORE.get(option.name, ""), " " * 12)]
    return lines


# What functions take beyond the command.
MORE = {
    "calibrate": "; or a DataLoader, a tensor with samples along its first axis, or a list of batches. Batches are cut "
                 "into calls of as many rows as the example has; values behind the model's arguments, such as classes, "
                 "are left out with a warning",
    "verify-inputs": "; or tensors of one call, or a list of such tuples",
}

# For each command: the arguments before the options, their docs, what is returned, and the call.
PARTS = {
    "convert": (
        ["model: Any", "example: Any = None", "output: Optional[PathLike] = None"],
        ["progress: Progress = None", "samples: Optional[int] = None"],
        {"model": "an nn.Module in eval mode, which is exported by torch.export where that works and else traced; a "
                  "ScriptModule; an ExportedProgram; or the path of a .pt, .ptl or .pt2 file",
         "example": "the arguments of one call: a tensor, a tuple, or a dict by names. An nn.Module needs it. For "
                    "other models its sizes take the place of input, unless input is given",
         "output": "the file to write; None only with litert",
         "samples": "how many calls of a DataLoader or of tensors calibrate takes at most; not given: 200",
         "progress": "a function that gets a text, True for a line on stderr, False for nothing; not given: True in a "
                     "terminal and in a notebook"},
        "Conversion", "work.convert(model, example, output, progress, samples, RULES[\"convert\"], {}, compare)"),
    "check": (
        ["model: Any", "example: Any = None"], ["progress: Progress = None", "samples: Optional[int] = None"],
        dict.fromkeys(("model", "example", "progress", "samples"), "as for convert"),
        "Check", "work.check(model, example, progress, samples, RULES[\"check\"], {})"),
    "verify": (
        ["model: Any", "output: PathLike", "inputs: Any = None"], ["example: Any = None", "progress: Progress = None"],
        {"model": "the original, as for convert", "output": "the converted file",
         "inputs": "tensors of one call, or a list of such tuples, in place of made-up ones; or a file of them",
         "example": "as for convert, where the model is an nn.Module", "progress": "as for convert"},
        "Verification", "work.verify(model, output, inputs, example, progress, RULES[\"verify\"], {})"),
    "inspect": (
        ["output: PathLike", "format: Literal[\"json\", \"text\", \"dot\", \"html\"] = \"json\""], [],
        {"output": "a file that the command wrote", "format": "json gives a dict, the others a text"},
        "Union[Dict[str, Any], str]", "work.inspect(output, format, RULES[\"inspect\"], {})"),
    "batch": (
        ["files: Union[PathLike, Sequence[PathLike]]", "output: PathLike"], ["progress: Progress = None"],
        {"files": "a folder, a pattern, a manifest, or a list of files", "output": "the folder to write to",
         "progress": "as for convert"},
        "Batch", "work.batch(files, output, progress, RULES[\"batch\"], {})"),
}
RAISES = {
    "convert": "Raises NotConvertible, UsageError, FileError, VerificationFailed, InternalError or LimitError: classes "
               "of Error, with the command's text, code and refusals.",
    "check": "A model that can't be converted is no exception here, but a result that is false.",
    "verify": "Raises VerificationFailed if they differ, with what was compared as its report.",
    "inspect": "Raises FileError for a file that the command did not write.",
    "batch": "A model that fails is no exception: the result lists it as failed.",
}


def function(command: str, help_text: str) -> str:
    before, behind, docs, result, call = PARTS[command]
    options = [option for option in options_of(help_text) if option.name not in OWN[command]]
    named = [f"{option.python}: {option.hint(command)} = {option.default}" for option in options]
    signature = [f"        {each}" for each in (*before, "*", *named, *behind)]
    lines = [f"def {command}(", ",\n".join(signature) + f") -> {result}:",
             paragraph('"""' + first_lines(help_text), "    "), "", "    Args:"]
    for name, about in docs.items():
        lines += [f"        {name}:", paragraph(about, " " * 12)]
    lines += [*option_docs(options), "", paragraph(RAISES[command], "    "), '    """']
    values = ", ".join(f'"{option.python}": {option.python}' for option in options)
    lines += [paragraph("return " + call.replace("{}", "{" + values + "}"), "    ").replace("\n    ", "\n        ")]
    return "\n".join(lines)


def rules(command: str, help_text: str) -> str:
    lines = [f'    "{command}": {{']
    for option in options_of(help_text):
        if option.name not in OWN[command]:
            lines.append(f'        "{option.python}": Rule("{option.name}", {not option.value}, {option.repeats}, '
                         f'{option.joins}),')
    return "\n".join([*lines, "    },"])


HEAD = '''# SPDX-License-Identifier: BSD-3-Clause
"""The commands of nnapi-convert as functions. Made by scripts/generate/make_python_module.py of `nnapi-convert --help-all`."""

import os
from typing import Any, Dict, List, Literal, Optional, Sequence, Union, overload

from . import work
from .program import Progress, Rule
from .results import Batch, Check, Conversion, Verification

__version__ = "{version}"

PathLike = Union[str, "os.PathLike[str]"]
Number = Union[int, float, str]

RULES: Dict[str, Dict[str, Rule]] = {{
{rules}
}}
'''

COMPARE = '''compare = verify  # convert() has an option of the name
'''

OPS = '''@overload
def ops() -> List[Dict[str, Any]]: ...
@overload
def ops(*names: str) -> Union[str, List[Dict[str, Any]]]: ...


def ops(*names: str) -> Union[str, List[Dict[str, Any]]]:
    """Lists the PyTorch operators that can be lowered to NNAPI, with the lowest feature level and the limits; with
    names such as aten::conv2d, says as a text how each is handled."""
    return work.describe_operators(names) if names else work.list_operators()
'''


def commands_text(program: str) -> str:
    texts = {command: help_of(program, "" if command == "convert" else command) for command in PARTS}
    version = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[1]
    head = HEAD.format(version=version, rules="\n".join(rules(command, text) for command, text in texts.items()))
    functions = [function(command, text) + "\n" for command, text in texts.items()]
    return "\n\n".join([head, *functions, COMPARE, OPS])


def make_module(program: str, folder: pathlib.Path) -> pathlib.Path:
    """Returns the folder of the module, folder/nnapi_convert."""
    module = folder / "nnapi_convert"
    module.mkdir(parents=True, exist_ok=True)
    for source in sorted(SOURCES.iterdir()):
        if source.suffix == ".py" or source.name == "py.typed":
            shutil.copyfile(source, module / source.name)
    (module / "commands.py").write_text(commands_text(program), encoding="utf-8")
    return module


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    make_module(arguments.program, arguments.folder)


if __name__ == "__main__":
    main()
