# SPDX-License-Identifier: BSD-3-Clause
"""Finds the command and runs it."""

import os
import pathlib
import shutil
import subprocess
import sys
import threading
import warnings
from typing import IO, Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Union

from .errors import ConversionWarning

PREFIX = "nnapi-convert: "
Progress = Union[None, bool, Callable[[str], Any]]


class Rule(NamedTuple):
    """How an option of the command is written. `option` is its name there, with dashes."""
    option: str
    is_flag: bool
    repeats: bool
    joins: bool  # its values are one text with commas


class Done(NamedTuple):
    code: int
    output: str
    error: str
    command: List[str]


def program_path(name: str = "nnapi-convert") -> str:
    """The command's path: that of NNAPI_CONVERT_PROGRAM, the one that came with this module, or the one on PATH."""
    given = os.environ.get("NNAPI_CONVERT_PROGRAM")
    if given:
        return str(pathlib.Path(given).with_name(name))
    own = pathlib.Path(__file__).parent / "bundle" / "bin" / name
    if own.is_file():
        return str(own)
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} is not found: this module came without its bundle ({own} is missing), and "
                                f"PATH has no {name}; install the wheel again, or set NNAPI_CONVERT_PROGRAM to the "
                                "path of nnapi-convert")
    return found


def words_of(rules: Dict[str, Rule], options: Dict[str, Any]) -> List[str]:
    """The words of the command for options by their names in Python. None and False leave an option out."""
    words: List[str] = []
    for name, value in options.items():
        rule = rules[name]
        if value is None or value is False:
            continue
        if value is True:
            if not rule.is_flag:
                raise TypeError(f"{name}: True found, a value needed")
            words.append(f"--{rule.option}")
        elif isinstance(value, (str, bytes, os.PathLike)) or not hasattr(value, "__iter__"):
            words.append(f"--{rule.option}={text_of(value)}")
        elif rule.joins or rule.is_flag:
            words.append(f"--{rule.option}={','.join(text_of(each) for each in value)}")
        elif rule.repeats:
            words.extend(f"--{rule.option}={text_of(each)}" for each in value)
        else:
            raise TypeError(f"{name}: {type(value).__name__} found, one value needed")
    return words


def text_of(value: Any) -> str:
    return os.fsdecode(value) if isinstance(value, (str, bytes, os.PathLike)) else str(value)


class Shown:
    """Shows on stderr what the command does, on one line that the next one replaces."""

    def __init__(self) -> None:
        self.is_shown = False

    def __call__(self, text: str) -> None:
        sys.stderr.write(f"\r{text[:100]:<100}")
        sys.stderr.flush()
        self.is_shown = True

    def clear(self) -> None:
        if self.is_shown:
            sys.stderr.write("\r" + " " * 100 + "\r")
            sys.stderr.flush()


def no_one(text: str) -> None:
    """Hears nothing."""


def is_watched() -> bool:
    """Whether a person looks: a terminal, or a notebook."""
    is_terminal = sys.stderr is not None and hasattr(sys.stderr, "isatty") and sys.stderr.isatty()
    return is_terminal or "ipykernel" in sys.modules


def read_messages(stream: IO[str], tell: Callable[[str], Any], errors: List[str], warned: List[str]) -> None:
    """Sorts the lines of stderr. A line without the command's name goes on with the message before it."""
    last: List[str] = []
    for line in stream:
        line = line.rstrip("\n")
        kind, colon, text = line[len(PREFIX):].partition(": ") if line.startswith(PREFIX) else ("", "", "")
        if colon and kind in ("error", "critical"):
            last = errors
            last.append(text)
        elif colon and kind == "warning":
            last = warned
            last.append(text)
        elif line.startswith(PREFIX):
            last = []
            tell(text if colon and kind in ("info", "debug") else line[len(PREFIX):])
        elif last:
            last[-1] += "\n" + line
        else:
            tell(line)


def run(words: Sequence[str], progress: Progress = None, verbose: bool = True) -> Done:
    """Runs the command. Its warnings become ConversionWarning, and what it tells of its work goes to `progress`: a
    function that takes a text, True for a line on stderr, False for nothing; None is True where a person looks."""
    command = [program_path(), *words]
    shown = Shown()
    if progress is None:
        progress = is_watched()
    tell: Callable[[str], Any] = no_one
    if callable(progress):
        tell = progress
    elif progress:
        tell = shown
    if progress and verbose:
        command.append("--verbose")
    errors: List[str] = []
    warned: List[str] = []
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, encoding="utf-8", errors="backslashreplace")
    assert process.stdout is not None and process.stderr is not None
    reader = threading.Thread(target=read_messages, args=(process.stderr, tell, errors, warned), daemon=True)
    reader.start()
    try:
        output = process.stdout.read()
        code = process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    finally:
        reader.join()
        process.stdout.close()
        process.stderr.close()
        shown.clear()
    for text in warned:
        warnings.warn(text, ConversionWarning, stacklevel=5)
    if code != 0 and not errors:
        errors.append(f"{command[0]} ended with exit code {code}, without a message")
    return Done(code, output, "\n".join(errors), command)
