#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Archives whose entries were changed and whose checksums fit all the same, as whoever means harm makes them.

Each is a model of testdata/models with one change in one entry. By itself: `hostile_archives.py COUNT SEED FOLDER` writes
that many, for a soak."""

import pathlib
import random
import re
import sys
import zipfile
from typing import Callable, Dict, List

MODELS = ("control_flow.pt", "three_operations.pt", "tuple_output.pt", "mlp.pt", "scripted.pt", "quant.pt", "bundled.pt",
          "shared_weights.pt", "quant_per_channel_bundled.pt", "lite.ptl")
KINDS = (("code", lambda name: name.endswith(".py")), ("debug", lambda name: name.endswith("debug_pkl")),
         ("pickle", lambda name: name.endswith(".pkl")), ("weights", lambda name: re.search(r"/(data|constants)/", name)),
         ("other", lambda name: True))
NUMBERS = (b"0", b"-1", b"1", b"255", b"65536", b"2147483647", b"4294967296", b"9223372036854775807",
           b"99999999999999999999", b"1e308", b"nan")


def kind_of(name: str) -> str:
    return next(kind for kind, is_of in KINDS if is_of(name))


def flip_bits(data: bytearray, chosen: random.Random) -> bytearray:
    for _ in range(chosen.choice((1, 1, 2, 8))):
        data[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)
    return data


def put_bytes(data: bytearray, chosen: random.Random) -> bytearray:
    at = chosen.randrange(len(data))
    values = chosen.choice((b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80",
                            bytes(chosen.randrange(256) for _ in range(chosen.randrange(1, 9)))))
    data[at:at + len(values)] = values
    return data


def drop(data: bytearray, chosen: random.Random) -> bytearray:
    at = chosen.randrange(len(data))
    del data[at:at + chosen.randrange(1, 32)]
    return data


def repeat(data: bytearray, chosen: random.Random) -> bytearray:
    at = chosen.randrange(len(data))
    part = data[at:at + chosen.randrange(1, 64)]
    data[at:at] = part * chosen.choice((1, 2, 100))
    return data


def move(data: bytearray, chosen: random.Random) -> bytearray:
    begin, to = chosen.randrange(len(data)), chosen.randrange(len(data))
    part = data[begin:begin + chosen.randrange(1, 48)]
    data[to:to + len(part)] = part
    return data


def cut(data: bytearray, chosen: random.Random) -> bytearray:
    del data[chosen.randrange(len(data)):]
    return data


def change_word(data: bytearray, chosen: random.Random) -> bytearray:
    """Replaces a name by another name of the same entry: types, attributes, operators."""
    words = [match.span() for match in re.finditer(rb"[A-Za-z_][A-Za-z0-9_.]*", bytes(data))]
    if not words:
        return flip_bits(data, chosen)
    begin, end = chosen.choice(words)
    other = slice(*chosen.choice(words))
    data[begin:end] = data[other]
    return data


def change_number(data: bytearray, chosen: random.Random) -> bytearray:
    numbers = [match.span() for match in re.finditer(rb"[0-9]+", bytes(data))]
    if not numbers:
        return flip_bits(data, chosen)
    begin, end = chosen.choice(numbers)
    data[begin:end] = chosen.choice(NUMBERS)
    return data


def change_size(data: bytearray, chosen: random.Random) -> bytearray:
    """Replaces the number behind an opcode of a pickle: K has one byte, M two, J four."""
    places = [i for i in range(len(data) - 4) if data[i] in b"KMJ"]
    if not places:
        return flip_bits(data, chosen)
    at = chosen.choice(places)
    bytes_of = {ord("K"): 1, ord("M"): 2, ord("J"): 4}[data[at]]
    value = chosen.choice((0, 1, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x40000000))
    data[at:at + 1 + bytes_of] = b"J" + value.to_bytes(4, "little")
    return data


ANY = (flip_bits, put_bytes, drop, repeat, move, cut)
CHANGES: Dict[str, List[Callable]] = {"code": [*ANY, change_word, change_word, change_word, change_number],
                                      "pickle": [*ANY, change_word, change_word, change_size, change_size],
                                      "debug": [*ANY, change_word, change_size]}


def write_changed(model: pathlib.Path, to: pathlib.Path, chosen: random.Random) -> str:
    """Returns what was changed, and how."""
    with zipfile.ZipFile(model) as archive:
        entries = {info.filename: archive.read(info) for info in archive.infolist()}
    names: Dict[str, List[str]] = {}
    for name, data in entries.items():
        if data:
            names.setdefault(kind_of(name), []).append(name)
    kind = chosen.choice([kind for kind in ("code", "code", "pickle", "pickle", "debug", "weights", "other")
                          if kind in names])
    name = chosen.choice(names[kind])
    change = chosen.choice(CHANGES.get(kind, ANY))
    with zipfile.ZipFile(to, "w", zipfile.ZIP_STORED) as archive:
        for each, data in entries.items():
            changed = bytes(change(bytearray(data), chosen)) if each == name else data
            archive.writestr(zipfile.ZipInfo(each), changed)
    return f"{model.name}: {change.__name__} in {name}"


def write_many(models: pathlib.Path, folder: pathlib.Path, count: int, seed: int) -> Dict[str, str]:
    """COUNT archives; what each is, by its name without the suffix."""
    chosen = random.Random(seed)
    present = [models / name for name in MODELS if (models / name).exists()]
    result = {}
    for number in range(count):
        model = present[number % len(present)]
        name = f"changed_{number:05}"
        result[name] = write_changed(model, folder / f"{name}{model.suffix}", chosen)
    return result


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[3])
    target.mkdir(parents=True, exist_ok=True)
    fixtures = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "models"
    for title, what in write_many(fixtures, target, int(sys.argv[1]), int(sys.argv[2])).items():
        print(title, what)
