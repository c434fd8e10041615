# SPDX-License-Identifier: BSD-3-Clause
"""What the module raises and warns of. Texts are the command's own."""

import json
from typing import Any, Dict, List, Optional, Sequence, Tuple, Type


class ConversionWarning(UserWarning):
    """What the command warns of: something that it had to assume, or that may be slow or wrong."""


class Error(Exception):
    """The command failed. `str(error)` is its text.

    code      its exit code
    refusals  what of the model can't be converted, and why: the entries of `refusals` in schemas/report.schema.json;
              empty where nothing was refused
    report    the whole report, or what `verify` and `check` print as JSON; None where the command wrote none
    command   the words of the command
    """

    def __init__(self, text: str, code: int, command: Sequence[str] = (),
                 report: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        self.command: List[str] = list(command)
        self.report = report
        self.refusals: List[Dict[str, Any]] = list((report or {}).get("refusals") or [])

    def __reduce__(self) -> Tuple[Any, ...]:
        """Schedulers pickle what a worker raises; without this, a copy would be made of the text alone."""
        return type(self), (self.text, self.code, self.command, self.report), self.__dict__


class NotConvertible(Error):
    """The model can't be converted (exit code 1)."""


class UsageError(Error, ValueError):
    """An option is wrong or missing (exit code 2)."""


class FileError(Error):
    """A file can't be read or written, or is malformed (exit code 3)."""


class VerificationFailed(Error):
    """Original and result differ, or one of them fails to run (exit code 4)."""


class InternalError(Error):
    """A fault of the program, or a crash of LibTorch (exit code 70)."""


class LimitError(Error):
    """Memory, stack or time is not enough (exit code 75)."""


KINDS: Dict[int, Type[Error]] = {1: NotConvertible, 2: UsageError, 3: FileError, 4: VerificationFailed,
                                 70: InternalError, 75: LimitError}


def error_of(text: str, code: int, command: Sequence[str], report: Optional[Dict[str, Any]] = None) -> Error:
    """The exception for an exit code. A signal that ended the command is an internal error."""
    return KINDS.get(code, InternalError)(text, code, command, report)


def json_or_none(text: str) -> Optional[Dict[str, Any]]:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
