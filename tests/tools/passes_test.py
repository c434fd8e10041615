# SPDX-License-Identifier: BSD-3-Clause
"""--disable-pass: without a pass the result is the same, and longer where the pass had something to do."""

import json
import re
import unittest

import torch
from torch import nn

from cli import CliTest, run

ALL = re.findall(r"[a-z0-9_]+", re.search(r"--disable-pass NAME [^{]*\{([^}]*)\}", run("--help-all").stdout).group(1))
PASSES = ALL[ALL.index("drop_tile"):]  # of the stage optimise; those of the stage infer come first


class SizeOfBranch(nn.Module):
    """The model uses only the size of the branches' results, so that the passes remove the branches."""

    def forward(self, x):
        if bool(x.sum() > 0):
            y = x + 1.0
        else:
            y = x * 2.0
        return x * y.size(1)


class ChosenBranch(nn.Module):
    """A branch on a size."""

    def forward(self, x):
        if x.size(1) == 5:
            return torch.relu(x)
        return torch.sigmoid(x)


class Normalised(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.query, self.key = nn.LayerNorm(64), nn.Linear(64, 8), nn.Linear(64, 8)

    def forward(self, x):
        y = self.norm(x)
        return self.query(y) * self.key(y)


class Passes(CliTest):
    MODEL = "conv_bn_relu6.pt"

    def operations(self, *options):
        out = self.folder / "out.pt"
        self.succeed(self.fixture(self.MODEL), "--input", "1,3,16,16", "--nhwc", *options, "-o", out)
        verified = json.loads(self.succeed("verify", self.fixture(self.MODEL), out, "--format", "json").stdout)
        self.assertTrue(verified["passed"])
        self.assertLessEqual(verified["outputs"][0]["relative_error"], 1e-4)
        return json.loads(self.succeed("inspect", out, "--format", "json").stdout)["operation_count"]

    def test_each_can_be_left_out(self):
        self.assertIn("fuse_activation", PASSES)
        fewest = self.operations()
        for name in PASSES:
            count = self.operations("--disable-pass", name)
            if name in ("fuse_activation", "fold_affine"):
                self.assertGreater(count, fewest, name)
            else:
                self.assertGreaterEqual(count, fewest, name)

    def test_all_can_be_left_out(self):
        off = [word for name in PASSES for word in ("--disable-pass", name)]
        self.assertGreater(self.operations(*off), self.operations())

    def test_branch_that_is_not_needed(self):
        model, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.script(SizeOfBranch()).save(str(model))
        for names in ([], *([name] for name in PASSES), ["split_untransposed", "fold_padding", "shuffle_channels"]):
            with self.subTest(names=names):
                off = [word for name in names for word in ("--disable-pass", name)]
                self.succeed(model, "--input", "2,5", "--runtime", "shim", "--feature-level", "4", "--control-flow",
                             "nnapi", *off, "-o", out)
                inspected = json.loads(self.succeed("inspect", out, "--format", "json").stdout)
                self.assertEqual(1, inspected["operation_count"])

    def test_norms_add_squares_in_single_precision_only(self):
        model, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.manual_seed(1)
        torch.jit.script(Normalised().eval()).save(str(model))
        for options, is_short in (([], True), (["--relax-fp16"], False), (["--feature-level", "3"], True)):
            with self.subTest(options=options):
                self.succeed(model, "--input", "2,5,64", "--verify", *options, "-o", out)
                inspected = json.loads(self.succeed("inspect", out, "--format", "json").stdout)
                self.assertEqual(is_short, "L2_NORMALIZATION" in json.dumps(inspected))
                self.assertEqual(not is_short, "RSQRT" in json.dumps(inspected))

    def test_passes_of_infer(self):
        model, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.script(ChosenBranch()).save(str(model))
        convert = [model, "--input", "2,5", "--fallback", "none"]
        dump = self.succeed(*convert, "--dump-after", "choose_branches", "-o", out).stdout
        self.assertIn("aten::relu", dump)
        self.assertNotIn("prim::If", dump)
        # simplify_containers drops branches of constant conditions, too.
        self.fail_with(1, *convert, "--disable-pass", "choose_branches", "--disable-pass", "simplify_containers",
                       "-o", out, needed=["prim::If"])

    def test_dump_after_a_pass(self):
        out = self.folder / "out.pt"
        dump = self.succeed(self.fixture(self.MODEL), "--input", "1,3,16,16", "--nhwc", "--dump-after", "fold_affine",
                            "-o", out).stdout
        self.assertIn("CONV_2D", dump)
        self.assertNotIn("MUL(", dump)
        without = self.succeed(self.fixture(self.MODEL), "--input", "1,3,16,16", "--nhwc",
                               "--dump-after", "choose_layout", "--disable-pass", "fold_affine", "-o", out).stdout
        self.assertIn("MUL(", without)


if __name__ == "__main__":
    unittest.main()
