# SPDX-License-Identifier: BSD-3-Clause
"""Files that PyTorch 2 wrote (testdata/pytorch2/make.py): operators that 1.13.1 has not are taken apart, so that the
result runs on stock PyTorch 1.13.1; the samples hold what PyTorch 2 itself gives."""

import json
import unittest

import torch

from cli import ROOT, CliTest
from stock_torch import StockTorchTest, call, load
from zip_files import entries, stored

FOLDER = ROOT / "testdata" / "pytorch2"
SAMPLES = torch.load(str(FOLDER / "samples.pt"))

# What a script doesn't tell.
SHAPES = {
    "scripted_attention": ("2,5,8",),
    "scripted_masked": ("2,5,8", "5,5:bool"),
    "scripted_multi_head": ("2,5,8",),
    "scripted_resize": ("1,3,8,8",),
    "scripted_resize_by": ("x=1,3,8,8", "mode=nearest"),
    "scripted_sizes": ("2,5,8",),
}
# Elements are counted, or an argument is no tensor.
IN_PARTS = {"containers", "nonzero_static", "scripted_multi_head", "scripted_resize_by"}


def changed(name: str, ending: str, content: bytes) -> bytes:
    """A fixture with other bytes in one record."""
    files = entries(FOLDER / f"{name}.pt")
    found = [record for record in files if record.endswith(ending)]
    assert len(found) == 1, found
    return stored({**files, found[0]: content})


class Files(CliTest, StockTorchTest):
    def inputs_of(self, name):
        return [part for shape in SHAPES.get(name, ()) for part in ("--input", shape)]

    def test_samples_are_all(self):
        names = {path.stem for path in FOLDER.glob("*.pt")} - {"samples"}
        self.assertEqual(set(SAMPLES), {name for name in names if not name.startswith("refused_")})

    def test_results(self):
        """As PyTorch 2 computed them."""
        for name, (inputs, expected) in SAMPLES.items():
            with self.subTest(name=name):
                out = self.folder / f"{name}.pt"
                whole = [] if name in IN_PARTS else ["--fallback", "none"]
                self.succeed(FOLDER / f"{name}.pt", *self.inputs_of(name), "--nhwc", *whole, "-o", out)
                with torch.no_grad():
                    self.assert_close(expected, load(out)(*inputs))

    def test_verify_runs_the_original(self):
        for name in ("attention_masked", "rms_norm", "scripted_resize"):
            with self.subTest(name=name):
                text = self.succeed(FOLDER / f"{name}.pt", *self.inputs_of(name), "--nhwc", "--verify", "-o",
                                    self.folder / "out.pt").stdout
                self.assertIn("passed", text)

    def test_on_the_cpu(self):
        """The CPU's twin has none of the newer operators either, in branches that never run too."""
        for name in ("attention_grouped", "scripted_resize", "scripted_resize_by"):
            with self.subTest(name=name):
                cpu = self.folder / "cpu.pt"
                self.convert(FOLDER / f"{name}.pt", *self.inputs_of(name), "--nhwc", "--emit-cpu", cpu)
                inputs, expected = SAMPLES[name]
                self.assert_close(expected, load(cpu)(*inputs))

    def test_branch_that_stays(self):
        """An operator in a branch that is decided when forward is called is an error there, and stops no file."""
        out = self.convert(FOLDER / "scripted_resize_by.pt", "--input", "x=1,3,8,8", "--nhwc")
        inputs, expected = SAMPLES["scripted_resize_by"]
        module = load(out)
        self.assert_close(expected, module(*inputs))
        with self.assertRaisesRegex(Exception, r"aten::_upsample_lanczos2d_aa \(PyTorch 2.12\)"):
            module(inputs[0], "lanczos")


class Refused(CliTest):
    def test_operator_that_runs(self):
        for arguments in ((), ("--fallback", "none")):
            self.fail_with(1, FOLDER / "refused_lanczos.pt", *arguments, "--nhwc", "-o", self.folder / "out.pt",
                           needed=["aten::_upsample_lanczos2d_aa (PyTorch 2.12)", "which PyTorch 1.13.1",
                                   "make.py:112", "interpolate with mode \"bilinear\""])

    def test_dtypes(self):
        for name, dtype in (("refused_uint16", "uint16"), ("refused_float8", "float8_e4m3fn")):
            result = self.fail_with(3, FOLDER / f"{name}.pt", "-o", self.folder / "out.pt",
                                    needed=[f"a tensor of dtype {dtype}, which PyTorch 1.13.1", "float32"])
            self.assertNotIn("damaged", result.stderr)

    def write(self, content: bytes):
        path = self.folder / "model.pt"
        path.write_bytes(content)
        return path

    def test_big_endian(self):
        little = self.write(changed("plain", "/byteorder", b"little"))
        self.convert(little, "--nhwc")
        self.fail_with(3, self.write(changed("plain", "/byteorder", b"big")), "-o", self.folder / "out.pt",
                       needed=["big-endian", "little-endian machine"])

    def with_code(self, before: str, after: str):
        files = entries(FOLDER / "rms_norm.pt")
        found = [name for name, content in files.items() if name.endswith(".py") and before.encode() in content]
        self.assertEqual(1, len(found))
        content = files[found[0]].replace(before.encode(), after.encode())
        return self.write(stored({**files, found[0]: content}))

    def test_unknown_operators(self):
        """Those of PyTorch aren't in a library that --torch-library could name."""
        for code, needed in (("torch.invented_norm(", "aten::invented_norm is not registered in PyTorch 1.13.1"),
                             ("torch.squeeze(\"a\", ", "aten::squeeze has no such arguments in PyTorch 1.13.1")):
            path = self.with_code("torch.rms_norm(", code)
            result = self.fail_with(3, path, "-o", self.folder / "out.pt", needed=["the operator " + needed])
            self.assertNotIn("--torch-library", result.stderr)

    def test_operators_of_python(self):
        """Python's torch._prims makes them: no release of the C++ library has them."""
        path = self.with_code("torch.rms_norm(", "ops.prims.sum(")
        result = self.fail_with(3, path, "-o", self.folder / "out.pt", needed=["the operator prims::sum", "torch._prims"])
        self.assertNotIn("newer release", result.stderr)


class TracedInputs(CliTest, StockTorchTest):
    """A trace of PyTorch 2 holds the sizes and dtypes of its example."""

    def test_are_told(self):
        said = self.succeed(FOLDER / "plain.pt", "--nhwc", "-o", self.folder / "out.pt").stderr
        self.assertIn("the inputs have the sizes and dtypes that the model was traced with: x float32[1, 3, 8, 8]", said)
        self.assertIn("--input gives others", said)

    def test_option_comes_first(self):
        out = self.folder / "out.pt"
        said = self.succeed(FOLDER / "attention.pt", "--input", "1,5,8", "-o", out).stderr
        self.assertNotIn("traced with", said)
        x = SAMPLES["attention"][0][0][:1]
        self.assert_close(SAMPLES["attention"][1][:1], call(load(out), x))

    def test_of_one_input(self):
        report = self.folder / "report.json"
        said = self.succeed(FOLDER / "attention_masked.pt", "--input", "mask=5,5:bool", "-o",
                            self.folder / "out.pt", "--report", report).stderr
        self.assertIn("traced with: x float32[2, 5, 8];", said)
        inputs = json.loads(report.read_text())["inputs"]
        self.assertEqual({"x": "trace", "mask": "option"}, {each["name"]: each["source"] for each in inputs})

    def test_damaged_ones_are_left_out(self):
        files = entries(FOLDER / "attention.pt")
        whole = next(content for name, content in files.items() if name.endswith("traced_inputs.pkl"))
        for content in (b"", b"\x80\x02", whole[:100], whole.replace(b"FloatStorage", b"WrongStorage"),
                        whole.replace(b"K\x05K\x08t", b"K\x05J\xff\xff\xff\xfft")):
            with self.subTest(content=content):
                path = self.folder / "model.pt"
                path.write_bytes(changed("attention", "/traced_inputs.pkl", content))
                self.fail_with(1, path, "-o", self.folder / "out.pt", needed=["its sizes are not known"])
                self.succeed(path, "--input", "2,5,8", "-o", self.folder / "out.pt")


if __name__ == "__main__":
    unittest.main()
