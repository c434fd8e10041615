#!/usr/bin/python3
"""Rewrites gcc's compile commands for clang-tidy, which can't read gcc's precompiled headers.

    tidy_commands.py build/release/compile_commands.json build/tidy/compile_commands.json lib tools

keeps the sources in the folders named."""

import json
import pathlib
import shlex
import sys


def clang_command(command: str) -> str:
    """Without the precompiled header, and without compiler warnings: those are the compiler's business."""
    words = shlex.split(command)
    compiler = next(i for i, word in enumerate(words) if pathlib.PurePath(word).name in ("c++", "g++"))
    kept, skip = [], False
    for word, following in zip(words[compiler:], words[compiler + 1 :] + [""]):
        if skip:
            skip = False
        elif word == "-include" and following.endswith("cmake_pch.hxx"):
            skip = True
        elif not word.startswith("-W"):
            kept.append(word)
    return shlex.join(kept + ["-w"])


def main() -> None:
    source, target, *folders = map(pathlib.Path, sys.argv[1:])
    roots = [folder.resolve() for folder in folders]
    entries = json.loads(source.read_text())
    entries = [entry for entry in entries if any(root in pathlib.Path(entry["file"]).parents for root in roots)]
    for entry in entries:
        entry["command"] = clang_command(entry["command"])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(entries, indent=1))


if __name__ == "__main__":
    main()
