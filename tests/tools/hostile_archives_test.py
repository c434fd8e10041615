# SPDX-License-Identifier: BSD-3-Clause
"""Archives that were changed with checksums that fit: each gives a result or one error, in bounded time and memory."""

import json
import resource
import struct
import unittest
import zipfile

import torch
from torch import nn

from batch_cli import BatchTest
from cli import FIXTURES, CliTest, run
from hostile_archives import write_many

ENDINGS = {"converted", "refused", "bad_file"}
SECONDS, MEMORY, ADDRESSES = 20, 1_000_000_000, 16 << 30


def limit_addresses():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))


class Archives(BatchTest):
    def soak(self, count: int, seed: int):
        made = write_many(FIXTURES, self.zoo, count, seed)
        self.batch("--nhwc", "--input", "1,3,16,16", "--keep-going", "--timeout", SECONDS, code=1,
                   preexec_fn=limit_addresses, timeout=400)
        entries = self.summary()["models"]
        self.assertEqual(set(made), {entry["name"] for entry in entries})
        bad = [f"{made[entry['name']]}: {entry['status']}: {entry.get('error')}" for entry in entries
               if entry["status"] not in ENDINGS]
        # LibTorch's importer ends by a signal for some code; batch names that, and goes on.
        in_code = [each for each in bad if "/code/" in each and "ended by signal" in each]
        self.assertEqual(in_code, bad)
        self.assertLess(len(in_code), max(count // 100, 2))
        statuses = [entry["status"] for entry in entries]
        self.assertGreater(statuses.count("bad_file"), count // 4)
        self.assertGreater(statuses.count("converted"), count // 10)
        for record in (self.out / ".nnapi-batch" / "records").glob("*.json"):
            self.assertLess(json.loads(record.read_text())["peak_bytes"], MEMORY, made[record.stem])

    def test_many(self):
        self.soak(300, 20)


class Faults(CliTest):
    """One fault of each kind that ends in LibTorch's memory, its stack or its patience if it gets there."""

    def write_changed(self, fixture: str, entry: str, change):
        """Writes the archive with one entry changed: `change` takes and gives its bytes. Returns the archive's path and
        the entry's name."""
        path = self.folder / fixture
        with zipfile.ZipFile(FIXTURES / fixture) as archive:
            entries = {info.filename: archive.read(info) for info in archive.infolist()}
        name, = [name for name in entries if name.endswith(entry)]
        new = change(entries[name])
        self.assertNotEqual(entries[name], new)
        with zipfile.ZipFile(path, "w") as archive:
            for each, data in entries.items():
                archive.writestr(zipfile.ZipInfo(each), new if each == name else data)
        return path, name

    def changed(self, fixture: str, entry: str, change, named: str = "", verdict: str = "is damaged") -> str:
        """Returns the error of the changed archive, which names the entry, or another. Damaged is what no file of this
        format is."""
        path, name = self.write_changed(fixture, entry, change)
        result = self.fail_with(3, path, "--input", "1,3,16,16", "--nhwc", "-o", self.folder / "out.pt",
                                needed=[verdict, named or name])
        return result.stderr

    def test_tensor_beyond_its_storage(self):
        self.assertIn("in a storage of", self.changed(
            "control_flow.pt", "data.pkl", lambda data: data.replace(b"K\x04K\x03K\x03K\x03t", b"K\xffK\xffK\x03K\x03t", 1)))

    def test_numbers_that_share_bytes_beyond_their_storage(self):
        model = nn.EmbeddingBag(60, 16, mode="sum").eval()
        model.qconfig = torch.ao.quantization.float_qparams_weight_only_qconfig_4bit
        model = torch.ao.quantization.convert(torch.ao.quantization.prepare(nn.Sequential(model)))
        path = self.folder / "bags.pt"
        torch.jit.trace(model, torch.randint(0, 60, (2, 6))).save(str(path))
        self.assertIn("found in 480 bytes of 2 numbers each", self.changed(
            str(path), "data.pkl", lambda data: data.replace(b"K<K\x10t", b"K\xffK\x10t", 1)))

    def test_storage_beyond_its_record(self):
        self.assertIn("a storage of", self.changed("control_flow.pt", "data/0", lambda data: data[:8],
                                                      "control_flow/data.pkl"))

    def test_text_beyond_the_end(self):
        self.assertIn("bytes needed at byte", self.changed(
            "control_flow.pt", "data.pkl",
            lambda data: data.replace(b"X" + struct.pack("<I", 8) + b"training",
                                      b"X" + struct.pack("<I", 0x7fffffff) + b"training", 1)))

    def test_value_that_was_never_kept(self):
        self.assertIn("never kept", self.changed("control_flow.pt", "data.pkl", lambda data: data[:-1] + b"h\xfe0."))

    def test_deep_values(self):
        self.assertIn("levels of values", self.changed("control_flow.pt", "data.pkl",
                                                       lambda data: data[:-1] + b"\x85" * 100_000 + b".",
                                                       verdict="is not read"))

    def test_value_that_holds_itself(self):
        self.assertIn("holds itself", self.changed("control_flow.pt", "constants.pkl",
                                                   lambda data: b"\x80\x02]q\x00h\x00a.", verdict="is not read"))

    def test_source_text_that_is_not_there(self):
        """A damaged table of source lines costs these lines, and nothing else."""
        for table, lines in ((lambda data: data, 2), (lambda data: data.replace(b"(](K\x01", b"(](K\xff"), 1),
                             (lambda data: data[:len(data) // 2], 0)):
            path, _ = self.write_changed("refused.pt", "small_nets.py.debug_pkl", lambda data: table(data) + b" ")
            result = self.fail_with(1, path, "--input", "1,3,16,16", "--nhwc", "--fallback", "none",
                                    "-o", self.folder / "out.pt")
            self.assertEqual(lines, result.stderr.count(" scripts/models/small_nets.py:"), result.stderr)

    def test_constant_without_a_type(self):
        self.assertIn("has no type", self.changed("control_flow.pt", "mangle_495.py",
                                                  lambda data: data.replace(b"__buffers__ =", b"buffers =", 1),
                                                  verdict="is not read"))

    def test_deep_code(self):
        self.assertIn("open brackets", self.changed("control_flow.pt", "models/small_nets.py",
                                                    lambda data: data + b"    x = " + b"(" * 10_000 + b"\n",
                                                    verdict="is not read"))


class DeepJson(CliTest):
    """A hundred thousand objects in each other, in every JSON file that is read."""

    def setUp(self):
        super().setUp()
        self.deep = self.folder / "deep.json"
        self.deep.write_text('{"a":' * 100_000 + "1" + "}" * 100_000)
        self.needed = ["more than 100 deep"]

    def test_device_profile(self):
        self.fail_with(3, "check", self.fixture("residual.pt"), "--input", "1,3,16,16", "--device-profile", self.deep,
                       needed=self.needed)

    def test_device_profile_of_the_host(self):
        out = self.folder / "out.pt"
        result = run(self.fixture("residual.pt"), "--input", "1,3,16,16", "--nhwc", "--verify", "-o", out,
                     env={"NNAPI_HOST_PROFILE": str(self.deep)})
        self.assertGreaterEqual(result.code, 0, "no signal")

    def test_manifest(self):
        self.fail_with(3, "batch", self.deep, "-o", self.folder / "out", needed=self.needed)

    def test_baseline(self):
        self.fail_with(3, "batch", FIXTURES, "-o", self.folder / "out", "--baseline", self.deep, needed=self.needed)

    def test_metadata_of_a_result(self):
        out, deep = self.folder / "out.pt", self.folder / "deep.pt"
        self.succeed(self.fixture("three_operations.pt"), "--input", "1,3,16,16", "--nhwc", "-o", out)
        with zipfile.ZipFile(out) as whole, zipfile.ZipFile(deep, "w") as archive:
            for info in whole.infolist():
                is_metadata = info.filename.endswith(".json")
                archive.writestr(zipfile.ZipInfo(info.filename),
                                 self.deep.read_bytes() if is_metadata else whole.read(info))
        self.fail_with(3, "inspect", deep, needed=self.needed)


if __name__ == "__main__":
    unittest.main()
