# SPDX-License-Identifier: BSD-3-Clause
"""Helpers for the tests of the command: they run it and check the rules for every run."""

import contextlib
import dataclasses
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
from typing import Dict, List, Optional

import servers

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("NNAPI_CONVERT", str(ROOT / "build/release/bin/nnapi-convert"))
LIBRARIES = pathlib.Path(PROGRAM).resolve().parents[1] / "lib"
HOST = LIBRARIES / "host"  # the folder of the host's libneuralnetworks.so
FIXTURES = ROOT / "testdata" / "models"
ERROR = "nnapi-convert: error: "
TIMEOUT = 300  # for a machine with other work


@dataclasses.dataclass
class Result:
    command: List[str]
    code: int
    stdout: str
    stderr: str

    def __str__(self):
        return f"{' '.join(self.command)}\nexit code {self.code}\nstdout:\n{self.stdout}\nstderr:\n{self.stderr}"


def environment(extra: Optional[Dict[str, str]] = None) -> Dict[str, str]:
    """The environment without LD_LIBRARY_PATH, which is for this process: the program finds the host's NNAPI itself."""
    kept = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    return {**kept, **(extra or {})}


def run(*arguments, cwd=None, env=None, timeout=TIMEOUT, **options) -> Result:
    command = [PROGRAM, *map(str, arguments)]
    done = None
    brings_libraries = "--torch-library" in command  # the server has LibTorch without what these may need
    if env is None and not options and not brings_libraries:  # else the program starts as users start it
        done = servers.run_program(command, cwd, environment(), timeout)
    if done is None:
        done = subprocess.run(command, cwd=cwd, env=environment(env), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=timeout, **options)
    text = [stream.decode("utf-8", "backslashreplace") for stream in (done.stdout, done.stderr)]
    return Result(command, done.returncode, *text)


def problems_of_failure(result: Result) -> List[str]:
    """Checks every failure except one of verification: one message on stderr, nothing on stdout."""
    problems = []
    if result.code < 0:
        problems.append(f"killed by signal {-result.code}")
    if result.code == 70 or "internal error" in result.stderr:
        problems.append("internal error")
    errors = sum(line.startswith(ERROR) for line in result.stderr.splitlines())
    if errors != 1:
        problems.append(f"{errors} error messages, 1 needed")
    if result.stdout:
        problems.append("output on stdout")
    return problems


class CliTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nnapi-convert-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(self.check_litert_files)

    def check_litert_files(self):
        """Every file for LiteRT that a test leaves keeps the format and the quantisation specification."""
        files = sorted(self.folder.rglob("*.tflite"))
        rules = os.environ.get("NNAPI_LITERT_RULES")
        if not files or not rules:
            return
        done = subprocess.run([rules, *map(str, files)], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT)
        self.assertEqual((0, ""), (done.returncode, done.stdout))

    def fixture(self, name: str) -> pathlib.Path:
        return FIXTURES / name

    def succeed(self, *arguments, **options) -> Result:
        result = run(*arguments, **options)
        self.assertEqual(0, result.code, f"\n{result}")
        return result

    def fail_with(self, code: int, *arguments, needed=(), **options) -> Result:
        result = run(*arguments, **options)
        self.assertEqual(code, result.code, f"\n{result}")
        self.assertEqual([], problems_of_failure(result), f"\n{result}")
        for fragment in needed:
            self.assertIn(fragment, result.stderr)
        return result

    def convert(self, model, *arguments, out="out.pt", **options) -> pathlib.Path:
        """Converts a fixture, given by name, or another file; gives the path of the result."""
        source = model if isinstance(model, pathlib.Path) else self.fixture(model)
        path = self.folder / out
        self.succeed(source, *arguments, "-o", path, **options)
        return path

    def assert_no_leftovers(self, folder=None):
        """No temporary folder or file of the program remains."""
        folder = folder or self.folder
        self.assertEqual([], [entry for entry in os.listdir(folder) if entry.startswith(".")])


@contextlib.contextmanager
def unchanged(test: unittest.TestCase, path: pathlib.Path):
    """Checks that the file keeps its bytes, its time and its inode."""
    before = (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino)
    yield
    after = (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino)
    test.assertTrue(before == after, f"{path} was changed")
