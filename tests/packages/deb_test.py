# SPDX-License-Identifier: BSD-3-Clause
"""Debian's package: built by CPack, unpacked and used; its papers, pages and completions; lintian finds no error."""

import gzip
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from installed import BUILD, FIXTURES, ROOT, environment, run

COMMANDS = ("batch", "check", "inspect", "ops", "shim", "verify")
PAGES = ["nnapi-convert", *(f"nnapi-convert-{command}" for command in COMMANDS), "nnapi-bench", "nnapi-probe"]


class Deb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="nnapi-convert-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        run("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", cls.folder / "cpack")
        cls.deb, = (cls.folder / "cpack").glob("*.deb")
        cls.root = cls.folder / "root"
        run("dpkg-deb", "-x", cls.deb, cls.root)
        cls.program = cls.root / "usr" / "bin" / "nnapi-convert"

    def field(self, name: str) -> str:
        return run("dpkg-deb", "-f", self.deb, name).strip()

    def test_name_and_dependencies(self):
        architecture = run("dpkg", "--print-architecture").strip()
        self.assertEqual(f"nnapi-convert_{self.field('Version')}_{architecture}.deb", self.deb.name)
        depends = self.field("Depends")
        for package in ("libc6", "libtorch1.13", "libssl3"):
            self.assertRegex(depends, rf"(^|, ){package} \(")
        version = run(self.program, "--version").split()[1]
        self.assertEqual(self.field("Version"), version)

    def test_lintian(self):
        text = run("lintian", "--allow-root", "--fail-on", "error", self.deb)
        self.assertNotIn("E: ", text)

    def test_converts_and_verifies(self):
        """On the NNAPI of the package: it is not the build folder's that is found."""
        out = self.folder / "out.pt"
        run(self.program, FIXTURES / "bundled.pt", "--nhwc", "--verify", "-o", out)
        library, = self.root.glob("usr/lib/**/nnapi-convert/libneuralnetworks.so")
        hidden = library.with_suffix(".away")
        library.rename(hidden)
        self.addCleanup(hidden.rename, library)
        text = run(self.program, "verify", FIXTURES / "bundled.pt", out, code=3)
        self.assertIn(str(library), text)

    def test_stand_ins(self):
        """They lie in a folder of the program's own, and the program loads them from there."""
        built = BUILD / "lib" / "stand_ins"
        names = {path.name for path in built.iterdir()} if built.is_dir() else set()
        packaged = [path for name in names for path in self.root.rglob(name)]
        self.assertEqual({"stand_ins"}, {path.parent.name for path in packaged} | {"stand_ins"})
        self.assertEqual(names, {path.name for path in packaged})
        if names:
            done = subprocess.run([self.program, "ops"], env={**environment(), "LD_DEBUG": "files"},
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
            for path in packaged:
                self.assertIn(f"calling init: {path}", done.stderr)

    def test_batch(self):
        zoo = self.folder / "zoo"
        zoo.mkdir()
        for name in ("bundled.pt", "quant.pt"):
            shutil.copyfile(FIXTURES / name, zoo / name)
        self.assertIn("2 models: 2 converted",
                      run(self.program, "batch", zoo, "-o", self.folder / "converted", "--nhwc"))

    def test_manual_pages(self):
        for page in PAGES:
            text = gzip.decompress((self.root / "usr/share/man/man1" / f"{page}.1.gz").read_bytes()).decode()
            self.assertIn(f"\n{page} \\- ", text)
            self.assertIn("Exit codes:", text)

    def test_documents(self):
        folder = self.root / "usr/share/doc/nnapi-convert"
        names = set(os.listdir(folder))
        pages = {path.name for path in (ROOT / "docs").glob("*.md")}
        self.assertEqual(set(), (pages | {"README.md", "copyright", "changelog.gz"}) - names)

    def completions(self, *words: str) -> list:
        """Returns the completions that bash offers for the last of the words."""
        script = (f"source {self.root}/usr/share/bash-completion/completions/nnapi-convert; COMP_WORDS=(\"$@\"); "
                  "COMP_CWORD=$(($# - 1)); _nnapi_convert; printf '%s\\n' \"${COMPREPLY[@]}\"")
        return run("bash", "-c", script, "bash", *words, cwd=FIXTURES).split()

    def test_bash(self):
        self.assertEqual(["batch"], self.completions("nnapi-convert", "bat"))
        self.assertEqual(["core"], self.completions("nnapi-convert", "model.pt", "--quant", "c"))
        self.assertEqual(["--keep-going"], self.completions("nnapi-convert", "batch", "zoo", "--keep-g"))
        self.assertEqual(["json"], self.completions("nnapi-convert", "verify", "--format", "=", "j"))
        self.assertEqual(["bundled.pt"], self.completions("nnapi-convert", "bund"))

    def test_fish(self):
        file = self.root / "usr/share/fish/vendor_completions.d/nnapi-convert.fish"

        def offered(line):
            return [row.split("\t")[0]
                    for row in run("fish", "-c", f"source {file}; complete -C '{line}'").splitlines()]

        self.assertEqual(["batch"], offered("nnapi-convert bat"))
        self.assertEqual(["--keep-going"], offered("nnapi-convert batch zoo --keep-g"))
        self.assertEqual(["core"], offered("nnapi-convert model.pt --quant c"))

    def test_zsh(self):
        run("zsh", "-n", self.root / "usr/share/zsh/vendor-completions/_nnapi-convert")


if __name__ == "__main__":
    unittest.main()
