# SPDX-License-Identifier: BSD-3-Clause
"""Helpers for the tests of `nnapi-convert batch`."""

import json
import pathlib
import shutil
import subprocess
import time
from typing import Dict, List

import jsonschema
import torch

from cli import PROGRAM, ROOT, CliTest, environment, run


class Step(torch.nn.Module):
    def forward(self, matrix):
        return torch.linalg.svd(matrix + 1)[0]


class Endless(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = torch.nn.Sequential(*[Step() for _ in range(100)])

    def forward(self, x):
        matrix = torch.arange(2250000).reshape(1500, 1500).sin()
        return x + self.steps(matrix).sum()


SCHEMA = json.loads((ROOT / "schemas" / "batch_summary.schema.json").read_text())
REPORT_SCHEMA = json.loads((ROOT / "schemas" / "report.schema.json").read_text())
STATE = ".nnapi-batch"


def children(pid: int) -> List[int]:
    """Returns the processes that the threads of a process have started."""
    try:
        return [int(child) for thread in pathlib.Path(f"/proc/{pid}/task").iterdir()
                for child in (thread / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def until(condition, what: str, seconds: float = 60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"waited for {what}")


class BatchTest(CliTest):
    def setUp(self):
        super().setUp()
        self.zoo = self.folder / "zoo"
        self.zoo.mkdir()
        self.out = self.folder / "out"

    def add(self, *names: str, to: str = ""):
        """Copies fixtures into the zoo; `to` is another name."""
        for name in names:
            target = self.zoo / (to or name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.fixture(name), target)

    def manifest(self, *models, **rest) -> pathlib.Path:
        path = self.zoo / "zoo.json"
        path.write_text(json.dumps({"version": 1, "models": list(models), **rest}))
        return path

    def batch(self, *arguments, code=0, zoo=None, out=None, **options):
        """Runs it to its end, as users start it (--resume asks which program made the results); the result has the
        summary."""
        options.setdefault("env", {})
        result = run("batch", zoo or self.zoo, "-o", out or self.out, *arguments, **options)
        self.assertEqual(code, result.code, f"\n{result}")
        return result

    def summary(self, out=None) -> Dict:
        summary = json.loads(((out or self.out) / "summary.json").read_text())
        jsonschema.Draft202012Validator(SCHEMA).validate(summary)
        return summary

    @staticmethod
    def wait_for_model(process: subprocess.Popen):
        """Reads the line of a model that is done, and those of warnings before it."""
        for line in process.stderr:
            if line.startswith("["):
                return

    def statuses(self, out=None) -> Dict[str, str]:
        return {entry["name"]: entry["status"] for entry in self.summary(out)["models"]}

    def entry(self, name: str, out=None) -> Dict:
        return next(entry for entry in self.summary(out)["models"] if entry["name"] == name)

    def start(self, *arguments, zoo=None, out=None, **options) -> subprocess.Popen:
        process = subprocess.Popen([PROGRAM, "batch", str(zoo or self.zoo), "-o", str(out or self.out),
                                    *map(str, arguments)],
                                   env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def results(self, out=None) -> Dict[str, bytes]:
        """Returns all files except JUnit's, which has times, and records with measurements."""
        root = out or self.out
        paths = [path for path in root.rglob("*")
                 if path.is_file() and STATE not in path.parts and path.name != "summary.xml"]
        return {str(path.relative_to(root)): path.read_bytes() for path in paths}

    def hanging(self, name: str):
        """A small file that no worker can finish within minutes: many singular value decompositions of constants."""
        torch.jit.script(Endless().eval()).save(str(self.zoo / name))
