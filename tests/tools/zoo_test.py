# SPDX-License-Identifier: BSD-3-Clause
"""Whole networks as torchvision traces them: each converts in both layouts and agrees with TorchScript. The files are
made by scripts/makers/make_models.py; the folder comes in NNAPI_MODELS."""

import json
import os
import pathlib
import re
import unittest

from cli import ROOT, CliTest

MODELS = pathlib.Path(os.environ.get("NNAPI_MODELS", ROOT / "build" / "models"))
LAYOUTS = ["--nhwc", "--nchw"]


class Zoo(CliTest):
    def operations(self, path):
        form = json.loads(self.succeed("inspect", path, "--format", "json").stdout)
        return [operation["name"] for operation in form["operations"]]

    def verified(self, path, out, *options) -> str:
        text = self.succeed("verify", path, out, *options).stdout
        self.assertRegex(text, r"passed( but for the border values above)? \(")
        said = [line for line in text.splitlines() if "warning: " in line and "beyond 32 bits" not in line]
        self.assertEqual([], said)
        return text

    def check(self, name, *inputs, at_most):
        """Converts and verifies; no TRANSPOSE, and not more operations than a limit."""
        model = MODELS / name
        for layout in LAYOUTS:
            with self.subTest(name=name, layout=layout):
                specs = [word for spec in inputs for word in ("--input", spec)]
                out = self.convert(model, *specs, layout)
                self.verified(model, out)
                operations = self.operations(out)
                self.assertNotIn("TRANSPOSE", operations)
                self.assertLessEqual(len(operations), at_most)

    def check_from_weights(self, name, input_size):
        """No --input: the usual picture, with a word. Other sizes are open where "?" says so."""
        out = self.folder / "usual.pt"
        self.assertIn("1,3,224,224, the usual size", self.succeed(MODELS / name, "--nhwc", "-o", out).stderr)
        self.verified(MODELS / name, out)
        out = self.convert(MODELS / name, "--input", "?,3,?,?", "--nhwc", out="open.pt")
        self.verified(MODELS / name, out, "--input", input_size)


class QuantisedZoo(Zoo):
    """At most 1.1 times as far from the float twin as TorchScript, in one mode and both layouts."""

    PREFIX = ""

    def check_mode(self, mode):
        model = MODELS / f"{self.PREFIX}.pt"
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                out = self.convert(model, layout, "--quant", mode)
                text = self.verified(model, out, "--reference", MODELS / f"{self.PREFIX}_float.pt", "--samples", "32")
                self.assertIn("passed (32 samples", text)
                self.assertGreater(float(re.search(r"ratio ([\d.]+)", text).group(1)), 0.5)
                operations = self.operations(out)
                self.assertNotIn("TRANSPOSE", operations)
                self.assertEqual(mode == "nnapi", "QUANTIZE" in operations)


class MobileNetV2(Zoo):
    def test_converts(self):
        self.check("mobilenet_v2.pt", "1,3,96,96", at_most=66)

    def test_from_weights(self):
        self.check_from_weights("mobilenet_v2.pt", "1,3,96,96")
        self.check_from_weights("mobilenet_v2.pt", "2,3,65,72")


class ResNet18(Zoo):
    def test_converts(self):
        self.check("resnet18.pt", "1,3,64,64", at_most=32)  # 20 convolutions, 8 additions, 4 at the ends

    def test_from_weights(self):
        self.check_from_weights("resnet18.pt", "1,3,64,64")


class ResNet50(Zoo):
    def test_converts(self):
        self.check("resnet50.pt", "1,3,64,64", at_most=73)  # 53 convolutions, 16 additions, 4 at the ends


class SqueezeNet10(Zoo):
    def test_converts(self):
        # 26 convolutions, 8 concatenations, 3 pools, 2 at the end
        self.check("squeezenet1_0.pt", "1,3,96,96", at_most=39)

    def test_from_weights(self):
        self.check_from_weights("squeezenet1_0.pt", "1,3,77,80")


class SqueezeNet11(Zoo):
    def test_converts(self):
        self.check("squeezenet1_1.pt", "1,3,96,96", at_most=39)

    def test_from_weights(self):
        self.check_from_weights("squeezenet1_1.pt", "1,3,77,80")


class SmallNets(Zoo):
    def test_mlp(self):
        self.check("mlp.pt", "1,784", at_most=4)

    def test_two_input(self):
        self.check("two_input.pt", "1,3,32,32", "1,1,32,32", at_most=5)

    def test_tuple_output(self):
        self.check("tuple_output.pt", "1,3,32,32", at_most=4)


class MobileNetV2Core(QuantisedZoo):
    PREFIX = "mobilenet_v2_quant"

    def test_mode(self):
        self.check_mode("core")


class MobileNetV2Full(QuantisedZoo):
    PREFIX = "mobilenet_v2_quant"

    def test_mode(self):
        self.check_mode("full")


class MobileNetV2Nnapi(QuantisedZoo):
    PREFIX = "mobilenet_v2_quant"

    def test_mode(self):
        self.check_mode("nnapi")


class ResNet18Core(QuantisedZoo):
    PREFIX = "resnet18_quant"

    def test_mode(self):
        self.check_mode("core")


class ResNet18Full(QuantisedZoo):
    PREFIX = "resnet18_quant"

    def test_mode(self):
        self.check_mode("full")


class ResNet18Nnapi(QuantisedZoo):
    PREFIX = "resnet18_quant"

    def test_mode(self):
        self.check_mode("nnapi")


class QuantisedInterfaces(Zoo):
    """The scale of a quint8 input comes from a cut node, a bundled input, or the command line."""

    def verify(self, model, out, *options):
        self.verified(MODELS / model, out, "--reference", MODELS / f"{self.PREFIX}_float.pt", "--samples", "16",
                      *options)

    def check_interfaces(self):
        prefix, size = self.PREFIX, self.SIZE
        unbundled, bundled, plain = (f"{prefix}_{kind}.pt" for kind in ("unbundled", "quint8_bundled", "quint8"))
        full = self.convert(MODELS / unbundled, "--input", size, "--nhwc", "--quant", "full", out="full.pt")
        self.verify(unbundled, full)
        out = self.convert(MODELS / bundled, "--nhwc", "--quant", "full", out="bundled.pt")
        self.verify(bundled, out)
        shown = json.loads(self.succeed("inspect", out, "--format", "json").stdout)
        found = shown["metadata"]["inputs"][0]["quantization"]
        spec = f"{size}:quint8:{found['scale']!r}:{found['zero_point']}"
        self.fail_with(1, MODELS / plain, "--nhwc", "-o", self.folder / "none.pt",
                       needed=["--input DIMS:quint8:SCALE:ZERO_POINT"])
        self.verify(plain, self.convert(MODELS / plain, "--nhwc", "--quant", "full", "--input", spec, out="given.pt"))
        for mode in ("core", "nnapi"):
            self.verify(bundled, self.convert(MODELS / bundled, "--nhwc", "--quant", mode, out=f"{mode}.pt"))


class MobileNetV2Interfaces(QuantisedInterfaces):
    PREFIX, SIZE = "mobilenet_v2_quant", "1,3,96,96"

    def test_interfaces(self):
        self.check_interfaces()


class ResNet18Interfaces(QuantisedInterfaces):
    PREFIX, SIZE = "resnet18_quant", "1,3,64,64"

    def test_interfaces(self):
        self.check_interfaces()


if __name__ == "__main__":
    unittest.main()
