#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs text cases of the command line: a command, and what it must print and exit with.

A case is a text file:

  # a comment
  $ nnapi-convert inspect nothing.pt
  ! nnapi-convert: error: can't read nothing.pt: no such file
  = 3

"| " begins a line of stdout, "! " one of stderr, "= N" is the exit code. All commands of a file run in one empty
folder, in which `models` is testdata/models. The program's and LibTorch's version are written VERSION, the size of what
was written SIZE. With --rebase the file is rewritten with what was found: read the difference before it is committed.
"""

import argparse
import difflib
import os
import pathlib
import re
import shlex
import sys
import tempfile
from typing import List

import cli


def without_versions(text: str) -> str:
    text = re.sub(r"nnapi-convert \d+\.\d+\.\d+ \(LibTorch \d+\.\d+\.\d+\S*\)",
                  "nnapi-convert VERSION (LibTorch VERSION)", text)
    return re.sub(r", \d+\.\d [kM]B; next: ", ", SIZE; next: ", text)


def marked(marker: str, text: str) -> List[str]:
    lines = without_versions(text).split("\n")
    if lines[-1] == "":
        lines.pop()
    else:
        lines[-1] += "<no newline>"
    return [f"{marker} {line}".rstrip() for line in lines]


def run_command(line: str, folder: str) -> List[str]:
    words = shlex.split(line[1:])
    if not words or words[0] != "nnapi-convert":
        raise SystemExit(f"not a command of nnapi-convert: {line}")
    result = cli.run(*words[1:], cwd=folder)
    if result.code not in (0, 4):
        for problem in cli.problems_of_failure(result):
            print(f"{line}: {problem}")
            sys.exit(1)
    return [*marked("|", result.stdout), *marked("!", result.stderr), f"= {result.code}"]


def actual_text(text: str) -> str:
    found = []
    with tempfile.TemporaryDirectory(prefix="nnapi-convert-test-") as folder:
        os.symlink(cli.FIXTURES, os.path.join(folder, "models"))
        for line in text.splitlines():
            if line[:1] in ("|", "!", "="):
                continue
            found.append(line)
            if line.startswith("$ "):
                found += run_command(line, folder)
    return "\n".join(found) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", type=pathlib.Path, metavar="CASE")
    parser.add_argument("--rebase", action="store_true", help="write what was found into the cases")
    arguments = parser.parse_args()
    is_same = True
    for case in arguments.cases:
        expected = case.read_text()
        if "\n$ " not in "\n" + expected:
            raise SystemExit(f"{case}: no command in it")
        found = actual_text(expected)
        if arguments.rebase:
            case.write_text(found)
        elif found != expected:
            is_same = False
            sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), found.splitlines(True),
                                                       f"{case.name}: expected", f"{case.name}: found"))
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
