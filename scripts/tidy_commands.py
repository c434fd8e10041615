#!/usr/bin/python3
"""Rewrites gcc's compile commands for clang-tidy, which can't read gcc's precompiled headers."""

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
    source, target = map(pathlib.Path, sys.argv[1:])
    entries = json.loads(source.read_text())
    entries = [entry for entry in entries if not entry["file"].endswith("cmake_pch.hxx.cxx")]
    for entry in entries:
        entry["command"] = clang_command(entry["command"])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(entries, indent=1))


if __name__ == "__main__":
    main()
