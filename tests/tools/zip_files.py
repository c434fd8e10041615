# SPDX-License-Identifier: BSD-3-Clause
"""Zip archives as dicts of records, to change files of PyTorch."""

import io
import zipfile


def entries(path):
    """The records of an archive by their names."""
    with zipfile.ZipFile(path) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def stored(files) -> bytes:
    """An archive of these records, uncompressed."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()
