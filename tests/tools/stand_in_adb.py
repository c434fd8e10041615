#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for adb: what a phone would do, this machine does. STAND_IN_ADB names a folder with a folder for each attached
phone, by its serial number, in which /data/local/tmp lies. `shell` runs the command here."""
import os
import pathlib
import shutil
import subprocess
import sys

PHONE_FOLDER = "/data/local/tmp"


def main():
    words = sys.argv[1:]
    attached = sorted(path.name for path in pathlib.Path(os.environ["STAND_IN_ADB"]).iterdir())
    serial = None
    if words[:1] == ["-s"]:
        serial, words = words[1], words[2:]
    if serial is None and len(attached) != 1:
        sys.exit("adb: more than one device/emulator" if attached else "adb: no devices/emulators found")
    serial = serial or attached[0]
    if serial not in attached:
        sys.exit(f"adb: device '{serial}' not found")
    root = pathlib.Path(os.environ["STAND_IN_ADB"]) / serial

    def here(path):
        return path.replace(PHONE_FOLDER, str(root / PHONE_FOLDER[1:]))

    (root / PHONE_FOLDER[1:]).mkdir(parents=True, exist_ok=True)
    command, *rest = words
    if command == "push":
        for name in rest[:-1]:
            shutil.copy(name, here(rest[-1]))
    elif command == "pull":
        source, target = pathlib.Path(here(rest[0])), pathlib.Path(rest[1] if len(rest) > 1 else ".")
        if source.is_dir():
            shutil.copytree(source, target / source.name, dirs_exist_ok=True)
        else:
            shutil.copy(source, target)
    elif command == "shell":  # the phone's shell gets the words as one text
        sys.exit(subprocess.run(["sh", "-c", here(" ".join(rest))], check=False).returncode)
    else:
        sys.exit(f"adb: unknown command {command}")


if __name__ == "__main__":
    main()
