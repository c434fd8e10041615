"""Models converted for a device run on it: the host's NNAPI plays the device by the same profile, with code of its own, and
takes every operation that it is sent."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

import torch
from torch import nn

from cli import ROOT, CliTest, environment, run
from stock_torch import StockTorchTest, call, images, load, tensors

HERE = pathlib.Path(__file__).resolve().parent
PROFILES = {"armnn-1.3": ROOT / "schemas/profiles/armnn-1.3.json",
            "quant-dsp-8.1": ROOT / "schemas/profiles/quant-dsp-8.1.json",
            "picky": ROOT / "testdata/profiles/picky.json"}


class Mixed(nn.Module):
    """Convolutions of every padding, shuffled channels, attention, norms, and what few drivers have."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.wide = nn.Conv2d(16, 16, 3, padding=1, groups=4)
        self.deep = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.norm = nn.LayerNorm(16)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.last = nn.Linear(16, 10)

    def forward(self, picture):
        x = nn.functional.hardswish(self.stem(picture))
        x = nn.functional.channel_shuffle(nn.functional.elu(self.wide(x)), 4)
        x = nn.functional.max_pool2d(nn.functional.relu6(self.deep(nn.functional.pad(x, (0, 1, 0, 1)))), 3, 2, 1)
        rows = self.norm(x.flatten(2).transpose(1, 2))
        rows = rows + self.attention(rows, rows, rows, need_weights=False)[0]
        return torch.softmax(self.last(rows.amax(1)).clamp(-0.3, 2.0), 1)


class OnTheDevice(CliTest, StockTorchTest):
    def run_on(self, path, profile, device, inputs):
        torch.save(inputs, self.folder / "inputs.pt")
        library = os.environ.get("LD_LIBRARY_PATH", str(ROOT / "build/release/lib/host"))
        env = environment({"NNAPI_HOST_PROFILE": str(profile), "LD_LIBRARY_PATH": library})
        return subprocess.run([sys.executable, HERE / "run_on_device.py", path, device, self.folder / "inputs.pt",
                               self.folder / "outputs.pt"], env=env, capture_output=True, text=True, timeout=120)

    def assert_runs(self, model, original, inputs, profile, *options, segments=True):
        """Gives the number of calls of NNAPI, 0 where no part goes there."""
        file = PROFILES[profile]
        device = json.loads(file.read_text())["device"]["name"]
        path = self.folder / "out.pt"
        path.unlink(missing_ok=True)
        result = run(model, *options, "--runtime", "shim", "--device-profile", file, "--min-segment-macs", 0, "-o", path)
        self.assertIn(result.code, (0, 1), f"\n{result}")
        if result.code == 1:
            self.assertIn(f"device {device} doesn't take", result.stderr)
            return 0
        done = self.run_on(path, file, device, inputs)
        self.assertEqual(0, done.returncode, done.stderr)
        expected, found = call(original, *inputs), torch.load(self.folder / "outputs.pt")
        for one, other in zip(tensors(expected), tensors(found), strict=True):
            if one.is_quantized:
                self.assert_quanta(one, other, one.q_scale(), 3)
            else:
                self.assert_close(one, other, 1e-3)
        return int(done.stdout.split()[0])

    def traced(self, module, *inputs):
        torch.manual_seed(0)
        path = self.folder / "model.pt"
        torch.jit.save(torch.jit.trace(module.eval(), inputs, check_trace=False), str(path))
        return path

    def test_float_models(self):
        torch.manual_seed(0)
        picture = images(1, 3, 32, 32)
        mixed = self.traced(Mixed(), picture)
        calls = {}
        for profile in PROFILES:
            for layout in ("--nhwc", "--nchw"):
                with self.subTest(profile=profile, layout=layout):
                    calls[profile, layout] = self.assert_runs(mixed, load(mixed), [picture], profile, "--input",
                                                              "1,3,32,32", layout)
        self.assertEqual(1, calls["armnn-1.3", "--nhwc"])
        self.assertGreater(calls["picky", "--nhwc"], 1)
        self.assertEqual(0, calls["quant-dsp-8.1", "--nhwc"])

    def test_fixtures(self):
        calls = 0
        for name in ("residual.pt", "shared_weights.pt", "three_operations.pt", "two_input.pt", "bundled.pt"):
            original = load(self.fixture(name))
            inputs = [images(1, 3, 16, 16, seed=seed) for seed in range(len(list(original.graph.inputs())) - 1)]
            if name == "bundled.pt":
                inputs = list(original.get_all_bundled_inputs()[0])
            given = [option for value in inputs for option in ("--input", ",".join(map(str, value.shape)))]
            for profile in ("armnn-1.3", "picky"):
                with self.subTest(name=name, profile=profile):
                    calls += self.assert_runs(self.fixture(name), original, inputs, profile, "--nhwc", *given)
        self.assertGreater(calls, 5)

    def test_quantised_models(self):
        for name, options in [("quant_quint8_bundled.pt", ["--quant", "full"]), ("quant_quint8_bundled.pt", []),
                              ("quant_per_channel_quint8_bundled.pt", ["--quant", "full"])]:
            original = load(self.fixture(name))
            inputs = list(original.get_all_bundled_inputs()[0])
            for profile in PROFILES:
                with self.subTest(name=name, options=options, profile=profile):
                    calls = self.assert_runs(self.fixture(name), original, inputs, profile, "--nhwc", *options)
                    self.assertTrue(calls > 0 or profile == "picky")

    def test_without_the_profile_the_device_refuses(self):
        picture = images(1, 3, 32, 32)
        path = self.convert(self.traced(Mixed(), picture), "--nhwc", "--input", "1,3,32,32", "--runtime", "shim")
        done = self.run_on(path, PROFILES["picky"], "picky", [picture])
        self.assertNotEqual(0, done.returncode)
        self.assertIn("picky", done.stderr)


if __name__ == "__main__":
    unittest.main()
