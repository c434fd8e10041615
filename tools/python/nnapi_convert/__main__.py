# SPDX-License-Identifier: BSD-3-Clause
"""`python -m nnapi_convert` is the command; so are the programs that the wheel puts on PATH."""

import os
import sys

from .program import program_path


def start(name: str) -> None:
    try:
        path = program_path(name)
    except FileNotFoundError as error:
        sys.exit(f"{name}: error: {error}")
    os.execv(path, [path, *sys.argv[1:]])


def main() -> None:
    start("nnapi-convert")


def bench() -> None:
    start("nnapi-bench")


def probe() -> None:
    start("nnapi-probe")


if __name__ == "__main__":
    main()
