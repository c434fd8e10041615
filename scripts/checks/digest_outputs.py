#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Converts some 600 pairs of a model and options and prints a line for each result: sha256 of the archive's records
with their names in their order, of the report, and of the messages, and the exit code. A diff of two such texts
shows the effects of a change of the converter. Needs PyTorch, for making the models."""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import zipfile
from typing import Optional

import digest_models

ROOT = pathlib.Path(__file__).resolve().parents[2]
NONE = "-"
TIMEOUT = 300


def short(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def archive_digest(path: pathlib.Path) -> str:
    if not path.exists():
        return NONE
    digest = hashlib.sha256()
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            digest.update(entry.filename.encode() + b"\0")
            digest.update(archive.read(entry))
    return digest.hexdigest()[:16]


def file_digest(path: pathlib.Path) -> str:
    """Returns the digest of a file, without the addresses in names of LibTorch's types."""
    return short(re.sub(rb"at: 0x[0-9a-f]+", b"at:", path.read_bytes())) if path.exists() else NONE


class Digests:
    def __init__(self, binary: pathlib.Path, models: pathlib.Path, messages: Optional[pathlib.Path]):
        self.binary, self.models, self.messages = binary.resolve(), models.resolve(), messages
        if messages:
            messages.mkdir(parents=True, exist_ok=True)

    def line(self, run: digest_models.Run) -> str:
        with tempfile.TemporaryDirectory() as folder:
            done = self.convert(run, pathlib.Path(folder))
            out, report = (file_of(folder) for file_of in (self.archive, self.report))
        text = done.stdout + done.stderr
        title = " ".join([run.model, *run.options])
        if self.messages:
            (self.messages / f"{short(title.encode())}.txt").write_bytes(title.encode() + b"\n" + text)
        return f"{title}: exit {done.returncode} archive {out} report {report} messages {short(text)}"

    def convert(self, run: digest_models.Run, folder: pathlib.Path) -> subprocess.CompletedProcess:
        os.symlink(self.models / run.model, folder / run.model)  # messages name it
        command = [str(self.binary), run.model, *run.options, "-o", "out.pt", "--report", "report.json"]
        return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=TIMEOUT)

    @staticmethod
    def archive(folder: str) -> str:
        return archive_digest(pathlib.Path(folder) / "out.pt")

    @staticmethod
    def report(folder: str) -> str:
        return file_digest(pathlib.Path(folder) / "report.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=pathlib.Path, help="folder of the models; made if it isn't there")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/bin/nnapi-convert")
    parser.add_argument("--saved", type=pathlib.Path, default=ROOT / "build/models", help="of make_models.py")
    parser.add_argument("--messages", type=pathlib.Path, help="folder for what each run prints")
    parser.add_argument("--only", default="", help="pairs whose line begins so")
    arguments = parser.parse_args()
    if not shutil.which(str(arguments.binary)):
        parser.error(f"{arguments.binary} is not there; build it, or give --binary")
    digest_models.make(arguments.models, arguments.saved)
    digests = Digests(arguments.binary, arguments.models, arguments.messages)
    chosen = [run for run in digest_models.runs(arguments.models) if run.model.startswith(arguments.only)]
    print("\n".join(sorted({digests.line(run) for run in chosen})))


if __name__ == "__main__":
    main()
