# SPDX-License-Identifier: BSD-3-Clause
"""Models converted for a device run on it: the host's NNAPI plays the device by the same profile, with a
reading of the operands of its own, and takes every operation that it is sent."""

import json
import pathlib
import subprocess
import sys
import unittest

import torch
from torch import nn

from cli import HOST, ROOT, CliTest, environment, run
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


def quantised_net():
    """All operations that the DSP takes: convolutions padded as SAME, also depthwise, a sum, pools, a linear layer."""
    torch.manual_seed(0)
    ao = torch.ao.quantization

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.quant, self.dequant = ao.QuantStub(), ao.DeQuantStub()
            self.first, self.deep = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 16, 3, padding=1, groups=16)
            self.sum, self.last = torch.ao.nn.quantized.FloatFunctional(), nn.Linear(16, 10)

        def forward(self, picture):
            x = torch.relu(self.first(self.quant(picture)))
            x = nn.functional.max_pool2d(self.sum.add(x, self.deep(x)), 2)
            x = nn.functional.adaptive_avg_pool2d(x, 1).flatten(1)
            return self.dequant(self.last(x))

    net = Net().eval()
    net.qconfig = ao.get_default_qconfig("qnnpack")
    prepared = ao.prepare(net)
    for seed in range(4):
        prepared(images(1, 3, 16, 16, seed=seed))
    return ao.convert(prepared)


class OnTheDevice(CliTest, StockTorchTest):
    def run_on(self, path, profile, device, inputs):
        torch.save(inputs, self.folder / "inputs.pt")
        env = environment({"NNAPI_HOST_PROFILE": str(profile), "LD_LIBRARY_PATH": str(HOST)})
        command = [sys.executable, HERE / "servers.py", "run", HERE / "run_on_device.py", path, device,
                   self.folder / "inputs.pt", self.folder / "outputs.pt"]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)

    def assert_runs(self, model, original, inputs, profile, *options, tolerance=1e-3):
        """Gives the number of calls of NNAPI, 0 where no part goes there."""
        file = PROFILES[profile]
        device = json.loads(file.read_text())["device"]["name"]
        path = self.folder / "out.pt"
        path.unlink(missing_ok=True)
        result = run(model, *options, "--runtime", "shim", "--needs-pytorch", "--device-profile", file, "--min-segment-macs", 0,
                     "-o", path)
        self.assertIn(result.code, (0, 1), f"\n{result}")
        if result.code == 1:
            self.assertRegex(result.stderr, f"device {device} doesn't take|the level of device {device}")
            return 0
        done = self.run_on(path, file, device, inputs)
        self.assertEqual(0, done.returncode, done.stderr)
        expected, found = call(original, *inputs), torch.load(self.folder / "outputs.pt")
        for one, other in zip(tensors(expected), tensors(found), strict=True):
            if one.is_quantized:
                self.assert_quanta(one, other, one.q_scale(), 3)
            else:
                self.assert_close(one, other, tolerance)
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
        shapes = {"residual.pt": [(1, 3, 16, 16)], "shared_weights.pt": [(1, 6, 16, 16)],
                  "two_input.pt": [(1, 3, 16, 16), (1, 2, 16, 16)], "bundled.pt": []}
        for name, sizes in shapes.items():
            original = load(self.fixture(name))
            inputs = [images(*size) for size in sizes] or list(original.get_all_bundled_inputs()[0])
            given = [option for value in inputs for option in ("--input", ",".join(map(str, value.shape)))]
            for profile in ("armnn-1.3", "picky"):
                with self.subTest(name=name, profile=profile):
                    calls += self.assert_runs(self.fixture(name), original, inputs, profile, "--nhwc", *given)
        self.assertGreater(calls, 5)

    def test_quantised_models(self):
        picture = images(1, 3, 16, 16)
        same = self.traced(quantised_net(), picture)
        cases = [(same, [picture], ["--input", "1,3,16,16", "--quant", "core"])]
        for name in ("quant_quint8_bundled.pt", "quant_per_channel_quint8_bundled.pt"):
            cases.append((self.fixture(name), list(load(self.fixture(name)).get_all_bundled_inputs()[0]), []))
        for model, inputs, options in cases:
            for profile in PROFILES:
                with self.subTest(name=model.name, profile=profile):
                    calls = self.assert_runs(model, load(model), inputs, profile, "--nhwc", *options, tolerance=0.05)
                    self.assertTrue(calls > 0 or profile == "picky")
                    if model == same and profile == "quant-dsp-8.1":
                        self.assertEqual(1, calls)

    def test_quantised_by_data(self):
        """What the device refuses in integers alone stays float, and it takes all that is left."""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 12, 3, padding=1)
                self.third, self.last = nn.Conv2d(12, 8, 3, padding=1), nn.Linear(8, 10)

            def forward(self, picture):
                x = torch.relu(self.second(torch.relu(self.first(picture))))
                return self.last(torch.relu(self.third(x)).mean((2, 3)))

        picture = images(1, 3, 16, 16)
        model = self.traced(Net(), picture)
        head = {"version": 1, "device": {"name": "odd", "version": "1", "type": "accelerator", "feature_level": 4}}
        integers = {"output": ["TENSOR_QUANT8_ASYMM"]}
        rules = {
            "an operation": [{"operations": ["CONV_2D"], "types": integers, "sizes": {"output": [[1, 16, 16, 12]]}}],
            "its QUANTIZE, too": [
                {"operations": ["CONV_2D"], "types": integers, "sizes": {"output": [[1, 16, 16, 12]]}},
                {"operations": ["QUANTIZE"], "sizes": {"output": [[1, 16, 16, 12]]}}],
        }
        both_forms = {"in floats every one": [
            {"operations": ["CONV_2D"], "types": integers, "sizes": {"output": [[1, 16, 16, 12]]}},
            {"operations": ["CONV_2D"], "types": {"output": ["TENSOR_FLOAT32"]}}]}
        for name, refuses in {**rules, **both_forms}.items():
            with self.subTest(name):
                profile = self.folder / "odd.json"
                profile.write_text(json.dumps({**head, "refuses": refuses}))
                out = self.folder / "out.pt"
                result = self.succeed(model, "--nhwc", "--input", "1,3,16,16", "--runtime", "shim", "--calibrate",
                                      "random:8", "--device-profile", profile, "--min-segment-macs", 0, "-o", out)
                if name in rules:
                    self.assertIn("left float as the device refuses their integer form: CONV_2D", result.stdout)
                else:
                    self.assertRegex(result.stdout, r"operations in 2 segments, 55\.5 % of the multiply-adds")
                self.assertNotIn("of the quantised model", result.stderr)
                done = self.run_on(out, profile, "odd", [picture])
                self.assertEqual(0, done.returncode, done.stderr)
                found, = tensors(torch.load(self.folder / "outputs.pt"))
                self.assert_close(call(load(model), picture), found, 0.1)

    def test_without_the_profile_the_device_refuses(self):
        picture = images(1, 3, 32, 32)
        path = self.convert(self.traced(Mixed(), picture), "--nhwc", "--input", "1,3,32,32", "--runtime", "shim")
        done = self.run_on(path, PROFILES["picky"], "picky", [picture])
        self.assertNotEqual(0, done.returncode)
        self.assertIn("picky", done.stderr)

    def test_the_doctors_file_of_all_devices(self):
        """It holds a profile of each, and is none itself."""
        doctor = self.folder / "doctor.json"
        doctor.write_text(json.dumps({"version": 1, "devices": [{"name": "gpu", "device_profile": {}}, {"name": "dsp"}]}))
        self.fail_with(3, self.fixture("bundled.pt"), "--nhwc", "--device-profile", doctor, "-o", self.folder / "out.pt",
                       needed=["what the doctor found on all devices (gpu, dsp)", "NAME.profile.json"])

    def test_known_faults_of_a_driver(self):
        """The first depthwise convolution stays on the CPU where the driver is known to fail with it."""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.quant, self.dequant = ao.QuantStub(), ao.DeQuantStub()
                self.first, self.last = nn.Conv2d(4, 4, 3, padding=1, groups=4), nn.Conv2d(4, 8, 3, padding=1)

            def forward(self, picture):
                return self.dequant(self.last(self.first(self.quant(picture))))

        ao = torch.ao.quantization
        torch.manual_seed(0)
        net = Net().eval()
        net.qconfig = ao.get_default_qconfig("qnnpack")
        prepared = ao.prepare(net)
        picture = images(1, 4, 16, 16)
        prepared(picture)
        model = self.traced(ao.convert(prepared), picture)
        options = ["--input", "1,4,16,16", "--nhwc", "--quant", "nnapi", "--min-segment-macs", 0]
        profile = self.folder / "phone.json"
        for version, is_faulty in (("1.3-21:build_lahaina", True), ("1.3-21:build_kona", False)):
            device = {"name": "qti-dsp", "version": version, "type": "accelerator", "feature_level": 4}
            profile.write_text(json.dumps({"version": 1, "device": device}))
            whole = run(model, *options, "--device-profile", profile, "--fallback", "none", "-o", self.folder / "a.pt")
            self.assertEqual(1 if is_faulty else 0, whole.code, f"\n{whole}")
            if is_faulty:
                self.assertIn("device qti-dsp doesn't take DEPTHWISE_CONV_2D", whole.stderr)
                self.assertIn("its driver is known to be wrong: Snapdragon 888", whole.stderr)
            report = self.folder / "report.json"
            parts = run(model, *options, "--device-profile", profile, "--fallback", "partition", "--report", report,
                        "--verify", "-o", self.folder / "b.pt")
            self.assertEqual(0, parts.code, f"\n{parts}")
            self.assertEqual(is_faulty, "its driver is known to be wrong" in report.read_text())


if __name__ == "__main__":
    unittest.main()
