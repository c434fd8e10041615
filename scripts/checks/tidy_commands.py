#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites gcc's compile commands for clang-tidy, which can't read gcc's precompiled headers, and makes one of clang's.

    tidy_commands.py build/release/compile_commands.json build/tidy/compile_commands.json lib tools build/release/lib

keeps the sources in the folders named; those of the build folder join several of the project's. The precompiled header
lies beside the rewritten commands."""

import json
import pathlib
import shlex
import subprocess
import sys
from typing import List

PRECOMPILED = "cmake_pch.hxx"


def clang_arguments(command: str, precompiled: pathlib.Path) -> List[str]:
    """Returns the command for clang, with its precompiled header and without compiler warnings."""
    words = shlex.split(command)
    compiler = next(i for i, word in enumerate(words) if pathlib.PurePath(word).name in ("c++", "g++"))
    kept, skip = [], False
    for word, following in zip(words[compiler + 1 :], words[compiler + 2 :] + [""]):
        if skip:
            skip = False
        elif word == "-include" and following.endswith(PRECOMPILED):
            kept += ["-include-pch", str(precompiled)]
            skip = True
        elif not word.startswith(("-W", "-fvisibility")):  # a precompiled header has one visibility
            kept.append(word)
    return kept + ["-w"]


def compile_header(entries: List[dict], target: pathlib.Path) -> None:
    entry = next(entry for entry in entries if entry["file"].endswith(PRECOMPILED + ".cxx"))
    words = clang_arguments(entry["command"], target)
    flags = words[: words.index("-include-pch")]
    header = entry["file"][: -len(".cxx")]
    subprocess.run(["clang++", *flags, "-w", header, "-o", str(target)], check=True)


def main() -> None:
    source, target, *folders = map(pathlib.Path, sys.argv[1:])
    roots = [folder.resolve() for folder in folders]
    entries = json.loads(source.read_text())
    target.parent.mkdir(parents=True, exist_ok=True)
    precompiled = target.parent.resolve() / "torch.pch"
    compile_header(entries, precompiled)
    entries = [entry for entry in entries if any(root in pathlib.Path(entry["file"]).parents for root in roots)]
    for entry in entries:
        entry["command"] = shlex.join(["clang++", *clang_arguments(entry["command"], precompiled)])
    target.write_text(json.dumps(entries, indent=1))


if __name__ == "__main__":
    main()
