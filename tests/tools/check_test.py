# SPDX-License-Identifier: BSD-3-Clause
"""`nnapi-convert check`: it tells what the conversion does, and each rule of --explain-speed has a model that breaks it
and one that doesn't."""

import json
import unittest

import jsonschema
import torch
import torch.nn.functional as F
from torch import nn

from cli import ROOT, CliTest, run
from stock_torch import images

SCHEMA = json.loads((ROOT / "schemas" / "check.schema.json").read_text())
PROFILES = ("armnn-1.3", "quant-dsp-8.1", str(ROOT / "testdata/profiles/picky.json"))


class Wrapped(nn.Module):
    """A function of the input and of submodules."""

    def __init__(self, function, **modules):
        super().__init__()
        self.function = function
        for name, module in modules.items():
            setattr(self, name, module)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def conv(channels_in, channels_out, size=3, **options):
    return nn.Conv2d(channels_in, channels_out, size, **{"padding": size // 2, **options})


class CheckTest(CliTest):
    def traced(self, module, *inputs, name="model.pt"):
        torch.manual_seed(0)
        path = self.folder / name
        torch.jit.save(torch.jit.trace(module.eval(), inputs, check_trace=False), str(path))
        return path

    def check(self, model, *options, code=0):
        result = run("check", model, *options, "--format", "json")
        self.assertEqual(code, result.code, f"\n{result}")
        report = json.loads(result.stdout)
        jsonschema.Draft202012Validator(SCHEMA).validate(report)
        self.assertEqual(code == 0, report["converts"])
        return report

    def partitioned(self):
        """Three convolutions, with what NNAPI does not have between the first two."""
        module = Wrapped(lambda m, x: m.c(torch.relu(m.b(torch.nextafter(m.a(x), torch.zeros(()))))),
                         a=conv(3, 16), b=conv(16, 16), c=conv(16, 8))
        return self.traced(module, images(1, 3, 16, 16))


class Checks(CheckTest):
    def test_whole(self):
        report = self.check(self.fixture("residual.pt"), "--input", "1,3,16,16", "--nhwc")
        self.assertEqual(("whole", []), (report["how"], report["refusals"]))
        segment, = report["segments"]
        self.assertEqual(4 * 3 * 16 * 16, segment["bytes_in"])
        self.assertEqual(1, segment["share"])
        self.assertEqual(segment["operation_count"], sum(segment["operations"].values()))

    def test_flexible_sizes_have_no_bytes(self):
        report = self.check(self.fixture("residual.pt"), "--input", "?,3,?,?", "--nhwc")
        self.assertIsNone(report["segments"][0]["bytes_in"])

    def test_segments(self):
        path = self.partitioned()
        report = self.check(path, "--input", "1,3,16,16", "--nhwc")
        self.assertEqual("segments", report["how"])
        self.assertEqual(2, len(report["segments"]))
        self.assertIn("aten::nextafter", {refusal["op"] for refusal in report["refusals"]})
        self.assertTrue(all("check_test.py:" in refusal["where"] for refusal in report["refusals"]))
        text = self.succeed("check", path, "--input", "1,3,16,16", "--nhwc").stdout
        self.assertIn("converts in 2 segments, with 100.0 % of the multiply-adds", text)
        self.assertRegex(text, r"check_test.py:\d+: aten::nextafter: .*")

    def test_refused(self):
        report = self.check(self.partitioned(), "--input", "1,3,16,16", "--nhwc", "--fallback", "none", code=1)
        self.assertEqual("refused", report["how"])
        self.assertIn("aten::nextafter", {refusal["op"] for refusal in report["refusals"]})
        result = run("check", self.fixture("unknown_operations.pt"), "--fallback", "none")
        self.assertEqual(1, result.code)
        self.assertIn("does not convert", result.stdout)
        self.assertEqual("", result.stderr)

    def test_other_failures(self):
        self.fail_with(3, "check", self.folder / "nothing.pt")
        self.fail_with(2, "check", self.fixture("residual.pt"), "-o", "out.pt")
        self.fail_with(2, "check", self.fixture("residual.pt"), "--feature-level", 3, "--min-api", 29)
        self.fail_with(2, "check", self.fixture("residual.pt"), "--min-api", 26, needed=["27 or more"])
        self.fail_with(3, "check", self.fixture("residual.pt"), "--device-profile", "nothing", needed=["armnn-1.3"])

    def test_nothing_is_written(self):
        path = self.partitioned()
        self.succeed("check", path, "--input", "1,3,16,16", cwd=self.folder)
        self.assertEqual({path}, set(self.folder.iterdir()))


class CheckIsWhatConvertDoes(CheckTest):
    def assert_predicted(self, model, *options):
        done = run(model, *options, "--report", self.folder / "report.json", "-o", self.folder / "out.pt")
        checked = self.check(model, *options, code=done.code)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["converted"], checked["converts"])
        self.assertEqual(report.get("error"), checked.get("error"))
        if not report["converted"]:
            return "refused"
        self.assertEqual(report["feature_level"], checked["feature_level"])
        self.assertEqual(report["operation_count"], sum(segment["operation_count"] for segment in checked["segments"]))
        self.assertEqual(report["quant"], checked["quant"])
        if "partition" in report:
            for made, predicted in zip(report["partition"]["segments"], checked["segments"], strict=True):
                for key in ("macs", "operations", "operation_count", "feature_level"):
                    self.assertEqual(made[key], predicted[key])
            self.assertEqual(report["partition"]["cpu"], checked["refusals"])
        self.assertEqual("partition" in report, checked["how"] == "segments")
        return checked["how"]

    def test_under_each_target(self):
        targets = [["--device-profile", profile] for profile in PROFILES] + [["--min-api", api] for api in (27, 28, 30)]
        found = set()
        for target in [[], *targets]:
            for model, *options in [(self.fixture("residual.pt"), "--input", "1,3,16,16"),
                                    (self.partitioned(), "--input", "1,3,16,16"),
                                    (self.fixture("quant_quint8_bundled.pt"), "--quant", "full"),
                                    (self.fixture("quant.pt"), "--input", "1,3,16,16", "--fallback", "none")]:
                with self.subTest(model=model.name, target=target):
                    found.add(self.assert_predicted(model, *options, *target, "--nhwc", "--min-segment-macs", 0))
        self.assertEqual({"whole", "segments", "refused"}, found)


class Targets(CheckTest):
    def test_levels_of_api_levels(self):
        for api, level in [(27, 1), (28, 2), (29, 3), (30, 4), (31, 5), (34, 5), (1000006, 6), (1000008, 8)]:
            report = self.check(self.fixture("residual.pt"), "--input", "1,3,16,16", "--nhwc", "--min-api", api)
            self.assertEqual(level, report["target_feature_level"])
            self.assertEqual(api if api < 32 else 31 if api < 100 else None, report["target"]["min_api"])

    def test_what_is_lost(self):
        """ABS is of level 3; below, it takes three operations. A square root has no form below 3."""
        path = self.traced(Wrapped(lambda m, x: torch.sqrt(torch.abs(m.a(x)) + 1), a=conv(3, 16)), images(1, 3, 16, 16))
        loss = self.check(path, "--nhwc", "--feature-level", 2, "--input", "1,3,16,16")["target"]
        self.assertEqual([("aten::sqrt", 3)], [(node["op"], node["feature_level"]) for node in loss["lost"]])
        self.assertLess(loss["highest"]["on_cpu"], loss["found"]["on_cpu"])
        path = self.traced(Wrapped(lambda m, x: torch.abs(m.a(x)), a=conv(3, 16)), images(1, 3, 16, 16))
        loss = self.check(path, "--nhwc", "--feature-level", 2, "--input", "1,3,16,16")["target"]
        self.assertEqual(([], 2), (loss["lost"], loss["highest"]["operation_count"]))
        self.assertLess(2, loss["found"]["operation_count"])
        loss = self.check(path, "--nhwc", "--feature-level", 3, "--input", "1,3,16,16")["target"]
        self.assertEqual(2, loss["found"]["operation_count"])

    def test_convert_warns_and_reports(self):
        path = self.traced(Wrapped(lambda m, x: torch.sqrt(torch.abs(m.a(x)) + 1), a=conv(3, 16)), images(1, 3, 16, 16))
        result = self.succeed(path, "--nhwc", "--min-api", 28, "--input", "1,3,16,16",
                              "--report", self.folder / "r.json", "-o", self.folder / "out.pt")
        self.assertIn("aten::sqrt goes to NNAPI at feature level 3", result.stderr)
        report = json.loads((self.folder / "r.json").read_text())
        jsonschema.Draft202012Validator(json.loads((ROOT / "schemas/report.schema.json").read_text())).validate(report)
        self.assertEqual((2, 28), (report["target"]["feature_level"], report["target"]["min_api"]))

    def test_devices_choose_other_forms(self):
        """A device without MAXIMUM gets RELU, and a device that pads only with PAD gets PAD."""
        profile = {"version": 1, "device": {"name": "d", "version": "1", "type": "other", "feature_level": 3},
                   "refuses": [{"operations": ["MAXIMUM"]}, {"operations": ["CONV_2D"], "paddings": ["EXPLICIT"]}]}
        (self.folder / "p.json").write_text(json.dumps(profile))
        path = self.traced(Wrapped(lambda m, x: torch.maximum(m.a(x), x[:, :, ::2, ::2]), a=conv(3, 3, stride=2)),
                           images(1, 3, 16, 16))
        report = self.check(path, "--nhwc", "--input", "1,3,16,16", "--device-profile", self.folder / "p.json")
        self.assertEqual("whole", report["how"])
        self.assertIn("PAD", report["segments"][0]["operations"])
        self.assertNotIn("MAXIMUM", report["segments"][0]["operations"])
        self.convert(path, "--nhwc", "--input", "1,3,16,16", "--device-profile", self.folder / "p.json", "--verify")

    def test_refused_parts_stay_on_the_cpu_or_are_refused(self):
        profile = {"version": 1, "device": {"name": "picky npu", "version": "1", "type": "other", "feature_level": 3},
                   "refuses": [{"operations": ["LOGISTIC"], "reason": "its sigmoid is broken"}]}
        (self.folder / "p.json").write_text(json.dumps(profile))
        path = self.traced(Wrapped(lambda m, x: m.b(torch.sigmoid(m.a(x))), a=conv(3, 16), b=conv(16, 8)),
                           images(1, 3, 16, 16))
        options = ["--nhwc", "--input", "1,3,16,16", "--device-profile", self.folder / "p.json"]
        report = self.check(path, *options)
        self.assertEqual(2, len(report["segments"]))
        refusal, = report["refusals"]
        self.assertEqual("aten::sigmoid", refusal["op"])
        self.assertIn("device picky npu doesn't take LOGISTIC", refusal["found"])
        self.assertIn("its sigmoid is broken", refusal["found"])
        self.convert(path, *options, "--verify")
        result = self.fail_with(1, path, *options, "--fallback", "none", "-o", self.folder / "none.pt")
        self.assertIn("its sigmoid is broken", result.stderr)


class Speed(CheckTest):
    def rules(self, module, *inputs, options=("--nhwc",)):
        path = module if not isinstance(module, nn.Module) else self.traced(module, *inputs)
        speed = self.check(path, *options, "--explain-speed")["speed"]
        return {finding["rule"] for finding in speed["findings"]}, speed

    def assert_rule(self, rule, breaks, keeps, *shapes, options=("--nhwc",)):
        inputs = [images(*shape) for shape in shapes]
        given = [option for shape in shapes for option in ("--input", ",".join(map(str, shape)))]
        found, speed = self.rules(breaks, *inputs, options=(*options, *given))
        self.assertIn(rule, found)
        finding = next(finding for finding in speed["findings"] if finding["rule"] == rule)
        self.assertTrue(finding["found"] and finding["fix"])
        found, _ = self.rules(keeps, *inputs, options=(*options, *given))
        self.assertNotIn(rule, found)
        return finding

    def test_padding(self):
        finding = self.assert_rule("padding-explicit", Wrapped(lambda m, x: m.a(x), a=conv(3, 8, stride=2)),
                                   Wrapped(lambda m, x: m.a(x), a=conv(3, 8)), (1, 3, 16, 16))
        self.assertEqual(8 * 8 * 8 * 27, finding["macs"])
        self.assertRegex(finding["where"], r"check_test.py:\d+ \(conv.py:\d+\)$")

    def test_rank(self):
        self.assert_rule("rank-not-4", Wrapped(lambda m, x: m.a(x).flatten(2).softmax(1), a=conv(3, 8)),
                         Wrapped(lambda m, x: m.a(x).softmax(1), a=conv(3, 8)), (1, 3, 16, 16))

    def test_moves(self):
        finding = self.assert_rule(
            "move-between-convolutions",
            Wrapped(lambda m, x: m.b(m.a(x).reshape(1, 8, 32, 8)), a=conv(3, 8), b=conv(8, 8)),
            Wrapped(lambda m, x: m.b(m.a(x)).reshape(1, 8, 32, 8), a=conv(3, 8), b=conv(8, 8)), (1, 3, 16, 16))
        self.assertEqual(2 * 4 * 8 * 256, finding["bytes"])

    def test_weights(self):
        self.assert_rule("run-time-weights", Wrapped(lambda m, x, w: F.conv2d(x, w * 2)),
                         Wrapped(lambda m, x, w: m.a(x) + w.mean(), a=conv(3, 8)), (1, 3, 16, 16), (8, 3, 3, 3))

    def test_depth_multiplier(self):
        self.assert_rule("depth-multiplier", Wrapped(lambda m, x: m.a(x), a=conv(3, 6, groups=3)),
                         Wrapped(lambda m, x: m.a(x), a=conv(3, 3, groups=3)), (1, 3, 16, 16))

    def test_activation(self):
        self.assert_rule("activation-not-fused", Wrapped(lambda m, x: torch.sigmoid(m.a(x)), a=conv(3, 8)),
                         Wrapped(lambda m, x: torch.relu(m.a(x)), a=conv(3, 8)), (1, 3, 16, 16))

    def test_nchw(self):
        module = Wrapped(lambda m, x: m.a(x), a=conv(3, 8))
        path = self.traced(module, images(1, 3, 16, 16))
        options = ("--input", "1,3,16,16")
        self.assertIn("nchw", self.rules(path, options=(*options, "--nchw"))[0])
        self.assertNotIn("nchw", self.rules(path, options=(*options, "--nhwc"))[0])

    def test_unknown_dimension(self):
        path = self.traced(Wrapped(lambda m, x: m.a(x), a=conv(3, 8)), images(1, 3, 16, 16))
        self.assertIn("unknown-dimension", self.rules(path, options=("--nhwc", "--input", "1,3,?,?"))[0])
        self.assertNotIn("unknown-dimension", self.rules(path, options=("--nhwc", "--input", "1,3,16,16"))[0])

    def test_boundary_copy(self):
        path = self.traced(Wrapped(lambda m, x: m.a(x), a=conv(3, 8)), images(1, 3, 16, 16))
        found, speed = self.rules(path, options=("--nhwc", "--input", "1,3,16,16"))
        copies = [finding for finding in speed["findings"] if finding["rule"] == "boundary-copy"]
        self.assertEqual([2 * 4 * 3 * 256, 2 * 4 * 8 * 256], [finding["bytes"] for finding in copies])
        self.assertNotIn("boundary-copy", self.rules(path, options=("--nchw", "--input", "1,3,16,16"))[0])

    def test_many_partitions(self):
        def run_all(m, x):
            for layer in (m.a, m.b, m.c):
                x = torch.nextafter(layer(x), torch.zeros(()))
            return x

        modules = {"a": conv(3, 8), "b": conv(8, 8), "c": conv(8, 8)}
        self.assert_rule("many-partitions", Wrapped(run_all, **modules),
                         Wrapped(lambda m, x: torch.nextafter(m.c(m.b(m.a(x))), torch.zeros(())), **modules),
                         (1, 3, 16, 16), options=("--nhwc", "--min-segment-macs", "0"))

    def quantised(self, island):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.quant, self.dequant = torch.ao.quantization.QuantStub(), torch.ao.quantization.DeQuantStub()
                self.again = torch.ao.quantization.QuantStub()
                self.a, self.b = conv(3, 16), conv(16, 8)

            def forward(self, x):
                x = self.a(self.quant(x))
                return self.dequant(self.b(self.again(torch.sin(self.dequant(x))) if island else x))

        torch.manual_seed(0)
        torch.backends.quantized.engine = "qnnpack"
        net = Net().eval()
        net.qconfig = torch.ao.quantization.get_default_qconfig("qnnpack")
        prepared = torch.ao.quantization.prepare(net)
        prepared(images(1, 3, 16, 16))
        return torch.ao.quantization.convert(prepared)

    def test_float_island(self):
        self.assert_rule("float-island", self.quantised(True), self.quantised(False), (1, 3, 16, 16))

    def test_quant_fits(self):
        path = self.traced(self.quantised(False), images(1, 3, 16, 16))
        speed = self.check(path, "--nhwc", "--input", "1,3,16,16", "--explain-speed")["speed"]
        self.assertEqual({"core": True, "full": True, "nnapi": False},
                         {fit["mode"]: fit["fits"] for fit in speed["quant"]})
        speed = self.check(path, "--nhwc", "--input", "1,3,16,16", "--explain-speed",
                           "--device-profile", "quant-dsp-8.1", "--fallback", "none")["speed"]
        self.assertEqual({"core": True, "full": True, "nnapi": False},
                         {fit["mode"]: fit["converts"] for fit in speed["quant"]})
        floats = self.check(self.fixture("residual.pt"), "--nhwc", "--input", "1,3,16,16", "--explain-speed")["speed"]
        self.assertEqual([], floats["quant"])

    def test_slower_than_the_cpu(self):
        small = Wrapped(lambda m, x: m.a(x), a=conv(3, 4))
        large = Wrapped(lambda m, x: m.b(torch.relu(m.a(x))).mean((2, 3)), a=conv(3, 64), b=conv(64, 64))
        _, speed = self.rules(small, images(1, 3, 8, 8), options=("--nhwc", "--input", "1,3,8,8"))
        self.assertTrue(speed["probably_slower"])
        self.assertIn("handed over", speed["reasons"][0])
        _, speed = self.rules(large, images(1, 3, 32, 32), options=("--nhwc", "--input", "1,3,32,32"))
        self.assertFalse(speed["probably_slower"], speed["reasons"])
        _, speed = self.rules(large, images(1, 3, 32, 32), options=("--nchw", "--input", "1,3,32,32"))
        self.assertTrue(any("NCHW" in reason for reason in speed["reasons"]))

    def test_rules_are_documented(self):
        page = (ROOT / "docs" / "check.md").read_text()
        rules = SCHEMA["properties"]["speed"]["properties"]["findings"]["items"]["properties"]["rule"]["enum"]
        for rule in rules:
            self.assertIn(f"| `{rule}` |", page)

    def test_text(self):
        path = self.traced(Wrapped(lambda m, x: m.a(x), a=conv(3, 8, stride=2)), images(1, 3, 16, 16))
        text = self.succeed("check", path, "--nhwc", "--input", "1,3,16,16", "--explain-speed").stdout
        self.assertIn("padding-explicit: 1 finding; 100.0 % of the multiply-adds", text)
        self.assertRegex(text, r"\(conv.py:\d+\): CONV_2D with padding 1, 1, 1, 1")
        self.assertIn("fix: ", text)


if __name__ == "__main__":
    unittest.main()
