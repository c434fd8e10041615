# SPDX-License-Identifier: BSD-3-Clause
"""What the functions of the module return."""

import pathlib
import shutil
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple


class Folder:
    """A folder that is removed with the object that owns it. Pickled copies own nothing."""

    def __init__(self, name: str, is_owner: bool = True) -> None:
        self.name = name
        if is_owner:
            self._finalizer = weakref.finalize(self, shutil.rmtree, name, ignore_errors=True)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Folder, (self.name, False)


class Verification:
    """Original and result beside each other, on the host's NNAPI. Only results that agree come back: others raise
    VerificationFailed, which has the same as its `report`.

    report   what `verify --format json` prints
    outputs  an entry for each output: max_error, relative_error, snr_db, top1_agreement, ...
    """

    def __init__(self, report: Dict[str, Any]) -> None:
        self.report = report
        self.passed: bool = bool(report.get("passed"))
        self.outputs: List[Dict[str, Any]] = list(report.get("outputs") or [])

    def __repr__(self) -> str:
        return f"<Verification: {'passed' if self.passed else 'failed'}, {len(self.outputs)} outputs>"


class Conversion:
    """A converted model.

    output   the path of the file; None where only a file for LiteRT was written
    report   the command's report (schemas/report.schema.json)
    summary  the command's line about the file
    model    the file that was converted: the caller's, or one that lives as long as this object; of a pickled copy,
             as long as the original
    how      how that file came about: file, torch.export, torch.export.save, torch.jit.trace, torch.jit.save
    problem  why torch.export failed, where torch.jit.trace took its place; else None
    """

    def __init__(self, output: Optional[str], report: Dict[str, Any], summary: str, model: str, how: str,
                 problem: Optional[str], folder: Folder, verifier: Callable[..., Verification]) -> None:
        self.output = None if output is None else pathlib.Path(output)
        self.report = report
        self.summary = summary
        self.model = pathlib.Path(model)
        self.how = how
        self.problem = problem
        self._folder = folder
        self._verifier = verifier

    @property
    def warnings(self) -> List[str]:
        """What the command warned of."""
        return list(self.report.get("warnings") or [])

    @property
    def is_whole(self) -> bool:
        """Whether NNAPI runs all of the model in one call."""
        return bool(self.report.get("converted")) and "partition" not in self.report

    def verify(self, inputs: Any = None, **options: Any) -> Verification:
        """Compares the file with the original: `nnapi_convert.verify(model, output, inputs, ...)`."""
        if self.output is None:
            raise ValueError("verify: no output was written for NNAPI; call nnapi_convert.verify(model, FILE.tflite)")
        return self._verifier(self.model, self.output, inputs, **options)

    def __repr__(self) -> str:
        last = self.summary.splitlines()[-1] if self.summary else str(self.output)
        return f"<Conversion by {self.how}: {last}>"


class Check:
    """Whether and how well a model converts.

    report    what `check --format json` prints (schemas/check.schema.json)
    converts  whether it converts, whole or in segments
    how       "whole", "segments" or "refused"
    refusals  what can't be converted, and why
    error     why it can't be converted at all; None where it converts
    """

    def __init__(self, report: Dict[str, Any]) -> None:
        self.report = report
        self.converts: bool = bool(report.get("converts"))
        self.how: str = str(report.get("how", ""))
        self.refusals: List[Dict[str, Any]] = list(report.get("refusals") or [])
        self.segments: List[Dict[str, Any]] = list(report.get("segments") or [])
        self.error: Optional[str] = report.get("error")

    def __bool__(self) -> bool:
        return self.converts

    def __repr__(self) -> str:
        return f"<Check: {self.how}, {len(self.segments)} segments, {len(self.refusals)} refusals>"


class Batch:
    """Many conversions in one run.

    summary  summary.json (schemas/batch_summary.schema.json)
    text     the table that the command prints
    code     the command's exit code: 0, 1 (models failed) or 5 (worse than the baseline)
    folder   where the results are
    """

    def __init__(self, summary: Dict[str, Any], text: str, code: int, folder: str) -> None:
        self.summary = summary
        self.text = text
        self.code = code
        self.folder = pathlib.Path(folder)

    @property
    def failed(self) -> List[Dict[str, Any]]:
        """The entries of the models that were not converted."""
        return [entry for entry in self.summary.get("models", []) if entry.get("status") != "converted"]

    def __repr__(self) -> str:
        return f"<Batch: {len(self.summary.get('models', []))} models, {len(self.failed)} failed, in {self.folder}>"
