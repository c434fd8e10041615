# SPDX-License-Identifier: BSD-3-Clause
"""--quant core, full and nnapi for quantised models that NNAPI can't run whole: the interface is as that of a whole
model, values are TorchScript's to a few steps of the result's scale, and quantised tensors cross as they are."""

import unittest

import torch

import quant_models
from quant_models import pictures, quantised
from quant_parts import MODES, PICTURE, QUANTA, QuantParts
from stock_torch import load, load_lite, real


class Values(QuantParts):
    """Every mode, layout and runtime."""

    def all_ways(self, name, modes=MODES):
        net, path = self.make(name)
        for layout in ("--nhwc", "--nchw"):
            found = {}
            for mode in modes:
                with self.subTest(model=name, layout=layout, mode=mode):
                    arguments = [*self.inputs(name), layout, "--quant", mode]
                    out, report = self.partitioned(path, *arguments)
                    self.assertEqual(mode, report["quant"])
                    found[mode] = self.assert_values(name, net, out, mode)
                    _, shim = self.partitioned(path, *arguments, "--runtime", "shim", "--needs-pytorch", out="shim.pt")
                    self.assertEqual(self.operations(report), self.operations(shim))
            if "full" in modes:
                for ones, others in zip(found["core"], found["full"]):
                    for one, other in zip(ones, others):
                        self.assertTrue(torch.equal(one, other.dequantize()))

    def test_sorted(self):
        self.all_ways("Sorted")

    def test_ends(self):
        self.all_ways("Ends")

    def test_island(self):
        self.all_ways("Island")

    def test_two_inputs(self):
        self.all_ways("TwoInputs")

    def test_results_in_a_dict(self):
        self.all_ways("Returns")

    def test_list(self):
        self.all_ways("TakesList")

    def test_branches_and_loops(self):
        self.all_ways("Branching")

    def test_changes_in_place(self):
        self.all_ways("Changed")

    def test_lite(self):
        net, path = self.make("Sorted")
        out, _ = self.partitioned(path, *self.inputs("Sorted"), "--nhwc", "--quant", "full", out="out.ptl")
        (picture,) = pictures(PICTURE, seed=5)
        given = torch.quantize_per_tensor(picture, *self.parameters(net.quant), torch.quint8)
        expected, found = load(path)(picture), load_lite(out)(given)
        self.assert_quanta(expected.double(), real(found), found.q_scale(), QUANTA)

    def test_float_modes(self):
        for name in ("Mixed", "FloatRead", "FloatResult", "OneOfTwo", "OneOfTwoFloats", "AnyNumber"):
            self.all_ways(name, ("core", "nnapi"))


class Places(QuantParts):
    """The part of the model that quantises and dequantises: NNAPI or the CPU."""

    ENDS = {"QUANTIZE", "DEQUANTIZE"}
    NODES = {"aten::quantize_per_tensor", "aten::dequantize"}

    def test_core(self):
        for name in ("Sorted", "Ends", "TwoInputs", "Branching"):
            _, path = self.make(name)
            _, report = self.partitioned(path, *self.inputs(name), "--nhwc", "--quant", "core")
            if name != "Branching":  # which has conditions on float values
                self.assertFalse(self.ENDS & set.union(*self.operations(report)))
            on_cpu = self.on_cpu(report)
            for node in self.NODES:
                self.assertEqual("runs on the CPU with --quant core", on_cpu[node])

    def test_full(self):
        for name in ("Sorted", "Ends", "TwoInputs"):
            _, path = self.make(name)
            out, report = self.partitioned(path, *self.inputs(name), "--nhwc", "--quant", "full")
            self.assertFalse(self.ENDS & set.union(*self.operations(report)))
            self.assertFalse(self.NODES & set(self.on_cpu(report)))
            self.assertNotIn("quantize", load(out).code)

    def test_nnapi(self):
        _, path = self.make("Sorted")
        _, report = self.partitioned(path, *self.inputs("Sorted"), "--nhwc", "--quant", "nnapi")
        first, last = self.operations(report)
        self.assertEqual(({"QUANTIZE"}, {"DEQUANTIZE"}), (self.ENDS & first, self.ENDS & last))
        self.assertFalse(self.NODES & set(self.on_cpu(report)))

    def test_nnapi_next_to_the_cpu(self):
        """Quantising alone is not worth a call."""
        _, path = self.make("Ends")
        _, report = self.partitioned(path, *self.inputs("Ends"), "--nhwc", "--quant", "nnapi", "--min-segment-macs",
                                     "1000")
        self.assertFalse(self.ENDS & set.union(*self.operations(report)))
        self.assertIn("--min-segment-macs", self.on_cpu(report)["aten::quantize_per_tensor"])

    def test_old_levels(self):
        """QUANTIZE came with feature level 3."""
        _, path = self.make("Sorted")
        for mode in MODES:
            _, report = self.partitioned(path, *self.inputs("Sorted"), "--nhwc", "--quant", mode, "--feature-level",
                                         "1")
            self.assertEqual(1, report["feature_level"])
            self.assertNotIn("QUANTIZE", set.union(*self.operations(report)))

    def test_inner_ones_stay(self):
        _, path = self.make("Island")
        for mode in MODES:
            _, report = self.partitioned(path, *self.inputs("Island"), "--nhwc", "--quant", mode)
            first, last = self.operations(report)
            self.assertIn("DEQUANTIZE", first)
            self.assertIn("QUANTIZE", last)

    def test_quantised_tensors_cross_as_they_are(self):
        _, path = self.make("Sorted")
        for mode in ("core", "full"):
            _, report = self.partitioned(path, *self.inputs("Sorted"), "--nhwc", "--quant", mode)
            first, last = report["partition"]["segments"]
            self.assertEqual([3 * 16 * 16, 8 * 16 * 16, 8 * 16 * 16, 8 * 16 * 16],
                             [first["input_bytes"], first["output_bytes"], last["input_bytes"], last["output_bytes"]])


class QuantisedOriginal(QuantParts):
    """A model that takes and gives quint8."""

    def setUp(self):
        super().setUp()
        net = quantised(quant_models.Sorted(), PICTURE)
        inner = quant_models.QuantisedInterface().eval()
        inner.first, inner.second = net.first, net.second
        self.inner, self.input_parameters = inner, self.parameters(net.quant)
        self.path = self.folder / "model.pt"
        torch.jit.trace(inner, self.quantised(0)).save(str(self.path))

    def quantised(self, seed):
        return torch.quantize_per_tensor(pictures(PICTURE, seed=seed)[0], *self.input_parameters, torch.quint8)

    def test_modes(self):
        scale, zero_point = self.input_parameters
        for layout in ("--nhwc", "--nchw"):
            for mode in ("auto", *MODES):
                out, report = self.partitioned(self.path, "--input", f"1,3,16,16:quint8:{scale!r}:{zero_point}", layout,
                                               "--quant", mode)
                self.assertEqual("full" if mode == "auto" else mode, report["quant"])
                module, is_float = load(out), mode in ("core", "nnapi")
                expected = self.inner(self.quantised(5))
                found = module(pictures(PICTURE, seed=5)[0] if is_float else self.quantised(5))
                self.assertEqual(torch.float32 if is_float else torch.quint8, found.dtype)
                self.assert_quanta(real(expected), real(found), expected.q_scale(), QUANTA)
                has_quantize = {"QUANTIZE", "DEQUANTIZE"} <= set.union(*self.operations(report))
                self.assertEqual(mode == "nnapi", has_quantize)


class State(QuantParts):
    def test_kept_tensors_are_not_the_callers(self):
        """The caller may change results, and tensors that the model keeps for the next call."""
        net, path = self.make("Keeps")
        for mode in ("core", "full"):
            out, _ = self.partitioned(path, *self.inputs("Keeps"), "--nhwc", "--quant", mode)
            module, results = load(out), []
            for seed in range(3):
                (picture,) = pictures(PICTURE, seed=seed)
                if mode == "full":
                    picture = torch.quantize_per_tensor(picture, *self.parameters(net.quant), torch.quint8)
                with torch.no_grad():
                    results.append(real(module(picture)))
                picture.fill_(1.0)
            original = load(path)
            with torch.no_grad():
                wanted = [original(*pictures(PICTURE, seed=seed)) for seed in range(3)]
            for one, other in zip(wanted, results):
                self.assert_quanta(one.double(), other, (one.max() - one.min()).item() / 255, QUANTA)


if __name__ == "__main__":
    unittest.main()
