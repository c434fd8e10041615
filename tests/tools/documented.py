# SPDX-License-Identifier: BSD-3-Clause
"""The commands of a page, and a folder in which they run as they are printed."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from cli import HOST, LIBRARIES, PROGRAM, ROOT, environment

BUILD = LIBRARIES.parent
TIMEOUT = 900  # quantising a trained network on a machine with other work
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(?:build/release/bin/)?nnapi-(?:convert|bench|probe) |adb (?!.*speed_benchmark)")


def block_lines(text):
    """The lines of fenced and indented blocks, and the sentences between them."""
    blocks, sentences, fence = [], [], None
    for line in text.splitlines():
        if line.startswith("```"):
            fence = None if fence is not None else line[3:]
            sentences.append("")
        elif fence is not None:
            blocks.append(line if fence in ("sh", "console") else "")
        elif line.startswith("    "):
            blocks.append(line)
        else:
            blocks.append("")
            sentences.append(line)
    return blocks, sentences


def commands_of(text):
    """The commands of a page's blocks in their order, then those of its sentences and tables that name a model's file."""
    blocks, sentences = block_lines(text)
    joined = re.sub(r"\\\n\s*", "", "\n".join(blocks))
    lines = [line.strip().removeprefix("$ ") for line in joined.splitlines()]
    commands = [line for line in lines if COMMAND.match(line)]
    inline = re.findall(r"`([^`]+)`", " ".join(sentences))
    return commands + [code for code in inline if COMMAND.match(code) and re.search(r"\w\.pt2?\b", code)]


def without_missing_tools(command):
    """Graphviz is not needed to see that the graph is printed."""
    return command if shutil.which("dot") else re.sub(r"\| dot .*", "| cat >out.dot", command)


class Workplace:
    """A folder with the programs on PATH, and one phone: this machine, with the host's NNAPI."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        for name in ("bin", "phones/phone/data/local/tmp", "build", "build-android"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "build/release").symlink_to(BUILD)
        shutil.copy(ROOT / "tests/tools/stand_in_adb.py", folder / "bin/adb")
        (folder / "bin/nnapi-convert").symlink_to(PROGRAM)
        (folder / "bin/python3").symlink_to(sys.executable)  # which has NumPy
        for name in ("nnapi-bench", "nnapi-probe"):
            program = pathlib.Path(PROGRAM).with_name(name)
            if program.exists():
                (folder / "bin" / name).symlink_to(program)
                shutil.copy(program, folder / name)
                shutil.copy(program, folder / "build-android" / name)

    def has(self, command):
        """Whether the build made the program of the command."""
        name = re.search(r"nnapi-(?:convert|bench|probe)", command)
        return name is None or (self.folder / "bin" / name[0]).exists()

    def run(self, command):
        settings = {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "STAND_IN_ADB": str(self.folder / "phones")}
        if command.startswith(("adb ", "nnapi-probe ", "nnapi-convert phone ")):
            settings["LD_LIBRARY_PATH"] = str(HOST)  # where a phone has its NNAPI
        return subprocess.run(["bash", "-o", "pipefail", "-c", without_missing_tools(command)], cwd=self.folder,
                              env=environment(settings), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
