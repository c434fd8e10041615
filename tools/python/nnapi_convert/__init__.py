# SPDX-License-Identifier: BSD-3-Clause
"""Converts PyTorch models to Android's NNAPI, by the command nnapi-convert.

    import nnapi_convert
    result = nnapi_convert.convert(model, (torch.rand(1, 3, 224, 224),), "out.pt", nhwc=True)
    result.verify()

`model` is an nn.Module in eval mode, a ScriptModule, an ExportedProgram, or the path of a file. Options are
the command's, with _ for -. docs/python.md has more.
"""

from .commands import __version__, batch, check, convert, inspect, ops, verify
from .errors import (ConversionWarning, Error, FileError, InternalError, LimitError, NotConvertible, UsageError,
                     VerificationFailed)
from .program import program_path
from .results import Batch, Check, Conversion, Verification

__all__ = ["Batch", "Check", "Conversion", "ConversionWarning", "Error", "FileError", "InternalError", "LimitError",
           "NotConvertible", "UsageError", "Verification", "VerificationFailed", "__version__", "batch", "check",
           "convert", "inspect", "ops", "program_path", "verify"]
