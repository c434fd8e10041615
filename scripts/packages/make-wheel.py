#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a wheel of the bundle: nnapi_convert-VERSION-py3-none-manylinux2014_x86_64.whl, or _aarch64, with the Python module
and the commands nnapi-convert, nnapi-bench and nnapi-probe.

    make-wheel.py [BUNDLE [FOLDER]]

BUNDLE is the folder that make-bundle.sh made, FOLDER is where the wheel goes; both are in build/bundle, if not given. The
same bundle gives the same bytes."""

import argparse
import base64
import hashlib
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time
import zipfile
from typing import Dict, List

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/generate"))
from make_python_module import make_module  # noqa: E402

BUNDLES = ROOT / "build/bundle"
# Of the bundle: completions and manual pages have no place where a wheel lies.
LEFT_OUT = ("share/bash-completion", "share/zsh", "share/fish", "share/man")
SUMMARY = "Converts PyTorch models to Android's Neural Networks API (NNAPI)"
DESCRIPTION = """# nnapi-convert

Converts a trained PyTorch model to a file that runs on Android's NNAPI, and verifies it on this machine.

    import nnapi_convert
    result = nnapi_convert.convert(model, (torch.rand(1, 3, 224, 224),), "out.pt", nhwc=True)
    result.verify()

Works with every PyTorch from 1.13 on, and without. The wheel brings the command nnapi-convert with all that it needs.
"""
PROGRAMS = {"nnapi-convert": "main", "nnapi-bench": "bench", "nnapi-probe": "probe"}


def find_bundle() -> pathlib.Path:
    found = sorted(path for path in BUNDLES.glob(f"nnapi-convert-*-linux-{platform.machine()}") if path.is_dir())
    if len(found) != 1:
        sys.exit(f"make-wheel.py: {len(found)} bundles found in {BUNDLES}, one needed; make it by scripts/packages/make-bundle.sh")
    return found[0]


def machine_of(bundle: pathlib.Path) -> str:
    """The processor that the bundle's name ends with."""
    return bundle.resolve().name.rpartition("-linux-")[2]


def seconds_of_source() -> int:
    """The time of the last commit, which the files in the wheel have."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True)
    return int(done.stdout) if done.returncode == 0 else int((ROOT / "CMakeLists.txt").stat().st_mtime)


class Wheel:
    def __init__(self, path: pathlib.Path, seconds: int):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.time = time.gmtime(max(seconds, 315532800))[:6]  # a zip's first year is 1980
        self.record: List[str] = []

    def add(self, name: str, data: bytes, is_program: bool = False) -> None:
        entry = zipfile.ZipInfo(name, self.time)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if is_program else 0o100644) << 16
        self.archive.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def add_tree(self, folder: pathlib.Path, prefix: str, left_out=()) -> None:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_file() and not name.startswith(left_out):
                self.add(prefix + name, path.read_bytes(), os.access(path, os.X_OK) and path.stat().st_mode & 0o111 != 0)

    def close(self, info: str) -> None:
        entry = zipfile.ZipInfo(f"{info}/RECORD", self.time)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o100644 << 16
        self.archive.writestr(entry, "\n".join([*self.record, f"{info}/RECORD,,"]) + "\n")
        self.archive.close()


def info_files(version: str, tag: str) -> Dict[str, str]:
    metadata = [f"Metadata-Version: 2.1", "Name: nnapi-convert", f"Version: {version}", f"Summary: {SUMMARY}",
                "License: BSD-3-Clause", "Requires-Python: >=3.8", "Classifier: Operating System :: POSIX :: Linux",
                "Classifier: Typing :: Typed", "Description-Content-Type: text/markdown", "", DESCRIPTION]
    wheel = ["Wheel-Version: 1.0", "Generator: make-wheel.py", "Root-Is-Purelib: false", f"Tag: {tag}", ""]
    points = ["[console_scripts]", *(f"{name} = nnapi_convert.__main__:{start}" for name, start in PROGRAMS.items()), ""]
    return {"METADATA": "\n".join(metadata), "WHEEL": "\n".join(wheel), "entry_points.txt": "\n".join(points),
            "top_level.txt": "nnapi_convert\n"}


def make_wheel(bundle: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    program = bundle / "bin/nnapi-convert"
    version = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[1]
    tag = f"py3-none-manylinux2014_{machine_of(bundle)}"
    path = folder / f"nnapi_convert-{version}-{tag}.whl"
    info = f"nnapi_convert-{version}.dist-info"
    part = path.with_suffix(".part")
    wheel = Wheel(part, seconds_of_source())
    with tempfile.TemporaryDirectory() as name:
        wheel.add_tree(make_module(str(program), pathlib.Path(name)), "nnapi_convert/")
    wheel.add_tree(bundle, "nnapi_convert/bundle/", LEFT_OUT)
    for name, text in info_files(version, tag).items():
        wheel.add(f"{info}/{name}", text.encode())
    wheel.add(f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes())
    wheel.close(info)
    part.rename(path)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=pathlib.Path, nargs="?")
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=BUNDLES)
    arguments = parser.parse_args()
    bundle = arguments.bundle or find_bundle()
    if not (bundle / "bin/nnapi-convert").is_file():
        sys.exit(f"make-wheel.py: {bundle} has no bin/nnapi-convert; needed: the folder that scripts/packages/make-bundle.sh made")
    if machine_of(bundle) not in ("x86_64", "aarch64"):
        sys.exit(f"make-wheel.py: {bundle} found, a folder named nnapi-convert-VERSION-linux-x86_64 or -aarch64 needed")
    path = make_wheel(bundle, arguments.folder)
    print(f"{path}: {path.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
