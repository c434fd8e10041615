# SPDX-License-Identifier: BSD-3-Clause
"""Files that are no models, or damaged ones: one message and exit code 3 (or 1 for what can't be converted)."""

import os
import random
import unittest

from cli import CliTest, problems_of_failure, run
from zip_files import entries, stored

IMAGE = ["--input", "1,3,16,16", "--nhwc"]


class BadFile(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "model.pt"
        self.out = self.folder / "out.pt"

    def assert_unreadable(self, content: bytes, *needed):
        self.model.write_bytes(content)
        self.fail_with(3, self.model, "--nhwc", "-o", self.out, needed=["can't read", str(self.model), *needed])
        self.assertFalse(self.out.exists())
        self.assert_no_leftovers()

    def without(self, name: str, suffix: str) -> bytes:
        files = entries(self.fixture(name))
        kept = {path: content for path, content in files.items() if not path.endswith(suffix)}
        self.assertEqual(len(files) - 1, len(kept), f"{suffix} in {list(files)}")
        return stored(kept)

    def test_rewritten_archive_is_good(self):
        """The program accepts the complete files from which the tests below remove parts."""
        self.model.write_bytes(stored(entries(self.fixture("bundled.pt"))))
        self.succeed(self.model, "--nhwc", "-o", self.out)

    def test_empty(self):
        self.assert_unreadable(b"")

    def test_text(self):
        self.assert_unreadable(b"import torch\n" * 100, "not a zip archive")

    def test_first_bytes_alone(self):
        self.assert_unreadable(b"PK\x03\x04")

    def test_zip_of_something_else(self):
        self.assert_unreadable(stored({"readme.txt": b"hello", "data/0": b"1234"}), "not a TorchScript archive")

    def test_empty_zip(self):
        self.assert_unreadable(stored({}))

    def test_state_dict(self):
        """Files from torch.save have no code."""
        kept = {path: content for path, content in entries(self.fixture("bundled.pt")).items()
                if "/code/" not in path and not path.endswith("constants.pkl")}
        self.assert_unreadable(stored(kept), "not a TorchScript archive")

    def test_lite_file_without_code(self):
        kept = {path: content for path, content in entries(self.fixture("lite.ptl")).items() if "/code/" not in path}
        self.assert_unreadable(stored(kept))

    def test_missing_weight(self):
        names = [name for name in entries(self.fixture("residual.pt")) if "/data/" in name]
        self.assertGreater(len(names), 5)
        for name in names[:4]:
            with self.subTest(name=name):
                self.assert_unreadable(self.without("residual.pt", name[name.index("/data/"):]), "damaged")

    def test_missing_part(self):
        for suffix in ["/data.pkl", "/constants.pkl", "/version"]:
            with self.subTest(suffix=suffix):
                self.assert_unreadable(self.without("bundled.pt", suffix))

    def test_version_of_the_future(self):
        files = entries(self.fixture("bundled.pt"))
        files[next(name for name in files if name.endswith("/version"))] = b"999\n"
        self.assert_unreadable(stored(files))

    def test_module_without_forward(self):
        import torch

        class Nothing(torch.nn.Module):
            @torch.jit.export
            def other(self, x: torch.Tensor):
                return x

        torch.jit.script(Nothing()).save(str(self.model))
        self.fail_with(3, self.model, "-o", self.out, needed=["no forward method"])

    def test_cut_short(self):
        content = self.fixture("bundled.pt").read_bytes()
        for size in range(0, len(content), 4096):
            with self.subTest(size=size):
                self.assert_unreadable(content[:size])

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_no_permission(self):
        self.model.write_bytes(self.fixture("bundled.pt").read_bytes())
        self.model.chmod(0)
        self.fail_with(3, self.model, "-o", self.out, needed=["can't read"])

    def test_device(self):
        self.fail_with(3, "/dev/null", "-o", self.out, needed=["can't read /dev/null"])

    def test_damaged_result(self):
        """The subcommands read converted files."""
        out = self.convert("bundled.pt", "--nhwc").read_bytes()
        for content in (b"", b"PK\x03\x04", out[:4000], out[: len(out) // 2]):
            self.model.write_bytes(content)
            self.fail_with(3, "inspect", self.model, needed=["can't read"])
        self.fail_with(3, "verify", self.fixture("bundled.pt"), self.model, needed=["can't read"])

    def test_damaged_buffer_or_metadata(self):
        out = self.convert("bundled.pt", "--nhwc")
        files = entries(out)
        metadata = next(name for name in files if "extra/" in name)
        for content in (b"", b"{", b"{}", b'{"version": 1}', files[metadata].replace(b"float32", b"float99")):
            with self.subTest(content=content[:20]):
                self.model.write_bytes(stored({**files, metadata: content}))
                self.fail_with(3, "inspect", self.model, needed=["can't read"])

    def test_inputs_file(self):
        out = self.convert("bundled.pt", "--nhwc")
        inputs = self.folder / "inputs.pt"
        model = self.fixture("bundled.pt")
        self.fail_with(3, "verify", model, out, "--inputs", inputs, needed=["inputs.pt"])
        for content in (b"", b"hello", self.fixture("bundled.pt").read_bytes()[:2000]):
            inputs.write_bytes(content)
            self.fail_with(3, "verify", model, out, "--inputs", inputs, needed=["inputs.pt"])


class FlippedBytes(CliTest):
    def test_flipped_bytes(self):
        """A changed weight is a weight like any other; anything else is refused. Nothing crashes."""
        content = bytearray(self.fixture("three_operations.pt").read_bytes())
        chosen = random.Random(7)
        model, out = self.folder / "model.pt", self.folder / "out.pt"
        codes = set()
        for _ in range(12):
            damaged = bytearray(content)
            for _ in range(4):
                damaged[chosen.randrange(len(damaged))] ^= 1 << chosen.randrange(8)
            model.write_bytes(damaged)
            result = run(model, *IMAGE, "-o", out)
            codes.add(result.code)
            self.assertIn(result.code, (0, 1, 3), f"\n{result}")
            if result.code != 0:
                self.assertEqual([], problems_of_failure(result), f"\n{result}")
        self.assertIn(3, codes)


if __name__ == "__main__":
    unittest.main()
