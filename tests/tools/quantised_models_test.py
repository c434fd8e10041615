# SPDX-License-Identifier: BSD-3-Clause
"""Quantised fixtures in every mode, for float and quint8 interfaces, run by stock PyTorch on the host's NNAPI.

NNAPI and PyTorch's kernels round differently by one step in each operation; the fixtures have five in a row, of which
the last ones average. Results may differ by a few steps of the output's scale, which the assertions below bound."""

import contextlib
import json
import unittest

import torch
import torch.ao.quantization as quantization
import torchvision
from torch import nn

import quant_models
from cli import CliTest, run
from stock_torch import StockTorchTest, call, images, load, real, tensors

NHWC, NCHW = "--nhwc", "--nchw"
QUANTA = 3


def quantise(tensor, parameters):
    scale, zero_point = parameters
    return torch.quantize_per_tensor(tensor, scale, zero_point, torch.quint8)


def parameters_of(tensor):
    return tensor.q_scale(), tensor.q_zero_point()


class Quantised(CliTest, StockTorchTest):
    @classmethod
    def setUpClass(cls):
        from cli import FIXTURES

        cls.quint8_original = load(FIXTURES / "quant_quint8_bundled.pt")
        cls.float_original = load(FIXTURES / "quant.pt")
        bundled = cls.quint8_original.get_all_bundled_inputs()[0][0]
        cls.input_parameters = parameters_of(bundled)
        cls.output_parameters = parameters_of(call(cls.quint8_original, bundled))
        cls.pictures = [images(1, 3, 16, 16, seed=seed) for seed in range(4)]

    def operations(self, path):
        form = json.loads(self.succeed("inspect", path, "--format", "json").stdout)
        return [operation["name"] for operation in form["operations"]]

    def spec(self):
        scale, zero_point = self.input_parameters
        return ["--input", f"1,3,16,16:quint8:{scale!r}:{zero_point}"]

    def assert_float_interface(self, path, original=None):
        converted = load(path)
        for picture in self.pictures:
            found = call(converted, picture)
            self.assertEqual(torch.float32, found.dtype)
            expected = call(original or self.float_original, picture)
            self.assert_quanta(expected, found, self.output_parameters[0], QUANTA)

    def assert_quint8_interface(self, path):
        converted = load(path)
        for picture in self.pictures:
            argument = quantise(picture, self.input_parameters)
            found = call(converted, argument)
            self.assertEqual(torch.quint8, found.dtype)
            scale, zero_point = parameters_of(found)
            self.assertAlmostEqual(self.output_parameters[0], scale, delta=1e-7)
            self.assertEqual(self.output_parameters[1], zero_point)
            self.assert_quanta(call(self.quint8_original, argument), found, self.output_parameters[0], QUANTA)
            last = call(converted, argument.contiguous(memory_format=torch.channels_last))
            self.assertTrue(torch.equal(found.int_repr(), last.int_repr()))


class FloatInterface(Quantised):
    MODELS = ["quant.pt", "quant_unbundled.pt"]

    def test_kept_by_default(self):
        for name in self.MODELS:
            out = self.convert(name, NHWC, "--input", "1,3,16,16")
            self.assert_float_interface(out)
            self.assertNotIn("QUANTIZE", self.operations(out))

    def test_core(self):
        for name in self.MODELS:
            for layout in (NHWC, NCHW):
                out = self.convert(name, layout, "--input", "1,3,16,16", "--quant", "core")
                self.assert_float_interface(out)
                self.assertFalse({"QUANTIZE", "DEQUANTIZE"} & set(self.operations(out)))

    def test_nnapi(self):
        for name in self.MODELS:
            for layout in (NHWC, NCHW):
                out = self.convert(name, layout, "--input", "1,3,16,16", "--quant", "nnapi")
                self.assert_float_interface(out)
                operations = self.operations(out)
                self.assertEqual(["QUANTIZE", "DEQUANTIZE"], [operations[0], operations[-1]])

    def test_full(self):
        for name in self.MODELS:
            for layout in (NHWC, NCHW):
                out = self.convert(name, layout, "--input", "1,3,16,16", "--quant", "full")
                self.assert_quint8_interface(out)
                self.assertFalse({"QUANTIZE", "DEQUANTIZE"} & set(self.operations(out)))

    def test_full_needs_nothing_but_the_file(self):
        """Exactly as in the guide: with bundled inputs, and with the picture's size alone."""
        self.assert_quint8_interface(self.convert("quant.pt", NHWC, "--quant", "full"))
        self.assert_quint8_interface(self.convert("quant_unbundled.pt", NHWC, "--input", "1,3,16,16", "--quant", "full"))


class Quint8Interface(Quantised):
    def test_bundled(self):
        for mode in ("auto", "full"):
            self.assert_quint8_interface(self.convert("quant_quint8_bundled.pt", NHWC, "--quant", mode))

    def test_scale_given(self):
        for mode in ("auto", "full"):
            for layout in (NHWC, NCHW):
                self.assert_quint8_interface(self.convert("quant_quint8.pt", layout, *self.spec(), "--quant", mode))

    def test_float_modes(self):
        for name, spec in {"quant_quint8_bundled.pt": [], "quant_quint8.pt": self.spec()}.items():
            for mode in ("core", "nnapi"):
                self.assert_float_interface(self.convert(name, NHWC, *spec, "--quant", mode))

    def test_scale_missing(self):
        for mode in ("auto", "core", "full", "nnapi"):
            self.fail_with(1, self.fixture("quant_quint8.pt"), NHWC, "--quant", mode, "-o", self.folder / "out.pt",
                           needed=["--input DIMS:quint8:SCALE:ZERO_POINT"])


class Checks(Quantised):
    def setUp(self):
        super().setUp()
        self.module = load(self.convert("quant.pt", NHWC, "--quant", "full"))

    def assert_message(self, needed, argument):
        with self.assertRaises(Exception) as caught:
            call(self.module, argument)
        self.assertIn("nnapi-convert: input picture: " + needed, str(caught.exception))

    def test_scale(self):
        scale, zero_point = self.input_parameters
        self.assert_message("scale ", quantise(self.pictures[0], (scale * 1.01, zero_point)))

    def test_scale_is_a_float32_to_nnapi(self):
        """A scale as written on the command line is taken in float32, too, as observers give it; the next one isn't."""
        zero_point = self.input_parameters[1]
        out = self.convert("quant_quint8.pt", NHWC, "--input", f"1,3,16,16:quint8:0.0315:{zero_point}", out="short.pt")
        module, scale = load(out), torch.tensor(0.0315).item()
        self.assertNotEqual(0.0315, scale)
        expected = call(module, quantise(self.pictures[0], (0.0315, zero_point)))
        self.assertTrue(torch.equal(expected.int_repr(),
                                    call(module, quantise(self.pictures[0], (scale, zero_point))).int_repr()))
        for other in (scale * (1 + 2 ** -23), scale * (1 - 2 ** -23)):
            with self.assertRaises(Exception) as caught:
                call(module, quantise(self.pictures[0], (other, zero_point)))
            self.assertIn("0.0315 needed", str(caught.exception))

    def test_zero_point(self):
        scale, zero_point = self.input_parameters
        wrong = quantise(self.pictures[0], (scale, zero_point + 1))
        self.assert_message(f"zero point {zero_point + 1} found, {zero_point} needed", wrong)

    def test_dtype(self):
        self.assert_message("dtype number 6 found, 13 (quint8) needed", self.pictures[0])
        scale, zero_point = self.input_parameters
        self.assert_message("dtype number 12 found, 13 (quint8) needed",
                            torch.quantize_per_tensor(self.pictures[0], scale, 0, torch.qint8))

    def test_shape(self):
        self.assert_message("shape [1, 3, 8, 16] found, [1, 3, 16, 16] needed",
                            quantise(self.pictures[0][:, :, :8], self.input_parameters))


class BundledInputs(Quantised):
    def bundled(self, path):
        return load(path).get_all_bundled_inputs()

    def test_kept(self):
        (expected,), = self.float_original.get_all_bundled_inputs()
        for mode in ("core", "nnapi"):
            (found,), = self.bundled(self.convert("quant.pt", NHWC, "--quant", mode))
            self.assertTrue(torch.equal(expected, found))

    def test_quantised_for_full(self):
        (original,), = self.float_original.get_all_bundled_inputs()
        (found,), = self.bundled(self.convert("quant.pt", NHWC, "--quant", "full"))
        self.assertEqual(torch.quint8, found.dtype)
        expected = quantise(original, self.input_parameters)
        self.assertTrue(torch.equal(expected.int_repr(), found.int_repr()))
        self.assertEqual(parameters_of(expected), parameters_of(found))

    def test_dequantised_for_float_modes(self):
        (original,), = self.quint8_original.get_all_bundled_inputs()
        (found,), = self.bundled(self.convert("quant_quint8_bundled.pt", NHWC, "--quant", "core"))
        self.assertTrue(torch.equal(original.dequantize(), found))

    def test_they_run(self):
        for mode in ("core", "full", "nnapi"):
            module = load(self.convert("quant.pt", NHWC, "--quant", mode))
            (argument,), = module.get_all_bundled_inputs()
            self.assertTrue(torch.isfinite(real(call(module, argument))).all())
            self.assertEqual(1, module.get_num_bundled_inputs())


class PerChannel(Quantised):
    """Requantised to one scale for each tensor, with a warning that tells the largest error."""

    def test_warning(self):
        result = run(self.fixture("quant_per_channel.pt"), NHWC, "--quant", "full", "-o", self.folder / "out.pt")
        self.assertEqual(0, result.code, f"\n{result}")
        self.assertRegex(result.stderr, r"nnapi-convert: warning: .*per-channel.*error.*\d")

    def test_close_to_the_float_model(self):
        """Every mode stays near the float twin, but not always as near as the per-channel original."""
        twin, original = load(self.fixture("quant_per_channel_float.pt")), load(self.fixture("quant_per_channel.pt"))
        for mode in ("core", "nnapi"):
            converted = load(self.convert("quant_per_channel.pt", NHWC, "--quant", mode, "-q"))
            distances = []
            for module in (original, converted):
                errors = [real(call(module, x)) - real(call(twin, x)) for x in self.pictures]
                distances.append(torch.cat(errors).pow(2).mean().sqrt().item())
            spread = torch.cat([real(call(twin, x)) for x in self.pictures]).std().item()
            self.assertLess(distances[1], 0.1 * spread)
            self.assertLess(distances[1], 3 * distances[0])


class Pools(CliTest, StockTorchTest):
    """The converted model, verify and the samples for a device's check follow PyTorch's definition."""

    def test_pools_that_qnnpack_computes_otherwise(self):
        shape = (1, 3, 12, 14)
        net = quant_models.quantised(quant_models.Pooled(), shape)
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        torch.jit.trace(net, images(*shape)).save(str(path))
        for options in ([], ["--quant", "full"], ["--runtime", "shim"], ["--nchw"]):
            layout = [] if "--nchw" in options else [NHWC]
            said = self.succeed(path, "--input", "1,3,12,14", *layout, *options, "--verify", "-o", out).stderr
            for reason in ("ignores count_include_pad=False", "ignores divisor_override",
                           "takes numbers from beyond the padding of a dilated window"):
                self.assertEqual(1, said.count(reason), said)
        self.succeed(path, "--input", "1,3,12,14", NHWC, "-o", out)
        self.succeed("verify", path, out)
        converted, found = load(out), images(*shape, seed=3)
        with self.engine("none"):
            expected = call(net, found)
        self.assert_quanta(expected, call(converted, found), net.second.scale, QUANTA)

    @contextlib.contextmanager
    def engine(self, name):
        before = torch.backends.quantized.engine
        torch.backends.quantized.engine = name
        yield
        torch.backends.quantized.engine = before

    def test_others_say_nothing(self):
        self.assertNotIn("QNNPACK", self.succeed(self.fixture("quant.pt"), "--input", "1,3,16,16", NHWC, "-o",
                                                 self.folder / "out.pt").stderr)


class Verified(Quantised):
    def test_verify_with_reference(self):
        reference = ["--reference", self.fixture("quant_float.pt")]
        for mode in ("core", "full", "nnapi"):
            out = self.convert("quant.pt", NHWC, "--quant", mode, "--verify")
            result = self.succeed("verify", self.fixture("quant.pt"), out, *reference)
            self.assertIn("passed (32 samples", result.stdout)
            self.assertRegex(result.stdout, r"TorchScript [\d.]+, NNAPI [\d.]+, ratio [\d.]+")

    def test_distances_as_json(self):
        out = self.convert("quant.pt", NHWC)
        reference = ["--reference", self.fixture("quant_float.pt"), "--format", "json"]
        distance = json.loads(self.succeed("verify", self.fixture("quant.pt"), out, *reference).stdout)["reference"]
        self.assertAlmostEqual(distance["ratio"], distance["converted"] / distance["original"])
        self.assertLessEqual(distance["ratio"], 1.1)

    def test_verify_per_channel(self):
        out = self.convert("quant_per_channel.pt", NHWC, "-q")
        reference = ["--reference", self.fixture("quant_per_channel_float.pt")]
        result = self.succeed("verify", self.fixture("quant_per_channel.pt"), out, *reference)
        self.assertIn("NNAPI at most 1.5 times as far", result.stdout)

    def test_another_net_as_reference_is_no_excuse(self):
        """Weights of another net fail, with a reference and without."""
        out = self.convert("quant_per_channel.pt", NHWC, "--quant", "core", "-q")
        self.assertEqual(4, run("verify", self.fixture("quant.pt"), out).code)
        result = run("verify", self.fixture("quant.pt"), out, "--reference", self.fixture("quant_float.pt"))
        self.assertEqual(4, result.code, f"\n{result}")


class DeadChannel(nn.Module):
    """A quarter of the second convolution's channels have weights of 0, and so a tiny scale beside their bias."""

    def __init__(self):
        super().__init__()
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
        self.first, self.second = nn.Conv2d(3, 32, 3, 2, 1), nn.Conv2d(32, 32, 3, 1, 1)
        with torch.no_grad():
            self.second.weight[::4] = 0
            self.second.bias[::4] = 2.75

    def forward(self, x):
        return self.dequant(self.second(self.first(self.quant(x))))


class DeadDetector(nn.Module):
    """Its boxes are kept by scores to which the channels of weights 0 add much."""

    def __init__(self, threshold):
        super().__init__()
        self.layers, self.threshold = DeadChannel(), threshold

    def forward(self, x):
        features = self.layers(x)[0]
        scores = torch.sigmoid((features[0] / 20 + features[1:4].mean(0)).flatten() * 8)
        corners = features[1:5].flatten(1).t().abs() + torch.arange(scores.numel()).unsqueeze(1).float() * 2
        boxes = torch.cat([corners[:, :2], corners[:, :2] + 2 + corners[:, 2:].frac()], 1)
        kept = torchvision.ops.nms(boxes, scores, 0.5)
        kept = kept[scores[kept] > self.threshold]
        return boxes[kept], scores[kept]


class DeadChannels(CliTest, StockTorchTest):
    """QNNPACK's bias overflows; the converted file is right, and nothing calls it wrong."""

    def setUp(self):
        super().setUp()
        self.make(DeadChannel)

    def make(self, make_net, seed=0):
        torch.manual_seed(seed)
        torch.backends.quantized.engine = "qnnpack"
        self.net = make_net().eval()
        observer = quantization.MinMaxObserver.with_args(reduce_range=False)
        self.net.qconfig = quantization.QConfig(observer, quantization.default_per_channel_weight_observer)
        self.picture = torch.rand(1, 3, 16, 16)
        self.expected = self.net(self.picture)
        quantization.prepare(self.net, inplace=True)
        for _ in range(4):
            self.net(torch.rand(1, 3, 16, 16))
        self.net(self.picture)
        quantization.convert(self.net, inplace=True)
        self.model, self.out = self.folder / "dead.pt", self.folder / "out.pt"
        torch.jit.trace(self.net, self.picture).save(str(self.model))

    def test_pytorch_is_named(self):
        found = self.net(self.picture)[0, 0, 0, 0].item()
        self.assertGreater(abs(found - 2.75), 0.5, "this PyTorch overflows nowhere: the test shows nothing")
        for options in ((), ("--runtime", "shim")):
            with self.subTest(options=options):
                done = self.succeed(self.model, "--input", "1,3,16,16", "--nhwc", "--min-segment-macs", "0", *options,
                                    "--verify", "-o", self.out)
                self.assertIn("PyTorch's own kernels are wrong here", done.stdout)
                self.assertIn("a bias beyond int32 in steps of its channel", done.stderr)
                self.assertIn("8 of 32 channels", done.stderr)
                self.assertNotIn("self-check", done.stderr)
        self.succeed(self.model, "--input", "1,3,16,16", "--nhwc", "--min-segment-macs", "0", "-o", self.out)
        values = call(load(self.out), self.picture)
        self.assertLess((values - self.expected).abs().max().item(), 0.1)

    def test_other_boxes_for_that_reason(self):
        library = ["--torch-library", torchvision.extension._get_extension_path("_C")]
        for name, threshold in (("fewer", 0.6), ("none", 0.7)):
            with self.subTest(name):
                self.make(lambda: DeadDetector(threshold))
                found = len(self.net(self.picture)[0])
                self.assertLess(found, len(self.expected[0]), "PyTorch keeps as many boxes: the test shows nothing")
                self.assertEqual(name == "none", found == 0)
                self.succeed(self.model, "--input", "1,3,16,16", "--nhwc", "--min-segment-macs", "0", "--runtime", "shim",
                             "-o", self.out)
                done = self.succeed("verify", self.model, self.out, *library)
                self.assertIn("PyTorch's own kernels are wrong here", done.stdout)
                self.assertNotIn("inf dB)", done.stdout)
                self.make(lambda: DeadDetector(threshold), seed=1)
                other = run("verify", self.model, self.out, *library)
                self.assertEqual(4, other.code, f"\n{other}")


if __name__ == "__main__":
    unittest.main()
