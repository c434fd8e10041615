# SPDX-License-Identifier: BSD-3-Clause
"""Helpers for the tests of --quant for models in parts: quantised modules, and comparisons with their results."""

import collections
import json

import jsonschema
import torch

import quant_models
from cli import ROOT, CliTest
from quant_models import pictures, quantised
from stock_torch import StockTorchTest, load, real, tensors

SCHEMA = json.loads((ROOT / "schemas" / "report.schema.json").read_text())
PICTURE = (1, 3, 16, 16)
MODES = ("core", "full", "nnapi")
QUANTA = 2

Case = collections.namedtuple("Case", "shapes script", defaults=([PICTURE], False))
CASES = {
    "Sorted": Case(),
    "Ends": Case(),
    "Island": Case(),
    "TwoInputs": Case([PICTURE, PICTURE]),
    "Returns": Case(script=True),
    "Branching": Case(script=True),
    "OneOfTwo": Case(script=True),
    "OneOfTwoFloats": Case(script=True),
    "Mixed": Case(),
    "FloatRead": Case(script=True),
    "FloatResult": Case(),
    "Changed": Case(script=True),
    "AnyNumber": Case(script=True),
    "Keeps": Case(script=True),
    "TakesList": Case([PICTURE, (1, 3, 12, 16)], True),
}


def leaves(value):
    if isinstance(value, dict):
        return [tensor for part in value.values() for tensor in leaves(part)]
    return tensors(value) if isinstance(value, torch.Tensor) else [t for part in value for t in leaves(part)]


class QuantParts(CliTest, StockTorchTest):
    """Base of tests that convert with verification and with all segments."""

    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.report = self.folder / "report.json"

    def make(self, name):
        """Makes the quantised module and its file."""
        case = CASES[name]
        net = quantised(getattr(quant_models, name)(), *case.shapes, as_list=name == "TakesList")
        if name == "Keeps":
            net.last = torch.quantize_per_tensor(torch.zeros(PICTURE), *self.parameters(net.quant), torch.quint8)
        module = torch.jit.script(net) if case.script else torch.jit.trace(net, tuple(pictures(*case.shapes)))
        path = self.folder / f"{name}.pt"
        module.save(str(path))
        return net, path

    @staticmethod
    def inputs(name):
        names = [f"pictures[{number}]=" if name == "TakesList" else "" for number in range(len(CASES[name].shapes))]
        return [word for path, shape in zip(names, CASES[name].shapes)
                for word in ("--input", path + ",".join(map(str, shape)))]

    @staticmethod
    def parameters(stub):
        return stub.scale.item(), int(stub.zero_point.item())

    def stubs(self, name, net):
        if name == "TakesList":
            return [net.quant, net.quant]
        return [net.quant, net.other_quant] if name == "TwoInputs" else [net.quant]

    def partitioned(self, path, *arguments, out="out.pt"):
        least = [] if "--min-segment-macs" in arguments else ["--min-segment-macs", "0"]
        out = self.convert(path, "--verify", "--report", self.report, *least, *arguments, out=out)
        report = json.loads(self.report.read_text())
        jsonschema.Draft202012Validator(SCHEMA).validate(report)
        self.assertIn("partition", report)
        return out, report

    def operations(self, report):
        """Returns NNAPI's operations of each segment."""
        return [set(segment["operations"]) for segment in report["partition"]["segments"]]

    def on_cpu(self, report):
        return {node["op"]: node["found"] for node in report["partition"]["cpu"]}

    def call(self, module, samples, as_list):
        arguments = [sample.clone() for sample in samples]
        with torch.no_grad():
            result = module(arguments) if as_list else module(*arguments)
        for argument, sample in zip(arguments, samples):
            self.assertTrue(torch.equal(*[t.int_repr() if t.is_quantized else t for t in (argument, sample)]),
                            "the caller's tensor was changed")
        return result

    def assert_values(self, name, net, path, mode):
        """Compares the file with TorchScript's original; returns the file's results."""
        original, converted, as_list = load(self.folder / f"{name}.pt"), load(path), name == "TakesList"
        results = []
        for seed in range(5, 9):
            samples = pictures(*CASES[name].shapes, seed=seed)
            parameters = [self.parameters(stub) for stub in self.stubs(name, net)]
            quantised_samples = [torch.quantize_per_tensor(sample, *each, torch.quint8)
                                 for sample, each in zip(samples, parameters)]
            expected = leaves(self.call(original, samples, as_list))
            found = leaves(self.call(converted, quantised_samples if mode == "full" else samples, as_list))
            self.assertEqual(len(expected), len(found))
            for one, other in zip(expected, found):
                self.assertEqual(torch.quint8 if mode == "full" else torch.float32, other.dtype)
                scale = other.q_scale() if mode == "full" else (one.max() - one.min()).item() / 255
                self.assert_quanta(one.double(), real(other), scale, QUANTA)
            results.append(found)
        self.assertFalse(all(torch.equal(real(one), real(other)) for one, other in zip(*results[:2])),
                         "the results don't vary with the inputs")
        return results
