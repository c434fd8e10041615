# SPDX-License-Identifier: BSD-3-Clause
"""What programs of the shim can't say is refused; with --needs-pytorch the file keeps such steps as TorchScript."""

import unittest

import torch
from torch import nn

from programs_test import kept_rows
from shim_process import ShimProcessTest
from stock_torch import images


class Distances(nn.Module):
    """cdist() is no operator of programs."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x):
        rows = kept_rows(self.layer(x))
        return torch.cdist(rows, rows)


class DistancesInBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x):
        rows = kept_rows(self.layer(x))
        if int(rows.sum()) > 1000000:
            rows = torch.cdist(rows, rows)
        return rows


class Limited(nn.Module):
    """Operators that programs have, with an argument that they lack."""

    def __init__(self, number: int):
        super().__init__()
        self.layer, self.number = nn.Conv2d(3, 4, 3), number
        self.norm = nn.BatchNorm1d(4, affine=False, track_running_stats=False)

    def forward(self, x):
        rows = self.layer(x).flatten(2).mean(0).t()
        if self.number == 0:
            return torch.unique_consecutive(rows.round(), dim=0)
        order = torch.argsort(rows[:, 0])
        if self.number == 1:
            return torch.searchsorted(rows[:, 0], rows[:3, 1], sorter=order)
        if self.number == 2:
            return self.norm(rows[rows[:, 0] > -9])
        rows = rows[rows[:, 0] > -9]
        order = torch.arange(rows.size(0))
        if self.number == 3:
            return torch.scatter_reduce(rows[:, 0], 0, order // 2, rows[:, 1], "mean")
        return torch.scatter_reduce(rows[:, 0], 0, order // 2, rows[:, 1], "sum", include_self=False)


class ProgramLimits(ShimProcessTest):
    def test_without_torchscript_all_steps_have_to_be_a_program(self):
        out = self.folder / "small.pt"
        self.fail_with(1, self.script(Distances), "--nhwc", "--input", "1,3,32,32", "--runtime", "shim",
                       "--min-segment-macs", "0", "--no-torchscript", "-o", out, needed=["aten::cdist", "--needs-pytorch"])
        self.assertFalse(out.exists())

    def test_dtypes_that_programs_lack(self):
        model, out = self.folder / "bfloat16.pt", self.folder / "out.pt"
        torch.jit.trace(nn.Conv2d(3, 4, 3).bfloat16().eval(), torch.rand(1, 3, 8, 8).bfloat16()).save(str(model))
        command = (model, "--nhwc", "--input", "1,3,8,8", "--runtime", "shim")
        for options in ((), ("--no-torchscript",)):
            self.fail_with(1, *command, *options, "-o", out, needed=["a tensor of bfloat16", "--needs-pytorch"])
        self.assertIn("needs PyTorch on the phone", self.succeed(*command, "--needs-pytorch", "-o", out).stderr)
        self.succeed("verify", model, out)

    def test_an_operator_that_programs_lack(self):
        command = (self.script(Distances), "--nhwc", "--input", "1,3,32,32", "--runtime", "shim", "--min-segment-macs", "0",
                   "-o", self.folder / "out.pt")
        self.fail_with(1, *command, needed=["would need PyTorch on the phone", "functional.py:", "aten::cdist",
                                            "--needs-pytorch"])
        self.assertFalse((self.folder / "out.pt").exists())
        done = self.succeed(*command, "--needs-pytorch")
        self.assertIn("needs PyTorch on the phone", done.stderr)
        self.assertIn("aten::cdist", done.stderr)
        self.assertIn("programs_test.py", done.stderr)
        done = self.shim(self.folder / "out.pt", [{"x": images(1, 3, 32, 32)}])
        self.assertNotEqual(0, done.returncode)
        self.assertNotIn("Traceback", done.stderr)

    def test_arguments_that_programs_lack(self):
        lacking = ("unique_consecutive with dim", "searchsorted with sorter", "batch_norm with training",
                   "scatter_reduce with reduce", "scatter_reduce with include_self")
        for number, step in enumerate(lacking):
            model, out = self.script(lambda number=number: Limited(number)), self.folder / "out.pt"
            self.fail_with(1, model, "--nhwc", "--input", "1,3,16,16", "--runtime", "shim", "--min-segment-macs", "0",
                           "-o", out, needed=["would need PyTorch", f"aten::{step}, which the shim's programs lack"])

    def test_the_option_is_for_the_shim(self):
        model = self.script(Distances)
        for options, needed in ((("--needs-pytorch",), "--runtime shim"),
                                (("--runtime", "shim", "--no-torchscript", "--needs-pytorch"), "leave one out")):
            self.fail_with(2, model, "--input", "1,3,16,16", *options, "-o", self.folder / "out.pt",
                           needed=["--needs-pytorch", needed])

    def test_an_operator_that_programs_lack_in_a_branch(self):
        model = self.script(DistancesInBranch)
        out = self.folder / "out.pt"
        done = self.succeed(model, "--nhwc", "--input", "1,3,32,32", "--runtime", "shim", "--min-segment-macs", "0",
                            "-o", out)
        self.assertIn("a branch of the file raises an error", done.stderr)
        picture = images(1, 3, 32, 32)
        self.assert_same(torch.jit.load(str(model))(picture), self.results(out, [{"x": picture}])["0/"])
        layer = torch.jit.load(str(model)).layer
        sign = torch.sign(layer.weight.sum()).detach()
        done = self.shim(out, [{"x": torch.full([1, 3, 32, 32], 1e9) * sign + picture * 1e8}])
        self.assertNotEqual(0, done.returncode)
        self.assertIn("this branch needs PyTorch", done.stderr)


if __name__ == "__main__":
    unittest.main()
