# SPDX-License-Identifier: BSD-3-Clause
"""The files that are written: both formats, their names, bundled inputs, the CPU counterpart, options that reach
them."""

import itertools
import os
import pickle
import re
import unittest
import zipfile

import torch

from cli import CliTest
from stock_torch import StockTorchTest, call, images, load, load_lite, structure

IMAGE = ["--input", "1,3,16,16", "--nhwc"]
ANY = ["--input", "?,3,?,?"]


def roots(path):
    with zipfile.ZipFile(path) as archive:
        return {name.split("/")[0] for name in archive.namelist()}


def code(path):
    with zipfile.ZipFile(path) as archive:
        return "\n".join(archive.read(name).decode() for name in archive.namelist() if name.endswith(".py"))


class Archive(CliTest):
    def test_root_folder_is_the_stem(self):
        for name, root in {"out.pt": "out", "net.v2.pt": "net.v2", "other.ptl": "other", "plain": "plain"}.items():
            self.assertEqual({root}, roots(self.convert("bundled.pt", "--nhwc", out=name)))

    def test_crc_and_alignment(self):
        """Stored entries, whole, with weights at multiples of 64 bytes, as PyTorch's reader maps them."""
        path = self.convert("residual.pt", *IMAGE)
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
            weights = [info for info in archive.infolist() if "/data/" in info.filename]
            self.assertGreater(len(weights), 1)
            for info in weights:
                self.assertEqual(zipfile.ZIP_STORED, info.compress_type)
                with open(path, "rb") as file:
                    file.seek(info.header_offset + 26)
                    lengths = file.read(4)
                names, extra = (int.from_bytes(part, "little") for part in (lengths[:2], lengths[2:]))
                begin = info.header_offset + 30 + names + extra
                self.assertEqual(0, begin % 64)

    def test_source_tables_hold_lines_alone(self):
        """PyTorch 1.9 to 1.11 take each element of such a table for a line, and end at another."""
        for model, options in {"residual.pt": IMAGE, "control_flow.pt": [*IMAGE, "--min-segment-macs", "0"]}.items():
            for suffix in (".pt", ".ptl"):
                with self.subTest(model=model, suffix=suffix):
                    with zipfile.ZipFile(self.convert(model, *options, out="out" + suffix)) as archive:
                        names = [name for name in archive.namelist() if name.endswith(".debug_pkl")]
                        tables = [pickle.loads(archive.read(name)) for name in names]
                    self.assertTrue(any(tables))
                    for place, ((text, file, first_line), begin, end), tag in itertools.chain(*tables):
                        self.assertEqual([str, int, int], [type(text), type(first_line), type(tag)])
                        self.assertIn(type(file), (str, type(None)))
                        self.assertLessEqual(0, place)
                        self.assertLessEqual(begin, end)

    def test_same_bytes_each_time(self):
        commands = {
            "float": ["residual.pt", *IMAGE],
            "flexible": ["depthwise.pt", "--nchw"],
            "quint8": ["quant.pt", "--nhwc", "--quant", "full"],
            "sample": ["residual.pt", *IMAGE, "--bundle-inputs"],
        }
        for suffix in (".pt", ".ptl"):
            for name, command in commands.items():
                with self.subTest(name=name, suffix=suffix):
                    copies = []
                    for folder in ("one", "another"):
                        os.makedirs(self.folder / folder, exist_ok=True)
                        copies.append(self.convert(*command, out=f"{folder}/{name}{suffix}").read_bytes())
                    self.assertTrue(copies[0] == copies[1])

    def test_same_bytes_with_verification(self):
        one = self.convert("residual.pt", *IMAGE, out="out.pt").read_bytes()
        other = self.convert("residual.pt", *IMAGE, "--verify", "--report", self.folder / "r.json",
                             out="out.pt").read_bytes()
        self.assertTrue(one == other)

    def test_same_bytes_wherever_the_model_lies(self):
        copy = self.folder / "renamed.pt"
        copy.write_bytes(self.fixture("residual.pt").read_bytes())
        self.assertTrue(self.convert(copy, *IMAGE).read_bytes() == self.convert("residual.pt", *IMAGE).read_bytes())

    def test_size(self):
        """A file has not much more than its weights: a wrapper and a small buffer."""
        model = self.fixture("depthwise.pt")
        self.assertLess(self.convert(model, *IMAGE).stat().st_size, model.stat().st_size)


class Lite(CliTest, StockTorchTest):
    def test_runs_in_the_lite_interpreter(self):
        picture = images(1, 3, 16, 16)
        for name, options in {"residual.pt": IMAGE, "tuple_output.pt": IMAGE, "depthwise.pt": [*ANY, "--nhwc"],
                              "bundled.pt": ["--nchw"]}.items():
            with self.subTest(name=name):
                module = load_lite(self.convert(name, *options, out="out.ptl"))
                self.assert_close(call(load(self.fixture(name)), picture), call(module, picture))

    def test_control_flow_with_segments_inside(self):
        module = load_lite(self.convert("control_flow.pt", *IMAGE, out="out.ptl"))
        for picture in (images(1, 3, 16, 16).abs(), -images(1, 3, 16, 16).abs()):  # both branches
            self.assert_close(call(load(self.fixture("control_flow.pt")), picture), call(module, picture))

    def test_quantised(self):
        for mode in ("core", "full", "nnapi"):
            full, lite = (self.convert("quant.pt", "--nhwc", "--quant", mode, out=name) for name in ("a.pt", "a.ptl"))
            (argument,), = load(full).get_all_bundled_inputs()
            expected, found = call(load(full), argument), call(load_lite(lite), argument)
            self.assertEqual(structure(expected), structure(found))
            self.assertTrue(torch.equal(expected, found))

    def test_bytecode_is_there_only_for_lite(self):
        for name, expected in {"out.pt": False, "out.ptl": True}.items():
            with zipfile.ZipFile(self.convert("residual.pt", *IMAGE, out=name)) as archive:
                self.assertEqual(expected, any(entry.endswith("/bytecode.pkl") for entry in archive.namelist()))

    def test_bundled_inputs_by_the_lite_interpreter(self):
        module = load_lite(self.convert("bundled.pt", "--nhwc", out="out.ptl"))
        (argument,), = module.run_method("get_all_bundled_inputs")
        self.assert_close(call(load(self.fixture("bundled.pt")), argument), call(module, argument))

    def test_messages_in_the_lite_interpreter(self):
        module = load_lite(self.convert("residual.pt", *IMAGE, out="out.ptl"))
        with self.assertRaises(Exception) as caught:
            call(module, images(1, 3, 8, 8))
        self.assertIn("input picture: shape [1, 3, 8, 8] found, [1, 3, 16, 16] needed", str(caught.exception))


class Bundled(CliTest, StockTorchTest):
    def test_kept_from_the_original(self):
        (expected,), = load(self.fixture("bundled.pt")).get_all_bundled_inputs()
        for options in ([], ["--bundle-inputs"]):
            module = load(self.convert("bundled.pt", "--nhwc", *options))
            (found,), = module.get_all_bundled_inputs()
            self.assertTrue(torch.equal(expected, found))

    def test_none_without_asking(self):
        module = load(self.convert("residual.pt", *IMAGE))
        self.assertFalse(hasattr(module, "get_all_bundled_inputs"))

    def test_made_on_request(self):
        module = load(self.convert("two_input.pt", "--input", "1,3,16,16", "--input", "1,2,16,16", "--nhwc",
                                   "--bundle-inputs"))
        self.assertEqual(1, module.get_num_bundled_inputs())
        sample, = module.get_all_bundled_inputs()
        self.assertEqual([(1, 3, 16, 16), (1, 2, 16, 16)], [tuple(tensor.shape) for tensor in sample])
        self.assertGreater(sample[0].std().item(), 0.5)
        self.assert_close(call(load(self.fixture("two_input.pt")), *sample), call(module, *sample))

    def test_one_that_does_not_fit_is_left_out_with_a_warning(self):
        out = self.folder / "out.pt"
        result = self.succeed(self.fixture("bundled.pt"), "--input", "1,3,12,12", "--nhwc", "-o", out)
        self.assertIn("warning: a bundled input doesn't fit", result.stderr)
        self.assertFalse(hasattr(load(out), "get_all_bundled_inputs"))


class CpuCounterpart(CliTest, StockTorchTest):
    def both(self, name, *options, suffix=".pt"):
        cpu = self.folder / f"cpu{suffix}"
        out = self.convert(name, *options, "--emit-cpu", cpu, out=f"out{suffix}")
        return out, cpu

    def test_same_interface_and_results(self):
        for name in ("residual.pt", "tuple_output.pt", "list_output.pt", "depthwise.pt", "repeated_output.pt"):
            with self.subTest(name=name):
                out, cpu = map(load, self.both(name, *IMAGE))
                self.assertEqual([argument.name for argument in out.forward.schema.arguments][1:],
                                 [argument.name for argument in cpu.forward.schema.arguments][1:])
                picture = images(1, 3, 16, 16)
                self.assert_close(call(load(self.fixture(name)), picture), call(cpu, picture))
                self.assert_close(call(cpu, picture), call(out, picture))

    def test_without_nnapi(self):
        _, cpu = self.both("residual.pt", *IMAGE)
        self.assertNotIn("_nnapi", code(cpu))

    def test_bundled_inputs(self):
        for name, options in {"bundled.pt": ["--nhwc"], "residual.pt": [*IMAGE, "--bundle-inputs"]}.items():
            out, cpu = map(load, self.both(name, *options))
            (expected,), = out.get_all_bundled_inputs()
            (found,), = cpu.get_all_bundled_inputs()
            self.assertTrue(torch.equal(expected, found))
            self.assert_close(call(out, found), call(cpu, found))

    def test_quantised_modes(self):
        for mode in ("core", "full", "nnapi"):
            out, cpu = map(load, self.both("quant.pt", "--nhwc", "--quant", mode))
            (argument,), = cpu.get_all_bundled_inputs()
            self.assertEqual(structure(call(out, argument)), structure(call(cpu, argument)))

    def test_lite(self):
        out, cpu = self.both("bundled.pt", "--nhwc", suffix=".ptl")
        picture = images(1, 3, 16, 16)
        self.assert_close(call(load_lite(cpu), picture), call(load_lite(out), picture))


class OptionsInTheModule(CliTest, StockTorchTest):
    def init_arguments(self, *options):
        path = self.convert("residual.pt", *IMAGE, *options)
        picture = images(1, 3, 16, 16)
        self.assert_close(call(load(self.fixture("residual.pt")), picture), call(load(path), picture))
        (call_of_init,) = re.findall(r"\.(init2?)\(ser_model, weights(?:, (\d), (True|False))?,? ?\)", code(path))
        return call_of_init

    def test_defaults(self):
        """Packages of PyTorch before 1.13.1 have no init2."""
        self.assertEqual(("init", "", ""), self.init_arguments())
        self.assertEqual(("init", "", ""), self.init_arguments("--preference", "sustained-speed"))

    def test_preferences(self):
        for name, number in {"low-power": 0, "fast-single-answer": 1}.items():
            self.assertEqual(("init2", str(number), "False"), self.init_arguments("--preference", name))

    def test_relaxed(self):
        self.assertEqual(("init2", "2", "True"), self.init_arguments("--relax-fp16"))


if __name__ == "__main__":
    unittest.main()
