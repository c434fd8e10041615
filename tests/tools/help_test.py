# SPDX-License-Identifier: BSD-3-Clause
"""Help: it opens with a sentence, its examples run as they stand, and it lists the exit codes."""

import re
import shlex
import subprocess
import unittest

import torch

from cli import CliTest, run

# The exit codes of each command.
COMMANDS = {(): "0 1 2 3 4 70 75", ("batch",): "0 1 2 3 5 70 128+", ("check",): "0 1 2 3 70 75",
            ("verify",): "0 1 2 3 4 70 75", ("inspect",): "0 2 3 70 75", ("ops",): "0 2 3 70 75", ("shim",): "0 2 3 70 75",
            ("phone",): "0 1 2 3 4 70 75"}
ELSEWHERE = {("batch",), ("phone",)}  # batch_test.py and doctor_test.py run their examples
MOST_LINES, MOST_COLUMNS = 41, 100


def section(text: str, title: str):
    """Returns the indented lines below a title."""
    lines = text[text.index(f"{title}:\n"):].splitlines()[1:]
    end = next((i for i, line in enumerate(lines) if not line.startswith("  ")), len(lines))
    return [line.strip() for line in lines[:end]]


class Help(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.results = {command: run(*command, "--help") for command in COMMANDS}
        cls.whole = {command: run(*command, "--help-all") if "--help-all" in result.stdout else result
                     for command, result in cls.results.items()}

    def test_version_is_the_packages(self):
        """Headers of Debian's LibTorch 1.13.1 say 1.13.0."""
        done = subprocess.run(["dpkg-query", "-W", "-f", "${source:Upstream-Version}", "libtorch-dev"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        if done.returncode != 0:
            self.skipTest("no package of LibTorch")
        release = re.match(r"[0-9.]*[0-9]", done.stdout)[0]
        self.assertIn(f"(LibTorch {release})", run("--version").stdout)

    def test_goes_to_stdout(self):
        for result in self.results.values():
            self.assertEqual((0, ""), (result.code, result.stderr))

    def test_help_is_a_word_too(self):
        for command, result in self.results.items():
            self.assertEqual(result.stdout, run("help", *command).stdout)

    def test_opens_with_a_sentence(self):
        for result in self.results.values():
            self.assertRegex(result.stdout.split("\n\n")[0].replace("\n", " "), r"^[A-Z].+\.$")

    def test_exit_codes(self):
        for command, codes in COMMANDS.items():
            with self.subTest(command=command):
                lines = section(self.whole[command].stdout, "Exit codes")
                self.assertEqual(codes.split(), [line.split()[0] for line in lines])
                short = self.results[command].stdout
                short = " ".join(short[short.index("Exit codes:"):].split())
                for line in lines:
                    self.assertIn(" ".join(line.split()), short)

    def test_fits_a_screen(self):
        for command, result in self.results.items():
            with self.subTest(command=command):
                self.assertLessEqual(len(result.stdout.splitlines()), MOST_LINES)
        for result in self.whole.values():
            self.assertEqual([], [line for line in result.stdout.splitlines() if len(line) > MOST_COLUMNS])

    def test_whole_help_has_the_common_options(self):
        for command, result in self.results.items():
            for name in re.findall(r"^  (-\S+)", result.stdout, re.M):
                with self.subTest(command=command, name=name):
                    self.assertRegex(self.whole[command].stdout, rf"(?m)^  {name}( |$)")

    def test_options_that_a_command_does_not_read(self):
        self.assertNotIn("--emit-cpu", self.whole["check",].stdout)
        self.fail_with(2, "check", self.fixture("bundled.pt"), "--emit-cpu", "cpu.pt", needed=["unknown option"])

    def write_files_of_examples(self):
        """Makes the files that the examples name: models with and without bundled inputs, and converted models."""
        torch.backends.quantized.engine = "qnnpack"
        for name, source in {"model.pt": "depthwise.pt", "quantised.pt": "quant.pt",
                             "float.pt": "quant_float.pt"}.items():
            (self.folder / name).write_bytes(self.fixture(source).read_bytes())
        (self.folder / "models").mkdir()
        (self.folder / "models" / "model.pt").write_bytes(self.fixture("depthwise.pt").read_bytes())
        torch.save((torch.randn(1, 3, 224, 224),), self.folder / "images.pt")

    def test_examples_run(self):
        self.write_files_of_examples()
        for command in COMMANDS:
            if command in ELSEWHERE:
                continue
            examples = section(self.results[command].stdout, "Examples")
            self.assertGreaterEqual(len(examples), 2)
            for example in examples:
                words = shlex.split(example)
                self.assertEqual("nnapi-convert", words[0])
                if words[1] == "verify":  # out.pt is the converted form of the model named
                    self.succeed(words[2], "--nhwc", "-o", "out.pt", cwd=self.folder)
                if "--from" in words:  # out.pt carries the shim's sources
                    self.succeed("model.pt", "--nhwc", "--runtime", "shim", "--embed-shim-source", "-o", "out.pt",
                                 cwd=self.folder)
                with self.subTest(example=example):
                    result = run(*words[1:], cwd=self.folder)
                    refusable = words[1] == "check" and "none" in words
                    self.assertIn(result.code, (0, 1) if refusable else (0,), f"\n{result}")

    def test_version(self):
        result = run("--version")
        self.assertEqual((0, ""), (result.code, result.stderr))
        self.assertRegex(result.stdout, r"^nnapi-convert \d+\.\d+\.\d+ \(LibTorch \d+\.\d+\.\d+\)\n$")


class Misspelt(CliTest):
    def suggested(self, nearest, *arguments):
        self.fail_with(2, *arguments, cwd=self.folder, needed=[f"did you mean {nearest}?"])

    def test_options(self):
        model = self.fixture("bundled.pt")
        self.suggested("--nhwc", model, "--nhcw", "-o", "out.pt")
        self.suggested("--nhwc", model, "--nhcw=0,2", "-o", "out.pt")
        self.suggested("--output", model, "--ouptut", "out.pt")
        self.suggested("--verify", model, "--verfy")
        self.suggested("--samples", "verify", "a.pt", "b.pt", "--sample", "3")
        self.suggested("--keep-going", "batch", "zoo", "-o", "out", "--keep-goin")
        self.suggested("--help", "--hlep")

    def test_subcommands(self):
        for word, nearest in {"verfy": "verify", "chekc": "check", "inspct": "inspect", "op": "ops", "Batch": "batch",
                              "sihm": "shim"}.items():
            self.suggested(nearest, word, "a", "b")
            self.suggested(nearest, word)

    def test_a_file_is_no_misspelt_subcommand(self):
        model = self.folder / "verfy"
        model.write_bytes(self.fixture("bundled.pt").read_bytes())
        self.succeed("verfy", "--nhwc", "-o", "out.pt", cwd=self.folder)

    def test_nothing_near(self):
        for words in (["--unknown"], ["-x"], ["--target"]):
            result = self.fail_with(2, self.fixture("bundled.pt"), "-o", "out.pt", *words, cwd=self.folder,
                                    needed=[f"{words[0]}: unknown option; see nnapi-convert --help"])
            self.assertNotIn("did you mean", result.stderr)


if __name__ == "__main__":
    unittest.main()
