# SPDX-License-Identifier: BSD-3-Clause
"""Weights whose bytes were changed behind the archive's back: each command that reads them names the entry."""

import io
import struct
import unittest
import zipfile

import torch
from torch import nn

from cli import CliTest
from exported_fixtures import EXPORTED
from zip_files import entries

PICTURE = ("--input", "1,3,16,16", "--nhwc")


class Net(nn.Module):
    """Weights that are mapped and weights that are not: those of 64 KiB and more are."""

    def __init__(self):
        super().__init__()
        self.conv, self.wide, self.last = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 300, 3, padding=1), nn.Linear(300, 300)

    def forward(self, x):
        return self.last(self.wide(self.conv(x).relu()).mean((2, 3)))


def data_begin(content: bytes, entry: zipfile.ZipInfo) -> int:
    name, extra = struct.unpack_from("<HH", content, entry.header_offset + 26)
    return entry.header_offset + 30 + name + extra


def flipped(content: bytes, entry: zipfile.ZipInfo, at: int) -> bytes:
    changed = bytearray(content)
    changed[data_begin(content, entry) + at] ^= 1
    return bytes(changed)


def weights_of(path):
    """The entries of weights, the largest first."""
    with zipfile.ZipFile(path) as archive:
        found = [info for info in archive.infolist() if "/data/" in info.filename or "/constants/" in info.filename]
    return sorted(found, key=lambda info: -info.file_size)


class ChecksumTest(CliTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.model, self.bad, self.out = (self.folder / name for name in ("model.pt", "bad.pt", "out.pt"))

    def save(self):
        torch.jit.trace(Net().eval(), torch.rand(1, 3, 16, 16)).save(str(self.model))

    def assert_named(self, entry, *arguments):
        said = self.fail_with(3, *arguments, needed=[f"can't read {self.bad}: entry {entry.filename} is damaged",
                                                     "another checksum"]).stderr
        self.assertFalse(self.out.exists(), said)
        self.assert_no_leftovers()


class Originals(ChecksumTest):
    def flip(self, entry, at):
        self.bad.write_bytes(flipped(self.model.read_bytes(), entry, at))

    def test_every_weight(self):
        """At its beginning, in the middle and at its end."""
        self.save()
        weights = weights_of(self.model)
        self.assertEqual(6, len(weights))
        self.assertGreater(weights[1].file_size, 64 << 10)
        for entry in weights:
            for at in {0, entry.file_size // 2, entry.file_size - 1}:
                with self.subTest(entry=entry.filename, at=at):
                    self.flip(entry, at)
                    self.assert_named(entry, self.bad, *PICTURE, "-o", self.out)

    def test_ways_of_writing(self):
        self.save()
        entry = weights_of(self.model)[0]
        self.flip(entry, 1000)
        for options in (["--nchw"], ["--nhwc", "--runtime", "shim"], ["--nhwc", "--fp16-weights", "--runtime", "shim"],
                        ["--nhwc", "--runtime", "shim", "--package", "level=4; level=2"], ["--nhwc", "--verify"],
                        ["--nhwc", "--fallback", "none", "--report", self.folder / "report.json"]):
            with self.subTest(options=options):
                self.assert_named(entry, self.bad, "--input", "1,3,16,16", *options, "-o", self.out)
                self.assertFalse((self.folder / "report.json").exists())
        litert = self.folder / "out.tflite"
        self.assert_named(entry, self.bad, *PICTURE, "--litert", litert)
        self.assertFalse(litert.exists())

    def test_a_refusal_is_void(self):
        """What a changed weight may have led to is not told of the model."""
        self.save()
        entry = weights_of(self.model)[0]
        self.flip(entry, 5)
        self.assert_named(entry, self.bad, "--input", "1,4,16,16", "--nhwc", "-o", self.out)

    def test_other_commands(self):
        self.save()
        self.succeed(self.model, *PICTURE, "-o", self.folder / "good.pt")
        for entry in (weights_of(self.model)[0], weights_of(self.model)[-1]):
            self.flip(entry, 7)
            self.assert_named(entry, "check", self.bad, *PICTURE)
            self.assert_named(entry, "verify", self.bad, self.folder / "good.pt", *PICTURE[:2])

    def test_packed_weights(self):
        """An archive that was packed anew."""
        self.save()
        with zipfile.ZipFile(self.bad, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in entries(self.model).items():
                archive.writestr(name, content)
        self.succeed(self.bad, *PICTURE, "--verify", "-o", self.out)
        self.out.unlink()
        entry = weights_of(self.bad)[0]
        changed = bytearray(self.bad.read_bytes())
        place = changed.index(b"PK\x01\x02")
        while changed[place + 46:place + 46 + len(entry.filename)] != entry.filename.encode():
            place = changed.index(b"PK\x01\x02", place + 4)
        changed[place + 16] ^= 1  # of its checksum in the list of entries
        self.bad.write_bytes(changed)
        self.assert_named(entry, self.bad, *PICTURE, "-o", self.out)

    def test_unknown_checksums(self):
        """Of an archive that was written without."""
        self.save()
        content = bytearray(self.model.read_bytes())
        place = content.find(b"PK\x01\x02")
        while place >= 0:
            name = content[place + 46:place + 46 + struct.unpack_from("<H", content, place + 28)[0]]
            if b"/data/" in name:
                content[place + 16:place + 20] = bytes(4)
            place = content.find(b"PK\x01\x02", place + 4)
        self.bad.write_bytes(content)
        self.succeed(self.bad, *PICTURE, "--verify", "-o", self.out)

    def test_state_that_changes(self):
        """A weight that the conversion changes in memory is sound in the file."""
        class Counter(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("seen", torch.zeros(200, 200))

            def forward(self, x: torch.Tensor):
                self.seen.add_(1.0)
                return torch.relu(x) + self.seen

        torch.jit.script(Counter().eval()).save(str(self.model))
        self.succeed(self.model, "--input", "200,200", "--runtime", "shim", "--min-segment-macs", "0", "-o", self.out)


class Results(ChecksumTest):
    def test_converted(self):
        self.save()
        self.succeed(self.model, *PICTURE, "-o", self.out)
        good, self.out = self.out, self.folder / "none.pt"
        for entry in weights_of(good)[:2]:
            self.bad.write_bytes(flipped(good.read_bytes(), entry, entry.file_size - 1))
            self.assert_named(entry, "inspect", self.bad)
            self.assert_named(entry, "verify", self.model, self.bad, *PICTURE[:2])


class Exported(ChecksumTest):
    def test_each_layout(self):
        for layout in ("until_2.7", "2.8", "since_2.9"):
            source = EXPORTED / layout / "tied.pt2"
            with zipfile.ZipFile(source) as archive:
                entry, = [info for info in archive.infolist()
                          if info.filename.endswith(("weights/weight_0", "weights/model.pt", "serialized_state_dict.pt"))]
            whole = source.read_bytes()
            begin = data_begin(whole, entry)
            inner = whole[begin:begin + entry.file_size]
            at = 3
            if inner[:2] == b"PK":  # An archive within: a byte of its first tensor.
                with zipfile.ZipFile(io.BytesIO(inner)) as archive:
                    at += data_begin(inner, next(info for info in archive.infolist() if info.filename.endswith("/data/0")))
            path = self.folder / f"{layout}.pt2"
            path.write_bytes(flipped(whole, entry, at))
            with self.subTest(layout=layout):
                self.succeed(source, "-o", self.out)
                self.out.unlink()
                said = self.fail_with(3, path, "-o", self.out, needed=["damaged", "another checksum"]).stderr
                self.assertIn(entry.filename if inner[:2] != b"PK" else "data/0", said)


if __name__ == "__main__":
    unittest.main()
