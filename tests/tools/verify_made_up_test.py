# SPDX-License-Identifier: BSD-3-Clause
"""The inputs that `verify` makes up: padding, masks with holes, numbers within a range; states; --verify-inputs."""

import json
import unittest

import torch
from torch import nn

from cli import CliTest, run

WORDS, LENGTH, WIDTH = 60, 8, 32
TOKENS = ["--input", f"1,{LENGTH}:int64"]


class Attention(nn.Module):
    """Attention over words; `hide` says how the scores are masked."""

    def __init__(self, hide):
        super().__init__()
        torch.manual_seed(0)
        self.words = nn.Embedding(WORDS, WIDTH)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.last = nn.Linear(WIDTH, 8)
        self.hide = hide

    def forward(self, words, *mask):
        x = self.words(words)
        scores = self.query(x) @ self.key(x).transpose(1, 2) / WIDTH ** 0.5
        return self.last(self.hide(scores, words, *mask).softmax(-1) @ self.value(x))


def shown(scores, *_):
    return scores


# Name: how the mask hides, the mask that shows all, and --input.
MASKS = {
    "integers, 0 hides": (lambda scores, _, mask: scores + (1.0 - mask[:, None].float()) * -1e9,
                          torch.ones(1, LENGTH, dtype=torch.int64), f"1,{LENGTH}:int64"),
    "integers, 1 hides": (lambda scores, _, mask: scores + mask[:, None].float() * -1e9,
                          torch.zeros(1, LENGTH, dtype=torch.int64), f"1,{LENGTH}:int64"),
    "bools, true hides": (lambda scores, _, mask: scores.masked_fill(mask[:, None], float("-inf")),
                          torch.zeros(1, LENGTH, dtype=torch.bool), f"1,{LENGTH}:bool"),
    "bools, true shows": (lambda scores, _, mask: scores.masked_fill(~mask[:, None], float("-inf")),
                          torch.ones(1, LENGTH, dtype=torch.bool), f"1,{LENGTH}:bool"),
    "chosen by bools": (lambda scores, _, mask: torch.where(mask[:, None], scores, torch.tensor(-1e9)),
                        torch.ones(1, LENGTH, dtype=torch.bool), f"1,{LENGTH}:bool"),
    "floats, 0 hides": (lambda scores, _, mask: scores + (1 - mask[:, None]) * -1e9, torch.ones(1, LENGTH), f"1,{LENGTH}"),
    "added floats": (lambda scores, _, mask: scores + mask, torch.zeros(LENGTH, LENGTH), f"{LENGTH},{LENGTH}"),
}


class Traced(CliTest):
    def save(self, module, *inputs, name="model.pt"):
        path = self.folder / name
        with torch.no_grad():
            torch.jit.trace(module.eval(), inputs, check_trace=False).save(str(path))
        return path


class Masks(Traced):
    def assert_tells(self, original, other, *options):
        """`verify` passes a file of the original, and fails one of another model."""
        out = self.convert(original, *options)
        report = json.loads(self.succeed("verify", original, out, "--format", "json").stdout)
        self.assertLess(report["outputs"][0]["relative_error"], 1e-5)
        self.assertFalse(report["outputs"][0]["ignores_input"])
        wrong = self.convert(other, *options, out="wrong.pt")
        result = run("verify", original, wrong)
        self.assertEqual(4, result.code, str(result))
        self.assertIn("FAILED", result.stdout)

    def test_padding_that_the_model_finds(self):
        words = torch.randint(2, WORDS, (1, LENGTH))
        for padding in (0, 1, 17):
            with self.subTest(padding=padding):
                hidden = Attention(lambda scores, tokens, word=padding: scores.masked_fill((tokens == word)[:, None], -1e9))
                self.assert_tells(self.save(hidden, words), self.save(Attention(shown), words, name="shown.pt"), *TOKENS)

    def test_masks(self):
        words = torch.randint(2, WORDS, (1, LENGTH))
        for name, (hide, mask, spec) in MASKS.items():
            with self.subTest(name):
                def ignored(scores, _, mask):
                    return scores + 0 * mask.float().sum()
                original = self.save(Attention(hide), words, mask)
                other = self.save(Attention(ignored), words, mask, name="shown.pt")
                if "added" in name:
                    other = self.save(Attention(lambda scores, _, mask: scores + mask.clamp(min=-1)), words, mask, name="shown.pt")
                self.assert_tells(original, other, *TOKENS, "--input", spec)

    def test_no_row_is_hidden_as_a_whole(self):
        """PyTorch makes NaN of such a row, which compares nothing."""
        for length in (2, 3):
            for dtype, mask in (("bool", lambda scores, _, mask: scores.masked_fill(mask[:, None], float("-inf"))),
                                ("float32", lambda scores, _, mask: scores + mask)):
                with self.subTest(length=length, dtype=dtype):
                    words = torch.randint(2, WORDS, (1, length))
                    given = torch.zeros(1, length, dtype=getattr(torch, dtype))
                    original = self.save(Attention(mask), words, given)
                    out = self.convert(original, "--input", f"1,{length}:int64", "--input", f"1,{length}:{dtype}")
                    result = self.succeed("verify", original, out, "--samples", "40")
                    self.assertNotIn("infinite", result.stdout)

    def test_models_that_fail_for_padding(self):
        """Their samples have none."""
        class Raises(nn.Module):
            def __init__(self):
                super().__init__()
                torch.manual_seed(0)
                self.words = nn.Embedding(WORDS, WIDTH)

            def forward(self, words):
                if bool((words[:, -1] < 2).any()):
                    raise ValueError("padding")
                return self.words(words).relu()

        original = self.folder / "model.pt"
        torch.jit.script(Raises().eval()).save(str(original))
        out = self.convert(original, *TOKENS)
        self.assertIn("passed (4 samples", self.succeed("verify", original, out, "--seed", "3").stdout)

    def test_one_sample_has_no_padding(self):
        original = self.save(Attention(shown), torch.randint(2, WORDS, (1, LENGTH)))
        out = self.convert(original, *TOKENS)
        for samples in (1, 2, 3):
            self.succeed("verify", original, out, "--samples", samples)


class Cache(nn.Module):
    """Keys of earlier calls, written at the place that the caller gives."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.words, self.query, self.key = nn.Embedding(50, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.register_buffer("keys", torch.zeros(1, 16, WIDTH))

    def forward(self, word, place):
        x = self.words(word)
        self.keys.index_copy_(1, place, self.key(x))
        return (self.query(x) @ self.keys.transpose(1, 2)).softmax(-1) @ self.keys


class State(Traced):
    def test_state_with_indices(self):
        """Both models begin with the state of the file, whatever was asked of the original before."""
        original = self.save(Cache(), torch.tensor([[3]]), torch.tensor([0]))
        for options in ([], ["--runtime", "shim"]):
            with self.subTest(options=options):
                out = self.convert(original, "--input", "1,1:int64", "--input", "1:int64", *options)
                report = json.loads(self.succeed("verify", original, out, "--samples", "14", "--format", "json").stdout)
                self.assertLess(report["outputs"][0]["relative_error"], 1e-5)
                self.assertEqual(0, report["border_samples"])
        again = self.convert(original, "--input", "1,1:int64", "--input", "1:int64", "--verify", out="again.pt")
        self.assertTrue(again.exists())


class Curves(nn.Module):
    """Brightens pictures by a curve, again and again: of numbers beyond 1 it makes infinite ones."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x):
        curve = torch.tanh(self.conv(x))
        for _ in range(10):
            x = x + curve * (x * x - x)
        return x


class Amplifier(nn.Module):
    """Amplifies the last bits of a convolution, whose batch norm NNAPI has in its weights."""

    def __init__(self, rounds=18):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Sigmoid())
        self.layers[1].running_mean.normal_()
        self.layers[1].running_var.uniform_(0.5, 2)
        self.rounds = rounds

    def forward(self, x):
        x = self.layers(x)
        for _ in range(self.rounds):
            x = 3.9 * x * (1 - x)
        return x


class Floats(Traced):
    SPEC = ["--nhwc", "--input", "1,3,16,16"]

    def test_numbers_that_grow_without_limit(self):
        original = self.save(Curves(), torch.rand(1, 3, 16, 16))
        result = self.succeed(original, *self.SPEC, "--verify", "-o", self.folder / "out.pt")
        self.assertIn("made-up floats are from 0 to 1", result.stdout)
        self.assertRegex(result.stdout, r"\npassed .*\(4 samples")

    def test_inputs_of_a_conversion(self):
        original, data, out = self.save(Curves(), torch.rand(1, 3, 16, 16)), self.folder / "inputs.pt", self.folder / "out.pt"
        torch.save([(torch.rand(1, 3, 16, 16),), (torch.rand(1, 3, 16, 16),)], data)
        result = self.succeed(original, *self.SPEC, "--verify-inputs", data, "-o", out)
        self.assertRegex(result.stdout, r"input x is fed \d[\d.e-]* to 0\.9")
        self.assertIn("passed (2 samples", result.stdout)
        (self.folder / "plain").mkdir()
        plain = self.convert(original, *self.SPEC, out="plain/out.pt")
        self.assertEqual(plain.read_bytes(), out.read_bytes())
        self.fail_with(3, original, *self.SPEC, "--verify-inputs", self.folder / "none.pt", "-o", self.folder / "none.out",
                       needed=["none.pt"])
        self.fail_with(2, original, *self.SPEC, "--verify-inputs", data, "-o", data, needed=["--verify-inputs"])
        torch.save((torch.full((1, 3, 16, 16), 4e4),), data)
        result = run(original, *self.SPEC, "--verify-inputs", data, "-o", self.folder / "infinite.pt")
        if result.code == 4:
            self.assertIn("give its own with --verify-inputs FILE", result.stdout)

    def test_rounding_that_is_the_originals_own(self):
        original = self.save(Amplifier(), torch.rand(1, 3, 16, 16))
        out = self.folder / "out.pt"
        result = self.succeed(original, *self.SPEC, "--verify", "-o", out)
        self.assertRegex(result.stdout, r"the original amplifies rounding: its own results in float32 are 0\.\d+ of the range")
        self.assertIn("or of the results in float64 at most 4 times as far", result.stdout)
        report = json.loads(self.succeed("verify", original, out, "--format", "json").stdout)
        self.assertGreater(report["outputs"][0]["relative_error"], 1e-4)
        self.assertGreater(report["float64"]["original"], 2e-5)
        result = run("verify", original, out, "--tolerance", "1e-6")
        self.assertEqual(4, result.code)
        self.assertIn("the original amplifies rounding", result.stdout)

    def test_another_model_is_not_excused(self):
        original = self.save(Amplifier(), torch.rand(1, 3, 16, 16))
        other = self.save(Amplifier(rounds=19), torch.rand(1, 3, 16, 16), name="other.pt")
        result = run("verify", original, self.convert(other, *self.SPEC))
        self.assertEqual(4, result.code, str(result))
        few = self.save(Amplifier(rounds=2), torch.rand(1, 3, 16, 16), name="few.pt")
        result = run("verify", few, self.convert(self.save(Amplifier(rounds=3), torch.rand(1, 3, 16, 16)), *self.SPEC))
        self.assertEqual(4, result.code)
        self.assertNotIn("amplifies", result.stdout)


if __name__ == "__main__":
    unittest.main()
