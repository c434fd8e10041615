# SPDX-License-Identifier: BSD-3-Clause
"""The program finds its own folder, and with it what converts and the host's NNAPI: started by a loader, as in a bundle,
and without /proc."""

import pathlib
import re
import shutil
import subprocess
import unittest

from cli import PROGRAM, CliTest, environment

WITHOUT_PROC = ["unshare", "--mount", "sh", "-c", 'umount -l /proc && exec "$@"', "sh"]


def loader() -> str:
    """The loader that the program names."""
    text = subprocess.run(["readelf", "-lW", PROGRAM], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.search(r"interpreter: (.*)\]", text)[1]


def can_go_without_proc() -> bool:
    return subprocess.run([*WITHOUT_PROC, "true"], stderr=subprocess.DEVNULL).returncode == 0


class OwnFolderTest(CliTest):
    def start(self, *command, code=0, **options):
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              cwd=self.folder, env=environment(options.pop("env", None)), timeout=300, **options)
        self.assertEqual(code, done.returncode, done.stderr)
        return done

    def check(self, *start):
        """Converts and verifies by a program that `start` starts."""
        out = self.folder / "out.pt"
        done = self.start(*start, self.fixture("bundled.pt"), "--nhwc", "--verify", "-o", out)
        self.assertIn("passed (", done.stdout)
        missing = self.start(*start, "verify", self.fixture("bundled.pt"), out, code=3,
                             env={"NNAPI_HOST_LIBRARY": str(self.folder / "none.so")})
        self.assertIn("none.so", missing.stderr)


class ByLoader(OwnFolderTest):
    def test_converts_and_verifies(self):
        self.check(loader(), PROGRAM)
        self.check(loader(), "--argv0", "/anywhere/nnapi-convert", PROGRAM)
        name = pathlib.Path(PROGRAM)
        (self.folder / "bin").symlink_to(name.parent)
        self.check(loader(), f"./bin/{name.name}")

    def test_batch_has_the_same_records(self):
        """The program is a part of what --resume compares: the same one is found both ways."""
        (self.folder / "zoo").mkdir()
        shutil.copy(self.fixture("bundled.pt"), self.folder / "zoo")
        self.start(PROGRAM, "batch", "zoo", "-o", "out", "--nhwc")
        done = self.start(loader(), PROGRAM, "batch", "zoo", "-o", "out", "--nhwc", "--resume")
        self.assertIn("1 up to date", done.stdout)

    def test_no_variable_for_children(self):
        """What the program starts gets the environment that the program got."""
        script = self.folder / "judge.sh"
        script.write_text("#!/bin/sh\nenv >variables\necho 1\n")
        script.chmod(0o755)
        self.start(loader(), "--argv0", PROGRAM, PROGRAM, self.fixture("residual.pt"), "--nhwc", "--input", "1,3,64,64",
                   "--calibrate", "random:4", "--metric", script, "-o", "out.pt")
        names = {line.split("=")[0] for line in (self.folder / "variables").read_text().splitlines()}
        self.assertEqual([], sorted(name for name in names if name.startswith("LD_")))


@unittest.skipUnless(can_go_without_proc(), "only root can unmount /proc")
class WithoutProc(OwnFolderTest):
    def test_converts_and_verifies(self):
        self.check(*WITHOUT_PROC, PROGRAM)
        self.check(*WITHOUT_PROC, loader(), PROGRAM)

    def test_by_a_relative_path_and_a_link(self):
        name = pathlib.Path(PROGRAM)
        (self.folder / "bin").symlink_to(name.parent)
        (self.folder / "link").symlink_to(name)
        self.check(*WITHOUT_PROC, f"./bin/{name.name}")
        self.check(*WITHOUT_PROC, "./link")

    def test_batch_says_what_it_needs(self):
        (self.folder / "zoo").mkdir()
        shutil.copy(self.fixture("bundled.pt"), self.folder / "zoo")
        done = self.start(*WITHOUT_PROC, PROGRAM, "batch", "zoo", "-o", "out", code=3)
        self.assertIn("/proc is not mounted", done.stderr)


if __name__ == "__main__":
    unittest.main()
