# SPDX-License-Identifier: BSD-3-Clause
"""Modules for the shim in stock PyTorch with libnnapi_shim_torch.so loaded: results, sizes, fallback, saving,
options."""

import concurrent.futures
import copy
import subprocess
import sys
import unittest

import torch

from cli import LIBRARIES, CliTest, environment
from stock_torch import StockTorchTest, call, images, load, load_lite

torch.ops.load_library(str(LIBRARIES / "libnnapi_shim_torch.so"))

PICTURE = "1,3,16,16"


class Shim(CliTest, StockTorchTest):
    def converted(self, fixture, *options, name="out.pt"):
        path = self.folder / name
        self.succeed(self.fixture(fixture), "--nhwc", "--runtime", "shim", *options, "-o", path)
        return path

    def test_results(self):
        original = load(self.fixture("residual.pt"))
        for name in ("out.pt", "out.ptl"):
            path = self.converted("residual.pt", "--input", PICTURE, name=name)
            module = load_lite(path) if name.endswith("ptl") else load(path)
            samples = [[images(1, 3, 16, 16, seed=seed)] for seed in range(3)]
            self.assert_agree(original, module, samples)
            channels_last = images(1, 3, 16, 16).contiguous(memory_format=torch.channels_last)
            self.assert_close(call(original, channels_last), call(module, channels_last))

    def test_one_module_serves_many_sizes(self):
        original = load(self.fixture("residual.pt"))
        module = load(self.converted("residual.pt", "--input", "?,3,?,?"))
        for shape in [(1, 3, 16, 16), (2, 3, 32, 24), (1, 3, 16, 16), (3, 3, 20, 20), (1, 3, 40, 40), (1, 3, 48, 48)]:
            picture = images(*shape)
            self.assert_close(call(original, picture), call(module, picture))
        self.assertEqual(5, module.nnapi_profile()["compiled"])

    def test_both_branches(self):
        original = load(self.fixture("control_flow.pt"))
        module = load(self.converted("control_flow.pt", "--input", PICTURE, "--feature-level", "4", "--control-flow",
                                     "nnapi"))
        picture = images(1, 3, 16, 16)
        for offset in (2.0, -2.0):
            self.assertEqual(offset > 0, bool((picture + offset).sum() > 0))
            self.assert_close(call(original, picture + offset), call(module, picture + offset))

    def test_wrong_inputs_are_told(self):
        module = load(self.converted("residual.pt", "--input", PICTURE))
        for wrong, fragment in [(images(1, 3, 16, 17), "17"), (images(1, 3, 16, 16).double(), "dtype"),
                                (images(3, 16, 16), "rank")]:
            with self.assertRaises(RuntimeError) as caught:
                call(module, wrong)
            self.assertIn("nnapi-convert: ", str(caught.exception))
            self.assertIn(fragment, str(caught.exception))

    def test_another_scale_is_told(self):
        module = load(self.converted("quant_quint8_bundled.pt", "--quant", "full"))
        original = load(self.fixture("quant_quint8_bundled.pt"))
        sample = original.get_all_bundled_inputs()[0][0]
        expected = call(original, sample)
        found = call(module, sample)
        self.assertEqual((expected.q_scale(), expected.q_zero_point()), (found.q_scale(), found.q_zero_point()))
        self.assert_quanta(expected, found, expected.q_scale(), 3)
        other = torch.quantize_per_tensor(sample.dequantize(), sample.q_scale() * 2, sample.q_zero_point(),
                                          torch.quint8)
        with self.assertRaisesRegex(RuntimeError, "scale .* found, .* needed"):
            call(module, other)

    def test_saved_and_copied_after_it_ran(self):
        module = load(self.converted("residual.pt", "--input", PICTURE))
        picture = images(1, 3, 16, 16)
        expected = call(module, picture)
        torch.jit.save(module, str(self.folder / "again.pt"))
        self.assert_close(expected, call(load(self.folder / "again.pt"), picture), 0)
        self.assert_close(expected, call(copy.deepcopy(module), picture), 0)
        module._save_for_lite_interpreter(str(self.folder / "again.ptl"))
        self.assert_close(expected, call(load_lite(self.folder / "again.ptl"), picture), 0)

    def test_options(self):
        module = load(self.converted("residual.pt", "--input", PICTURE))
        for options, fragment in [({"devise": "x"}, "there is no option devise"),
                                  ({"max_compiled": "many"}, "a whole number needed"),
                                  ({"device_kind": "npu"}, "accelerator")]:
            with self.assertRaisesRegex(RuntimeError, fragment):
                module.nnapi_configure(options)
        module.nnapi_configure({"cache_directory": str(self.folder), "preference": "2", "device": "nowhere"})
        with self.assertRaisesRegex(RuntimeError, "nowhere"):
            call(module, images(1, 3, 16, 16))
        self.assertIn("nowhere", module.nnapi_state())

    def test_warm_up_compiles_ahead(self):
        module = load(self.converted("residual.pt", "--input", PICTURE))
        picture = images(1, 3, 16, 16)
        module.nnapi_warm_up(picture)
        profile = module.nnapi_profile()
        self.assertEqual((1, 0), (profile["compiled"], profile["executions"]))
        self.assertGreater(profile["compile_ns"], 0)
        call(module, picture)
        profile = module.nnapi_profile()
        self.assertEqual((1, 1), (profile["compiled"], profile["executions"]))

    def test_weights_lie_on_a_page(self):
        path = self.converted("residual.pt", "--input", PICTURE)
        reader = torch._C.PyTorchFileReader(str(path))
        names = reader.get_record("extra/nnapi_shim.index").decode().split()
        self.assertEqual(["data/1", "data/0"], names)
        data, weights = path.read_bytes(), reader.get_record("data/0")
        self.assertEqual(0, data.index(weights) % 16384)

    def test_same_bytes_each_time(self):
        options = ["--input", PICTURE, "--fallback", "cpu"]
        first = self.converted("residual.pt", *options, name="same.pt").read_bytes()
        self.assertEqual(first, self.converted("residual.pt", *options, name="same.pt").read_bytes())

    def test_inspect_and_names(self):
        plain = self.converted("residual.pt", "--input", PICTURE)
        self.assertIn("runtime shim", self.succeed("inspect", plain).stdout)
        stripped = self.converted("residual.pt", "--input", PICTURE, "--strip", name="stripped.pt")
        words = [torch._C.PyTorchFileReader(str(path)).get_record("data/1") for path in (plain, stripped)]
        self.assertIn(b"CONV_2D\0", words[0])
        self.assertNotIn(b"CONV_2D\0", words[1])


class ShimDirectCall(CliTest, StockTorchTest):
    """Modules whose inputs and outputs change nothing but the layout: the runtime changes it."""

    def both(self, fixture, *options, name="out.pt"):
        path = self.folder / name
        self.succeed(self.fixture(fixture), "--runtime", "shim", *options, "-o", path)
        return load(self.fixture(fixture)), load(path)

    def variants(self, tensor):
        """The same values in four layouts of memory."""
        wider = torch.cat([tensor, tensor], -1)[..., :tensor.shape[-1]]
        strided = tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
        return [tensor, tensor.contiguous(memory_format=torch.channels_last), wider, strided]

    def test_one_call_and_no_operators(self):
        for layout in ("--nhwc", "--nchw"):
            _, module = self.both("residual.pt", layout, "--input", PICTURE)
            self.assertEqual(1, module.code.count("(self.comp).") + module.code.count("comp)."), module.code)
            for name in ("permute", "contiguous", "getitem"):
                self.assertNotIn(name, module.code)

    def test_layouts_of_memory(self):
        """Sizes at which rows of pixels don't fill vectors, too."""
        for layout in ("--nhwc", "--nchw"):
            original, module = self.both("residual.pt", layout, "--input", "?,3,?,?")
            for shape in [(1, 3, 16, 16), (2, 3, 17, 19), (1, 3, 5, 1), (3, 3, 1, 3)]:
                for picture in self.variants(images(*shape)):
                    self.assert_close(call(original, picture), call(module, picture))

    def test_other_channels_and_several_inputs(self):
        for layout in ("--nhwc", "--nchw", "--nhwc=1"):
            original, module = self.both("two_input.pt", layout, "--input", PICTURE, "--input", "1,2,16,16")
            for one, other in zip(self.variants(images(1, 3, 16, 16)),
                                  reversed(self.variants(images(1, 2, 16, 16, seed=1)))):
                self.assert_close(call(original, one, other), call(module, one, other))

    def test_several_outputs(self):
        for fixture in ("tuple_output.pt", "list_output.pt"):
            for layout in ("--nhwc", "--nchw"):
                original, module = self.both(fixture, layout, "--input", PICTURE)
                self.assert_agree(original, module, [[images(1, 3, 16, 16, seed=seed)] for seed in range(2)])

    def test_quantised(self):
        original, module = self.both("quant_quint8_bundled.pt", "--nhwc", "--quant", "full")
        sample = original.get_all_bundled_inputs()[0][0]
        expected = call(original, sample)
        for picture in self.variants(sample)[:2]:
            found = call(module, picture)
            self.assertEqual((expected.q_scale(), expected.q_zero_point()), (found.q_scale(), found.q_zero_point()))
            self.assert_quanta(expected, found, expected.q_scale(), 3)

    def test_results_are_not_shared(self):
        _, module = self.both("residual.pt", "--nhwc", "--input", PICTURE)
        first = call(module, images(1, 3, 16, 16))
        kept = first.clone()
        second = call(module, images(1, 3, 16, 16, seed=1))
        self.assertFalse(torch.equal(first, second))
        self.assertTrue(torch.equal(first, kept))

    def test_threads_with_other_sizes(self):
        original, module = self.both("residual.pt", "--nhwc", "--input", "?,3,?,?")
        pictures = [images(1, 3, 8 + 2 * size, 16, seed=size) for size in range(6)]
        expected = [call(original, picture) for picture in pictures]
        with concurrent.futures.ThreadPoolExecutor(max_workers=6) as pool:
            for _ in range(20):
                for one, other in zip(expected, pool.map(lambda picture: call(module, picture), pictures)):
                    self.assert_close(one, other)

    def test_a_driver_known_to_be_wrong_is_not_used(self):
        original, module = self.both("residual.pt", "--nhwc", "--fallback", "cpu-plain", "--input", PICTURE)
        path, picture = self.folder / "rules.json", images(1, 3, 16, 16)
        rule = '{"version": 1, "rules": [{"device": "nnapi-convert-*", "operations": ["%s"], "reason": "it is odd"}]}'
        path.write_text(rule % "CONV_2D")
        with self.assertRaisesRegex(RuntimeError, "both driver_rules and driver_rules_file"):
            module.nnapi_configure({"driver_rules": rule % "CONV_2D", "driver_rules_file": str(path)})
        with self.assertRaisesRegex(RuntimeError, "driver_rules: before byte .*: the name of an NNAPI operation"):
            module.nnapi_configure({"driver_rules": rule % "CONVOLUTION"})
        for options, is_wrong in (({"driver_rules": rule % "CONV_2D"}, True), ({"driver_rules_file": str(path)}, True),
                                  ({"driver_rules": rule % "LSTM"}, False)):
            again = copy.deepcopy(module)
            again.nnapi_configure(options)
            self.assert_close(call(original, picture), call(again, picture))
            state = again.nnapi_state()
            self.assertTrue(state.startswith("cpu: no NNAPI device is left: nnapi-convert-host (driver ")
                            if is_wrong else state == "nnapi", state)
            self.assertEqual(is_wrong, "is not used, as its driver is known to be wrong: it is odd" in state)

    def test_wrong_shapes_are_told_on_the_cpu_too(self):
        _, module = self.both("residual.pt", "--nhwc", "--fallback", "cpu-plain", "--input", PICTURE)
        module.nnapi_configure({"device": "nowhere"})
        for _ in range(2):
            with self.assertRaisesRegex(RuntimeError, "nnapi-convert: .*17"):
                call(module, images(1, 3, 16, 17))
            call(module, images(1, 3, 16, 16))
            self.assertTrue(module.nnapi_state().startswith("cpu: "), module.nnapi_state())


class ShimFallback(CliTest, StockTorchTest):
    def converted(self, fallback, *options):
        path = self.folder / f"{fallback}.pt"
        self.succeed(self.fixture("residual.pt"), "--nhwc", "--runtime", "shim", "--fallback", fallback,
                     "--input", PICTURE, "-o", path, *options)
        return path

    def test_needs_the_shim(self):
        self.fail_with(2, self.fixture("residual.pt"), "--fallback", "cpu", "-o", self.folder / "x.pt",
                       needed=["--runtime shim"])

    def test_without_nnapi(self):
        """Runs in a process of its own, without the host's NNAPI on the library path."""
        expected = call(load(self.fixture("residual.pt")), images(1, 3, 16, 16))
        torch.save(expected, self.folder / "expected.pt")
        paths = [self.converted(fallback) for fallback in ("cpu", "cpu-plain")]
        without = self.folder / "none.pt"
        self.succeed(self.fixture("residual.pt"), "--nhwc", "--runtime", "shim", "--input", PICTURE, "-o", without)
        script = f"""
import torch
torch.ops.load_library({str(LIBRARIES / "libnnapi_shim_torch.so")!r})
expected = torch.load({str(self.folder / "expected.pt")!r})
picture = torch.randn(1, 3, 16, 16, generator=torch.Generator().manual_seed(0))
for path in {[str(path) for path in paths]!r}:
    module = torch.jit.load(path)
    assert module.nnapi_state() == "nnapi", module.nnapi_state()
    for _ in range(2):
        assert (module(picture) - expected).abs().max() <= 1e-4 * (expected.max() - expected.min())
    assert module.nnapi_state().startswith("cpu: "), module.nnapi_state()
    assert "libneuralnetworks.so" in module.nnapi_state(), module.nnapi_state()
try:
    torch.jit.load({str(without)!r})(picture)
except RuntimeError as error:
    assert "nnapi-convert: " in str(error) and "libneuralnetworks.so" in str(error), error
else:
    raise AssertionError("ran without NNAPI")
"""
        done = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stderr)

    def test_auto_select_keeps_the_faster(self):
        path = self.converted("cpu-plain")
        original = load(self.fixture("residual.pt"))
        picture = images(1, 3, 16, 16)
        module = load(path)
        options = {"auto_select": "1", "cache_directory": str(self.folder)}
        module.nnapi_configure(options)
        for _ in range(12):
            self.assertEqual("measuring", module.nnapi_state())
            self.assert_close(call(original, picture), call(module, picture))
        choice = module.nnapi_state()
        self.assertIn(choice, ("nnapi", "cpu"))
        executions = module.nnapi_profile()["executions"]
        self.assert_close(call(original, picture), call(module, picture))
        self.assertEqual(choice == "nnapi", module.nnapi_profile()["executions"] > executions)
        again = load(path)
        again.nnapi_configure(options)
        self.assertEqual(choice, again.nnapi_state())


class ShimPerChannel(CliTest):
    def test_scales_of_channels_are_kept(self):
        out = self.folder / "out.pt"
        model, twin = self.fixture("quant_per_channel.pt"), self.fixture("quant_per_channel_float.pt")
        done = self.succeed(model, "--nhwc", "--runtime", "shim", "--input", PICTURE, "--min-segment-macs", "0",
                            "-o", out)
        self.assertEqual("", done.stderr)
        self.assertIn("PER_CHANNEL", self.succeed("inspect", out, "--format", "json").stdout)
        self.succeed("verify", model, out, "--reference", twin)


if __name__ == "__main__":
    unittest.main()
