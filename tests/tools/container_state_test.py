# SPDX-License-Identifier: BSD-3-Clause
"""Lists and dicts that a model keeps from call to call: what forward and other methods write into them stays."""

import unittest
from typing import Dict, List

import torch
from torch import Tensor, nn

from methods_test import values
from shim_process import ShimProcessTest
from stock_torch import load


class Counted(nn.Module):
    """NNAPI runs all of forward but the list."""
    rows: List[int]

    def __init__(self):
        super().__init__()
        self.layer, self.rows = nn.Linear(8, 8), [0]

    def forward(self, x):
        self.rows.append(x.shape[0])
        return self.layer(x)

    @torch.jit.export
    def seen(self) -> int:
        return len(self.rows) * 100 + self.rows[-1]

    @torch.jit.export
    def clear(self) -> None:
        self.rows.clear()
        self.rows.append(7)


class Kept(nn.Module):
    kept: List[Tensor]

    def __init__(self):
        super().__init__()
        self.layer, self.kept = nn.Linear(8, 8), [torch.zeros(2, 8)]

    def forward(self, x):
        self.kept[0] = torch.tanh(x)
        return self.layer(x)

    @torch.jit.export
    def last(self):
        return self.kept[0]


class Named(nn.Module):
    named: Dict[str, Tensor]

    def __init__(self):
        super().__init__()
        self.layer, self.named = nn.Linear(8, 8), {"x": torch.zeros(2, 8)}

    def forward(self, x):
        self.named["x"] = x + self.named["x"]
        return self.layer(x)

    @torch.jit.export
    def last(self):
        return self.named["x"]


class Chosen(nn.Module):
    """The list grows in a branch, and the model runs in parts."""
    kept: List[Tensor]

    def __init__(self):
        super().__init__()
        self.layer, self.kept = nn.Linear(8, 8), []

    def forward(self, x):
        y = self.layer(x)
        if bool(y.sum() > -1e9):
            self.kept.append(y)
        return y.cumsum(1) + len(self.kept)

    @torch.jit.export
    def last(self):
        return self.kept[-1] * len(self.kept)


class Shared(nn.Module):
    """A tensor is an attribute, which forward only sets, and the element of a list."""
    kept: List[Tensor]

    def __init__(self):
        super().__init__()
        self.layer, self.alone = nn.Linear(8, 8), torch.zeros(2, 8)
        self.kept = [self.alone]

    def forward(self, x):
        y = self.layer(x)
        self.kept = [torch.tanh(y), y]
        self.alone = self.kept[0]
        return y

    @torch.jit.export
    def last(self):
        return self.kept[0] + self.alone


class Viewed(nn.Module):
    """Two attributes are views of one memory, and forward writes into one of them."""

    def __init__(self, is_apart: bool):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        both = torch.zeros(2, 8)
        self.one, self.other = (both[0], both[1]) if is_apart else (both, both.view(16))

    def forward(self, x):
        y = self.layer(x)
        self.one.add_(y.mean())
        return y + self.other.sum() + self.one.sum()


CALLS = {Counted: ("forward", "seen", "forward", "seen", "clear", "seen", "forward", "seen"),
         Kept: ("last", "forward", "last", "forward", "last"), Named: ("last", "forward", "last", "forward", "last"),
         Shared: ("last", "forward", "last", "forward", "last"),
         Chosen: ("forward", "last", "forward", "forward", "last")}


class ContainerState(ShimProcessTest):
    @staticmethod
    def results_of(module, calls):
        with torch.no_grad():
            return [getattr(module, name)(*([values(i, 2, 8)] if name == "forward" else [])) for i, name in enumerate(calls)]

    def found(self, out, calls, is_for_shim):
        if not is_for_shim:
            return self.results_of(load(out), calls)
        given = [{"x": values(i, 2, 8)} if name == "forward" else {} for i, name in enumerate(calls)]
        found = self.results(out, given, tuple(f"{i}={name}" for i, name in enumerate(calls)))
        return [found.get(f"{i}/") for i in range(len(calls))]

    def assert_calls_show_state(self, calls, results):
        """Calls of the first method that takes nothing give other results: what forward changed between them."""
        name = next(name for name in calls if name != "forward")
        first, *others = [torch.as_tensor(result) for called, result in zip(calls, results) if called == name]
        self.assertTrue(any(not torch.equal(first, other) for other in others))

    def test_changes_stay(self):
        for make, calls in CALLS.items():
            for options in ((), ("--runtime", "shim"), ("--runtime", "shim", "--method", "forward")):
                with self.subTest(model=make.__name__, options=options):
                    model, out = self.script(make), self.folder / "out.pt"
                    self.succeed(model, "--input", "2,8", "--min-segment-macs", "0", *options, "-o", out)
                    expected = self.results_of(torch.jit.load(str(model)), calls)
                    self.assert_calls_show_state(calls, expected)
                    for result, found in zip(expected, self.found(out, calls, bool(options))):
                        if result is not None:
                            self.assert_same(torch.as_tensor(result), torch.as_tensor(found).numpy())

    def test_views_with_common_elements_need_pytorch(self):
        for is_apart in (True, False):
            model, out = self.script(lambda is_apart=is_apart: Viewed(is_apart)), self.folder / "out.pt"
            command = (model, "--input", "2,8", "--min-segment-macs", "0", "--runtime", "shim", "-o", out)
            if is_apart:
                self.succeed(*command)
                self.succeed("verify", model, out, "--without-torch")
            else:
                self.fail_with(1, *command, needed=["the file would need PyTorch on the phone",
                                                    "one and state_1_other, which share memory"])
                self.succeed(*command, "--needs-pytorch")
            self.succeed("verify", model, out)


if __name__ == "__main__":
    unittest.main()
