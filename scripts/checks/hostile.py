#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Converts, verifies or checks models that mean harm (hostile_models.py), each within a minute and 8 GB (of CPU time where
other work has more processes than the machine has processors). Each has to end with
a documented exit code, and with one error unless it converts, and has to leave no file behind.

    scripts/checks/hostile.py --count 1000 --seed 1

Prints what went wrong, and how often each exit code came. --only NUMBER runs one model and keeps it."""

import argparse
import collections
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from typing import List, NamedTuple

import hostile_models

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("NNAPI_CONVERT", str(ROOT / "build" / "release" / "bin" / "nnapi-convert"))
SECONDS, MEMORY = 60, 8 << 30
CODES = (0, 1, 2, 3, 4, 70, 75)  # docs/command-line.md
ERROR = "nnapi-convert: error: "


class Run(NamedTuple):
    number: int
    kind: str
    code: int
    seconds: float
    peak: int
    stderr: str
    problems: List[str]

    def __str__(self):
        last = self.stderr.strip().splitlines()[-1:] or [""]
        return f"{self.number:5} {self.kind:18} exit {self.code:3} {self.seconds:5.1f} s {self.peak >> 20:5} MB  {last[0][:150]}"


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def command_of(options: List[str], model: pathlib.Path, out: pathlib.Path) -> List[str]:
    if "check" in options:
        return [PROGRAM, "check", str(model), *(option for option in options if option != "check")]
    options = [f"--litert={out.with_suffix('.tflite')}" if option == "--litert" else option for option in options]
    return [PROGRAM, str(model), *options, "-o", str(out)]


def run(number: int, seed: int, folder: pathlib.Path) -> Run:
    """Runs one model in a folder of its own."""
    model = hostile_models.make(number, seed)
    folder.mkdir(parents=True)
    hostile_models.write(model, folder / "m.pt")
    log = folder / "stderr"
    begin = time.monotonic()
    environment = {**os.environ, "TMPDIR": str(folder)}
    with open(log, "wb") as stderr:
        process = subprocess.Popen(command_of(model.options, folder / "m.pt", folder / "out.pt"), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=stderr, env=environment, preexec_fn=limit_memory)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds, peak, code = time.monotonic() - begin, usage.ru_maxrss << 10, process.returncode
    text = log.read_text(errors="replace")
    problems = []
    if code not in CODES:
        problems.append(f"exit code {code}")
    errors = sum(line.startswith(ERROR) for line in text.splitlines())
    may_have_none = code in (0, 4) or (code == 1 and "check" in model.options)
    if errors > (code != 0) or (errors == 0 and not may_have_none):
        problems.append(f"{errors} errors")
    if "internal error" in text:
        problems.append("internal error")
    cpu = usage.ru_utime + usage.ru_stime
    is_busy = os.getloadavg()[0] > (os.cpu_count() or 1)
    if (cpu if is_busy else seconds) > SECONDS:
        problems.append(f"{seconds:.0f} s, {cpu:.0f} s of CPU time")
    if peak > MEMORY:
        problems.append(f"{peak >> 20} MB")
    left = {entry.name for entry in folder.iterdir()} - {"m.pt", "stderr", "out.pt", "out.tflite"}
    if left or (code not in (0,) and (folder / "out.pt").exists()):
        problems.append(f"left {sorted(left) or 'out.pt'}")
    return Run(number, model.name, code, seconds, peak, text, problems)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one model: prints its command, and keeps it")
    parser.add_argument("--verbose", action="store_true", help="print each run")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hostile-"))
    if arguments.only is not None:
        result = run(arguments.only, arguments.seed, folder / "one")
        model = hostile_models.make(arguments.only, arguments.seed)
        print(" ".join(command_of(model.options, folder / "one" / "m.pt", folder / "out.pt")))
        print(result, *result.problems, result.stderr, sep="\n")
        return bool(result.problems)
    codes, failed, slowest, largest = collections.Counter(), 0, 0.0, 0
    for number in range(arguments.first, arguments.first + arguments.count):
        result = run(number, arguments.seed, folder / str(number))
        shutil.rmtree(folder / str(number))
        codes[result.code] += 1
        slowest, largest = max(slowest, result.seconds), max(largest, result.peak)
        failed += bool(result.problems)
        if result.problems or arguments.verbose:
            print(result, *result.problems, flush=True)
    folder.rmdir()
    print(f"{arguments.count} models, {failed} with problems; at most {slowest:.1f} s and {largest >> 20} MB; exit codes:",
          ", ".join(f"{code}: {count}" for code, count in sorted(codes.items())))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
