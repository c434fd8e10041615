# SPDX-License-Identifier: BSD-3-Clause
"""What stands behind the functions of commands.py, which a script makes of the command's options."""

import json
import os
import pathlib
import tempfile
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

from .errors import FileError, NotConvertible, error_of, json_or_none
from .models import (DEFAULT_SAMPLES, Example, Saved, is_path, read_example, save_inputs, save_model, save_samples,
                     specs_of)
from .program import Done, Progress, Rule, run, words_of
from .results import Batch, Check, Conversion, Folder, Verification

Rules = Dict[str, Rule]
Options = Dict[str, Any]


def temporary_folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="nnapi-convert-")


def lasting_folder() -> Folder:
    return Folder(tempfile.mkdtemp(prefix="nnapi-convert-"))


def prepare(options: Options, example: Optional[Example], saved: Saved, folder: pathlib.Path, samples: int) -> Options:
    """The options with what the example tells, and with files in place of data."""
    ready = dict(options)
    if example is not None and not ready.get("input") and not saved.path.endswith(".pt2"):
        ready["input"] = specs_of(example) or None
    if ready.get("calibrate") is not None:
        ready["calibrate"] = save_samples(ready["calibrate"], example, folder, samples)
    if ready.get("verify_inputs") is not None:
        ready["verify_inputs"] = save_inputs(ready["verify_inputs"], folder)
    return ready


def report_paths(given: Any) -> List[str]:
    if given is None:
        return []
    paths = [os.fspath(given)] if is_path(given) else [os.fspath(each) for each in given]
    if "-" in paths:
        raise ValueError("report: - found, which is the command's stdout; the result's report has the same")
    return paths


def try_convert(saved: Saved, output: Optional[str], rules: Rules, options: Options, folder: pathlib.Path,
                progress: Progress) -> Tuple[Done, Dict[str, Any]]:
    report = folder / "report.json"
    written = [] if output is None else [f"--output={output}"]
    words = [saved.path, *written, *words_of(rules, options), f"--report={report}"]
    done = run(words, progress)
    known = json_or_none(report.read_text(encoding="utf-8")) if report.exists() else None
    if done.code != 0:
        raise error_of(done.error, done.code, done.command, known)
    return done, known or {}


def convert(model: Any, example: Any, output: Any, progress: Progress, samples: Optional[int], rules: Rules,
            options: Options, verifier: Any) -> Conversion:
    folder = lasting_folder()
    place = pathlib.Path(folder.name)
    read = read_example(example)
    target = None if output is None else os.fspath(output)
    options = {**options, "report": report_paths(options.get("report"))}
    most = DEFAULT_SAMPLES if samples is None else samples
    saved = save_model(model, read, place)
    try:
        ready = prepare(options, read, saved, place, most)
        done, report = try_convert(saved, target, rules, ready, place, progress)
    except (NotConvertible, FileError) as error:
        if saved.how != "torch.export":
            raise
        # The program was exported, and the command can't read it: a trace of the same call may be simpler.
        try:
            traced = save_model(model, read, place, exports=False)
            ready = prepare(options, read, traced, place, most)
            done, report = try_convert(traced, target, rules, ready, place, progress)
        except Exception:
            raise error from None
        saved = traced._replace(problem=error.text)
    return Conversion(target, report, done.output.strip(), saved.path, saved.how, saved.problem, folder, verifier)


def check(model: Any, example: Any, progress: Progress, samples: Optional[int], rules: Rules,
          options: Options) -> Check:
    with temporary_folder() as name:
        folder = pathlib.Path(name)
        read = read_example(example)
        saved = save_model(model, read, folder)
        ready = prepare(options, read, saved, folder, DEFAULT_SAMPLES if samples is None else samples)
        done = run(["check", saved.path, "--format=json", *words_of(rules, ready)], progress)
        report = json_or_none(done.output)
        if done.code not in (0, 1) or report is None:
            raise error_of(done.error, done.code, done.command, report)
        return Check(report)


def verify(model: Any, output: Any, inputs: Any, example: Any, progress: Progress, rules: Rules,
           options: Options) -> Verification:
    with temporary_folder() as name:
        folder = pathlib.Path(name)
        saved = save_model(model, read_example(example), folder)
        words = ["verify", saved.path, os.fspath(output), "--format=json", *words_of(rules, options)]
        if inputs is not None:
            words.append(f"--inputs={save_inputs(inputs, folder)}")
        done = run(words, progress)
        report = json_or_none(done.output)
        if done.code != 0 or report is None:
            text = difference_text(report) if done.code == 4 and report else done.error
            raise error_of(text, done.code, done.command, report)
        return Verification(report)


def difference_text(report: Dict[str, Any]) -> str:
    lines = [f"original and result differ; needed: {report.get('criterion', '')}"]
    for number, entry in enumerate(report.get("outputs") or []):
        lines.append(f"output {number} {entry.get('shape')}: max error {entry.get('max_error')}, of range "
                     f"{entry.get('relative_error')}, SNR {entry.get('snr_db')} dB")
    return "\n".join(lines)


def inspect(output: Any, format: str, rules: Rules, options: Options) -> Union[Dict[str, Any], str]:
    done = run(["inspect", os.fspath(output), f"--format={format}", *words_of(rules, options)], False)
    if done.code != 0:
        raise error_of(done.error, done.code, done.command)
    if format != "json":
        return done.output
    found = json_or_none(done.output)
    return {} if found is None else found


def list_operators() -> List[Dict[str, Any]]:
    done = run(["ops", "--format=json"], False)
    if done.code != 0:
        raise error_of(done.error, done.code, done.command)
    found: List[Dict[str, Any]] = json.loads(done.output)
    return found


def describe_operators(names: Iterable[str]) -> str:
    done = run(["ops", *names], False)
    if done.code != 0:
        raise error_of(done.error, done.code, done.command)
    return done.output


def manifest_of(files: Iterable[Any], folder: pathlib.Path) -> str:
    """A manifest of a list of files. Results have the files' names, with folders where these tell them apart."""
    paths = [pathlib.Path(os.path.abspath(os.fspath(file))) for file in files]
    if not paths:
        raise ValueError("files: an empty list found, at least one model needed")
    common = pathlib.Path(os.path.commonpath([str(path.parent) for path in paths]))
    stems = [path.stem for path in paths]
    if len(set(stems)) < len(stems):
        stems = [str(path.relative_to(common).with_suffix("")) for path in paths]
    if len(set(stems)) < len(stems):
        stems = [str(path.relative_to(common)) for path in paths]
    entries = [{"model": str(path), "name": stem} for path, stem in zip(paths, stems)]
    path = folder / "zoo.json"
    path.write_text(json.dumps({"version": 1, "models": entries}), encoding="utf-8")
    return str(path)


def batch(files: Any, output: Any, progress: Progress, rules: Rules, options: Options) -> Batch:
    with temporary_folder() as name:
        zoo = os.fspath(files) if is_path(files) else manifest_of(files, pathlib.Path(name))
        folder = os.fspath(output)
        done = run(["batch", zoo, f"--output={folder}", *words_of(rules, options)], progress, verbose=False)
        if done.code not in (0, 1, 5):
            raise error_of(done.error, done.code, done.command)
        summary = json.loads((pathlib.Path(folder) / "summary.json").read_text(encoding="utf-8"))
        return Batch(summary, done.output, done.code, folder)


__all__ = ["batch", "check", "convert", "describe_operators", "inspect", "list_operators", "verify"]
