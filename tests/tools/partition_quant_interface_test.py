# SPDX-License-Identifier: BSD-3-Clause
"""--quant core, full and nnapi for quantised models that NNAPI can't run whole: what describes the result and comes
with it, what is refused and what is warned of."""

import json
import unittest

import torch
from torch import nn
from torch.utils import bundled_inputs

import quant_models
from cli import run
from quant_models import pictures, quantised
from quant_parts import CASES, MODES, PICTURE, QUANTA, QuantParts, leaves
from stock_torch import load, real


class Interface(QuantParts):
    """What describes the result, and comes with it."""

    def test_inspect(self):
        for name in ("Sorted", "TwoInputs", "TakesList"):
            net, path = self.make(name)
            for mode in MODES:
                out, report = self.partitioned(path, *self.inputs(name), "--nhwc", "--quant", mode)
                form = json.loads(self.succeed("inspect", out, "--format", "json").stdout)["metadata"]
                self.assertEqual(mode, form["quant"])
                self.assertIn(f"quantisation mode {mode}", self.succeed("inspect", out).stdout)
                dtype = "quint8" if mode == "full" else "float32"
                for stub, shown, entry in zip(self.stubs(name, net), report["inputs"], form["inputs"]):
                    self.assertEqual([dtype, dtype, "float32"],
                                     [shown["dtype"], entry["dtype"], entry["original"]["dtype"]])
                    self.assertEqual(mode == "full", entry["quantization"] is not None)
                    if mode == "full":
                        scale, zero_point = self.parameters(stub)
                        self.assertAlmostEqual(scale, entry["quantization"]["scale"], delta=1e-7)
                        self.assertEqual(zero_point, entry["quantization"]["zero_point"])
                self.assertTrue(all(output["quantization"]["scale"] > 0 for output in form["outputs"]))

    def test_checks(self):
        net, path = self.make("Sorted")
        out, _ = self.partitioned(path, *self.inputs("Sorted"), "--nhwc", "--quant", "full")
        module, (picture,) = load(out), pictures(PICTURE)
        scale, zero_point = self.parameters(net.quant)
        for argument, needed in [(picture, r"dtype number 6 found, 13 \(quint8\) needed"),
                                 (torch.quantize_per_tensor(picture, 1.01 * scale, zero_point, torch.quint8), "scale "),
                                 (torch.quantize_per_tensor(picture, scale, zero_point + 1, torch.quint8),
                                  "zero point ")]:
            with self.assertRaisesRegex(Exception, "nnapi-convert: input picture: " + needed):
                module(argument)

    def test_bundled_inputs(self):
        for name in ("Sorted", "TakesList"):
            net, path = self.make(name)
            samples = pictures(*CASES[name].shapes, seed=7)
            given = (samples, False) if name == "TakesList" else tuple(samples)
            module = load(path)
            bundled_inputs.augment_many_model_functions_with_bundled_inputs(module, {module.forward: [given]},
                                                                            skip_size_check=True)
            module.save(str(path))
            for mode in MODES:
                out, _ = self.partitioned(path, "--nhwc", "--quant", mode)
                module = load(out)
                (found,) = module.get_all_bundled_inputs()
                module(*found)
                for sample, tensor in zip(samples, leaves([t for t in found if not isinstance(t, bool)])):
                    if mode == "full":
                        sample = torch.quantize_per_tensor(sample, *self.parameters(net.quant), torch.quint8)
                        self.assertEqual((sample.q_scale(), sample.q_zero_point()),
                                         (tensor.q_scale(), tensor.q_zero_point()))
                        sample, tensor = sample.int_repr(), tensor.int_repr()
                    self.assertTrue(torch.equal(sample, tensor))

    def test_dicts_tuples_and_classes(self):
        """Checks forward's arguments and results in the converted module and in the CPU counterpart."""
        torch.manual_seed(0)
        net, path, cpu = quant_models.TakesDict(), self.folder / "model.pt", self.folder / "cpu.pt"
        net.eval().qconfig = torch.ao.quantization.get_default_qconfig("qnnpack")
        prepared = torch.ao.quantization.prepare(net)
        large, small, more = (pictures(PICTURE, seed=seed)[0] for seed in range(3))
        prepared({"large": large, "small": small}, (more,))
        net = torch.ao.quantization.convert(prepared)
        torch.jit.script(net).save(str(path))
        sizes = ["1,3,16,16"] * 3
        given = [word for name, size in zip(("pictures[large]", "pictures[small]", "more[0]"), sizes)
                 for word in ("--input", f"{name}={size}")]
        for mode in MODES:
            for has_more in (False, True):
                with self.subTest(mode=mode, has_more=has_more):
                    out, _ = self.partitioned(path, *given[:6 if has_more else 4], "--nhwc", "--quant", mode,
                                              "--emit-cpu", cpu)
                    expected = load(path)({"large": large, "small": small}, (more,) if has_more else None)
                    a, b, c = [torch.quantize_per_tensor(picture, *self.parameters(net.quant), torch.quint8)
                               if mode == "full" else picture for picture in (large, small, more)]
                    arguments = [{"large": a, "small": b}] + ([(c,)] if has_more else [])
                    self.assertEqual(("deep", "flat"), load(out)(*arguments)._fields)
                    for module in (load(out), load(cpu)):
                        found = module(*arguments)
                        for one, other in zip(expected, found):
                            self.assertEqual(torch.quint8 if mode == "full" else torch.float32, other.dtype)
                            self.assert_quanta(one.double(), real(other), (one.max() - one.min()).item() / 255, QUANTA)

    def test_made_up_bundled_inputs(self):
        _, path = self.make("Sorted")
        out, _ = self.partitioned(path, *self.inputs("Sorted"), "--nhwc", "--quant", "full", "--bundle-inputs")
        module = load(out)
        ((found,),) = module.get_all_bundled_inputs()
        self.assertEqual(torch.quint8, found.dtype)
        module(found)

    def test_cpu_counterpart(self):
        for name in ("Sorted", "TwoInputs", "Returns", "TakesList", "AnyNumber"):
            net, path = self.make(name)
            for mode in (mode for mode in MODES if name != "AnyNumber" or mode != "full"):
                with self.subTest(model=name, mode=mode):
                    cpu = self.folder / "cpu.pt"
                    self.partitioned(path, *self.inputs(name), "--nhwc", "--quant", mode, "--emit-cpu", cpu)
                    self.assert_values(name, net, cpu, mode)

    def test_each_operation(self):
        for name in ("Sorted", "Island", "TwoInputs", "Branching"):
            _, path = self.make(name)
            for mode in MODES:
                with self.subTest(model=name, mode=mode):
                    out, report = self.partitioned(path, *self.inputs(name), "--nhwc", "--quant", mode)
                    result = json.loads(self.succeed("verify", path, out, "--per-op", "--format", "json").stdout)
                    segments = len(report["partition"]["segments"])
                    self.assertEqual(set(range(segments)), {value["segment"] for value in result["values"]})
                    self.assertEqual([], result["unchecked"])

    def test_verify(self):
        net, path = self.make("Sorted")
        for mode in MODES:
            out, report = self.partitioned(path, *self.inputs("Sorted"), "--nhwc", "--quant", mode)
            result = json.loads(self.succeed("verify", path, out, "--format", "json").stdout)
            self.assertLessEqual(result["outputs"][0]["quanta"], QUANTA)
            torch.save(tuple(pictures(PICTURE, seed=3)), self.folder / "inputs.pt")
            self.succeed("verify", path, out, "--inputs", self.folder / "inputs.pt")
            other = self.make("Island")[1]
            self.assertEqual(4, run("verify", other, out).code)

    def test_check(self):
        _, path = self.make("Sorted")
        arguments = ["--min-segment-macs", "0", *self.inputs("Sorted"), "--nhwc", "--format", "json"]
        for mode in MODES:
            form = json.loads(self.succeed("check", path, *arguments, "--quant", mode).stdout)
            self.assertEqual((mode, "segments", 2), (form["quant"], form["how"], len(form["segments"])))
        form = json.loads(self.succeed("check", path, *arguments, "--explain-speed").stdout)
        self.assertEqual({mode: (True, 2) for mode in MODES},
                         {fit["mode"]: (fit["converts"], fit["segments"]) for fit in form["speed"]["quant"]})

    def test_batch(self):
        zoo = self.folder / "zoo"
        zoo.mkdir()
        for name in ("Sorted", "Island", "Mixed"):
            _, path = self.make(name)
            path.rename(zoo / path.name)
        result = run("batch", zoo, "-o", self.folder / "out", "--nhwc", "--input", "1,3,16,16", "--quant", "full",
                     "--min-segment-macs", "0", "--verify", "--keep-going")
        self.assertEqual(1, result.code, f"\n{result}")
        for name, converts in {"Sorted": True, "Island": True, "Mixed": False}.items():
            report = json.loads((self.folder / "out" / f"{name}.report.json").read_text())
            self.assertEqual(converts, report["converted"])
            if converts:
                self.assertEqual("full", report["quant"])


class Refusals(QuantParts):
    """Models in parts are refused for the same reasons as whole models."""

    def refused(self, name, mode, *needed):
        _, path = self.make(name)
        out = self.folder / "out.pt"
        self.fail_with(1, path, *self.inputs(name), "--nhwc", "--min-segment-macs", "0", "--quant", mode, "-o", out,
                       needed=[f"--quant {mode}: ", *needed])
        self.assertFalse(out.exists())

    def test_float_input(self):
        for name in ("Mixed", "FloatRead"):
            self.refused(name, "full", "input picture is not quantised to quint8 by its first operation",
                         "core or nnapi")

    def test_float_result(self):
        self.refused("FloatResult", "full", "output 0 is float32, made by aten::nextafter", "DeQuantStub")
        self.refused("OneOfTwoFloats", "full", "output 0 is float32, made by prim::If")

    def test_unknown_scale(self):
        self.refused("OneOfTwo", "full", "output 0 is dequantised from a tensor whose scale is not known",
                     "core or nnapi")

    def test_flexible_size(self):
        """What mixes the rows along it stays on the CPU; quantised layers before and behind work row by row."""
        _, path = self.make("Sorted")
        out = self.convert(path, "--input", "?,3,16,16", "--nhwc", "--quant", "full", "--min-segment-macs", "0")
        self.assertIn("passed", self.succeed("verify", path, out, "--input", "2,3,16,16").stdout)

    def test_unknown_results(self):
        self.refused("AnyNumber", "full", "forward returns a List[Tensor] made by ", "core or nnapi")

    def test_float_models(self):
        class Float(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = quant_models.conv(3)

            def forward(self, picture):
                return torch.nextafter(self.first(picture), torch.zeros(1))

        path = self.folder / "float.pt"
        torch.jit.trace(Float().eval(), pictures(PICTURE)[0]).save(str(path))
        for mode in MODES:
            self.fail_with(1, path, "--input", "1,3,16,16", "--nhwc", "--quant", mode, "-o", self.folder / "out.pt",
                           needed=[f"--quant {mode}: the model is a float model", "calibrate it first"])

    def test_none(self):
        _, path = self.make("Sorted")
        self.fail_with(1, path, *self.inputs("Sorted"), "--nhwc", "--quant", "none", "-o", self.folder / "out.pt",
                       needed=["--quant none: the model is quantised"])


class MaybeQuantised(QuantParts):
    def test_warning(self):
        """The warning is given for results that may be quantised, and for no others."""
        path = self.folder / "model.pt"
        torch.jit.script(quantised(quant_models.OneOfTwoScales(), PICTURE)).save(str(path))
        for mode in ("core", "nnapi"):
            result = run(path, *self.inputs("Sorted"), "--nhwc", "--min-segment-macs", "0", "--quant", mode, "-o",
                         self.folder / "out.pt")
            self.assertEqual(0, result.code, f"\n{result}")
            self.assertIn(f"--quant {mode}: forward returns a Tensor made by prim::If", result.stderr)
            self.assertIn("whether it is quantised", result.stderr)
        for name in ("OneOfTwo", "AnyNumber", "FloatResult"):
            _, path = self.make(name)
            result = run(path, *self.inputs(name), "--nhwc", "--min-segment-macs", "0", "--quant", "core", "-o",
                         self.folder / "out.pt")
            self.assertEqual(0, result.code, f"\n{result}")
            self.assertNotIn("whether it is quantised", result.stderr)


if __name__ == "__main__":
    unittest.main()
