# SPDX-License-Identifier: BSD-3-Clause
"""Helpers for the tests of installations."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NNAPI_CONVERT_BUILD", ROOT / "build" / "release"))
FIXTURES = ROOT / "testdata" / "models"


def environment():
    """The environment without LD_LIBRARY_PATH: installed programs find their own libraries."""
    return {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}


def run(*command, code=0, cwd=None) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, command))}\nexit code {done.returncode}\n{done.stdout}")
    return done.stdout
