# SPDX-License-Identifier: BSD-3-Clause
"""No command writes over a file that it reads, or over another that it writes, however the file is spelled: exit code
2, and nothing is touched."""

import json
import os
import shutil
import subprocess
import unittest

from batch_cli import BatchTest
from cli import PROGRAM, ROOT, CliTest, environment

NHWC = ["--nhwc"]


class FilesApart(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "model.pt"
        shutil.copyfile(self.fixture("bundled.pt"), self.model)
        (self.folder / "a").mkdir()
        os.symlink("model.pt", self.folder / "link.pt")
        os.symlink(".", self.folder / "here")
        os.link(self.model, self.folder / "hard.pt")

    def tree(self):
        return {str(path.relative_to(self.folder)): (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino)
                for path in self.folder.rglob("*") if path.is_file()}

    def refused(self, *arguments, needed=("is the same file as",), **options):
        before = self.tree()
        self.fail_with(2, *arguments, cwd=self.folder, needed=needed, **options)
        self.assertEqual(before, self.tree())


class Spellings(FilesApart):
    NAMES = ["model.pt", "./a/../model.pt", "link.pt", "hard.pt", "here/model.pt", "a/../here/link.pt"]

    def test_output(self):
        for name in [*self.NAMES, str(self.model)]:
            with self.subTest(name=name):
                self.refused("model.pt", *NHWC, "-o", name, needed=["--output", "MODEL model.pt", "would be lost"])

    def test_others_that_are_written(self):
        for option in ("--emit-cpu", "--report"):
            for name in self.NAMES:
                with self.subTest(option=option, name=name):
                    self.refused("model.pt", *NHWC, "-o", "out.pt", option, name, needed=[option, "MODEL model.pt"])

    def test_model_by_a_link(self):
        for name in ("link.pt", "hard.pt"):
            self.refused(name, *NHWC, "-o", "model.pt")


class Convert(FilesApart):
    def test_written_twice(self):
        for arguments in (["-o", "r.pt", "--report", "r.pt"], ["-o", "r.pt", "--emit-cpu", "./a/../r.pt"],
                          ["-o", "o.pt", "--emit-cpu", "r", "--report", "here/r"],
                          ["-o", "o.pt", "--report", "r.json", "--report", "./r.json"]):
            with self.subTest(arguments=arguments):
                self.refused("model.pt", *NHWC, *arguments)

    def test_other_files_that_are_read(self):
        shutil.copyfile(ROOT / "schemas" / "profiles" / "armnn-1.3.json", self.folder / "profile.json")
        (self.folder / "lib.so").write_bytes(b"x")
        for arguments in (["--device-profile", "profile.json", "-o", "profile.json"],
                          ["--torch-library", "lib.so", "-o", "o.pt", "--report", "lib.so"]):
            with self.subTest(arguments=arguments):
                self.refused("model.pt", *NHWC, *arguments)

    def test_name_of_a_shipped_profile_is_no_file(self):
        self.succeed("model.pt", *NHWC, "--device-profile", "armnn-1.3", "-o", "armnn-1.3", cwd=self.folder)

    def test_what_is_no_file_may_be_named_again(self):
        result = self.succeed("model.pt", *NHWC, "-o", "o.pt", "--report", "-", "--report", "/dev/stdout",
                              "--report", "/dev/null", "--report", "/dev/null", cwd=self.folder)
        self.assertEqual(2, result.stdout.count('"operation_count"'))

    def test_standard_output_is_no_place_for_a_model(self):
        for arguments in (["-o", "-"], ["-o", "/dev/stdout"], ["-o", "o.pt", "--emit-cpu", "-"]):
            with self.subTest(arguments=arguments):
                self.refused("model.pt", *NHWC, *arguments, needed=["standard output"])

    def test_standard_output_that_goes_to_the_model(self):
        for command in (["inspect", "model.pt"], ["check", "model.pt"], ["verify", "a.pt", "model.pt"],
                        ["model.pt", "-o", "o.pt", "--report", "-"]):
            before = self.tree()
            with open(self.model, "ab") as stdout, self.subTest(command=command):
                done = subprocess.run([PROGRAM, *command], cwd=self.folder, stdout=stdout, stderr=subprocess.PIPE,
                                      env=environment(), timeout=60)
                self.assertEqual(2, done.returncode, done.stderr)
                self.assertIn(b"standard output goes to", done.stderr)
            self.assertEqual(before, self.tree())


class Shim(FilesApart):
    def test_source_in_the_folder_that_is_written(self):
        out = self.folder / "shim" / "CMakeLists.txt"
        out.parent.mkdir()
        self.succeed("model.pt", *NHWC, "--runtime", "shim", "--embed-shim-source", "-o", out, cwd=self.folder)
        self.refused("shim", "--emit", "shim", "--from", out, "--force")
        self.refused("shim", "--emit", "-", needed=["standard output"])


class Batch(BatchTest):
    def setUp(self):
        super().setUp()
        self.add("bundled.pt")

    def tree(self):
        return {str(path.relative_to(self.folder)): (path.read_bytes(), path.stat().st_mtime_ns)
                for path in self.folder.rglob("*") if path.is_file()}

    def refused(self, zoo, *arguments, needed):
        before = self.tree()
        self.fail_with(2, "batch", zoo, *arguments, "--nhwc", needed=[needed], cwd=self.folder)
        self.assertEqual(before, self.tree())

    def test_into_the_zoo_itself(self):
        os.symlink("zoo", self.folder / "link")
        for out in ("zoo", "zoo/", "./zoo/../zoo", "link", ".", str(self.zoo)):
            for zoo in ("zoo", "zoo/*.pt"):
                with self.subTest(out=out, zoo=zoo):
                    self.refused(zoo, "-o", out, needed="counts as results")

    def test_manifest_with_a_model_in_the_output_folder(self):
        self.manifest({"model": "bundled.pt"})
        self.refused("zoo/zoo.json", "-o", "zoo", needed="counts as results")

    def test_results_in_the_place_of_what_is_read(self):
        self.batch("--nhwc")
        self.refused("zoo", "-o", "out", "--baseline", "out/summary.json", needed="--baseline out/summary.json")
        manifest = self.out / "summary.json"
        manifest.write_text(json.dumps({"version": 1, "models": [{"model": "../zoo/bundled.pt", "name": "x"}]}))
        self.refused("out/summary.json", "-o", "out", needed="manifest out/summary.json")

    def test_hard_link_of_a_model(self):
        self.out.mkdir()
        os.link(self.zoo / "bundled.pt", self.out / "bundled.pt")
        self.refused("zoo", "-o", "out", needed="is the same file as model")

    def test_one_calibration_table_of_several_models(self):
        self.add("residual.pt")
        options = ("--calibrate", "random:2", "--input", "1,3,16,16", "--calibration")
        self.refused("zoo", "-o", "out", *options, "table.json", needed="--calibration of model residual:")
        (self.folder / "table.json").write_text("{}")
        self.refused("zoo", "-o", "out", *options, "table.json", needed="--calibration of model residual:")
        self.manifest({"model": "bundled.pt", "options": {"calibration": "a.json"}},
                      {"model": "residual.pt", "options": {"calibration": "b.json"}})
        self.batch("--nhwc", *options[:-1], zoo=self.zoo / "zoo.json")
        self.assertEqual(["a.json", "b.json"], sorted(each.name for each in self.zoo.glob("?.json")))

    def test_standard_output(self):
        self.refused("zoo", "-o", "-", needed="standard output")

    def test_results_are_no_models_of_the_next_run(self):
        for out in ("zoo/out", "zoo/out/", "zoo/other"):
            for zoo in (self.zoo, str(self.zoo / "*.pt"), f"{self.zoo}/*"):
                with self.subTest(out=out, zoo=zoo):
                    self.batch("--nhwc", zoo=zoo, out=out, cwd=self.folder)
                    self.assertEqual(["bundled"], list(self.statuses(self.folder / out)))
        self.add("bundled.pt", to="deep/bundled.pt")
        self.batch("--nhwc", zoo=f"{self.zoo}/*/*.pt", out="zoo/out", cwd=self.folder)
        self.assertEqual(["deep/bundled"], list(self.statuses(self.zoo / "out")))


class FullOutput(CliTest):
    """Printed output comes before the files: if printing fails, no file is written."""

    def setUp(self):
        super().setUp()
        self.out = self.folder / "out.pt"
        self.out.write_bytes(b"earlier result")

    def assert_untouched(self, *arguments, code=3):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, self.fixture("bundled.pt"), *NHWC, "-o", self.out, *arguments],
                                  stdout=full, stderr=subprocess.PIPE, env=environment(), text=True, timeout=60)
        self.assertEqual(code, done.returncode, done.stderr)
        self.assertEqual(1, done.stderr.count("nnapi-convert: error: "), done.stderr)
        self.assertEqual(b"earlier result", self.out.read_bytes())
        self.assertEqual(["out.pt"], sorted(os.listdir(self.folder)))

    def test_stdout(self):
        for arguments in (["--report", "-"], ["--verify"], ["--dump-after", "infer"],
                          ["--report", "-", "--report", self.folder / "r.json"],
                          ["--verify", "--emit-cpu", self.folder / "cpu.pt", "--report", self.folder / "r.json"]):
            with self.subTest(arguments=arguments):
                self.assert_untouched(*arguments)

    def test_files(self):
        nowhere = self.folder / "nowhere"
        for arguments in (["--report", "/dev/full"], ["--report", self.folder / "r.json", "--report", "/dev/full"],
                          ["--report", self.folder / "r.json", "--report", nowhere / "r.json"],
                          ["--report", self.folder / "r.json", "--emit-cpu", nowhere / "cpu.pt"],
                          ["--report", "/dev/full", "--emit-cpu", self.folder / "cpu.pt"]):
            with self.subTest(arguments=arguments):
                self.assert_untouched(*arguments)

    def test_refused_model(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, self.fixture("refused.pt"), "--input", "1,3,16,16", *NHWC, "-o", self.out,
                                   "--fallback", "none", "--report", "-", "--report", self.folder / "r.json"],
                                  stdout=full, stderr=subprocess.PIPE, env=environment(), text=True, timeout=60)
        self.assertEqual(3, done.returncode, done.stderr)
        self.assertEqual(["out.pt"], os.listdir(self.folder))


if __name__ == "__main__":
    unittest.main()
