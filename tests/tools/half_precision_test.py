# SPDX-License-Identifier: BSD-3-Clause
"""--relax-fp16 and verify --fp16: values beyond float16's range are divided by powers of two, or the model stays
float32."""

import json
import pathlib
import subprocess
import sys
import unittest

import torch
from torch import nn
from torch.utils import bundled_inputs

from cli import HOST, LIBRARIES, CliTest, environment, run
from mobile_models import seeded

TOOLS = pathlib.Path(__file__).resolve().parent


class Squeeze(nn.Module):
    """Squeeze-and-excitation whose squeezed values are near 1e6."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.squeeze = nn.Conv2d(16, 8, 1)
        self.excite = nn.Conv2d(8, 16, 1)
        self.head = nn.Conv2d(16, 4, 1)
        with torch.no_grad():
            self.squeeze.weight *= 1e6
            self.squeeze.bias.fill_(2e5)
            self.excite.weight *= 2e-5

    def forward(self, x):
        x = torch.relu(self.stem(x))
        s = torch.relu(self.squeeze(nn.functional.adaptive_avg_pool2d(x, 1)))
        return self.head(x * torch.sigmoid(self.excite(s)))


class Residual(nn.Module):
    """Large values through a sum, a product with a constant and a pool."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 8, 3, padding=1)
        self.last = nn.Conv2d(8, 4, 1)
        with torch.no_grad():
            self.first.weight *= 1e6
            self.last.weight *= 1e-6

    def forward(self, x):
        y = torch.relu(self.first(x))
        y = nn.functional.max_pool2d(self.second(y) + y, 2) * 0.5
        return self.last(y)


class Sigmoid(nn.Module):
    """Large values that a function without a factor reads."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.last = nn.Conv2d(8, 4, 1)
        with torch.no_grad():
            self.first.weight *= 1e6

    def forward(self, x):
        y = self.first(x)
        return self.last(torch.sigmoid(y * 1e-6) + torch.sigmoid(y))


class Middle(nn.Module):
    """Values from 1e6 on, of which a logarithm is taken, between layers whose values are small."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.first = nn.Conv2d(16, 8, 3, padding=1)
        self.last = nn.Conv2d(8, 16, 3, padding=1)
        self.head = nn.Conv2d(16, 4, 1)
        with torch.no_grad():
            self.first.weight *= 1e6

    def forward(self, x):
        x = torch.relu(self.stem(x))
        y = torch.relu(self.first(x)) + 1e6
        y = torch.log(y) - 13.8155
        return self.head(torch.relu(self.last(y)))


class Outputs(nn.Module):
    """The same with outputs of the first and the last segment, and an input that both read."""

    def __init__(self):
        super().__init__()
        self.middle = Middle()

    def forward(self, x):
        stem = torch.relu(self.middle.stem(x))
        y = torch.relu(self.middle.first(stem)) + 1e6
        y = torch.log(y) - 13.8155
        y = torch.relu(self.middle.last(y))
        return self.middle.head(y) + x[:, :1], stem + 0.5


class HalfPrecision(CliTest):
    def saved(self, kind):
        path = self.folder / "model.pt"
        torch.jit.trace(seeded(kind).eval(), torch.randn(1, 3, 16, 16)).save(str(path))
        return path

    def relaxed(self, model, *options, nhwc=True):
        out = self.folder / "out.pt"
        done = self.succeed(model, *(["--nhwc"] if nhwc else []), "--input", "1,3,16,16", "--relax-fp16", *options, "-o", out)
        return out, done.stderr

    def check_cured(self, model, *options):
        out, warnings = self.relaxed(model, "--verify", "--report", self.folder / "report.json", *options)
        self.assertIn("--relax-fp16: the result of CONV_2D", warnings)
        self.assertIn("divided by 2^", warnings)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertTrue(any("divided by 2^" in each for each in report["warnings"]))
        self.assertIn("passed", self.succeed("verify", model, out, "--fp16").stdout)

    def test_squeeze_and_excitation(self):
        for runtime in ("pytorch", "shim"):
            self.check_cured(self.saved(Squeeze), "--runtime", runtime, "--fallback", "none")

    def test_wrong_without_it(self):
        # Zeros as samples show no large values.
        module = seeded(Squeeze).eval()
        with torch.no_grad():
            module.squeeze.bias.zero_()
            module.stem.bias.zero_()
        model = self.folder / "model.pt"
        traced = torch.jit.trace(module, torch.randn(1, 3, 16, 16))
        traced.save(str(model))
        self.check_cured(model, "--fallback", "none")
        bundled_inputs.augment_model_with_bundled_inputs(traced, [(torch.zeros(1, 3, 16, 16),)])
        traced.save(str(model))
        out, warnings = self.relaxed(model, "--fallback", "none")
        self.assertNotIn("2^", warnings)
        self.succeed("verify", model, out)
        wrong = run("verify", model, out, "--fp16")
        self.assertEqual(4, wrong.code, wrong)
        self.assertIn("FAILED", wrong.stdout)

    def test_sums_products_and_pools(self):
        self.check_cured(self.saved(Residual), "--fallback", "none")

    def test_what_has_no_factor_stays_float32(self):
        model = self.saved(Sigmoid)
        out, warnings = self.relaxed(model, "--verify", "--fallback", "none")
        self.assertIn("--relax-fp16 is left out, the model stays float32", warnings)
        self.assertIn("LOGISTIC", warnings)
        self.fail_with(2, "verify", model, out, "--fp16", needed=["--relax-fp16"])

    def test_what_has_no_factor_keeps_float32_in_a_segment_of_its_own(self):
        model, report = self.saved(Middle), self.folder / "report.json"
        for runtime, *weights in (("pytorch",), ("shim",), ("pytorch", "--fp16-weights"), ("shim", "--fp16-weights")):
            out, warnings = self.relaxed(model, "--verify", "--runtime", runtime, *weights, "--report", report)
            self.assertIn("--relax-fp16 keeps float32 in a segment of its own: the result of CONV_2D", warnings)
            found = json.loads(report.read_text())
            self.assertTrue(any("keeps float32 in a segment of its own" in each for each in found["warnings"]))
            self.assertEqual(3, len(found["partition"]["segments"]))
            self.assertEqual([], found["partition"]["cpu"])
            self.assertIn("passed", self.succeed("verify", model, out, "--fp16").stdout)

    def test_segments_without_pytorch(self):
        """The C core runs all segments, as nothing stays on the CPU."""
        x = torch.randn(1, 3, 16, 16, generator=torch.Generator().manual_seed(4))
        for kind in (Middle, Outputs):
            model = self.saved(kind)
            expected = torch.jit.load(str(model))(x)
            for nhwc in (True, False):
                out, warnings = self.relaxed(model, "--runtime", "shim", nhwc=nhwc)
                self.assertIn("keeps float32 in a segment of its own", warnings)
                given = x.permute(0, 2, 3, 1).contiguous() if nhwc else x
                (self.folder / "x").write_bytes(given.numpy().tobytes())
                for relaxed, tolerance in (("", 1e-4), ("fp16", 2e-2)):
                    done = self.run_core(out, relaxed)
                    self.assertEqual("", done.stderr)
                    found = torch.frombuffer(bytearray((self.folder / "y").read_bytes()), dtype=torch.float32)
                    self.check_outputs(found, expected, nhwc, tolerance)

    def check_outputs(self, found, expected, nhwc, tolerance):
        expected = [expected] if isinstance(expected, torch.Tensor) else expected
        self.assertEqual(sum(each.numel() for each in expected), found.numel())
        for each, flat in zip(expected, found.split([each.numel() for each in expected])):
            n, c, h, w = each.shape
            got = flat.reshape(n, h, w, c).permute(0, 3, 1, 2) if nhwc else flat.reshape(n, c, h, w)
            span = (each.max() - each.min()).item()
            self.assertGreater(span, 0)
            self.assertLess((got - each).abs().max().item(), tolerance * span)

    def run_core(self, out, relaxed=""):
        variables = {"LD_LIBRARY_PATH": str(HOST), **({"NNAPI_HOST_RELAX": relaxed} if relaxed else {})}
        return subprocess.run([sys.executable, TOOLS / "shim_core.py", LIBRARIES / "libnnapi_shim.so", out, "1x3x16x16",
                               self.folder / "x", self.folder / "y"], env=environment(variables), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200)

    def test_parts_on_the_cpu_need_pytorch(self):
        class Parts(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Conv2d(3, 16, 3, padding=1)

            def forward(self, x):
                x = torch.relu(self.first(x)) + 1
                return self.first(torch.igamma(x, x)[:, :3])

        model = self.saved(Parts)
        out = self.folder / "parts.pt"
        self.succeed(model, "--nhwc", "--input", "1,3,16,16", "--runtime", "shim", "--min-segment-macs", "0",
                     "--needs-pytorch", "-o", out)
        (self.folder / "x").write_bytes(bytes(4 * 3 * 16 * 16))
        self.assertIn("has no record extra/nnapi_shim.index", self.run_core(out).stderr)

    def test_only_for_relaxed_files(self):
        model = self.saved(Squeeze)
        out = self.folder / "float32.pt"
        self.succeed(model, "--nhwc", "--input", "1,3,16,16", "-o", out)
        self.fail_with(2, "verify", model, out, "--fp16", needed=["--fp16", "--relax-fp16"])

    def test_nothing_changes_without_large_values(self):
        out, warnings = self.relaxed(self.fixture("residual.pt"), "--fallback", "none")
        self.assertNotIn("relax", warnings)
        self.succeed("verify", self.fixture("residual.pt"), out, "--fp16")


if __name__ == "__main__":
    unittest.main()
