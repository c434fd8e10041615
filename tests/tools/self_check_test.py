# SPDX-License-Identifier: BSD-3-Clause
"""Files that check their device: the samples in them, and what a driver with a fault gets."""

import json
import os
import pathlib
import subprocess
import sysconfig
import unittest

import torch
import torch.ao.quantization as quantization
import torchvision
from torch import nn
from torch.ao.quantization import quantize_fx

from cli import PROGRAM, CliTest, run

BUILD = pathlib.Path(PROGRAM).resolve().parents[1]
FAULTY = BUILD / "lib" / "fake_nnapi" / "libfaulty_nnapi.so"
PROBE = BUILD / "bin" / "nnapi-probe"
WRONG = "alpha 1 -1 0 1 100 "  # tests/shim/faulty_nnapi.h
PICTURE = "1,3,16,16"
TORCHVISION = pathlib.Path(torchvision.__file__).with_name(f"_C{sysconfig.get_config_var('EXT_SUFFIX')}")


class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.second = nn.Conv2d(16, 8, 3, padding=1)

    def forward(self, x):
        x = torch.relu(self.first(x)) + 1
        return self.second(torch.igamma(x, x))


class Ranking(nn.Module):
    """A quantised network and the places of its best results, many of which are equal."""

    def __init__(self):
        super().__init__()
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
        layers = [nn.Conv2d(8 if i else 3, 8, 3, padding=1) for i in range(6)]
        self.features = nn.Sequential(*[nn.Sequential(layer, nn.ReLU()) for layer in layers])
        self.scores = nn.Linear(8 * 64, 3000)

    def forward(self, x):
        scores = self.dequant(self.scores(self.features(self.quant(x)).flatten(1)))
        return scores, scores.topk(80, 1)[1]


class Peaks(nn.Module):
    """The best of a map of which all but the peaks are 0: many are equal, and what lies at their places differs."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU())
        self.scores, self.sizes = nn.Conv2d(64, 2, 1), nn.Conv2d(64, 1, 1)

    def forward(self, x):
        x = self.layers(x)
        scores = torch.sigmoid(self.scores(x))
        scores = scores * (torch.max_pool2d(scores, 3, 1, 1) == scores).float()
        best, places = scores.flatten(1).topk(120)
        return best, places, self.sizes(x).flatten().index_select(0, places.flatten() % 256)


class Growing(nn.Module):
    """Rounding doubles with each step, as in a logistic map."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x):
        x = torch.sigmoid(self.layer(x))
        for _ in range(16):
            x = 3.9 * x * (1 - x)
        return x


class Recognised(nn.Module):
    """What NNAPI has as one operation and PyTorch as several, before a step that NNAPI lacks."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 16, 3, padding=1), nn.Linear(16, 8)

    def forward(self, x):
        x = nn.functional.local_response_norm(torch.relu(self.first(x)), 5, alpha=0.5)
        x = nn.functional.lp_pool2d(x, 2, (3, 2)).mean([2, 3])
        return torch.nextafter(self.last(x), torch.zeros(()))


class Boxes(nn.Module):
    """Sizes of boxes are exponentials of quantised results, of sums that NNAPI rounds otherwise than PyTorch."""

    def __init__(self):
        super().__init__()
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
        self.layers = nn.ModuleList(nn.Conv2d(8 if i else 3, 8, 3, padding=1) for i in range(6))
        self.sums = nn.ModuleList(nn.quantized.FloatFunctional() for _ in range(6))
        self.sizes = nn.Conv2d(8, 4, 1)

    def forward(self, x):
        x = self.layers[0](self.quant(x))
        for layer, total in zip(self.layers[1:], self.sums):
            larger = nn.functional.interpolate(layer(x), scale_factor=2.0, mode="bilinear")
            x = total.add(x, nn.functional.avg_pool2d(larger, 2))
        sizes = self.dequant(self.sizes(x))
        return torch.exp((sizes - sizes.mean()) * 8 / sizes.std())


class Autocast(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*[layer for _ in range(4) for layer in (nn.Linear(32, 32), nn.Tanh())])

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.layers(x).float()


class Regions(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x, boxes):
        return torch.ops.torchvision.roi_align(torch.relu(self.layer(x)), boxes, 1.0, 3, 3, 2, False)


class MethodRaises(nn.Module):
    """A method of the top module reads by computed places, which made-up inputs lead out of the table."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 4, 3, padding=1)

    def chosen(self, y):
        return y.gather(1, y.long() % 4)

    def forward(self, x):
        return self.chosen(self.layer(x))


class Masked(nn.Module):
    """Words of which a mask leaves out some: other integers than 0 and 1 give infinite numbers."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.table, self.layer = nn.Embedding(20, 8), nn.Linear(8, 8)

    def forward(self, words, mask):
        x = self.layer(self.table(words))
        unread = (1 - mask.float()) * torch.finfo(torch.float32).min
        return torch.softmax(x @ x.transpose(1, 2) + unread.unsqueeze(1), -1) @ x


class SelfCheck(CliTest):
    def converted(self, model, *options, name="out.pt"):
        path = self.folder / name
        done = self.succeed(model, "--nhwc", "--runtime", "shim", "--needs-pytorch", *options, "-o", path)
        return path, done.stderr

    def samples(self, path):
        return json.loads(self.succeed("inspect", path, "--format", "json").stdout).get("samples", [])

    def test_what_rounding_comes_to_is_allowed(self):
        torch.manual_seed(0)
        model = self.folder / "growing.pt"
        torch.jit.save(torch.jit.script(Growing().eval()), str(model))
        path, _ = self.converted(model, "--input", PICTURE)
        self.assertNotEqual([], self.samples(path))
        done = run("verify", model, path, "--samples", "1", "--tolerance", "1")
        self.assertEqual(0, done.code, done.stderr)  # the shim takes the host's NNAPI

    def test_equal_candidates(self):
        """Which of them a device chooses is no fault: PyTorch and the host's NNAPI choose others."""
        torch.manual_seed(0)
        model = self.folder / "peaks.pt"
        torch.jit.trace(Peaks().eval(), torch.randn(1, 3, 16, 16)).save(str(model))
        path, _ = self.converted(model, "--input", PICTURE, "--feature-level", "3")
        self.assertNotEqual([], self.samples(path))
        done = run("verify", model, path, "--samples", "1", "--tolerance", "5")
        self.assertEqual(0, done.code, done.stderr)

    def middling(self):
        """A model whose hundredth holds four samples."""
        torch.manual_seed(0)
        path = self.folder / "middling.pt"
        layers = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Conv2d(64, 8, 3))
        torch.jit.trace(layers.eval(), torch.randn(1, 3, 16, 16)).save(str(path))
        return path

    def test_how_many_samples(self):
        model = self.middling()
        sizes = []
        for options, count in ((("--no-self-check",), 0), ((), 2), (("--self-check", "1"), 1),
                               (("--self-check", "4"), 4)):
            path, warnings = self.converted(model, "--input", PICTURE, *options)
            self.assertEqual(count, len(self.samples(path)), options)
            self.assertNotIn("self-check", warnings)
            sizes.append(path.stat().st_size)
            self.assertLessEqual(sizes[-1], 1.01 * sizes[0])
        self.assertIn("4 samples to check devices by", self.succeed("inspect", path).stdout)

    def test_a_small_file_has_one_sample(self):
        path, warnings = self.converted(self.fixture("residual.pt"), "--input", PICTURE)
        self.assertEqual(1, len(self.samples(path)))
        self.assertNotIn("self-check", warnings)

    def quantised(self, net):
        torch.backends.quantized.engine = "qnnpack"
        net.qconfig = quantization.get_default_qconfig("qnnpack")
        quantization.prepare(net, inplace=True)
        for _ in range(4):
            net(torch.randn(1, 3, 8, 8))
        quantization.convert(net, inplace=True)
        path = self.folder / "model.pt"
        torch.jit.trace(net, torch.randn(1, 3, 8, 8)).save(str(path))
        out, _ = self.converted(path, "--input", "1,3,8,8")
        self.assertNotEqual([], self.samples(out))
        self.assertNotIn("fails with sample", run("verify", path, out).stderr)

    def test_devices_may_round_products_twice(self):
        torch.manual_seed(0)
        layers = [nn.Sequential(nn.Conv2d(8 if i else 3, 8, 3, padding=1), nn.ReLU()) for i in range(12)]
        self.quantised(nn.Sequential(quantization.QuantStub(), *layers, quantization.DeQuantStub()).eval())
        original, out = self.folder / "model.pt", self.folder / "out.pt"
        os.environ["NNAPI_HOST_ROUNDING"] = "twice"
        self.addCleanup(os.environ.pop, "NNAPI_HOST_ROUNDING", None)
        done = self.succeed("verify", original, out)
        self.assertNotIn("fails with sample", done.stderr)

    def test_the_order_of_quantised_results_is_no_fault(self):
        torch.manual_seed(0)
        self.quantised(Ranking().eval())

    def test_what_follows_quantised_results_may_enlarge_their_steps(self):
        torch.manual_seed(0)
        self.quantised(Boxes().eval())

    def test_masks(self):
        """Made-up integers are flags where others give infinite numbers, here and in verify."""
        words = torch.zeros(1, 12, dtype=torch.int64)
        torch.jit.trace(Masked().eval(), (words, words + 1)).save(str(self.folder / "model.pt"))
        result = self.succeed(self.folder / "model.pt", "--input", "1,12:int64", "--input", "1,12:int64", "--runtime",
                              "shim", "--min-segment-macs", "0", "-o", self.folder / "out.pt", "--verify")
        self.assertNotIn("no samples", result.stderr)
        self.assertIn("passed but for the border values above", result.stdout)
        self.assertNotIn("compares nothing", result.stdout)

    def test_regions_are_not_made_up(self):
        torch.manual_seed(0)
        path = self.folder / "regions.pt"
        torch.jit.trace(Regions().eval(), (torch.randn(1, 3, 32, 32), torch.tensor([[0, 1.0, 1, 20, 20]]))).save(str(path))
        result = self.succeed(path, "--input", "1,3,32,32", "--input", "2,5", "--nhwc", "--runtime", "shim",
                              "--torch-library", TORCHVISION, "-o", self.folder / "out.pt")
        self.assertIn("regions of a picture can't be made up", result.stderr)

    def test_an_operator_that_raises(self):
        model = self.folder / "raises.pt"
        torch.jit.script(MethodRaises().eval()).save(str(model))
        path, messages = self.converted(model, "--input", PICTURE, "--min-segment-macs", "0")
        self.assertIn("the model can't be run with sample inputs: index", messages)
        self.succeed("verify", model, path)

    def test_only_for_the_shim(self):
        self.fail_with(2, self.fixture("residual.pt"), "--nhwc", "--self-check", "2", "-o", self.folder / "out.pt",
                       needed=["--self-check", "--runtime shim"])

    def test_with_the_cpu_model_in_the_file(self):
        path, _ = self.converted(self.fixture("residual.pt"), "--input", PICTURE, "--fallback", "cpu", "--emit-cpu",
                                 self.folder / "cpu.pt", "--verify")
        self.assertEqual(1, len(self.samples(path)))

    def test_each_segment_has_its_own(self):
        torch.manual_seed(0)
        model = self.folder / "parts.pt"
        torch.jit.trace(Parts().eval(), torch.randn(1, 3, 32, 32)).save(str(model))
        path, warnings = self.converted(model, "--input", "1,3,32,32", "--min-segment-macs", "0", "--verify")
        self.assertNotIn("self-check", warnings)
        shown = json.loads(self.succeed("inspect", path, "--format", "json").stdout)
        self.assertGreaterEqual(len(shown["segments"]), 2)
        for segment in shown["segments"]:
            self.assertTrue(segment["samples"])

    def test_operators_that_are_recognised(self):
        torch.manual_seed(0)
        model = self.folder / "recognised.pt"
        torch.jit.trace(Recognised().eval(), torch.randn(1, 3, 15, 16)).save(str(model))
        for options in ((), ("--fallback", "partition-cpu")):
            with self.subTest(options):
                path, warnings = self.converted(model, "--input", "1,3,15,16", "--verify", *options)
                self.assertNotIn("self-check", warnings)
                shown = json.loads(self.succeed("inspect", path, "--format", "json").stdout)
                self.assertTrue(shown["segments"][0]["samples"])

    def test_the_model_that_the_original_stands_for(self):
        """Dynamic quantisation and autocast round what NNAPI doesn't; QNNPACK mixes up what ReLU6 gives."""
        torch.manual_seed(0)
        torch.backends.quantized.engine = "qnnpack"
        layers = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 10)).eval()
        dynamic = quantization.quantize_dynamic(layers, {nn.Linear}, dtype=torch.qint8)
        picture = torch.randn(1, 3, 16, 16)
        network = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU6()).eval()
        prepared = quantize_fx.prepare_fx(network, quantization.get_default_qconfig_mapping("qnnpack"), (picture,))
        prepared(picture)
        for model, sample in ((dynamic, torch.randn(4, 16)), (Autocast().eval(), torch.randn(4, 32)),
                              (quantize_fx.convert_fx(prepared), picture)):
            path = self.folder / "model.pt"
            torch.jit.trace(model, sample).save(str(path))
            sizes = ",".join(map(str, sample.shape))
            for runtime in ("shim", "pytorch"):
                result = self.succeed(path, "--input", sizes, "--runtime", runtime, "--verify", "--min-segment-macs", "0",
                                      "-o", self.folder / "out.pt")
                self.assertNotIn("no samples", result.stderr)
                self.assertNotIn("compares nothing", result.stdout)

    def test_quantised_by_data(self):
        model = self.fixture("residual.pt")
        for mode in ("nnapi", "full"):
            path, _ = self.converted(model, "--input", PICTURE, "--calibrate", "random:8", "--quant", mode)
            self.assertTrue(self.samples(path))
            self.assert_takes(path)

    def test_a_device_with_a_fault_is_not_taken(self):
        for options in ((), ("--relax-fp16",), ("--fp16-weights",)):
            path, _ = self.converted(self.fixture("residual.pt"), "--input", PICTURE, *options)
            self.assert_takes(path)

    def assert_takes(self, path):
        """The host's NNAPI passes the check; with wrong values it does not, and another device is taken."""
        for faults, good in (("", "any of alpha, beta, nnapi-reference"), (WRONG, "beta")):
            cache = self.folder / f"cache_{path.stat().st_mtime_ns}_{len(faults)}"
            cache.mkdir(exist_ok=True)
            environment = dict(os.environ, FAULTY_NNAPI=faults)
            done = subprocess.run([PROBE, "--trial", path, "--cache", cache, "--library", FAULTY], check=False,
                                  capture_output=True, text=True, env=environment)
            self.assertEqual((0, ""), (done.returncode, done.stderr))
            verdicts = "".join(each.read_text() for each in cache.glob("*.verdicts"))
            self.assertIn(f"g\t{good}\t", verdicts)


if __name__ == "__main__":
    unittest.main()
