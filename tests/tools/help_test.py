"""Help: it opens with a sentence, its examples run as they stand, and it lists the exit codes."""

import shlex
import unittest

import torch

from cli import CliTest, run

COMMANDS = [[], ["verify"], ["inspect"], ["ops"], ["shim"]]
EXIT_CODES = ["0", "1", "2", "3", "4", "70"]


def section(text: str, title: str):
    """The indented lines below a title."""
    lines = text[text.index(f"{title}:\n"):].splitlines()[1:]
    end = next((i for i, line in enumerate(lines) if not line.startswith("  ")), len(lines))
    return [line.strip() for line in lines[:end]]


class Help(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.results = {tuple(command): run(*command, "--help") for command in COMMANDS}

    def test_goes_to_stdout(self):
        for result in self.results.values():
            self.assertEqual((0, ""), (result.code, result.stderr))

    def test_opens_with_a_sentence(self):
        for result in self.results.values():
            self.assertRegex(result.stdout.split("\n\n")[0].replace("\n", " "), r"^[A-Z].+\.$")

    def test_lists_the_same_exit_codes(self):
        texts = [section(result.stdout, "Exit codes") for result in self.results.values()]
        self.assertEqual(EXIT_CODES, [line.split()[0] for line in texts[0]])
        self.assertEqual([texts[0]] * len(texts), texts)

    def test_lines_fit_a_wide_terminal(self):
        for result in self.results.values():
            self.assertEqual([], [line for line in result.stdout.splitlines() if len(line) > 160])

    def write_files_of_examples(self):
        """What the examples name: models with and without bundled inputs, and converted ones."""
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
            examples = section(self.results[tuple(command)].stdout, "Examples")
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
                    self.succeed(*words[1:], cwd=self.folder)

    def test_version(self):
        result = run("--version")
        self.assertEqual((0, ""), (result.code, result.stderr))
        self.assertRegex(result.stdout, r"^nnapi-convert \d+\.\d+\.\d+ \(LibTorch \d+\.\d+\.\d+\)\n$")


if __name__ == "__main__":
    unittest.main()
