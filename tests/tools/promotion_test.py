# SPDX-License-Identifier: BSD-3-Clause
"""Results of tensors of several dtypes have the dtype and values that they have in PyTorch: constants of rank 0 and 1, in
the code and as buffers, and Python's numbers."""

import json
import os
import unittest

import torch
from torch import nn

from cli import CliTest, run
from stock_torch import call, load

CONSTANTS = {"float64": "torch.tensor(0.5, dtype=torch.float64)", "float32": "torch.tensor(0.5)",
             "float16": "torch.tensor(0.5, dtype=torch.float16)", "int64": "torch.tensor(3)",
             "uint8": "torch.tensor(3, dtype=torch.uint8)", "vector": "torch.tensor([0.5], dtype=torch.float64)",
             "number": "0.5", "whole": "3"}
FORMS = ("t + c", "t - c", "c - t", "t * c", "t / c", "t ** c", "torch.maximum(t, torch.as_tensor(c))",
         "torch.minimum(torch.as_tensor(c), t)", "torch.where(t > 1, t, torch.as_tensor(c))", "t > c",
         "torch.cat([t, torch.as_tensor(c).reshape(1)])", "torch.clamp(t, min=torch.as_tensor(c))")
TENSORS = {"int32": torch.tensor([1, 5, 6, 2], dtype=torch.int32), "int64": torch.tensor([1, 5, 6, 2]),
           "bool": torch.tensor([False, True, False, True])}
COMPANION = torch.tensor([[1.0, -2.0, 3.0]])


class Net(nn.Module):
    """The companion operation gives NNAPI something to run."""

    def __init__(self, constant, form, is_buffer):
        super().__init__()
        self.constant, self.is_buffer = constant, is_buffer
        self.form = compile(form, "<form>", "eval")
        if is_buffer:
            self.register_buffer("c", eval(constant))

    def forward(self, companion, t):
        c = self.c if self.is_buffer else eval(self.constant)
        return torch.relu(companion), eval(self.form, {"torch": torch, "t": t, "c": c})


class Promotion(CliTest):
    def traced(self, name, net, tensor):
        """Returns PyTorch's result; None if PyTorch refuses."""
        try:
            expected = call(net, COMPANION, tensor)
            torch.jit.trace(net, (COMPANION, tensor), check_trace=False).save(str(self.folder / f"{name}.pt"))
            return expected
        except RuntimeError:
            return None

    def check(self, dtype, is_buffer):
        tensor, nets, models = TENSORS[dtype], {}, []
        for kind, constant in CONSTANTS.items():
            if is_buffer and not constant.startswith("torch"):
                continue
            for number, form in enumerate(FORMS):
                name = f"{kind}_{number}"
                expected = self.traced(name, Net(constant, form, is_buffer).eval(), tensor)
                if expected is not None:
                    nets[name] = (form, kind, expected[1])
                    models.append({"model": f"{name}.pt", "name": name, "options": {"input": ["1,3", f"4:{dtype}"]}})
        (self.folder / "models.json").write_text(json.dumps({"version": 1, "models": models}))
        done = run("batch", self.folder / "models.json", "-o", self.folder / "out", "-q", "--nchw", "--keep-going",
                   "--min-segment-macs", "0", "--feature-level", "4")
        self.assertEqual(0, done.code, str(done))
        self.assertGreater(len(nets), 50)
        for name, (form, kind, expected) in nets.items():
            with self.subTest(form=form, constant=kind):
                found = call(load(os.path.join(self.folder, "out", f"{name}.pt")), COMPANION, tensor)[1]
                self.assertEqual(expected.dtype, found.dtype)
                torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)

    def test_int32_and_constants(self):
        self.check("int32", False)

    def test_int64_and_buffers(self):
        self.check("int64", True)

    def test_bool_and_constants(self):
        self.check("bool", False)


if __name__ == "__main__":
    unittest.main()
