# SPDX-License-Identifier: BSD-3-Clause
"""Finds the serialized NNAPI model inside a TorchScript archive and counts its parts. Needs no PyTorch."""

import struct
import zipfile
from typing import NamedTuple, Optional


class Counts(NamedTuple):
    operands: int
    values: int
    operations: int
    inputs: int
    outputs: int


def parse(data: bytes) -> Optional[Counts]:
    """Returns the counts in the header if the buffer has exactly the length that the format demands; else None."""
    if len(data) < 24 or len(data) % 4:
        return None
    version, *numbers = struct.unpack_from("<6i", data)
    counts = Counts(*numbers)
    tables = 24 + 16 * counts.operands + 12 * counts.values + 12 * counts.operations
    if version != 1 or min(counts) < 0 or tables > len(data):
        return None
    operands = struct.iter_unpack("<iIfi", data[24 : 24 + 16 * counts.operands])
    values_at = 24 + 16 * counts.operands
    operations_at = values_at + 12 * counts.values
    values = struct.iter_unpack("<iiI", data[values_at:operations_at])
    operations = struct.iter_unpack("<iII", data[operations_at:tables])
    dimensions = sum(4 * rank for _, rank, _, _ in operands)
    immediates = sum((length + 3) // 4 * 4 for _, _, length in values)
    arguments = sum(4 * (ins + outs) for _, ins, outs in operations)
    size = tables + dimensions + immediates + arguments + 4 * (counts.inputs + counts.outputs)
    return counts if size == len(data) else None


def read_counts(path: str) -> Counts:
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if entry.file_size > 1 << 24:
                continue
            counts = parse(archive.read(entry))
            if counts is not None:
                return counts
    raise SystemExit(f"{path}: no serialized NNAPI model in it")
