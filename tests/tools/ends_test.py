# SPDX-License-Identifier: BSD-3-Clause
"""Conversion ends: operators that ATen makes of themselves, and loops that are too long to be written out."""

import time
import unittest

import torch
from torch import nn

from cli import run
from scripted_model import ScriptedModelTest

SECONDS = 60  # hundreds of times what it takes


class IndexFill(nn.Module):
    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return torch.relu(torch.index_fill(torch.relu(x), 0, i, 1.5))


class IndexFillTensor(nn.Module):
    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return torch.relu(torch.index_fill(torch.relu(x), 0, i, x.sum()))


class MaskedScatter(nn.Module):
    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return torch.relu(torch.masked_scatter(torch.relu(x), x > 0, x * 2.0))


class Put(nn.Module):
    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return torch.relu(torch.put(torch.relu(x), i, x[0, :2]))


class LongLoop(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(1000000000):
            x = torch.sin(x)
        return x


class LoopOfSize(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(x.size(0) * 1000000):
            x = torch.sin(x)
        return x


class NestedLoops(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(60):
            for _ in range(60):
                for _ in range(60):
                    x = torch.sin(x)
        return x


class NestedLoopsOfSizes(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.size(1) * 15
        for _ in range(n):
            for _ in range(n):
                for _ in range(n):
                    x = torch.sin(x)
        return x


class NoRounds(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(x.size(0) - 5):
            x = torch.sin(x)
        return torch.relu(x)


class ThousandRounds(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(1000):
            x = torch.sin(x)
        return x


class EndsTest(ScriptedModelTest):
    def run_model(self, *options):
        begin = time.monotonic()
        result = run(self.path, "-o", self.out, "--min-segment-macs", "0", *options)
        self.assertLess(time.monotonic() - begin, SECONDS, str(result))
        return result


class OperatorsMadeOfThemselvesTest(EndsTest):
    models = {model.__name__: model for model in (IndexFill, IndexFillTensor, MaskedScatter, Put)}

    def test_it_ends(self):
        for name in self.models:
            for options in ([], ["--fallback", "none"]):
                with self.subTest(name, options=options):
                    self.save(name)
                    result = self.run_model("--input", "3,4", "--input", "2:int64", *options)
                    self.assertIn(result.code, (0, 1), str(result))


class LoopsTest(EndsTest):
    models = {model.__name__: model
              for model in (LongLoop, LoopOfSize, NestedLoops, NestedLoopsOfSizes, NoRounds, ThousandRounds)}

    def test_what_is_too_long_is_refused(self):
        for name in ("LongLoop", "LoopOfSize", "NestedLoopsOfSizes"):
            with self.subTest(name):
                self.save(name)
                result = self.run_model("--input", "2,4", "--fallback", "none")
                self.assertEqual(result.code, 1, str(result))
                self.assertIn("prim::Loop: loops of more than 100000 operations when they are written out; hint: make "
                              "the loop shorter", result.stderr)
        self.save("NestedLoops")
        result = self.run_model("--input", "2,4")  # LibTorch writes out these before sizes are known
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("forward has loops in loops of more than 100000 operations", result.stderr)

    def test_what_is_too_long_stays_a_loop(self):
        for name in ("LongLoop", "LoopOfSize", "NestedLoopsOfSizes"):
            with self.subTest(name):
                self.save(name)
                result = self.run_model("--input", "2,4")
                self.assertEqual(result.code, 0, str(result))
                self.assertIn("prim::Loop: it is too long to be written out", result.stderr)

    def test_long_loops_are_loops_of_nnapi(self):
        self.save("LongLoop")
        result = self.run_model("--input", "2,4", "--runtime", "shim", "--feature-level", "4", "--control-flow", "nnapi")
        self.assertEqual(result.code, 0, str(result))

    def test_others_are_written_out(self):
        for name in ("NoRounds", "ThousandRounds"):
            with self.subTest(name):
                self.save(name)
                result = self.run_model("--input", "2,4", "--verify")
                self.assertEqual(result.code, 0, str(result))


if __name__ == "__main__":
    unittest.main()
