# SPDX-License-Identifier: BSD-3-Clause
"""The shim's sources: written to a folder, carried by a model, and built there with plain CMake."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import zipfile
from xml.etree import ElementTree

import numpy
import torch
from torch import nn

from cli import HOST, LIBRARIES, ROOT, CliTest, environment
from stock_torch import StockTorchTest, call, images, load

PICTURE = "1,3,16,16"
SOURCES = "extra/nnapi_shim_source/"


class Counting(nn.Module):
    """How many elements there are depends on values, so that a program makes them."""

    def __init__(self, chooses: bool):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.chooses = nn.Conv2d(3, 4, 3, padding=1), chooses

    def forward(self, x):
        means = torch.relu(self.layer(x)).mean([2, 3])[0]
        if self.chooses:
            return torch.topk(means, int(means.sum() > 0) + 1)[0]
        return torch.nonzero(means > 0.1)


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class EmitShim(CliTest):
    def test_what_is_written(self):
        folder = self.folder / "shim"
        done = self.succeed("shim", "--emit", folder)
        self.assertRegex(done.stdout, r"^/\S+/shim: \d+ files; next: /\S+/shim/README.md\n$")
        self.assertEqual("", done.stderr)
        self.assertEqual("", self.succeed("shim", "--emit", self.folder / "quiet", "--quiet").stdout)
        files = tree(folder)
        for name in ("CMakeLists.txt", "build.gradle.kts", "src/main/AndroidManifest.xml", "README.md", "LICENSE",
                     "src/main/java/org/nnapiconvert/NnapiModel.java", "src/main/java/org/nnapiconvert/NnapiAssets.java",
                     "consumer-rules.pro", "sample/settings.gradle.kts", "sample/build.gradle.kts",
                     "sample/src/main/AndroidManifest.xml",
                     "sample/src/main/java/org/nnapiconvert/sample/MainActivity.java"):
            self.assertIn(name, files)
        for name, content in files.items():
            if name.startswith(("lib/", "tools/")) and name != "lib/shim/sources.cmake":
                self.assertEqual((ROOT / name).read_bytes(), content, name)
        self.assertEqual((ROOT / "lib/shim/nnapi_shim.h").read_bytes(), files["include/nnapi_shim.h"])
        needed = {f"lib/shim/{path.name}" for path in (ROOT / "lib/shim").iterdir() if path.name != "CMakeLists.txt"}
        self.assertEqual(set(), needed - set(files))
        umask = os.umask(0)
        os.umask(umask)
        self.assertEqual(0o777 & ~umask, folder.stat().st_mode & 0o777)
        self.assert_no_leftovers()

    def test_the_module_for_android(self):
        """The trial's service has a process of its own; the libraries are aligned for pages of 16 KiB."""
        folder = self.folder / "shim"
        self.succeed("shim", "--emit", folder)
        android = "{http://schemas.android.com/apk/res/android}"
        manifest = ElementTree.parse(folder / "src/main/AndroidManifest.xml").getroot()
        (service,) = manifest.findall("application/service")
        self.assertEqual({f"{android}name": "org.nnapiconvert.NnapiTrialService", f"{android}exported": "false",
                          f"{android}process": ":nnapi_trial"}, service.attrib)
        self.assertIn("src/main/java/org/nnapiconvert/NnapiTrialService.java", tree(folder))
        ElementTree.parse(folder / "sample/src/main/AndroidManifest.xml")
        module = (folder / "build.gradle.kts").read_text()
        self.assertGreaterEqual(int(re.search(r'ndkVersion = "(\d+)\.', module)[1]), 28)
        sample = (folder / "sample/build.gradle.kts").read_text()
        levels = re.findall(r"(?:compileSdk|targetSdk) = (\d+)", module + sample)
        self.assertEqual(3, len(levels))
        self.assertEqual([], [level for level in levels if int(level) < 36], "Google Play's level for new apps")
        versions = re.findall(r'com\.android\.\w+"\) version "(\d+)\.(\d+)\.(\d+)"',
                              (folder / "sample/settings.gradle.kts").read_text())
        self.assertEqual([], [each for each in versions if tuple(map(int, each)) < (8, 9, 1)])
        self.assertEqual(2, len(versions))

    def test_an_empty_folder_stays_the_same_one(self):
        folder = self.folder / "shim"
        folder.mkdir(0o700)
        inode = folder.stat().st_ino
        self.succeed("shim", "--emit", ".", cwd=folder)
        self.assertEqual((inode, 0o700), (folder.stat().st_ino, folder.stat().st_mode & 0o777))
        self.assertIn("CMakeLists.txt", tree(folder))
        self.assert_no_leftovers()

    def test_what_is_there_is_kept(self):
        folder = self.folder / "shim"
        folder.mkdir()
        (folder / "mine.txt").write_text("mine")
        (folder / "LICENSE").write_text("older")
        self.fail_with(3, "shim", "--emit", folder, needed=["not empty", "--force"])
        self.assertEqual({"mine.txt": b"mine", "LICENSE": b"older"}, tree(folder))
        self.succeed("shim", "--emit", folder, "--force")
        files = tree(folder)
        self.assertEqual(b"mine", files["mine.txt"])
        self.assertEqual((ROOT / "LICENSE").read_bytes(), files["LICENSE"])
        self.assert_no_leftovers()

    def test_failures_leave_all_as_it_was(self):
        folder = self.folder / "shim"
        (folder / "lib/shim/zip_directory.h").mkdir(parents=True)
        (folder / "LICENSE").write_text("older")
        self.fail_with(3, "shim", "--emit", folder, "--force", needed=["zip_directory.h", "it is a folder"])
        self.assertEqual({"LICENSE": b"older"}, tree(folder))
        self.assertEqual(["lib", "lib/shim", "lib/shim/zip_directory.h"],
                         sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_dir()))
        (self.folder / "file").write_text("a file")
        self.fail_with(3, "shim", "--emit", self.folder / "file", needed=["not a folder"])
        self.fail_with(3, "shim", "--emit", self.folder / "file", "--force", needed=["not a folder"])
        self.fail_with(3, "shim", "--emit", self.folder / "none" / "shim", needed=["there is no folder"])
        self.fail_with(2, "shim", needed=["--emit"])
        self.assert_no_leftovers()


class EmbeddedShim(CliTest):
    def carrying(self, name="out.pt"):
        return self.convert("residual.pt", "--nhwc", "--runtime", "shim", "--input", PICTURE, "--embed-shim-source",
                            out=name)

    def test_they_come_out_as_they_went_in(self):
        self.succeed("shim", "--emit", self.folder / "own")
        for name in ("out.pt", "out.ptl"):
            folder = self.folder / f"from-{name}"
            self.succeed("shim", "--emit", folder, "--from", self.carrying(name))
            self.assertEqual(tree(self.folder / "own"), tree(folder))

    def test_the_weights_stay_on_a_page(self):
        path = self.carrying()
        weights = torch._C.PyTorchFileReader(str(path)).get_record("data/0")
        self.assertEqual(0, path.read_bytes().index(weights) % 16384)

    def test_pytorch_and_unzip_give_them(self):
        extras = {"nnapi_shim_source/include/nnapi_shim.h": ""}
        path = self.carrying()
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
            self.assertIn(f"out/{SOURCES}CMakeLists.txt", archive.namelist())
        torch.ops.load_library(str(LIBRARIES / "libnnapi_shim_torch.so"))
        torch.jit.load(str(path), _extra_files=extras)
        found = next(iter(extras.values()))
        self.assertEqual((ROOT / "lib/shim/nnapi_shim.h").read_text(),
                         found if isinstance(found, str) else found.decode())

    def test_same_bytes_each_time(self):
        self.assertEqual(self.carrying().read_bytes(), self.carrying().read_bytes())

    def test_files_without_them(self):
        plain = self.convert("residual.pt", "--nhwc", "--runtime", "shim", "--input", PICTURE)
        self.fail_with(3, "shim", "--emit", self.folder / "x", "--from", plain, needed=["--embed-shim-source"])
        self.fail_with(3, "shim", "--emit", self.folder / "x", "--from", ROOT / "LICENSE", needed=["LICENSE"])
        self.fail_with(3, "shim", "--emit", self.folder / "x", "--from", self.folder / "none.pt", needed=["none.pt"])
        self.fail_with(2, self.fixture("residual.pt"), "--nhwc", "--embed-shim-source", "-o", self.folder / "y.pt",
                       needed=["--runtime shim"])
        self.assertFalse((self.folder / "x").exists())

    def test_hostile_names_and_damage(self):
        path = self.carrying()
        for name in ("../evil.txt", "/evil.txt", "lib/../../evil.txt", "lib//x", "lib\\x", "./x"):
            hostile = self.folder / "hostile.pt"
            hostile.write_bytes(path.read_bytes())
            with zipfile.ZipFile(hostile, "a") as archive:
                archive.writestr(f"out/{SOURCES}{name}", "evil")
            self.fail_with(3, "shim", "--emit", self.folder / "x", "--from", hostile, needed=["within a folder"])
            self.assertFalse((self.folder / "x").exists())
        data = bytearray(path.read_bytes())
        with zipfile.ZipFile(path) as archive:
            entry = archive.getinfo(f"out/{SOURCES}lib/shim/archive.cpp")
        data[entry.header_offset + 30 + len(entry.filename) + entry.compress_size // 2] ^= 0x55
        (self.folder / "damaged.pt").write_bytes(data)
        self.fail_with(3, "shim", "--emit", self.folder / "x", "--from", self.folder / "damaged.pt", needed=["damaged"])
        self.assertFalse((self.folder / "x").exists())


class EmittedShimBuilds(CliTest, StockTorchTest):
    def compiler_cache(self):
        """Returns options of CMake with which the same sources in another folder are compiled once, if ccache is there."""
        if not shutil.which("ccache"):
            return []
        launcher = ["cmake", "-E", "env", f"CCACHE_BASEDIR={self.folder}", "CCACHE_NOHASHDIR=1", "ccache"]
        return [f"-DCMAKE_{language}_COMPILER_LAUNCHER={';'.join(launcher)}" for language in ("C", "CXX")]

    def command(self, *arguments, env=None):
        done = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True,
                              env=environment(env))
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done

    def assert_pages_of_16_kib(self, path):
        """Android 15 and later load a file only so where pages have 16 KiB."""
        done = self.command("readelf", "--program-headers", "--wide", path)
        alignments = [int(line.split()[-1], 16) for line in done.stdout.splitlines() if line.split()[:1] == ["LOAD"]]
        self.assertNotEqual([], alignments, path)
        self.assertEqual([], [each for each in alignments if each % 16384 != 0], path)

    def test_for_certain_files(self):
        """The library has the operators of their programs, runs the files, and says of others what it lacks."""
        counting = self.folder / "counting.pt"
        torch.jit.script(Counting(False)).save(counting)
        out = self.convert(counting, "--runtime", "shim", "--input", PICTURE, out="counting_out.pt")
        other = self.folder / "choosing.pt"
        torch.jit.script(Counting(True)).save(other)
        other_out = self.convert(other, "--runtime", "shim", "--input", PICTURE, out="choosing_out.pt")
        whole = self.convert("residual.pt", "--runtime", "shim", "--input", PICTURE, out="whole.pt")
        done = self.succeed("shim", "--emit", self.folder / "shim", "--for", out, whole)
        self.assertRegex(done.stdout, r"/shim: \d+ files, with \d+ operators; next: .*/shim/README.md$")
        selected = (self.folder / "shim/lib/program/selected_operators.inc").read_text()
        self.assertIn('"aten::nonzero"', selected)
        self.assertNotIn("aten::topk", selected)
        build = self.folder / "build"
        self.command("cmake", "-S", self.folder / "shim", "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                     "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror", *self.compiler_cache())
        self.command("cmake", "--build", build, "--parallel", "2", "--target", "nnapi_shim")
        library = build / "libnnapi_shim.so"
        picture = images(1, 3, 16, 16)
        calls = {f"0/{name}": picture.numpy() for name in ("x", "0")}
        for file, name, original in ((out, "0/x", counting), (whole, "0/0", self.fixture("residual.pt"))):
            numpy.savez(self.folder / "calls.npz", **{name: calls[name]})
            self.command(sys.executable, ROOT / "scripts/sweeps/shim_call.py", library, file, self.folder / "calls.npz",
                         self.folder / "results.npz", env={"LD_LIBRARY_PATH": str(HOST)})
            found = numpy.load(self.folder / "results.npz")["0/"]
            self.assert_close(load(original)(picture).double(), torch.from_numpy(found).double())
        done = subprocess.run([sys.executable, ROOT / "scripts/sweeps/shim_call.py", library, other_out,
                               self.folder / "calls.npz", self.folder / "results.npz"], capture_output=True, text=True,
                              env=environment({"LD_LIBRARY_PATH": str(HOST)}))
        self.assertRegex(done.stderr, r"calls aten::\w+, which this runtime was built without; .* --for this file")
        self.assertLess(library.stat().st_size, 0.9 * (LIBRARIES / "libnnapi_shim.so").stat().st_size)
        # Without --for, all of them come back.
        self.succeed("shim", "--emit", self.folder / "shim", "--force")
        self.assertEqual((ROOT / "lib/program/selected_operators.inc").read_text(),
                         (self.folder / "shim/lib/program/selected_operators.inc").read_text())

    def test_for_files_that_are_none(self):
        plain = self.convert("residual.pt", "--input", PICTURE, out="plain.pt")
        shim = self.folder / "shim"
        self.fail_with(3, "shim", "--emit", shim, "--for", plain, needed=["plain.pt", "--runtime shim"])
        self.fail_with(3, "shim", "--emit", shim, "--for", self.folder / "none.pt", needed=["none.pt"])
        self.fail_with(3, "shim", "--emit", shim, "--for", self.fixture("residual.pt"), needed=["residual.pt"])
        self.fail_with(2, "shim", "--emit", shim, "--for", plain, "--from", plain, needed=["--for", "--from"])
        self.assertFalse(shim.exists())

    def test_core_and_binding_run(self):
        path = self.convert("residual.pt", "--nhwc", "--runtime", "shim", "--input", PICTURE, "--embed-shim-source")
        self.succeed("shim", "--emit", self.folder / "shim", "--from", path)
        build = self.folder / "build"
        self.command("cmake", "-S", pathlib.Path(__file__).parent / "emitted_app", "-B", build, "-G", "Ninja",
                     f"-DSHIM_SOURCES={self.folder / 'shim'}", "-DNNAPI_SHIM_TORCH=ON", "-DNNAPI_SHIM_TOOLS=ON",
                     "-DNNAPI_SHIM_JAVA=ON", "-DCMAKE_BUILD_TYPE=Release",
                     "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror", *self.compiler_cache())
        self.command("cmake", "--build", build, "--parallel", "2")
        picture = images(1, 3, 16, 16)
        expected = call(load(self.fixture("residual.pt")), picture)

        (self.folder / "input").write_bytes(picture.permute(0, 2, 3, 1).contiguous().numpy().tobytes())
        self.command(build / "app", path, self.folder / "input", self.folder / "output", 1, 3, 16, 16,
                     env={"LD_LIBRARY_PATH": str(HOST)})
        found = torch.frombuffer(bytearray((self.folder / "output").read_bytes()), dtype=torch.float32)
        self.assertEqual(expected.numel(), found.numel())
        if expected.dim() == 4:
            expected_order = expected.permute(0, 2, 3, 1).contiguous()
        else:
            expected_order = expected.contiguous()
        self.assert_close(expected_order.flatten(), found)

        for name in ("libnnapi_shim.so", "libnnapi_shim_jni.so", "libnnapi_shim_torch.so", "nnapi-probe"):
            self.assert_pages_of_16_kib(build / "shim" / name)

        done = self.command(build / "shim" / "nnapi-probe", "--list", env={"LD_LIBRARY_PATH": str(HOST)})
        self.assertIn("nnapi-convert-host: cpu", done.stdout)

        torch.save(expected, self.folder / "expected.pt")
        self.command(sys.executable, "-c", f"""
import torch
torch.ops.load_library({str(build / "shim" / "libnnapi_shim_torch.so")!r})
module = torch.jit.load({str(path)!r})
picture = torch.randn(1, 3, 16, 16, generator=torch.Generator().manual_seed(0))
expected = torch.load({str(self.folder / "expected.pt")!r})
assert (module(picture) - expected).abs().max() <= 1e-4 * (expected.max() - expected.min())
assert module.nnapi_state() == "nnapi", module.nnapi_state()
""", env={"LD_LIBRARY_PATH": str(HOST)})


if __name__ == "__main__":
    unittest.main()
