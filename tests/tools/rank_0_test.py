# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of rank 0: in whole models and parts, with both runtimes, bundled, in manifests, reports and metadata."""

import json
import subprocess
import unittest

import torch
from torch import nn
from torch.utils.bundled_inputs import augment_model_with_bundled_inputs

from cli import LIBRARIES, PROGRAM, CliTest, environment
from stock_torch import StockTorchTest, call, images, load, load_lite

torch.ops.load_library(str(LIBRARIES / "libnnapi_shim_torch.so"))


class Scaled(nn.Module):
    def forward(self, x, scale, offset):
        y = torch.sigmoid(x) * scale + offset
        return y, scale * 2 + offset, y.sum() * scale


class InParts(nn.Module):
    """logcumsumexp stays on the CPU; tensors of rank 0 cross to it and back."""

    def forward(self, x, scale, offset):
        total = (torch.sigmoid(x) * scale).sum()
        drawn = torch.logcumsumexp(total, 0)
        return torch.tanh(x) * drawn + offset, drawn * offset


SPECS = ("--input", "2,3", "--input", "scale=scalar", "--input", "offset=scalar:int64")


class RankZero(CliTest, StockTorchTest):
    def traced(self, module):
        inputs = self.samples()[0]
        path = self.folder / "model.pt"
        torch.jit.trace(module.eval(), inputs).save(str(path))
        return path

    @staticmethod
    def samples():
        return [[images(2, 3, seed=seed), torch.tensor(0.5 + seed), torch.tensor(seed - 1)] for seed in range(3)]

    def assert_same(self, original, converted):
        for sample in self.samples():
            for one, other in zip(call(original, *sample), call(converted, *sample)):
                self.assertEqual((one.shape, one.dtype), (other.shape, other.dtype))
                self.assertTrue(torch.allclose(one, other, 1e-4, 1e-5), f"{one} {other}")

    def test_whole_and_in_parts_with_both_runtimes(self):
        for module, options in ((Scaled(), ("--fallback", "none")), (InParts(), ("--min-segment-macs", "0"))):
            path = self.traced(module)
            for runtime in ("pytorch", "shim"):
                for suffix in ("pt", "ptl"):
                    with self.subTest(module=type(module).__name__, runtime=runtime, suffix=suffix):
                        out = self.folder / f"out.{suffix}"
                        self.succeed(path, *SPECS, "--runtime", runtime, "--nchw", *options, "--verify", "-o", out)
                        self.assert_same(load(path), (load_lite if suffix == "ptl" else load)(out))

    def test_another_rank_is_an_error(self):
        for module in (Scaled(), InParts()):
            path, out = self.traced(module), self.folder / "out.pt"
            self.succeed(path, *SPECS, "--nchw", "--min-segment-macs", "0", "-o", out)
            with self.assertRaisesRegex(Exception, r"input scale: shape \[1\] found, \[\] needed"):
                load(out)(images(2, 3), torch.ones(1), torch.tensor(1))

    def test_fallback_of_the_shim(self):
        path, out = self.traced(Scaled()), self.folder / "out.pt"
        self.succeed(path, *SPECS, "--nchw", "--runtime", "shim", "--fallback", "cpu", "-o", out)
        self.assert_same(load(path), load(out))

    def test_bundled(self):
        path, out, again = self.traced(Scaled()), self.folder / "out.pt", self.folder / "again.pt"
        self.succeed(path, *SPECS, "--nchw", "--bundle-inputs", "-o", out)
        (inputs,) = load(out).get_all_bundled_inputs()
        self.assertEqual([(2, 3), (), ()], [tuple(each.shape) for each in inputs])
        module = torch.jit.load(str(path))
        augment_model_with_bundled_inputs(module, [tuple(self.samples()[1])])
        bundled = self.folder / "bundled.pt"
        module.save(str(bundled))
        self.succeed(bundled, "--nchw", "-o", again)
        self.assert_same(load(path), load(again))

    def test_report_metadata_and_verify(self):
        path, out, report = self.traced(Scaled()), self.folder / "out.pt", self.folder / "report.json"
        self.succeed(path, *SPECS, "--nchw", "--report", report, "--report", self.folder / "report.html", "-o", out)
        inputs = json.loads(report.read_text())["inputs"]
        self.assertEqual([[2, 3], [], []], [each["shape"] for each in inputs])
        shown = json.loads(self.succeed("inspect", out, "--format", "json").stdout)["metadata"]["inputs"]
        self.assertEqual(["float32", "float32", "int64"], [each["dtype"] for each in shown])
        self.assertIn("  scale: float32[]\n", self.succeed("inspect", out).stdout)
        self.assertIn("no operation drifts by itself", self.succeed("verify", path, out, "--per-op").stdout)
        samples = self.folder / "samples.pt"
        torch.save([tuple(sample) for sample in self.samples()], str(samples))
        self.assertIn("passed", self.succeed("verify", path, out, "--inputs", samples).stdout)

    def test_manifest(self):
        path, manifest = self.traced(Scaled()), self.folder / "zoo.json"
        options = {"input": ["2,3", "scalar", "offset=scalar:int64"], "nchw": True, "verify": True}
        manifest.write_text(json.dumps({"version": 1, "models": [{"model": path.name, "options": options}]}))
        done = subprocess.run([PROGRAM, "batch", str(manifest), "-o", str(self.folder / "converted"), "-q"],
                              env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual(0, done.returncode, done.stderr)

    def test_list_elements(self):
        class Sum(torch.nn.Module):
            def forward(self, parts):
                return torch.tanh(parts[0]) * parts[1]

        path, out = self.folder / "model.pt", self.folder / "out.pt"
        parts = [torch.tensor(0.5), images(2, 3)]
        torch.jit.trace(Sum().eval(), [parts]).save(str(path))
        self.succeed(path, "--input", "parts[0]=scalar", "--input", "parts[1]=2,3", "--nchw", "--min-segment-macs", "0",
                     "-o", out)
        self.assert_close(load(path)(parts), load(out)(parts))

    def test_unknown_rank(self):
        self.fail_with(1, self.traced(Scaled()), "-o", self.folder / "out.pt", needed=["their sizes are not known"])


if __name__ == "__main__":
    unittest.main()
