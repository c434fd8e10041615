"""--quant core, full and nnapi for quantised models that NNAPI can't run whole: the interface is as that of a whole
model, values are TorchScript's to a few steps of the result's scale, and quantised tensors cross as they are."""

import collections
import json
import unittest

import jsonschema
import torch
from torch import nn
from torch.utils import bundled_inputs

import quant_models
from cli import ROOT, CliTest, run
from quant_models import pictures, quantised
from stock_torch import StockTorchTest, load, load_lite, real, tensors

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
    """What the tests share; each converts with verification, and with all segments."""

    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.report = self.folder / "report.json"

    def make(self, name):
        """The quantised module, and its file."""
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
        """Of NNAPI, by segment."""
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
        """The file against TorchScript's original; gives its results."""
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
        return results


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
                    _, shim = self.partitioned(path, *arguments, "--runtime", "shim", out="shim.pt")
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
    """Who quantises and dequantises."""

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
        _, report = self.partitioned(path, *self.inputs("Ends"), "--nhwc", "--quant", "nnapi", "--min-segment-macs", "1000")
        self.assertFalse(self.ENDS & set.union(*self.operations(report)))
        self.assertIn("--min-segment-macs", self.on_cpu(report)["aten::quantize_per_tensor"])

    def test_old_levels(self):
        """QUANTIZE came with feature level 3."""
        _, path = self.make("Sorted")
        for mode in MODES:
            _, report = self.partitioned(path, *self.inputs("Sorted"), "--nhwc", "--quant", mode, "--feature-level", "1")
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
                                 (torch.quantize_per_tensor(picture, scale, zero_point + 1, torch.quint8), "zero point ")]:
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
        """What forward takes and gives as a whole, here and in the CPU counterpart."""
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
        """What is kept for the next call, and what is given, may be changed by the caller."""
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


class Refusals(QuantParts):
    """As whole models are refused."""

    def refused(self, name, mode, *needed):
        _, path = self.make(name)
        out = self.folder / "out.pt"
        self.fail_with(1, path, *self.inputs(name), "--nhwc", "--min-segment-macs", "0", "--quant", mode, "-o", out,
                       needed=[f"--quant {mode}: ", *needed])
        self.assertFalse(out.exists())

    def test_float_input(self):
        for name in ("Mixed", "FloatRead"):
            self.refused(name, "full", "input picture is not quantised to quint8 by its first operation", "core or nnapi")

    def test_float_result(self):
        self.refused("FloatResult", "full", "output 0 is float32, made by aten::cummax", "DeQuantStub")
        self.refused("OneOfTwoFloats", "full", "output 0 is float32, made by prim::If")

    def test_unknown_scale(self):
        self.refused("OneOfTwo", "full", "output 0 is dequantised from a tensor whose scale is not known", "core or nnapi")

    def test_flexible_size(self):
        """Behind what has no rule nothing is known then, nor is it worth a guess."""
        _, path = self.make("Sorted")
        self.fail_with(1, path, "--input", "?,3,16,16", "--nhwc", "--quant", "full", "-o", self.folder / "out.pt",
                       needed=["--quant full: output 0", "give every size with --input"])

    def test_unknown_results(self):
        self.refused("AnyNumber", "full", "forward returns a List[Tensor] made by ", "core or nnapi")

    def test_float_models(self):
        class Float(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = quant_models.conv(3)

            def forward(self, picture):
                return torch.cummax(self.first(picture), 3)[0]

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
        """Of results that may be quantised, and of no others."""

        class Either(quant_models.OneOfTwo):
            def forward(self, picture):
                x = self.first(self.quant(picture))
                if bool(self.dequant(x).mean() > 0.02):
                    x = self.second(x)
                else:
                    x = self.third(x)
                return x

        path = self.folder / "model.pt"
        torch.jit.script(quantised(Either(), PICTURE)).save(str(path))
        for mode in ("core", "nnapi"):
            result = run(path, *self.inputs("Sorted"), "--nhwc", "--min-segment-macs", "0", "--quant", mode, "-o",
                         self.folder / "out.pt")
            self.assertEqual(0, result.code, f"\n{result}")
            self.assertIn(f"--quant {mode}: forward returns a Tensor made by prim::If", result.stderr)
            self.assertIn("may be quantised", result.stderr)
        for name in ("OneOfTwo", "AnyNumber", "FloatResult"):
            _, path = self.make(name)
            result = run(path, *self.inputs(name), "--nhwc", "--min-segment-macs", "0", "--quant", "core", "-o",
                         self.folder / "out.pt")
            self.assertEqual(0, result.code, f"\n{result}")
            self.assertNotIn("may be quantised", result.stderr)


if __name__ == "__main__":
    unittest.main()
