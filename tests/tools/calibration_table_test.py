# SPDX-License-Identifier: BSD-3-Clause
"""The calibration table: the same file is built from it without data, a person can change it, and tables that don't fit
are refused."""

import json

import jsonschema
import torch
from torch import nn

from calibrate_test import SHIM, CalibrateTest, CpuInside, Spread, picture_samples, snr
from cli import ROOT

SCHEMA = json.loads((ROOT / "schemas" / "calibration.schema.json").read_text())


class Tables(CalibrateTest):
    def setUp(self):
        super().setUp()
        self.make_net()
        self.table = self.folder / "table.json"

    def both(self, model, data, *options):
        """The file by data and the file by the table that it wrote, at paths that differ by their folders."""
        files = []
        for name, source in (("data", ["--calibrate", data]), ("table", [])):
            (self.folder / name).mkdir(exist_ok=True)
            files.append(self.folder / name / "out.pt")
            self.succeed(model, *options, *source, "--calibration", self.table, "-o", files[-1])
        jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(self.table.read_text()))
        return files

    def test_same_bytes(self):
        for options in ([], SHIM, ["--quant", "core"], ["--quant", "full"], ["--quant", "core", "--feature-level", "2"],
                        ["--keep-float", "DEPTHWISE_CONV_2D"]):
            with self.subTest(options=options):
                if "--keep-float" in options:  # the table has it
                    with_data = self.convert(self.model, *self.spec, "--nhwc", *options, "--calibrate", self.data,
                                             "--calibration", self.table)
                    first = with_data.read_bytes()
                    again = self.convert(self.model, *self.spec, "--nhwc", "--calibration", self.table)
                    self.assertEqual(first, again.read_bytes())
                    continue
                one, other = self.both(self.model, self.data, *self.spec, "--nhwc", *options)
                self.assertEqual(one.read_bytes(), other.read_bytes())

    def test_same_bytes_of_equalised_layers(self):
        torch.manual_seed(5)
        pictures = picture_samples(64)
        model = self.trace(Spread(), pictures, name="spread.pt")
        data = self.samples(list(pictures[:48].unsqueeze(1)), "spread_samples.pt")
        one, other = self.both(model, data, *self.spec, "--nhwc")
        self.assertTrue(json.loads(self.table.read_text())["segments"][0]["equalised"])
        self.assertEqual(one.read_bytes(), other.read_bytes())

    def test_same_bytes_of_pool_layers(self):
        torch.manual_seed(5)
        pictures = picture_samples(64)
        net = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10))
        model = self.trace(net, pictures, name="pooled.pt")
        data = self.samples(list(pictures[:48].unsqueeze(1)), "pooled_samples.pt")
        for options in (("--nhwc",), ()):
            one, other = self.both(model, data, *self.spec, *options)
            operations = json.loads(self.table.read_text())["segments"][0]["operations"]
            self.assertTrue(any(operation.get("as_layer") for operation in operations), operations)
            self.assertEqual(one.read_bytes(), other.read_bytes())

    def test_same_bytes_of_segments(self):
        torch.manual_seed(7)
        pictures = picture_samples(48)
        model = self.trace(CpuInside(), pictures, name="inside.pt")
        data = self.samples(list(pictures.unsqueeze(1)), "inside_samples.pt")
        one, other = self.both(model, data, *self.spec, "--nhwc", "--fallback", "partition")
        self.assertEqual(2, len(json.loads(self.table.read_text())["segments"]))
        self.assertEqual(one.read_bytes(), other.read_bytes())

    def test_read_again_as_it_is(self):
        self.both(self.model, self.data, *self.spec, "--nhwc")
        before = self.table.read_bytes()
        self.succeed(self.model, *self.spec, "--nhwc", "--calibration", self.table, "-o", self.folder / "out.pt")
        self.assertEqual(before, self.table.read_bytes())


class ChangedTables(CalibrateTest):
    def setUp(self):
        super().setUp()
        self.make_net()
        self.table = self.folder / "table.json"
        self.options = [*self.spec, "--nhwc", "--calibration", self.table]
        self.convert(self.model, *self.options, "--calibrate", self.data)
        self.written = json.loads(self.table.read_text())

    def tensor(self, segment, rule="min-max"):
        """A tensor that a convolution gives and an ADD reads: it shares its scale with none."""
        results = [operation["result"] for operation in segment["operations"] if operation["operation"] == "CONV_2D"]
        return next(tensor for tensor in segment["tensors"] if tensor["name"] == results[1])

    def change(self, change):
        table = json.loads(json.dumps(self.written))
        change(table, table["segments"][0])
        self.table.write_text(json.dumps(table))

    def test_a_scale(self):
        before = snr(*self.results(self.model, self.folder / "out.pt", self.pictures[64:]))
        self.change(lambda table, segment: self.tensor(segment).update(scale=self.tensor(segment)["scale"] * 64))
        out = self.convert(self.model, *self.options)
        self.assertLess(snr(*self.results(self.model, out, self.pictures[64:])), before - 3, "a coarse scale has to show")

    def test_an_operation_that_becomes_float(self):
        def keep(_table, segment):
            next(each for each in segment["operations"] if each["operation"] == "ADD")["integer"] = False

        before = len(self.operations(self.folder / "out.pt"))
        self.change(keep)
        out = self.convert(self.model, *self.options)
        self.assertGreater(len(self.operations(out)), before)

    def test_refused(self):
        def tie(_table, segment):
            pool = next(each for each in segment["operations"] if each["operation"] == "MAX_POOL_2D")
            next(each for each in segment["tensors"] if each["name"] == pool["result"])["scale"] *= 2

        def fixed(_table, segment):
            logistic = next(each for each in segment["operations"] if each["operation"] == "LOGISTIC")
            next(each for each in segment["tensors"] if each["name"] == logistic["result"])["scale"] = 0.1

        cases = [
            (lambda table, segment: self.tensor(segment).update(scale=0), "a number above 0 needed"),
            (lambda table, segment: self.tensor(segment).update(scale=1e300), "a number above 0 needed"),
            (lambda table, segment: self.tensor(segment).update(scale="a"), "no calibration table"),
            (lambda table, segment: self.tensor(segment).update(zero_point=300), "0 to 255 needed"),
            (lambda table, segment: self.tensor(segment).update(zero_point=1.5), "0 to 255 needed"),
            (lambda table, segment: self.tensor(segment).update(name="none"), "tensor none is none of segment 0's"),
            (lambda table, segment: segment["tensors"].remove(self.tensor(segment)), "is missing"),
            (lambda table, segment: segment["tensors"].append(self.tensor(segment)), "stands there twice"),
            (lambda table, segment: segment["operations"].pop(), "another model"),
            (lambda table, segment: segment["operations"][2].update(result="x"), "another model"),
            (lambda table, segment: table["segments"].append(segment), "another model"),
            (lambda table, segment: table.update(version=9), "version 9 found"),
            (lambda table, segment: table.pop("segments"), "no calibration table"),
            (lambda table, segment: segment.update(bias_changes={"none": [1.0]}), "no operation gives none"),
            (lambda table, segment: segment.update(range_method="luck"), "range_method luck is unknown"),
            (tie, "needs one scale and zero point"),
            (fixed, "needs the scale 0.00390625 and zero point 0"),
        ]
        for change, message in cases:
            with self.subTest(message=message):
                self.change(change)
                self.fail_with(3, self.model, *self.options, "-o", self.folder / "no.pt",
                               needed=["--calibration", message])
        self.table.write_text("{")
        self.fail_with(3, self.model, *self.options, "-o", self.folder / "no.pt", needed=["no calibration table"])
        self.table.unlink()
        self.fail_with(3, self.model, *self.options, "-o", self.folder / "no.pt", needed=["can't read"])

    def test_biases_of_another_number_of_channels(self):
        def change(_table, segment):
            result = next(each["result"] for each in segment["operations"] if each["operation"] == "CONV_2D")
            segment["bias_changes"] = {result: [0.1]}

        self.change(change)
        self.fail_with(3, self.model, *self.options, "-o", self.folder / "no.pt", needed=["bias_changes"])

    def test_other_weights_are_warned_of(self):
        self.change(lambda table, segment: segment.update(weights=1))
        result = self.succeed(self.model, *self.options, "-o", self.folder / "out.pt")
        self.assertIn("the weights of segment 0 are others", result.stderr)

    def test_options_that_need_data(self):
        self.fail_with(2, self.model, *self.options, "--resize", "20", "-o", self.folder / "no.pt",
                       needed=["--resize", "the table of --calibration tells it"])
        self.fail_with(2, self.model, *self.spec, "--calibrate", self.data, "--calibration", self.folder / "out.pt", "-o",
                       self.folder / "out.pt", needed=["--calibration"])


del CalibrateTest  # its tests are those of its own file

if __name__ == "__main__":
    import unittest
    unittest.main()
